// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A location relative to an area.
public enum Location: Hashable, Sendable {
    /// Inside, not on a ring.
    case inside
    /// On a ring.
    case boundary
    /// Neither.
    case outside
}

/// One step of the even-odd rule: whether the ray from `position` towards +x crosses the edge.
///
/// Nil for a position on the edge. Exact.
@inline(__always)
func crosses(_ position: Coordinate, _ a: Coordinate, _ b: Coordinate) -> Bool? {
    let isAbove = a.y > position.y
    if isAbove != (b.y > position.y) {
        if a.x > position.x && b.x > position.x { return true }
        if a.x < position.x && b.x < position.x { return false }
        let turn = orientation(a, b, position)
        return turn == 0 ? nil : (turn > 0) == (b.y > a.y)
    }
    if isAbove || (a.y != position.y && b.y != position.y) { return false }
    if a.y == b.y {
        return min(a.x, b.x) <= position.x && position.x <= max(a.x, b.x) ? nil : false
    }
    return a == position || b == position ? nil : false
}

/// Predicates of one closed ring of coordinates (the first repeated as the last, or implied).
public enum Ring {
    /// The location of the position by the even-odd rule; exact, also for self-crossing rings.
    public static func locate(_ position: Coordinate, in ring: [Coordinate]) -> Location {
        guard var previous = ring.last else { return .outside }
        var isInside = false
        for coordinate in ring {
            guard let crosses = crosses(position, previous, coordinate) else { return .boundary }
            if crosses { isInside.toggle() }
            previous = coordinate
        }
        return isInside ? .inside : .outside
    }

    /// The area in square units, positive for a counter-clockwise ring.
    ///
    /// Rounded. Parts of a self-crossing ring cancel.
    public static func signedArea(_ ring: ArraySlice<Coordinate>) -> Double {
        guard let origin = ring.first else { return 0 }
        var sum = 0.0
        var previous = Coordinate(x: 0, y: 0)
        for coordinate in ring {
            let next = Coordinate(x: coordinate.x - origin.x, y: coordinate.y - origin.y)
            sum += previous.x * next.y - next.x * previous.y
            previous = next
        }
        return sum / 2
    }

    /// Whether the signed area is negative, as Esri's exteriors have it; exact, false when it is
    /// zero.
    public static func isClockwise(_ ring: ArraySlice<Coordinate>) -> Bool {
        guard let origin = ring.first else { return false }
        var (reach, doubled) = (0.0, 0.0)
        var last = Coordinate(x: 0, y: 0)
        for coordinate in ring {
            let next = Coordinate(x: coordinate.x - origin.x, y: coordinate.y - origin.y)
            doubled += last.x * next.y - next.x * last.y
            reach = max(reach, abs(next.x), abs(next.y))
            last = next
        }
        let area = doubled / 2
        let count = Double(ring.count)
        let bound = count * count * reach * reach * 0x1p-50
        if abs(area) > bound { return area < 0 }
        var sum = Expansion()
        var previous = ring.last ?? origin
        for coordinate in ring {
            sum.addProduct(previous.x, coordinate.y, sign: 1)
            sum.addProduct(coordinate.x, previous.y, sign: -1)
            previous = coordinate
        }
        return sum.mostSignificant < 0
    }

    /// The signed area of a whole array.
    public static func signedArea(_ ring: [Coordinate]) -> Double { signedArea(ring[...]) }

    /// The winding of a whole array.
    public static func isClockwise(_ ring: [Coordinate]) -> Bool { isClockwise(ring[...]) }
}
