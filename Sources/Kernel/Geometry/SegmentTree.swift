// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Rectangles around runs of eight segments, then around runs of eight rectangles, up to one.
///
/// Neighbours along a path are neighbours in space, so the order of the path is a good enough order
/// of the tree, and no sort is needed.
struct SegmentTree: Sendable {
    /// Shapes with no more segments than this are scanned.
    static let threshold = 64
    /// A power of two, 2 to the third.
    private static let fanOut = 8

    /// Up to eight segments of one chain.
    struct Leaf: Sendable {
        var chain: Int
        /// Counted from 0 in the chain.
        var segments: Range<Int>
    }

    /// A node of the tree, a rectangle: level 0 is above the leaves.
    struct Node {
        var level: Int
        var index: Int
    }

    let leaves: [Leaf]
    private let levels: [[Envelope]]

    init(_ chains: [PreparedShape.Chain], _ coordinates: [Coordinate]) {
        var leaves: [Leaf] = []
        var boxes: [Envelope] = []
        let room = chains.reduce(0) { $0 + $1.segments.count / Self.fanOut + 1 }
        leaves.reserveCapacity(room)
        boxes.reserveCapacity(room)
        for (number, chain) in chains.enumerated() {
            for first in stride(from: 0, to: chain.segments.count, by: Self.fanOut) {
                let last = min(first + Self.fanOut, chain.segments.count)
                leaves.append(Leaf(chain: number, segments: first..<last))
                var box = Envelope.empty
                let end = chain.isJoined ? min(last, chain.count - 1) : last - 1
                for index in first...end { box.extend(to: coordinates[chain.start + index]) }
                boxes.append(box)
            }
        }
        var levels = [boxes]
        while let below = levels.last, below.count > 1 {
            levels.append(
                stride(from: 0, to: below.count, by: Self.fanOut).map { first in
                    below[first..<min(first + Self.fanOut, below.count)]
                        .reduce(Envelope.empty) { $0.union($1) }
                })
        }
        self.leaves = leaves
        self.levels = levels
    }

    var root: Node { Node(level: levels.count - 1, index: 0) }

    func envelope(_ node: Node) -> Envelope { levels[node.level][node.index] }

    /// The first and the last leaf below a node.
    func leaves(_ node: Node) -> (first: Leaf, last: Leaf) {
        let first = node.index << (3 * node.level)
        let last = min((node.index + 1) << (3 * node.level), leaves.count) - 1
        return (leaves[first], leaves[last])
    }

    /// The nodes one level below; only for levels above 0.
    func children(_ node: Node) -> Range<Int> {
        let first = node.index * Self.fanOut
        return first..<min(first + Self.fanOut, levels[node.level - 1].count)
    }

    /// The children no farther from a rectangle than the root of `bound`, the nearest first.
    func children(_ node: Node, near box: Envelope, atMost bound: Double) -> OrderedNodes {
        var ordered = OrderedNodes()
        for index in children(node) {
            let child = Node(level: node.level - 1, index: index)
            let square = envelope(child).squaredDistance(to: box)
            if square <= bound { ordered.insert(child, square) }
        }
        return ordered
    }

    /// Up to eight nodes, one level's, by rising distance; nodes equally far keep their order.
    struct OrderedNodes {
        private var entries = InlineArray<8, (node: Node, square: Double)>(
            repeating: (Node(level: 0, index: 0), 0))
        private(set) var count = 0

        /// A node and its squared distance.
        subscript(_ number: Int) -> (node: Node, square: Double) { entries[number] }

        fileprivate mutating func insert(_ node: Node, _ square: Double) {
            var place = count
            while place > 0, entries[place - 1].square > square {
                entries[place] = entries[place - 1]
                place -= 1
            }
            entries[place] = (node, square)
            count += 1
        }
    }
}
