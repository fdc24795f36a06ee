// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

/// Up to 64 probes searched together, each level of the tree for all of them before the next.
///
/// Neighbours descend together, as one rectangle around them, for as long as few children meet it,
/// and are split in halves where many do. The reads of the next level are prefetched while the
/// current one is processed.
struct ProbeGroup {
    static let width = 64
    /// A group that meets more children than this is parted.
    private static let sharedChildren = 4

    /// Some probes at a block of the tree.
    private struct Visit {
        /// The place of their rectangle in `boxes`.
        var node: Int32
        var block: Int32
    }

    /// A probe with the record of a piece whose rectangle it meets.
    private struct Candidate {
        var probe: Int
        var record: Int
    }

    private let tree: FloatTree
    private let origin: Coordinate

    private(set) var probes: [PointProbe] = []
    /// A binary tree: the window of probe i at 64 + i, and the union of two neighbours at half
    /// their index.
    private var boxes = [FloatBox](repeating: .nowhere, count: 2 * width)
    private var visits: [Visit] = []
    private var next: [Visit] = []
    private var candidates: [Candidate] = []
    /// The records of all candidates, those of the first probe first.
    private(set) var records: [Int] = []
    /// End of each probe's candidates.
    private var ends = [Int](repeating: 0, count: width + 1)

    init(_ tree: FloatTree, _ origin: Coordinate) {
        self.tree = tree
        self.origin = origin
    }

    mutating func removeAll() { probes.removeAll(keepingCapacity: true) }

    mutating func append(_ probe: PointProbe) {
        let isSomewhere = probe.position.isFinite && !probe.window.isEmpty
        boxes[Self.width + probes.count] =
            isSomewhere ? FloatBox(around: probe.window, from: origin) : .nowhere
        probes.append(probe)
    }

    /// Finds the pieces whose rectangles the probes meet, and prefetches their details.
    mutating func descend(_ index: Memory, _ data: Memory) {
        for rest in probes.count..<Self.width { boxes[Self.width + rest] = .nowhere }
        for node in (1..<Self.width).reversed() {
            boxes[node] = boxes[2 * node].union(boxes[2 * node + 1])
        }
        candidates.removeAll(keepingCapacity: true)
        visits.removeAll(keepingCapacity: true)
        visits.append(Visit(node: 1, block: 0))
        for level in (0..<tree.levelCount).reversed() {
            next.removeAll(keepingCapacity: true)
            for visit in visits {
                look(index, level, Int(visit.block), Int(visit.node))
            }
            swap(&visits, &next)
        }
        sortCandidates(index, data)
    }

    private mutating func look(_ index: Memory, _ level: Int, _ block: Int, _ node: Int) {
        let start = FeatureIndex.headerByteCount
        let children = tree.children(block, level, index, at: start, boxes[node])
        if children == 0 { return }
        if node < Self.width
            && (level == 0 || children.nonzeroBitCount > Self.sharedChildren)
        {
            look(index, level, block, 2 * node)
            look(index, level, block, 2 * node + 1)
            return
        }
        for child in SetBits(children) {
            if level == 0 {
                let record = start + tree.record(block * FloatTree.width + child)
                index.prefetch(record)
                candidates.append(Candidate(probe: node - Self.width, record: record))
            } else {
                let below = block * FloatTree.width + child
                let place = start + tree.place(below, level - 1)
                for line in 0..<4 { index.prefetch(place + 64 * line) }
                next.append(Visit(node: Int32(node), block: Int32(truncatingIfNeeded: below)))
            }
        }
    }

    private mutating func sortCandidates(_ index: Memory, _ data: Memory) {
        for probe in ends.indices { ends[probe] = 0 }
        for candidate in candidates { ends[candidate.probe + 1] += 1 }
        for probe in probes.indices { ends[probe + 1] += ends[probe] }
        while records.count < candidates.count { records.append(0) }
        for candidate in candidates {
            records[ends[candidate.probe]] = candidate.record
            ends[candidate.probe] += 1
            FeatureIndex.prefetch(candidate.record, index, data)
        }
    }

    /// The range in `records` of a probe's candidates, in the order of the tree.
    @inline(__always)
    func candidates(of probe: Int) -> Range<Int> {
        (probe == 0 ? 0 : ends[probe - 1])..<ends[probe]
    }
}

extension FeatureIndex {
    /// Prefetches the target of a record.
    @inline(__always)
    static func prefetch(_ record: Int, _ index: Memory, _ data: Memory) {
        let piece = Self.piece(record, index)
        if piece.isStriped {
            index.prefetch(piece.place)
        } else {
            for line in 0..<min(4, 1 + piece.count / 4) { data.prefetch(piece.place + 64 * line) }
        }
    }
}
