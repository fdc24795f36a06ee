// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The pole of inaccessibility: the place inside rings that is farthest from all of them.
///
/// Squares are subdivided while they may still contain a better place (Garcia-Castellanos and
/// Lombardo, 2007, in the form of Mapbox's polylabel).
public struct InnerPlace: Hashable, Sendable {
    /// The place.
    public let place: Coordinate
    /// Its distance to the nearest ring.
    public let distance: Double

    /// Finds the place; nil for an empty interior.
    ///
    /// - Parameters:
    ///   - rings: Closed; the even-odd rule decides the interior.
    ///   - precision: The smallest improvement worth a search, in the rings' units; above 0.
    ///   - squareLimit: The most squares that are examined.
    public init?(_ rings: [[Coordinate]], precision: Double, squareLimit: Int = 600) {
        let bounds = Shape.polygon(rings: rings).envelope
        let side = min(bounds.width, bounds.height)
        guard side > 0, side.isFinite else { return nil }
        let rows = Rings(rings)
        var best: Square?
        func look(_ square: Square) { if square.distance > best?.distance ?? 0 { best = square } }
        look(Square(bounds.center, half: 0, rows))
        // Elongated areas would start with many squares.
        let step = max(side, max(bounds.width, bounds.height) / 16)
        var waiting: [Square] = []
        var y = bounds.minY
        while y < bounds.maxY {
            var x = bounds.minX
            while x < bounds.maxX {
                let middle = Coordinate(x: x + step / 2, y: y + step / 2)
                let square = Square(middle, half: step / 2, rows)
                look(square)
                waiting.append(square)
                x += step
            }
            y += step
        }
        var count = waiting.count
        while count < squareLimit,
            let next = waiting.indices.max(by: { waiting[$0].promise < waiting[$1].promise })
        {
            let square = waiting.remove(at: next)
            guard square.promise - (best?.distance ?? 0) > precision else { break }
            let half = square.half / 2
            for (dx, dy) in [(-half, -half), (half, -half), (-half, half), (half, half)] {
                let middle = Coordinate(x: square.middle.x + dx, y: square.middle.y + dy)
                let part = Square(middle, half: half, rows)
                look(part)
                waiting.append(part)
            }
            count += 4
        }
        guard let best else { return nil }
        place = best.middle
        distance = best.distance
    }

    private struct Square {
        let middle: Coordinate
        let half: Double
        /// Distance to the nearest ring; below 0 outside.
        let distance: Double
        /// Upper bound of the distance within the square.
        var promise: Double { distance + half * 2.0.squareRoot() }

        init(_ middle: Coordinate, half: Double, _ rings: Rings) {
            self.middle = middle
            self.half = half
            distance = rings.distance(from: middle)
        }
    }

    private struct Rings {
        let rings: [[Coordinate]]

        init(_ rings: [[Coordinate]]) { self.rings = rings }

        func distance(from place: Coordinate) -> Double {
            var isInside = false
            var least = Double.infinity
            for ring in rings {
                for (from, to) in zip(ring, ring.dropFirst()) {
                    let (dx, dy) = (to.x - from.x, to.y - from.y)
                    if (from.y > place.y) != (to.y > place.y),
                        place.x < dx * (place.y - from.y) / dy + from.x
                    {
                        isInside.toggle()
                    }
                    let length = dx * dx + dy * dy
                    let along = (place.x - from.x) * dx + (place.y - from.y) * dy
                    let share = length > 0 ? min(1, max(0, along / length)) : 0
                    let (gapX, gapY) = (
                        place.x - from.x - share * dx, place.y - from.y - share * dy
                    )
                    least = min(least, gapX * gapX + gapY * gapY)
                }
            }
            return (isInside ? 1 : -1) * least.squareRoot()
        }
    }
}
