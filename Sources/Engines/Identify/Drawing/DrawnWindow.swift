// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ

/// The visible part of a source, in the source's spatial reference, with the transform to the
/// picture.
///
/// In many projections the far side of the earth is distorted, possibly into a ring around
/// everything. So shapes are clipped to the visible part before they are projected.
struct DrawnWindow {
    /// Nil for the identity.
    private let toFrame: CoordinateTransform?
    /// The bounding box of everything visible.
    let bounds: Envelope
    /// Whether shapes are clipped to `bounds`.
    private let cuts: Bool

    /// Number of samples along each side of a picture, projected back to the source.
    private static let sampleCount = 33

    /// - Parameters:
    ///   - frame: The frame in the picture's spatial reference, `reference`.
    ///   - source: The source's spatial reference.
    ///   - toFrame: The transform from there to the picture.
    init(
        _ frame: Envelope, in reference: SpatialReference, from source: SpatialReference,
        _ toFrame: CoordinateTransform?
    ) {
        self.toFrame = toFrame
        guard let toFrame else {
            (bounds, cuts) = (frame, false)
            return
        }
        if source.isMercatorPair(with: reference) {
            bounds = FeatureSource.mercatorPreimage(frame, toFrame, reference)
            cuts = false
            return
        }
        let preimage = Self.preimage(frame, toFrame)
        bounds = preimage ?? Self.everything
        cuts = preimage != nil
    }

    private static let everything = Envelope(
        minX: -.infinity, minY: -.infinity, maxX: .infinity, maxY: .infinity)

    /// The bounding box of the frame's preimage, and some more; nil where the frame exceeds the
    /// domain of the projection.
    private static func preimage(_ frame: Envelope, _ toFrame: CoordinateTransform) -> Envelope? {
        var result = Envelope.empty
        var above: [Coordinate] = []
        // The largest step between neighbouring samples bounds what is between them.
        var (stepX, stepY) = (0.0, 0.0)
        let steps = Double(sampleCount - 1)
        for row in 0..<sampleCount {
            var line: [Coordinate] = []
            for column in 0..<sampleCount {
                let place = Coordinate(
                    x: frame.minX + frame.width * Double(column) / steps,
                    y: frame.minY + frame.height * Double(row) / steps)
                guard let there = try? toFrame.inverse(place) else { return nil }
                for neighbor in [line.last, above.isEmpty ? nil : above[column]] {
                    guard let neighbor else { continue }
                    stepX = max(stepX, abs(there.x - neighbor.x))
                    stepY = max(stepY, abs(there.y - neighbor.y))
                }
                result.extend(to: there)
                line.append(there)
            }
            above = line
        }
        return Envelope(
            minX: result.minX - 2 * stepX, minY: result.minY - 2 * stepY,
            maxX: result.maxX + 2 * stepX, maxY: result.maxY + 2 * stepY)
    }

    /// The shape in the picture's spatial reference, without invisible parts and those that cannot
    /// be projected, and whether every visible position has a place there.
    func drawn(_ shape: DrawnShape) -> (shape: DrawnShape, isWhole: Bool) {
        guard let toFrame else { return (shape, shape.isFinite) }
        var isWhole = true
        func project(_ places: [Coordinate]) -> [Coordinate]? {
            var result: [Coordinate] = []
            result.reserveCapacity(places.count)
            for place in places {
                guard let there = try? toFrame.forward(place) else {
                    isWhole = false
                    return nil
                }
                if !(there.x.isFinite && there.y.isFinite) { isWhole = false }
                result.append(there)
            }
            return result.isEmpty ? nil : result
        }
        let drawn: DrawnShape
        switch shape {
        case .positions(let places):
            drawn = .positions(
                places.filter { !cuts || bounds.contains($0) }.compactMap { project([$0])?.first })
        case .paths(let paths):
            let pieces = cuts ? paths.flatMap { bounds.clip(path: $0) } : paths
            drawn = .paths(pieces.compactMap(project))
        case .areas(let parts):
            drawn = .areas(
                parts.map { rings in
                    rings.compactMap { ring in
                        project(
                            cuts
                                ? bounds.dividing(ring: bounds.clip(ring: ring), by: 64)
                                : ring)
                    }
                })
        }
        return (drawn, isWhole)
    }
}

extension DrawnShape {
    /// Whether every ordinate is a number.
    fileprivate var isFinite: Bool {
        func isFinite(_ places: [Coordinate]) -> Bool {
            places.allSatisfy { $0.x.isFinite && $0.y.isFinite }
        }
        return switch self {
        case .positions(let places): isFinite(places)
        case .paths(let paths): paths.allSatisfy(isFinite)
        case .areas(let parts): parts.allSatisfy { $0.allSatisfy(isFinite) }
        }
    }
}
