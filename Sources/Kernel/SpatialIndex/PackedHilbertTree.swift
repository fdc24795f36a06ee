// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// The shape of a packed Hilbert R-tree as FlatGeobuf stores it: the ranges of its levels, and the
/// search in place.
///
/// The bytes are an array of 40-byte nodes, little-endian: four doubles (min x, min y, max x, max
/// y) and an unsigned 64-bit offset. The root comes first, the leaves last, every level without
/// gaps. The value holds no bytes; every search lends it some. A child's offset follows from its
/// parent's, so those of inner nodes are never read and damaged ones cannot lead astray.
public struct PackedHilbertTree: Hashable, Sendable {
    /// Bytes per node.
    public static let nodeByteCount = 40
    /// The most items a tree may have, so that no size computed from it can overflow.
    public static let itemLimit = 1 << 40

    /// Number of leaves, at least 1.
    public let itemCount: Int
    /// Most children of an inner node, 2…65535.
    public let nodeSize: Int
    /// The node numbers of each level, leaves first, root last.
    let levels: [Range<Int>]

    /// Lays out the tree; nil when `itemCount` is not in 1…2^40 or `nodeSize` not in 2…65535.
    public init?(itemCount: Int, nodeSize: Int) {
        guard 1...Self.itemLimit ~= itemCount, 2...65535 ~= nodeSize else { return nil }
        self.itemCount = itemCount
        self.nodeSize = nodeSize
        var counts = [itemCount]
        var count = itemCount
        repeat {
            count = (count + nodeSize - 1) / nodeSize
            counts.append(count)
        } while count > 1
        var end = counts.reduce(0, +)
        var levels: [Range<Int>] = []
        for count in counts {
            levels.append(end - count..<end)
            end -= count
        }
        self.levels = levels
    }

    /// Number of nodes, leaves included.
    public var nodeCount: Int { levels[0].upperBound }
    /// Byte count of the tree.
    public var byteCount: Int { nodeCount * Self.nodeByteCount }

    /// One leaf: an item and its rectangle.
    public struct Leaf: Hashable, Sendable {
        /// The place of the item among all items, from 0.
        public var ordinal: Int
        /// The item's rectangle.
        public var envelope: Envelope
        /// The number stored with the item, not checked.
        ///
        /// In FlatGeobuf it is the offset of the feature, in bytes after the tree.
        public var offset: UInt64
    }

    /// The rectangle around all items; nil when the bytes are fewer than ``byteCount``.
    public func rootEnvelope(in tree: RawSpan) -> Envelope? {
        tree.byteCount >= byteCount ? Self.envelope(tree, 0) : nil
    }

    /// The leaf at `ordinal`; nil when the ordinal is not a leaf's or the bytes end before it.
    public func leaf(at ordinal: Int, in tree: RawSpan) -> Leaf? {
        guard 0..<itemCount ~= ordinal else { return nil }
        let byte = (levels[0].lowerBound + ordinal) * Self.nodeByteCount
        guard byte + Self.nodeByteCount <= tree.byteCount else { return nil }
        return Leaf(
            ordinal: ordinal, envelope: Self.envelope(tree, byte),
            offset: UInt64(
                littleEndian: unsafe tree.unsafeLoadUnaligned(
                    fromByteOffset: byte + 32, as: UInt64.self)))
    }

    /// Calls `body` with every leaf whose rectangle intersects `envelope`, in leaf order.
    ///
    /// Visits O(levels × hits) nodes; allocates nothing.
    ///
    /// - Parameter tree: The tree's bytes; with fewer than ``byteCount`` nothing is found.
    public func search<E: Error>(
        _ tree: RawSpan, _ envelope: Envelope, _ body: (Leaf) throws(E) -> Void
    ) throws(E) {
        guard tree.byteCount >= byteCount, !envelope.isEmpty else { return }
        try descend(tree, levels.count - 1, levels[levels.count - 1], envelope, body)
    }

    /// Tests the nodes `range` of `level`; the recursion is as deep as the tree, at most 41.
    private func descend<E: Error>(
        _ tree: RawSpan, _ level: Int, _ range: Range<Int>, _ wanted: Envelope,
        _ body: (Leaf) throws(E) -> Void
    ) throws(E) {
        let first = levels[level].lowerBound
        for node in range {
            let byte = node * Self.nodeByteCount
            let bounds = Self.envelope(tree, byte)
            guard bounds.intersects(wanted) else { continue }
            if level == 0 {
                let offset = unsafe tree.unsafeLoadUnaligned(
                    fromByteOffset: byte + 32, as: UInt64.self)
                try body(
                    Leaf(
                        ordinal: node - first, envelope: bounds,
                        offset: UInt64(littleEndian: offset)))
            } else {
                let below = levels[level - 1]
                let start = below.lowerBound + (node - first) * nodeSize
                let end = min(start + nodeSize, below.upperBound)
                try descend(tree, level - 1, start..<end, wanted, body)
            }
        }
    }

    /// Callers have checked that the node is in bounds.
    @inline(__always)
    static func envelope(_ tree: RawSpan, _ byte: Int) -> Envelope {
        Envelope(
            minX: number(tree, byte), minY: number(tree, byte + 8),
            maxX: number(tree, byte + 16), maxY: number(tree, byte + 24))
    }

    @inline(__always)
    private static func number(_ tree: RawSpan, _ byte: Int) -> Double {
        Double(
            bitPattern: UInt64(
                littleEndian: unsafe tree.unsafeLoadUnaligned(
                    fromByteOffset: byte, as: UInt64.self)))
    }
}
