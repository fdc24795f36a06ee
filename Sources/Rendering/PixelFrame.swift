// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Identify

/// Where places of a map lie on a picture: pixels from its upper left corner, y down.
struct PixelFrame {
    private let left: Double
    private let top: Double
    private let unitsPerPixel: Double
    /// The picture's border.
    private let bounds: Envelope
    /// What is drawn of paths and rings: the picture and a margin that hides the cuts.
    private var kept: Envelope

    /// Coordinates that would be set apart by less are one, in pixels.
    private static let detail = 1.0 / 3
    /// The greatest magnitude of an ordinate before clipping, in pixels.
    private static let reach = 1e14

    /// A frame without a margin.
    init(_ frame: PictureFrame, width: Int, height: Int) {
        left = frame.extent.minX
        top = frame.extent.maxY
        unitsPerPixel = frame.unitsPerPixel
        bounds = Envelope(minX: 0, minY: 0, maxX: Double(width), maxY: Double(height))
        kept = bounds
    }

    /// Gives it a margin of so many pixels: at least the distance that symbols reach from their shapes.
    mutating func setMargin(_ margin: Double) { kept = bounds.expanded(by: margin) }

    /// The place on the picture; far away it is only far away.
    func pixel(_ place: Coordinate) -> Coordinate {
        Coordinate(
            x: Self.clamped((place.x - left) / unitsPerPixel),
            y: Self.clamped((top - place.y) / unitsPerPixel))
    }

    private static func clamped(_ ordinate: Double) -> Double { max(-reach, min(reach, ordinate)) }

    /// Whether a position lies on the picture.
    func shows(_ pixel: Coordinate) -> Bool { bounds.contains(pixel) }

    /// Whether a position is near enough to the picture to be seen there.
    func keeps(_ pixel: Coordinate) -> Bool { kept.contains(pixel) }

    /// The pieces of a path that can be seen, thinned out: what lies off the path by less than a third
    /// of a pixel is left out.
    func path(_ path: [Coordinate]) -> [[Coordinate]] {
        guard let (thin, bounds) = thinned(path), kept.intersects(bounds) else { return [] }
        return kept.contains(bounds) ? [thin] : kept.clip(path: thin)
    }

    /// The ring as far as it encloses anything that can be seen, thinned out, closed by its first
    /// coordinate; empty where it does not.
    ///
    /// Where the picture cuts it, it follows the margin's border.
    func ring(_ ring: [Coordinate]) -> [Coordinate] {
        guard let (thin, bounds) = thinned(ring), kept.intersects(bounds) else { return [] }
        return kept.contains(bounds) ? thin : kept.clip(ring: thin)
    }

    private func thinned(_ places: [Coordinate]) -> ([Coordinate], Envelope)? {
        guard let first = places.first else { return nil }
        var last = pixel(first)
        var result = [last]
        var bounds = Envelope(minX: last.x, minY: last.y, maxX: last.x, maxY: last.y)
        for (index, place) in places.enumerated().dropFirst() {
            let next = pixel(place)
            let (dx, dy) = (next.x - last.x, next.y - last.y)
            guard dx * dx + dy * dy >= Self.detail * Self.detail || index == places.count - 1
            else { continue }
            result.append(next)
            bounds.extend(to: next)
            last = next
        }
        return (result, bounds)
    }
}

extension Envelope {
    /// Whether the other rectangle lies inside, borders included.
    fileprivate func contains(_ other: Envelope) -> Bool {
        minX <= other.minX && other.maxX <= maxX && minY <= other.minY && other.maxY <= maxY
    }
}
