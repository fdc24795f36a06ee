// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// An edge between two places, the lesser first, in 64 bits; orders by its first place.
struct PackedEdge: Hashable, Comparable {
    let bits: UInt64

    @inline(__always)
    init(_ one: PackedPlace, _ other: PackedPlace) {
        let (low, high) = one < other ? (one, other) : (other, one)
        bits = UInt64(low.bits) << 32 | UInt64(high.bits)
    }

    @inline(__always)
    var low: PackedPlace { PackedPlace(bits: UInt32(truncatingIfNeeded: bits >> 32)) }
    @inline(__always)
    var high: PackedPlace { PackedPlace(bits: UInt32(truncatingIfNeeded: bits)) }

    @inline(__always)
    static func < (first: PackedEdge, second: PackedEdge) -> Bool { first.bits < second.bits }
}

/// Twice the area of the triangle of three places, positive where they turn left in a plane with y
/// upwards.
@inline(__always)
func turn(_ a: PackedPlace, _ b: PackedPlace, _ c: PackedPlace) -> Int {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
}

/// Makes the edges of one polygon meet at their ends alone.
///
/// Rounding can move a vertex over another edge. Where two edges cross, both get a vertex at the
/// cell nearest to the crossing; where an edge runs through a vertex it gets that vertex. This is
/// repeated until nothing is left to do (iterated snap rounding: Halperin and Packer, 2002). Edges
/// that come to be there twice cancel, as the even-odd rule has it.
struct EdgeNoding {
    /// The edges, in order, each once.
    private(set) var edges: [PackedEdge] = []

    private struct Split {
        let edge: Int32
        let place: PackedPlace
    }
    private var splits: [Split] = []
    private var next: [PackedEdge] = []
    private var stripEnds: [Int] = []
    private var stripEdges: [Int32] = []

    /// Rounds after which edges stay as they are; ordinary geometry needs two or three.
    private static let roundLimit = 64

    mutating func removeAll() { edges.removeAll(keepingCapacity: true) }

    /// Adds the edge between two places, if they differ.
    @inline(__always)
    mutating func add(_ one: PackedPlace, _ other: PackedPlace) {
        if one != other { edges.append(PackedEdge(one, other)) }
    }

    /// Sorts and nodes what was added.
    mutating func node() {
        cancelPairs()
        for _ in 0..<Self.roundLimit {
            findSplits()
            if splits.isEmpty { return }
            split()
            cancelPairs()
        }
    }

    private mutating func cancelPairs() {
        edges.sort()
        var kept = 0
        var index = 0
        while index < edges.count {
            let edge = edges[index]
            var end = index + 1
            while end < edges.count && edges[end] == edge { end += 1 }
            if !(end - index).isMultiple(of: 2) {
                edges[kept] = edge
                kept += 1
            }
            index = end
        }
        edges.removeSubrange(kept...)
    }

    /// Compares edges that share an upright strip and some rows.
    private mutating func findSplits() {
        splits.removeAll(keepingCapacity: true)
        guard edges.count > 1 else { return }
        var (left, right) = (Int.max, Int.min)
        for edge in edges {
            left = min(left, edge.low.x, edge.high.x)
            right = max(right, edge.low.x, edge.high.x)
        }
        let wanted = min(max(edges.count / 8, 1), 256)
        var shift = 0
        while (right - left) >> shift >= wanted { shift += 1 }
        stripEnds.removeAll(keepingCapacity: true)
        stripEnds.append(contentsOf: repeatElement(0, count: (right - left) >> shift + 2))
        for edge in edges {
            for strip in Self.strips(of: edge, left, shift) { stripEnds[strip + 1] += 1 }
        }
        for strip in 1..<stripEnds.count { stripEnds[strip] += stripEnds[strip - 1] }
        stripEdges.removeAll(keepingCapacity: true)
        stripEdges.append(contentsOf: repeatElement(0, count: stripEnds[stripEnds.count - 1]))
        for number in edges.indices {
            for strip in Self.strips(of: edges[number], left, shift) {
                stripEdges[stripEnds[strip]] = Int32(truncatingIfNeeded: number)
                stripEnds[strip] += 1
            }
        }
        // Each entry is the end of its strip now, the one before it the start.
        var start = 0
        for strip in 0..<stripEnds.count - 1 {
            compare(strip: start..<stripEnds[strip])
            start = stripEnds[strip]
        }
    }

    @inline(__always)
    private static func strips(of edge: PackedEdge, _ left: Int, _ shift: Int) -> ClosedRange<Int> {
        let (a, b) = (edge.low.x - left, edge.high.x - left)
        return (min(a, b) >> shift)...(max(a, b) >> shift)
    }

    private mutating func compare(strip: Range<Int>) {
        for one in strip {
            let first = edges[Int(stripEdges[one])]
            let bottom = first.high.y
            let (left, right) = (min(first.low.x, first.high.x), max(first.low.x, first.high.x))
            for other in one + 1..<max(strip.upperBound, one + 1) {
                let second = edges[Int(stripEdges[other])]
                if second.low.y > bottom { break }
                if max(second.low.x, second.high.x) < left { continue }
                if min(second.low.x, second.high.x) > right { continue }
                compare(stripEdges[one], first, stripEdges[other], second)
            }
        }
    }

    private mutating func compare(
        _ one: Int32, _ first: PackedEdge, _ other: Int32, _ second: PackedEdge
    ) {
        let (a, b, c, d) = (first.low, first.high, second.low, second.high)
        let (turnC, turnD) = (turn(a, b, c), turn(a, b, d))
        if (turnC > 0 && turnD > 0) || (turnC < 0 && turnD < 0) { return }
        let (turnA, turnB) = (turn(c, d, a), turn(c, d, b))
        if (turnA > 0 && turnB > 0) || (turnA < 0 && turnB < 0) { return }
        if turnA != 0 && turnB != 0 && turnC != 0 && turnD != 0 {
            let (above, below) = (turnA, turnA - turnB)
            let place = PackedPlace(
                x: a.x + Self.rounded((b.x - a.x) * above, by: below),
                y: a.y + Self.rounded((b.y - a.y) * above, by: below))
            if place != a && place != b { splits.append(Split(edge: one, place: place)) }
            if place != c && place != d { splits.append(Split(edge: other, place: place)) }
            return
        }
        // On a line, the order of places is the order along it.
        if turnC == 0 && a < c && c < b { splits.append(Split(edge: one, place: c)) }
        if turnD == 0 && a < d && d < b { splits.append(Split(edge: one, place: d)) }
        if turnA == 0 && c < a && a < d { splits.append(Split(edge: other, place: a)) }
        if turnB == 0 && c < b && b < d { splits.append(Split(edge: other, place: b)) }
    }

    /// A quotient to the nearest whole number, halves upwards.
    private static func rounded(_ number: Int, by divisor: Int) -> Int {
        let (above, below) =
            divisor > 0
            ? (2 * number + divisor, 2 * divisor) : (-2 * number - divisor, -2 * divisor)
        let quotient = above / below
        return above % below < 0 ? quotient - 1 : quotient
    }

    private mutating func split() {
        splits.sort { ($0.edge, $0.place.bits) < ($1.edge, $1.place.bits) }
        next.removeAll(keepingCapacity: true)
        var index = 0
        for number in edges.indices {
            let edge = edges[number]
            var end = index
            while end < splits.count && splits[end].edge == number { end += 1 }
            guard end > index else {
                next.append(edge)
                continue
            }
            // By distance from the first end; rounding may have put a place off the edge.
            let (low, high) = (edge.low, edge.high)
            func along(_ place: PackedPlace) -> Int {
                (place.x - low.x) * (high.x - low.x) + (place.y - low.y) * (high.y - low.y)
            }
            var before = low
            for split in splits[index..<end].sorted(by: {
                (along($0.place), $0.place.bits) < (along($1.place), $1.place.bits)
            }) where split.place != before {
                next.append(PackedEdge(before, split.place))
                before = split.place
            }
            if before != high { next.append(PackedEdge(before, high)) }
            index = end
        }
        swap(&edges, &next)
    }
}
