// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform
internal import SpatialIndex
internal import Synchronization

/// The nodes of the tree of pieces at or below which is a road that a mode may use at some time: a
/// bit for each.
///
/// The nearest road for cars may be behind a thousand footpaths; a search passes over them without
/// a look at each.
struct UsableNodes: Sendable {
    private var words: [UInt64]

    /// Reads the access of every road once.
    init(_ roads: RoadNetwork, mode: Int) {
        var isUsable = roads.access(mode: mode).map { $0 != RoadAccess.closed.rawValue }
        for (edge, passages) in roads.timedEdges()
        where passages.passages.contains(where: { $0[mode].access != .closed }) {
            isUsable[edge] = true
        }
        let tree = roads.file.snapping.tree
        words = [UInt64](repeating: 0, count: tree.nodeCount / 64 + 1)
        roads.mapped.withBytes { bytes in
            let section = bytes.extracting(
                roads.file.sections[NetworkLayout.Section.tree.rawValue])
            _ = mark(tree.root, tree, section) { piece in
                [false, true].contains { isBackward in
                    roads.edge(ofLink: SnapIndex.piece(piece).link, isBackward: isBackward)
                        .map { isUsable[$0] } ?? false
                }
            }
        }
    }

    /// Marks a node where a leaf at or below it counts; whether one does.
    private mutating func mark(
        _ node: PackedHilbertTree.Node, _ tree: PackedHilbertTree, _ bytes: RawSpan,
        _ counts: (UInt64) -> Bool
    ) -> Bool {
        var isMarked = tree.offset(of: node, in: bytes).map(counts) ?? false
        tree.forEachChild(of: node, in: bytes) { child, _ in
            if mark(child, tree, bytes, counts) { isMarked = true }
        }
        if isMarked { words[node.number / 64] |= 1 << UInt64(node.number % 64) }
        return isMarked
    }

    subscript(node: PackedHilbertTree.Node) -> Bool {
        words[node.number / 64] >> UInt64(node.number % 64) & 1 == 1
    }
}

extension RoadNetwork {
    /// The nodes of a mode, found at the first request.
    func usableNodes(mode: Int) -> UsableNodes {
        if let known = knownNodes.withLock({ $0[mode] }) { return known }
        let nodes = UsableNodes(self, mode: mode)
        knownNodes.withLock { $0[mode] = nodes }
        return nodes
    }
}
