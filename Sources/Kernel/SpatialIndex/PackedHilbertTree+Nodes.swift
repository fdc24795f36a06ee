// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

extension PackedHilbertTree {
    /// A node, for searches that choose their own way through the tree.
    public struct Node: Hashable, Sendable {
        /// Levels above the leaves, 0 for a leaf.
        public let level: Int
        /// Its place among all nodes, in the order of the bytes.
        public let number: Int

        /// The node of a place; one that the tree does not have is without children and offset.
        public init(level: Int, number: Int) {
            self.level = level
            self.number = number
        }

        /// Whether it is an item.
        public var isLeaf: Bool { level == 0 }
    }

    /// The node above all others.
    public var root: Node { Node(level: levels.count - 1, number: 0) }

    /// The number stored with a leaf, not checked; nil for an inner node, and when the bytes are
    /// fewer than ``byteCount``.
    public func offset(of node: Node, in tree: RawSpan) -> UInt64? {
        guard node.isLeaf else { return nil }
        return leaf(at: node.number - levels[0].lowerBound, in: tree)?.offset
    }

    /// Calls `body` with each child of an inner node and its rectangle, in their order.
    ///
    /// A leaf has no children; with fewer bytes than ``byteCount`` no node has any.
    public func forEachChild(
        of node: Node, in tree: RawSpan, _ body: (Node, Envelope) -> Void
    ) {
        guard !node.isLeaf, levels.indices.contains(node.level),
            levels[node.level].contains(node.number), tree.byteCount >= byteCount
        else { return }
        let below = levels[node.level - 1]
        let start = below.lowerBound + (node.number - levels[node.level].lowerBound) * nodeSize
        for child in start..<min(start + nodeSize, below.upperBound) {
            body(
                Node(level: node.level - 1, number: child),
                Self.envelope(tree, child * Self.nodeByteCount))
        }
    }
}
