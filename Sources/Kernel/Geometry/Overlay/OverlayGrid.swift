// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Why geometries cannot be overlaid.
public enum OverlayFailure: Error, Hashable, Sendable {
    /// A coordinate that is not a finite number.
    case notFinite(Coordinate)
    /// More vertices than ``Overlay/vertexLimit``.
    case tooManyVertices(Int)
    /// More crossings than ``Overlay/crossingLimit``, or far more segments side by side.
    case tooManyCrossings

    /// What was found, and what was expected.
    public var message: String {
        switch self {
        case .notFinite(let place): "the coordinate (\(place.x), \(place.y)) is not finite"
        case .tooManyVertices(let count):
            "the geometries have \(count) vertices, expected at most \(Overlay.vertexLimit)"
        case .tooManyCrossings:
            "the geometries cross themselves or each other more than \(Overlay.crossingLimit) "
                + "times, or have too many long segments side by side"
        }
    }
}

/// The grid of whole numbers that vertices are snapped to.
///
/// Its lines are a power of two apart and run through 0, so a coordinate that is on the grid stays
/// as it is. Of coordinates that are all smaller than 2⁻⁹⁴⁰ each is 0.
struct OverlayGrid {
    /// Whole numbers up to 2 to this power, either side of 0.
    static let bits = 40

    /// The distance of two lines, in the units of the coordinates.
    let step: Double
    private let perUnit: Double

    /// The grid for coordinates up to a magnitude.
    init(greatest: Double) {
        // Far enough from the ends of a double's range that both factors are ordinary numbers.
        let exponent = greatest > 0 ? min(max(Int(greatest.exponent) + 1, -900), 1_023) : 0
        step = Double(sign: .plus, exponent: exponent - Self.bits, significand: 1)
        perUnit = Double(sign: .plus, exponent: Self.bits - exponent, significand: 1)
    }

    func snap(_ place: Coordinate) -> Coordinate {
        // Adding 0 makes one zero of two.
        Coordinate(
            x: (place.x * perUnit + 0.5).rounded(.down) + 0,
            y: (place.y * perUnit + 0.5).rounded(.down) + 0)
    }

    func place(_ node: Coordinate) -> Coordinate {
        Coordinate(x: node.x * step, y: node.y * step)
    }
}

/// Exact tests of places on the grid, whose ordinates are whole numbers, or halves of them, that a
/// double holds.
enum GridTest {
    /// The turn of `a` → `b` → `c`: 1 to the left, -1 to the right, 0 for places in line.
    @inline(__always)
    static func turn(_ a: Coordinate, _ b: Coordinate, _ c: Coordinate) -> Int {
        let (ux, uy) = (b.x - a.x, b.y - a.y)
        let (vx, vy) = (c.x - a.x, c.y - a.y)
        let (left, right) = (ux * vy, uy * vx)
        let difference = left - right
        if abs(difference) > (abs(left) + abs(right)) * 0x1p-51 { return difference > 0 ? 1 : -1 }
        if left == 0, right == 0 { return 0 }
        let exact = product(ux, vy) &- product(uy, vx)
        return exact == 0 ? 0 : exact > 0 ? 1 : -1
    }

    /// Four times the product of two multiples of a half.
    private static func product(_ a: Double, _ b: Double) -> Int128 {
        Int128(Int64(a * 2)) &* Int128(Int64(b * 2))
    }

    /// Where two segments that cross do so, rounded to the grid, halves up.
    static func crossing(
        _ a: Coordinate, _ b: Coordinate, _ c: Coordinate, _ d: Coordinate
    ) -> Coordinate {
        func whole(_ number: Double) -> Int128 { Int128(Int64(number)) }
        let (ux, uy) = (whole(b.x - a.x), whole(b.y - a.y))
        let (vx, vy) = (whole(d.x - c.x), whole(d.y - c.y))
        let (wx, wy) = (whole(c.x - a.x), whole(c.y - a.y))
        var along = wx &* vy &- wy &* vx
        var all = ux &* vy &- uy &* vx
        if all < 0 { (along, all) = (0 - along, 0 - all) }
        let share = Double(along) / Double(all)
        func rounded(_ start: Double, _ run: Int128) -> Double {
            let shift = Double(Int64(run)) * share + 0.5
            let below = shift.rounded(.down)
            // The error of the shift is less than a thousandth of the grid's step.
            if shift - below > 0x1p-8, below + 1 - shift > 0x1p-8 { return start + below }
            let numerator = 2 &* run &* along &+ all
            let (quotient, rest) = numerator.quotientAndRemainder(dividingBy: 2 &* all)
            return start + Double(Int64(rest < 0 ? quotient - 1 : quotient))
        }
        return Coordinate(x: rounded(a.x, ux), y: rounded(a.y, uy))
    }

    /// Whether a segment from `a` to `b`, `a` before `b` by x and then by y, passes through the
    /// pixel of a node: the square of one step around it, with its left and lower sides.
    static func passes(_ a: Coordinate, _ b: Coordinate, through node: Coordinate) -> Bool {
        let (left, right) = (node.x - 0.5, node.x + 0.5)
        let (low, high) = (node.y - 0.5, node.y + 0.5)
        guard a.x < right, b.x >= left, min(a.y, b.y) < high, max(a.y, b.y) >= low else {
            return false
        }
        if a.x == b.x || a.y == b.y { return true }
        let isRising = a.y < b.y
        let upperLeft = turn(a, b, Coordinate(x: left, y: high))
        if upperLeft == 0 { return !isRising }
        let upperRight = turn(a, b, Coordinate(x: right, y: high))
        if upperRight == 0 { return isRising }
        if upperLeft != upperRight { return true }
        let lowerLeft = turn(a, b, Coordinate(x: left, y: low))
        if lowerLeft != upperRight { return true }
        let lowerRight = turn(a, b, Coordinate(x: right, y: low))
        if lowerRight == 0 { return !isRising }
        return lowerRight != lowerLeft
    }
}

/// Numbers of the places of a grid, counted from 0 as they come.
struct NodeTable {
    private(set) var places: [Coordinate] = []
    private var slots: [Int32]
    private var mask: Int

    init(room: Int) {
        var size = 16
        while size < room * 2 { size *= 2 }
        slots = Array(repeating: -1, count: size)
        mask = size - 1
    }

    /// The number of a place, and whether it is new.
    mutating func number(of place: Coordinate) -> (number: Int32, isNew: Bool) {
        if places.count * 2 >= slots.count { grow() }
        var slot = hash(place)
        while slots[slot] >= 0 {
            if places[Int(slots[slot])] == place { return (slots[slot], false) }
            slot = (slot &+ 1) & mask
        }
        let number = Int32(places.count)
        slots[slot] = number
        places.append(place)
        return (number, true)
    }

    private func hash(_ place: Coordinate) -> Int {
        var bits = place.x.bitPattern &* 0x9E37_79B9_7F4A_7C15
        bits ^= bits >> 29
        bits = (bits &+ place.y.bitPattern) &* 0xBF58_476D_1CE4_E5B9
        bits ^= bits >> 32
        return Int(truncatingIfNeeded: bits) & mask
    }

    private mutating func grow() {
        mask = slots.count * 2 - 1
        slots = Array(repeating: -1, count: mask + 1)
        for (number, place) in places.enumerated() {
            var slot = hash(place)
            while slots[slot] >= 0 { slot = (slot &+ 1) & mask }
            slots[slot] = Int32(number)
        }
    }
}
