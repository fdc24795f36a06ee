// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// Rings whose windings count how often a place is within a distance of lines: all places within
/// it are those with a winding above 0.
///
/// Along each segment lies a rectangle on one side, at each vertex that turns away from that side a
/// sector of a circle, and all of them run counterclockwise. Their borders along the line and from
/// its vertices cancel each other where the next piece joins, so one chain around each line is
/// their sum, whatever it crosses.
public struct OffsetRings: Sendable {
    /// The vertices of a whole circle: chords are within 0.054 % of the distance from the circle.
    public static let circleVertices = 96

    /// The rings, to be read by ``OverlayInput/Rule/positive``.
    public private(set) var rings: [[Coordinate]] = []
    private let distance: Double

    /// No rings yet.
    ///
    /// - Parameter distance: Above 0, in units of the coordinates.
    public init(distance: Double) { self.distance = distance }

    /// Adds all within the distance of a place.
    public mutating func add(around place: Coordinate) {
        let step = 2 * Double.pi / Double(Self.circleVertices)
        rings.append(
            (0..<Self.circleVertices).map { index in
                at(place, angle: Double(index) * step)
            })
    }

    /// Adds all within the distance of a line, which ends in half circles.
    public mutating func add(along path: [Coordinate]) {
        let path = Self.distinct(path)
        guard path.count > 1 else {
            if let place = path.first { add(around: place) }
            return
        }
        rings.append(chain(path + path.dropFirst().dropLast().reversed()))
    }

    /// Adds all that is within the distance on the left of a ring.
    ///
    /// - Parameter includesRight: Whether also what the ring encloses on its right.
    public mutating func add(leftOf ring: [Coordinate], includesRight: Bool) {
        var own = Self.distinct(ring)
        if own.count > 1, own.first == own.last { own.removeLast() }
        guard own.count > 1 else { return }
        rings.append(chain(own))
        if !includesRight { rings.append(own) }
    }

    private static func distinct(_ path: [Coordinate]) -> [Coordinate] {
        var result: [Coordinate] = []
        result.reserveCapacity(path.count)
        for place in path where result.last != place { result.append(place) }
        return result
    }

    private func at(_ place: Coordinate, angle: Double) -> Coordinate {
        Coordinate(x: place.x + distance * cos(angle), y: place.y + distance * sin(angle))
    }

    /// The chain on the left of a ring that is not closed, backwards.
    private func chain(_ ring: [Coordinate]) -> [Coordinate] {
        var result: [Coordinate] = []
        result.reserveCapacity(ring.count * 4)
        let step = 2 * Double.pi / Double(Self.circleVertices)
        func direction(_ index: Int) -> (x: Double, y: Double) {
            let (a, b) = (ring[index], ring[index + 1 == ring.count ? 0 : index + 1])
            // Halves, whose difference is finite.
            let (dx, dy) = (b.x / 2 - a.x / 2, b.y / 2 - a.y / 2)
            let length = hypot(dx, dy)
            return (dx / length, dy / length)
        }
        var before = direction(ring.count - 1)
        for (index, place) in ring.enumerated() {
            let after = direction(index)
            func side(_ way: (x: Double, y: Double)) -> Coordinate {
                Coordinate(x: place.x - distance * way.y, y: place.y + distance * way.x)
            }
            let turn = before.x * after.y - before.y * after.x
            let along = before.x * after.x + before.y * after.y
            result.append(side(before))
            if turn > 0 {
                result.append(place)
            } else if turn < 0 || along < 0 {
                let angle = abs(atan2(turn, along))
                let start = atan2(before.x, -before.y)
                let count = Int((angle / step).rounded(.up))
                for number in 1..<max(count, 1) {
                    result.append(
                        at(place, angle: start - angle * Double(number) / Double(count)))
                }
            }
            result.append(side(after))
            before = after
        }
        return result.reversed()
    }
}
