// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A segment of the inputs from the node `a` to the node `b`, of which `a` is the lower by x and
/// then by y, and how often each input passes along it: forwards less backwards for rings.
struct OverlaySegment {
    var a: Int32
    var b: Int32
    var turns: SIMD2<Int32>
    /// Bit 0: the first input has it as a line; bit 1: the second.
    var lines: UInt8

    var key: UInt64 { UInt64(UInt32(a)) << 32 | UInt64(UInt32(b)) }
}

/// Segments cut at all nodes that they pass, so that they meet in nodes alone.
///
/// Snap rounding on a grid (J. D. Hobby, "Practical segment intersection with finite precision
/// output", 1999): nodes are the ends of segments and their crossings, rounded; a segment that
/// passes through the pixel of a node is led through the node, and so again the pieces, until none
/// passes another (D. Halperin and E. Packer, "Iterated snap rounding", 2002), so that what is
/// rounded stays as it is when it is rounded again. No vertex moves by more than a step of the
/// grid, and no two segments cross that did not. Crossings and nodes are found in packed
/// trees of rectangles, in n log n and the number of answers.
struct Noding {
    private(set) var nodes: NodeTable
    /// In the order of their keys before they were cut.
    private(set) var segments: [OverlaySegment]
    /// The nodes within each segment, in its direction; of segment `i` from `starts[i]`.
    private(set) var inner: [Int32] = []
    private(set) var starts: [Int32] = []
    /// Whether a node has to stay on the grid: where a segment passes it by within three steps,
    /// all nodes of both would else have to be compared again.
    private(set) var isBound: [Bool] = []

    init(_ nodes: NodeTable, _ given: [OverlaySegment]) throws(OverlayFailure) {
        self.nodes = nodes
        segments = Self.merged(given)
        let places = nodes.places
        let order = BoxTree.order(
            segments.map { segment in
                let (a, b) = (places[Int(segment.a)], places[Int(segment.b)])
                return Coordinate(x: (a.x + b.x) / 2, y: (a.y + b.y) / 2)
            })
        try findCrossings(order)
        try cut(order)
    }

    /// One segment of several between the same nodes.
    static func merged(_ given: [OverlaySegment]) -> [OverlaySegment] {
        var order = given
        order.sort { $0.key < $1.key }
        var kept = 0
        for index in order.indices {
            if kept > 0, order[kept - 1].key == order[index].key {
                order[kept - 1].turns &+= order[index].turns
                order[kept - 1].lines |= order[index].lines
            } else {
                order[kept] = order[index]
                kept += 1
            }
        }
        order.removeSubrange(kept...)
        return order
    }

    private mutating func findCrossings(_ order: [Int]) throws(OverlayFailure) {
        let places = nodes.places
        let tree = BoxTree(
            order.map { index in
                Self.box(places[Int(segments[index].a)], places[Int(segments[index].b)])
            })
        var stack: [(level: Int, index: Int)] = []
        var (count, pairs) = (0, 0)
        var found: [Coordinate] = []
        for (position, index) in order.enumerated() {
            let (a, b) = (places[Int(segments[index].a)], places[Int(segments[index].b)])
            let line = BoxTest(a, b, margin: 0)
            found.removeAll(keepingCapacity: true)
            tree.search(after: position, &stack, where: { line.meets($0) }) { other in
                pairs += 1
                let segment = segments[order[other]]
                let (c, d) = (places[Int(segment.a)], places[Int(segment.b)])
                guard GridTest.turn(a, b, c) * GridTest.turn(a, b, d) < 0,
                    GridTest.turn(c, d, a) * GridTest.turn(c, d, b) < 0
                else { return }
                found.append(GridTest.crossing(a, b, c, d))
            }
            count += found.count
            guard count <= Overlay.crossingLimit, pairs <= Overlay.pairLimit else {
                throw .tooManyCrossings
            }
            for place in found { _ = nodes.number(of: place) }
        }
    }

    private mutating func cut(_ order: [Int]) throws(OverlayFailure) {
        var search = PixelSearch(nodes.places)
        var lists: [(start: Int32, count: Int32)] = Array(
            repeating: (0, 0), count: segments.count)
        var found: [Int32] = []
        // Neighbours one after the other, which finds the tree's rectangles in the cache.
        for index in order {
            let start = found.count
            // A piece that is led through a node may pass a pixel that the segment did not.
            var ends = [segments[index].b]
            var from = segments[index].a
            while let to = ends.popLast() {
                let inner = search.nodes(from: from, to: to)
                if inner.isEmpty {
                    found.append(to)
                    from = to
                } else {
                    ends.append(to)
                    ends += inner.reversed()
                }
                guard found.count + ends.count <= 4 * Overlay.crossingLimit + order.count else {
                    throw .tooManyCrossings
                }
            }
            found.removeLast()
            lists[index] = (Int32(start), Int32(found.count - start))
        }
        isBound = search.isBound
        inner.reserveCapacity(found.count)
        starts.reserveCapacity(segments.count + 1)
        for list in lists {
            starts.append(Int32(inner.count))
            inner += found[Int(list.start)..<Int(list.start + list.count)]
        }
        starts.append(Int32(inner.count))
    }

    /// The nodes of a segment from its first to its last.
    func chain(_ index: Int) -> [Int32] {
        [segments[index].a] + inner[Int(starts[index])..<Int(starts[index + 1])]
            + [segments[index].b]
    }

    /// The nodes from one node to another that were a segment's ends before it was cut.
    func chain(from a: Int32, to b: Int32) -> [Int32] {
        let places = nodes.places
        let isForward = OverlayOrder.precedes(places[Int(a)], places[Int(b)])
        let (low, high) = isForward ? (a, b) : (b, a)
        let key = UInt64(UInt32(low)) << 32 | UInt64(UInt32(high))
        var (first, last) = (0, segments.count)
        while first < last {
            let middle = (first + last) / 2
            if segments[middle].key < key { first = middle + 1 } else { last = middle }
        }
        guard first < segments.count, segments[first].key == key else { return [a, b] }
        return isForward ? chain(first) : chain(first).reversed()
    }

    private static func box(_ a: Coordinate, _ b: Coordinate) -> Envelope {
        Envelope(minX: min(a.x, b.x), minY: min(a.y, b.y), maxX: max(a.x, b.x), maxY: max(a.y, b.y))
    }

    /// The nodes whose pixels a piece of a segment passes through.
    private struct PixelSearch {
        private let places: [Coordinate]
        private let order: [Int]
        private let tree: BoxTree
        private var stack: [(level: Int, index: Int)] = []
        private(set) var isBound: [Bool]

        init(_ places: [Coordinate]) {
            self.places = places
            order = BoxTree.order(places)
            tree = BoxTree(order.map { Self.box(places[$0]) })
            isBound = Array(repeating: false, count: places.count)
        }

        private static func box(_ place: Coordinate) -> Envelope {
            Envelope(minX: place.x, minY: place.y, maxX: place.x, maxY: place.y)
        }

        /// In the direction of the piece; where there are none, what it passes by is bound.
        mutating func nodes(from: Int32, to: Int32) -> [Int32] {
            let places = places
            let isForward = OverlayOrder.precedes(places[Int(from)], places[Int(to)])
            let (a, b) = (places[Int(isForward ? from : to)], places[Int(isForward ? to : from)])
            let line = BoxTest(a, b, margin: 3)
            var found: [Int32] = []
            var near: [Int32] = []
            tree.search(after: -1, &stack, where: { line.meets($0) }) { position in
                let node = Int32(truncatingIfNeeded: order[position])
                guard node != from, node != to else { return }
                if GridTest.passes(a, b, through: places[Int(node)]) {
                    found.append(node)
                } else {
                    near.append(node)
                }
            }
            if found.isEmpty {
                if !near.isEmpty { near += [from, to] }
                for node in near { isBound[Int(node)] = true }
                return []
            }
            let isRising = (a.y <= b.y) == isForward
            found.sort { one, other in
                let (one, other) = (places[Int(one)], places[Int(other)])
                if one.x != other.x { return (one.x < other.x) == isForward }
                return (one.y < other.y) == isRising
            }
            return found
        }
    }

    /// Whether a segment, widened by a margin, may meet rectangles.
    private struct BoxTest {
        private let (minX, minY, maxX, maxY): (Double, Double, Double, Double)
        private let (dx, dy): (Double, Double)
        private let start: Coordinate
        private let margin: Double

        init(_ a: Coordinate, _ b: Coordinate, margin: Double) {
            (minX, maxX) = (min(a.x, b.x) - margin, max(a.x, b.x) + margin)
            (minY, maxY) = (min(a.y, b.y) - margin, max(a.y, b.y) + margin)
            (dx, dy) = (b.x - a.x, b.y - a.y)
            start = a
            self.margin = margin
        }

        @inline(__always)
        func meets(_ box: Envelope) -> Bool {
            guard box.minX <= maxX, box.maxX >= minX, box.minY <= maxY, box.maxY >= minY else {
                return false
            }
            let (left, right) = (
                dx * ((box.minY + box.maxY) / 2 - start.y),
                dy * ((box.minX + box.maxX) / 2 - start.x)
            )
            let reach =
                abs(dx) * ((box.maxY - box.minY) / 2 + margin)
                + abs(dy) * ((box.maxX - box.minX) / 2 + margin)
            return abs(left - right) <= reach + (abs(left) + abs(right)) * 0x1p-48
        }
    }
}

/// The order of nodes: by x, then by y.
enum OverlayOrder {
    @inline(__always)
    static func precedes(_ a: Coordinate, _ b: Coordinate) -> Bool {
        a.x != b.x ? a.x < b.x : a.y < b.y
    }
}
