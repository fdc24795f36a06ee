// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// Where the label of an area is: inside its largest part, far from all borders.
///
/// It follows from the whole area alone, so every tile, and every level, has the same place.
enum LabelPlace {
    /// Corners up to which rings are searched as they are; of larger ones every so many.
    private static let cornerBound = 2_000
    /// Squares that a search examines, and one among all corners.
    private static let squareLimits = (thinned: 120, whole: 24)

    /// The place; nil for what has no area.
    static func place(of shape: Shape) -> Coordinate? {
        let rings: [[Coordinate]]
        switch shape {
        case .point, .multipoint, .polyline: return nil
        case .envelope(let box): return box.width > 0 && box.height > 0 ? box.center : nil
        case .polygon(let all): rings = all.map(closed)
        }
        let sizes = rings.map { abs(Ring.signedArea($0)) }
        guard let size = sizes.max(), size > 0, let largest = sizes.firstIndex(of: size) else {
            return nil
        }
        let bounds = Shape.multipoint(rings[largest]).envelope
        let near = rings.filter { Shape.multipoint($0).envelope.intersects(bounds) }
        let count = near.reduce(0) { $0 + $1.count }
        let precision = min(bounds.width, bounds.height) / 40
        guard count > cornerBound else {
            return InnerPlace(near, precision: precision, squareLimit: squareLimits.thinned)?.place
        }
        let step = count / cornerBound + 1
        let thinned = near.map { ring in
            stride(from: 0, to: ring.count - 1, by: step).map { ring[$0] } + ring.suffix(1)
        }
        let found = InnerPlace(thinned, precision: precision, squareLimit: squareLimits.thinned)
        if let found, isInside(found.place, near) { return found.place }
        return InnerPlace(near, precision: precision, squareLimit: squareLimits.whole)?.place
    }

    private static func closed(_ ring: [Coordinate]) -> [Coordinate] {
        guard let first = ring.first, ring.last != first else { return ring }
        return ring + [first]
    }

    private static func isInside(_ place: Coordinate, _ rings: [[Coordinate]]) -> Bool {
        rings.count { Ring.locate(place, in: $0) == .inside } % 2 == 1
    }
}
