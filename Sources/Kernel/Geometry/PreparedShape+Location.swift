// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension PreparedShape {
    /// Whether the position belongs to the shape, ends and rings included; exact.
    public func contains(_ position: Coordinate) -> Bool {
        guard envelope.contains(position) else { return false }
        if partCount > 0 { return locate(position) != .outside }
        let alone = Segment(a: position, b: position)
        return chains.contains { chain in
            (0..<chain.segments.count).contains { segment($0, of: chain).meets(alone) }
        }
    }

    /// The location of a position relative to a polygon; `outside` for shapes without an interior.
    ///
    /// Exact.
    public func locate(_ position: Coordinate) -> Location {
        guard partCount > 0, envelope.contains(position) else { return .outside }
        var rays = Rays(partCount: partCount)
        let isOnRing =
            if let tree {
                cast(&rays, position, tree, tree.root)
            } else {
                castOverAll(&rays, position)
            }
        return isOnRing ? .boundary : rays.isInside ? .inside : .outside
    }

    /// Crossings of the ray with each part: only their parity matters.
    private struct Rays {
        private var single = false
        private var several: [Bool]

        init(partCount: Int) {
            several = partCount > 1 ? Array(repeating: false, count: partCount) : []
        }

        mutating func cross(_ part: Int) {
            if several.isEmpty { single.toggle() } else { several[part].toggle() }
        }

        var isInside: Bool { single || several.contains(true) }
    }

    /// True as soon as the position proves to be on a ring.
    private func castOverAll(_ rays: inout Rays, _ position: Coordinate) -> Bool {
        for chain in chains where cast(&rays, position, chain, 0..<chain.segments.count) {
            return true
        }
        return false
    }

    private func cast(
        _ rays: inout Rays, _ position: Coordinate, _ chain: Chain, _ segments: Range<Int>
    ) -> Bool {
        for index in segments {
            let segment = segment(index, of: chain)
            guard let crosses = crosses(position, segment.a, segment.b) else { return true }
            if crosses { rays.cross(chain.part) }
        }
        return false
    }

    /// Visits only segments that the ray towards +x can meet.
    ///
    /// Of those wholly beyond the position it visits only the ends of their run: it is crossed an
    /// odd number of times when one end is above the ray and the other is not.
    private func cast(
        _ rays: inout Rays, _ position: Coordinate, _ tree: SegmentTree, _ node: SegmentTree.Node
    ) -> Bool {
        let box = tree.envelope(node)
        guard box.minY <= position.y, position.y <= box.maxY, position.x <= box.maxX else {
            return false
        }
        if position.x < box.minX {
            pass(&rays, position, tree.leaves(node))
            return false
        }
        guard node.level > 0 else {
            let leaf = tree.leaves[node.index]
            return cast(&rays, position, chains[leaf.chain], leaf.segments)
        }
        for index in tree.children(node) {
            let child = SegmentTree.Node(level: node.level - 1, index: index)
            if cast(&rays, position, tree, child) { return true }
        }
        return false
    }

    /// Counts the crossings with a run of leaves beyond the position.
    ///
    /// Rings wholly in the run are crossed an even number of times.
    private func pass(
        _ rays: inout Rays, _ position: Coordinate,
        _ run: (first: SegmentTree.Leaf, last: SegmentTree.Leaf)
    ) {
        func isAbove(_ chain: Chain, _ index: Int) -> Bool {
            coordinates[chain.start + min(index, chain.count - 1)].y > position.y
        }
        let (head, tail) = (chains[run.first.chain], chains[run.last.chain])
        let (start, end) = (run.first.segments.lowerBound, run.last.segments.upperBound)
        if run.first.chain == run.last.chain {
            if isAbove(head, start) != isAbove(head, end) { rays.cross(head.part) }
        } else {
            if isAbove(head, start) != isAbove(head, head.count - 1) { rays.cross(head.part) }
            if isAbove(tail, 0) != isAbove(tail, end) { rays.cross(tail.part) }
        }
    }
}
