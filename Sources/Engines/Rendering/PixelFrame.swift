// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Identify

/// Maps coordinates to a picture: pixels from its upper left corner, y down.
struct PixelFrame {
    private let left: Double
    private let top: Double
    private let pixelsPerUnit: Double
    /// The picture's border.
    private let bounds: Envelope
    /// The clip rectangle of paths and rings: the picture and a margin that hides the cuts.
    private var kept: Envelope

    /// Tolerance of simplified paths, in pixels.
    private static let detail = 1.0 / 4
    /// Magnitude limit of an ordinate before clipping, in pixels.
    private static let reach = 1e14

    /// A frame without a margin.
    init(_ frame: PictureFrame, width: Int, height: Int) {
        left = frame.extent.minX
        top = frame.extent.maxY
        pixelsPerUnit = 1 / frame.unitsPerPixel
        bounds = Envelope(minX: 0, minY: 0, maxX: Double(width), maxY: Double(height))
        kept = bounds
    }

    /// Sets the margin in pixels: at least the maximum distance of symbols from their shapes.
    mutating func setMargin(_ margin: Double) { kept = bounds.expanded(by: margin) }

    /// The pixel of a place; far coordinates are clamped.
    func pixel(_ place: Coordinate) -> Coordinate {
        Coordinate(
            x: Self.clamped((place.x - left) * pixelsPerUnit),
            y: Self.clamped((top - place.y) * pixelsPerUnit))
    }

    private static func clamped(_ ordinate: Double) -> Double { max(-reach, min(reach, ordinate)) }

    /// Whether a position is on the picture.
    func shows(_ pixel: Coordinate) -> Bool { bounds.contains(pixel) }

    /// Whether a position is close enough to affect the picture.
    func keeps(_ pixel: Coordinate) -> Bool { kept.contains(pixel) }

    /// The visible pieces of a path, simplified with a tolerance of a quarter of a pixel.
    func path(_ path: [Coordinate]) -> [[Coordinate]] {
        guard let (thin, bounds) = thinned(path), kept.intersects(bounds) else { return [] }
        return kept.contains(bounds) ? [thin] : kept.clip(path: thin)
    }

    /// The visible part of a ring, simplified, closed by its first coordinate; empty where it
    /// encloses nothing visible.
    ///
    /// Where it is clipped, it follows the margin's border.
    func ring(_ ring: [Coordinate]) -> [Coordinate] {
        guard let (thin, bounds) = thinned(ring), kept.intersects(bounds) else { return [] }
        return kept.contains(bounds) ? thin : kept.clip(ring: thin)
    }

    /// The path without coordinates that are close enough to a line between others.
    private func thinned(_ places: [Coordinate]) -> ([Coordinate], Envelope)? {
        guard let first = places.first else { return nil }
        var last = pixel(first)
        var result = [last]
        var bounds = Envelope(minX: last.x, minY: last.y, maxX: last.x, maxY: last.y)
        var sight = Sight(from: last, detail: Self.detail)
        for place in places.dropFirst() {
            let next = pixel(place)
            bounds.extend(to: next)
            if !sight.take(next) {
                result.append(last)
                sight = Sight(from: last, detail: Self.detail)
                _ = sight.take(next)
            }
            last = next
        }
        if places.count > 1 { result.append(last) }
        return (result, bounds)
    }
}

/// The cone of places that a straight line from one reaches while passing all between close enough:
/// the method of Williams (https://doi.org/10.1016/0146-664X(78)90120-X) and of Sklansky and
/// Gonzalez.
private struct Sight {
    private let origin: Coordinate
    private let detail: Double
    /// The cone's borders, clockwise and counterclockwise of its inside, of any length.
    private var right: Coordinate?
    private var left = Coordinate(x: 0, y: 0)
    /// The largest distance so far: a path that turns back is no straight line.
    private var reach = 0.0

    init(from origin: Coordinate, detail: Double) {
        self.origin = origin
        self.detail = detail
    }

    /// False where the straight line to this place would exceed the tolerance at an earlier one.
    mutating func take(_ place: Coordinate) -> Bool {
        let (x, y) = (place.x - origin.x, place.y - origin.y)
        let square = x * x + y * y
        let distance = square.squareRoot()
        guard distance >= reach - detail else { return false }
        reach = max(reach, distance)
        // Every line from the origin is within the tolerance of this place.
        guard distance > detail else { return true }
        // Tangents of the circle around the place.
        let side = (square - detail * detail).squareRoot()
        let toRight = Coordinate(x: x * side + y * detail, y: y * side - x * detail)
        let toLeft = Coordinate(x: x * side - y * detail, y: y * side + x * detail)
        guard let right else {
            (self.right, left) = (toRight, toLeft)
            return true
        }
        let way = Coordinate(x: x, y: y)
        guard right.cross(way) >= 0, way.cross(left) >= 0 else { return false }
        if right.cross(toRight) > 0 { self.right = toRight }
        if toLeft.cross(left) > 0 { left = toLeft }
        return true
    }
}

extension Coordinate {
    /// Positive where the other is less than half a turn from x towards y.
    fileprivate func cross(_ other: Coordinate) -> Double { x * other.y - y * other.x }
}

extension Envelope {
    /// Whether it contains the other rectangle, borders included.
    fileprivate func contains(_ other: Envelope) -> Bool {
        minX <= other.minX && other.maxX <= maxX && minY <= other.minY && other.maxY <= maxY
    }
}
