// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ

/// What of a source can be seen in a picture, in the source's spatial reference, and the way from
/// there to the picture.
///
/// What lies on the far side of the earth has no honest place in many projections; it may come out
/// as a ring around everything. So shapes are cut to what can be seen before they are projected.
struct DrawnWindow {
    /// Nil where coordinates stay as they are.
    private let toFrame: CoordinateTransform?
    /// Everything that can be seen meets this rectangle.
    let bounds: Envelope
    /// Whether shapes are cut to `bounds`.
    private let cuts: Bool

    /// How many places along each side of a picture are taken back to the source.
    private static let sampleCount = 33

    /// - Parameters:
    ///   - frame: In the picture's spatial reference, `reference`.
    ///   - source: The source's spatial reference.
    ///   - toFrame: From there to the picture.
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

    /// The rectangle around all that becomes the frame, and some more; nil where the frame reaches
    /// beyond what the projection can show.
    private static func preimage(_ frame: Envelope, _ toFrame: CoordinateTransform) -> Envelope? {
        var result = Envelope.empty
        var above: [Coordinate] = []
        // The greatest step from one place to the next: what is between them is hardly farther.
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

    /// The shape in the picture's spatial reference, without what cannot be seen or has no place
    /// there.
    func drawn(_ shape: DrawnShape) -> DrawnShape {
        guard let toFrame else { return shape }
        switch shape {
        case .positions(let places):
            return .positions(
                places.filter { !cuts || bounds.contains($0) }.compactMap {
                    try? toFrame.forward($0)
                })
        case .paths(let paths):
            let pieces = cuts ? paths.flatMap { bounds.clip(path: $0) } : paths
            return .paths(pieces.compactMap { Self.project($0, toFrame) })
        case .areas(let parts):
            return .areas(
                parts.map { rings in
                    rings.compactMap { ring in
                        cuts
                            ? Self.project(
                                bounds.dividing(ring: bounds.clip(ring: ring), by: 64), toFrame)
                            : Self.project(ring, toFrame)
                    }
                })
        }
    }

    /// Nil for what has no place there, or is empty.
    private static func project(
        _ places: [Coordinate], _ transform: CoordinateTransform
    ) -> [Coordinate]? {
        var result: [Coordinate] = []
        result.reserveCapacity(places.count)
        for place in places {
            guard let there = try? transform.forward(place) else { return nil }
            result.append(there)
        }
        return result.isEmpty ? nil : result
    }
}
