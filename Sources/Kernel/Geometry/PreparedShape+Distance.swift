// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension PreparedShape {
    /// Whether the two shapes share a position.
    ///
    /// Exact; false when either is empty.
    public func intersects(_ other: PreparedShape) -> Bool { distance(to: other, within: 0) != nil }

    /// The planar distance to the other shape; nil beyond `limit`, and for an empty shape.
    ///
    /// It is 0 exactly when the shapes share a position, interiors included; otherwise it is
    /// rounded, with an error of a few units in the last place of the coordinates. Both distances
    /// and `limit` are in the coordinates' units.
    ///
    /// `isAbandoned` is polled in long computations; once it returns true the result is nil,
    /// without a meaning.
    public func distance(
        to other: PreparedShape, within limit: Double = .infinity,
        isAbandoned: () -> Bool = { false }
    ) -> Double? {
        guard !isEmpty, !other.isEmpty, limit >= 0 else { return nil }
        // A hair more than the limit, so that rounding of the bound never hides a feature.
        let reach = limit * (1 + 0x1p-40)
        let bound = reach * reach
        guard envelope.squaredDistance(to: other.envelope) <= bound else { return nil }
        guard let holds = holdsChain(of: other, isAbandoned) else { return nil }
        if holds { return 0 }
        guard let isHeld = other.holdsChain(of: self, isAbandoned) else { return nil }
        if isHeld { return 0 }
        let square = squaredGap(to: other, atMost: bound, isAbandoned)
        let distance = square.squareRoot()
        return square < .infinity && distance <= limit ? distance : nil
    }

    /// Whether a chain of the other begins inside this one; nil when abandoned.
    ///
    /// If no chains touch each other, each is wholly inside or outside, so its first coordinate
    /// decides.
    private func holdsChain(of other: PreparedShape, _ isAbandoned: () -> Bool) -> Bool? {
        guard partCount > 0 else { return false }
        var work = 0
        for chain in other.chains {
            let positions = chain.isJoined ? 1 : chain.count
            for index in chain.start..<chain.start + positions {
                if locate(other.coordinates[index]) != .outside { return true }
                work += 1
                if work.isMultiple(of: 64) && isAbandoned() { return nil }
            }
        }
        return false
    }

    /// The squared distance between the segments of both, or infinity where it is more than
    /// `bound`; stops at 0.
    private func squaredGap(
        to other: PreparedShape, atMost bound: Double, _ isAbandoned: () -> Bool
    ) -> Double {
        withoutActuallyEscaping(isAbandoned) { isAbandoned in
            var nearest = Nearest(bound: bound, isAbandoned: isAbandoned)
            switch (tree, other.tree) {
            case (let tree?, let otherTree?):
                descend(tree, tree.root, other, otherTree, otherTree.root, &nearest)
            case (let tree?, nil): gap(tree, to: other, &nearest)
            case (nil, let tree?): other.gap(tree, to: self, &nearest)
            case (nil, nil): scannedGap(to: other, &nearest)
            }
            return nearest.isGivenUp ? .infinity : nearest.square
        }
    }

    /// The nearest pair so far.
    private struct Nearest {
        /// Pairs farther apart than this no longer matter.
        var bound: Double
        var square = Double.infinity
        var isGivenUp = false
        private var work = 0
        private let isAbandoned: () -> Bool

        init(bound: Double, isAbandoned: @escaping () -> Bool) {
            self.bound = bound
            self.isAbandoned = isAbandoned
        }

        /// Whether no further pair can change anything.
        var isDecided: Bool { square == 0 || isGivenUp }

        /// Polls `isAbandoned`, every so many leaves.
        mutating func count() {
            work += 1
            if work.isMultiple(of: 4096) && isAbandoned() { isGivenUp = true }
        }

        mutating func consider(_ first: Segment, _ second: Segment) {
            let box = first.envelope.squaredDistance(to: second.envelope)
            guard box <= bound else { return }
            let candidate: Double
            if first.a == first.b {
                candidate = second.squaredDistance(to: first.a)
            } else if second.a == second.b {
                candidate = first.squaredDistance(to: second.a)
            } else {
                candidate =
                    bound == 0
                    ? (first.meets(second) ? 0 : .infinity)
                    : first.squaredDistance(to: second)
            }
            if candidate < square && candidate <= bound {
                square = candidate
                // A hair more, so that no rounding of rectangles hides the least of all squares:
                // the answer does not depend on the order of looking.
                bound = min(bound, candidate * (1 + 0x1p-20))
            }
        }
    }

    private func scannedGap(to other: PreparedShape, _ nearest: inout Nearest) {
        for chain in other.chains {
            for index in 0..<chain.segments.count {
                scan(other.segment(index, of: chain), &nearest)
                if nearest.isDecided { return }
            }
        }
    }

    private func scan(_ segment: Segment, _ nearest: inout Nearest) {
        for chain in chains {
            for index in 0..<chain.segments.count {
                nearest.consider(self.segment(index, of: chain), segment)
            }
        }
    }

    /// The tree's shape against every segment of a shape that has none.
    private func gap(_ tree: SegmentTree, to other: PreparedShape, _ nearest: inout Nearest) {
        for chain in other.chains {
            for index in 0..<chain.segments.count {
                let segment = other.segment(index, of: chain)
                descend(tree, tree.root, segment, segment.envelope, &nearest)
                if nearest.isDecided { return }
            }
        }
    }

    private func descend(
        _ tree: SegmentTree, _ node: SegmentTree.Node, _ segment: Segment, _ box: Envelope,
        _ nearest: inout Nearest
    ) {
        if node.level == 0 {
            let leaf = tree.leaves[node.index]
            nearest.count()
            for index in leaf.segments {
                nearest.consider(self.segment(index, of: chains[leaf.chain]), segment)
            }
            return
        }
        let children = tree.children(node, near: box, atMost: nearest.bound)
        for number in 0..<children.count {
            let (child, square) = children[number]
            guard square <= nearest.bound, !nearest.isDecided else { return }
            descend(tree, child, segment, box, &nearest)
        }
    }

    /// Descends both trees at once: the larger rectangle of a pair is opened first.
    private func descend(
        _ tree: SegmentTree, _ node: SegmentTree.Node, _ other: PreparedShape,
        _ otherTree: SegmentTree, _ otherNode: SegmentTree.Node, _ nearest: inout Nearest
    ) {
        if node.level == 0 && otherNode.level == 0 {
            nearest.count()
            compare(tree.leaves[node.index], other, otherTree.leaves[otherNode.index], &nearest)
            return
        }
        let opensFirst = node.level >= otherNode.level
        let children =
            opensFirst
            ? tree.children(node, near: otherTree.envelope(otherNode), atMost: nearest.bound)
            : otherTree.children(otherNode, near: tree.envelope(node), atMost: nearest.bound)
        for number in 0..<children.count {
            let (child, square) = children[number]
            guard square <= nearest.bound, !nearest.isDecided else { return }
            descend(
                tree, opensFirst ? child : node, other, otherTree, opensFirst ? otherNode : child,
                &nearest)
        }
    }

    private func compare(
        _ leaf: SegmentTree.Leaf, _ other: PreparedShape, _ otherLeaf: SegmentTree.Leaf,
        _ nearest: inout Nearest
    ) {
        for index in leaf.segments {
            let segment = segment(index, of: chains[leaf.chain])
            for otherIndex in otherLeaf.segments {
                nearest.consider(
                    segment, other.segment(otherIndex, of: other.chains[otherLeaf.chain]))
            }
        }
    }
}
