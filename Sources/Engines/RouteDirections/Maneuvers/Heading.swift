// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Glibc

/// Directions in degrees clockwise from north, and angles between them.
enum Heading {
    /// How far from a junction a direction is taken, so that kinks of the digitised line between
    /// count for nothing: metres.
    static let reach = 15.0
    private static let metersPerDegree = 111_195.0

    /// The direction from one position to another, 0 ..< 360; nil where they are one.
    static func bearing(from start: Coordinate, to end: Coordinate) -> Double? {
        let shrink = cos((start.y + end.y) / 2 * .pi / 180)
        let east = difference(of: end.x, and: start.x) * shrink
        let north = end.y - start.y
        guard east != 0 || north != 0 else { return nil }
        return whole(atan2(east, north) * 180 / .pi)
    }

    /// The direction in which a line arrives at its end; nil for one without length.
    static func arrival(of shape: [Coordinate]) -> Double? {
        guard let end = shape.last else { return nil }
        return point(at: reach, along: shape.reversed()).flatMap { bearing(from: $0, to: end) }
    }

    /// The direction in which a line leaves its start; nil for one without length.
    static func departure(of shape: [Coordinate]) -> Double? {
        guard let start = shape.first else { return nil }
        return point(at: reach, along: shape).flatMap { bearing(from: start, to: $0) }
    }

    /// The change from one direction to another, −180 < a ≤ 180; to the right positive.
    static func change(from before: Double, to after: Double) -> Double {
        let angle = whole(after - before)
        return angle > 180 ? angle - 360 : angle
    }

    static func whole(_ angle: Double) -> Double {
        if angle >= 0, angle < 360 { return angle }
        let rest = angle.truncatingRemainder(dividingBy: 360)
        return rest < 0 ? (rest + 360 < 360 ? rest + 360 : 0) : rest
    }

    /// Metres between two positions that are near each other.
    static func distance(_ start: Coordinate, _ end: Coordinate) -> Double {
        let shrink = cos((start.y + end.y) / 2 * .pi / 180)
        let east = difference(of: end.x, and: start.x) * shrink
        return hypot(east, end.y - start.y) * metersPerDegree
    }

    /// A difference of longitudes over the shorter way around the earth.
    private static func difference(of one: Double, and other: Double) -> Double {
        change(from: other, to: one)
    }

    /// The position that many metres along a line, its end where the line is shorter; nil where
    /// that is the start.
    private static func point(
        at meters: Double, along shape: some Collection<Coordinate>
    ) -> Coordinate? {
        guard let start = shape.first else { return nil }
        var rest = meters
        var last = start
        for next in shape.dropFirst() {
            let step = distance(last, next)
            if step >= rest, step > 0 {
                let part = rest / step
                return Coordinate(
                    x: last.x + difference(of: next.x, and: last.x) * part,
                    y: last.y + (next.y - last.y) * part)
            }
            rest -= step
            last = next
        }
        return last == start ? nil : last
    }
}
