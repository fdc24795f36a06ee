// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The straight line between two coordinates, both included; a single position when they are equal.
public struct Segment: Hashable, Sendable {
    /// Start.
    public var a: Coordinate
    /// End.
    public var b: Coordinate

    /// Makes the segment from `a` to `b`.
    @inlinable
    @inline(__always)
    public init(a: Coordinate, b: Coordinate) {
        self.a = a
        self.b = b
    }

    /// One step of the even-odd rule: whether the ray from `position` towards +x crosses the
    /// segment.
    ///
    /// Nil for a position on the segment. Exact.
    public func crosses(rayFrom position: Coordinate) -> Bool? {
        Geometry.crosses(position, a, b)
    }

    /// Whether the two closed segments share a position; exact.
    func meets(_ other: Segment) -> Bool {
        guard min(a.x, b.x) <= max(other.a.x, other.b.x),
            min(other.a.x, other.b.x) <= max(a.x, b.x),
            min(a.y, b.y) <= max(other.a.y, other.b.y),
            min(other.a.y, other.b.y) <= max(a.y, b.y)
        else { return false }
        let first = orientation(a, b, other.a)
        let second = orientation(a, b, other.b)
        if first > 0 && second > 0 || first < 0 && second < 0 { return false }
        let third = orientation(other.a, other.b, a)
        let fourth = orientation(other.a, other.b, b)
        return !(third > 0 && fourth > 0 || third < 0 && fourth < 0)
    }

    /// The squared distance to the position: zero exactly when on the segment.
    ///
    /// Rounded otherwise, in square units.
    @inlinable
    public func squaredDistance(to position: Coordinate) -> Double {
        let turn = orientation(a, b, position)
        if turn == 0 && envelope.contains(position) { return 0 }
        let (dx, dy) = (b.x - a.x, b.y - a.y)
        let (px, py) = (position.x - a.x, position.y - a.y)
        let along = px * dx + py * dy
        let length = dx * dx + dy * dy
        let square =
            if !(along > 0) {
                px * px + py * py
            } else if along >= length {
                (position.x - b.x) * (position.x - b.x)
                    + (position.y - b.y) * (position.y - b.y)
            } else {
                turn * turn / length
            }
        return max(square, .leastNonzeroMagnitude)
    }

    /// The square of the distance to the other segment: zero exactly when they meet.
    func squaredDistance(to other: Segment) -> Double {
        if meets(other) { return 0 }
        return min(
            squaredDistance(to: other.a), squaredDistance(to: other.b),
            min(other.squaredDistance(to: a), other.squaredDistance(to: b)))
    }

    /// The smallest rectangle around it.
    @inlinable
    public var envelope: Envelope {
        Envelope(
            minX: min(a.x, b.x), minY: min(a.y, b.y), maxX: max(a.x, b.x), maxY: max(a.y, b.y))
    }

}

extension Envelope {
    /// The square of the distance between two rectangles that are not empty; 0 when they meet.
    func squaredDistance(to other: Envelope) -> Double {
        let dx = max(0, max(other.minX - maxX, minX - other.maxX))
        let dy = max(0, max(other.minY - maxY, minY - other.maxY))
        return dx * dx + dy * dy
    }
}
