// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

/// Up to 64 probes asked together, each level of the tree for all of them before the next.
///
/// Neighbours go down together, as one rectangle around them, for as long as few children meet it, and
/// are parted in halves where many do. What a level will read is on its way to the processor while
/// the level before is still being read.
struct ProbeGroup {
    static let width = 64
    /// A group that meets more children than this is parted.
    private static let sharedChildren = 2

    /// Some probes at a block of the tree.
    private struct Visit {
        /// The place of their rectangle in `boxes`.
        var node: Int32
        var block: Int32
    }

    /// A probe and the record of a piece whose rectangle meets it.
    private struct Candidate {
        var probe: Int
        var record: Int
    }

    private let tree: FloatTree
    private let origin: Coordinate

    private var count = 0
    private var probes: InlineArray<64, PointProbe>
    /// A binary tree: the window of probe i at 64 + i, and what holds two neighbours at half their
    /// place.
    private var boxes: InlineArray<128, FloatBox>
    private var visits: [Visit] = []
    private var next: [Visit] = []
    private var candidates: [Candidate] = []
    private var records: [Int] = []

    init(_ tree: FloatTree, _ origin: Coordinate) {
        self.tree = tree
        self.origin = origin
        probes = InlineArray(repeating: .nowhere)
        boxes = InlineArray(repeating: .nowhere)
    }

    mutating func removeAll() { count = 0 }

    mutating func append(_ probe: PointProbe) {
        probes[count] = probe
        let isSomewhere = probe.position.isFinite && !probe.window.isEmpty
        boxes[Self.width + count] =
            isSomewhere ? FloatBox(probe.window, from: origin) : .nowhere
        count += 1
    }

    /// Finds the pieces whose rectangles the probes meet.
    mutating func descend(_ index: Memory) {
        for rest in count..<Self.width { boxes[Self.width + rest] = .nowhere }
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
    }

    private mutating func look(_ index: Memory, _ level: Int, _ block: Int, _ node: Int) {
        let start = FeatureIndex.headerByteCount
        var children = tree.children(block, level, index, at: start, boxes[node])
        if children == 0 { return }
        if node < Self.width
            && (level == 0 || children.nonzeroBitCount > Self.sharedChildren)
        {
            look(index, level, block, 2 * node)
            look(index, level, block, 2 * node + 1)
            return
        }
        while children != 0 {
            let child = children.trailingZeroBitCount
            children &= children - 1
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

    /// Calls `body` with every probe and the records found for it, in the order of the tree.
    mutating func forEachProbe(
        _ index: Memory, _ data: Memory,
        _ body: (Int, PointProbe, ArraySlice<Int>) throws(IndexDamage) -> Void
    ) throws(IndexDamage) {
        var ends = InlineArray<65, Int>(repeating: 0)
        for candidate in candidates { ends[candidate.probe + 1] += 1 }
        for probe in 0..<count { ends[probe + 1] += ends[probe] }
        while records.count < candidates.count { records.append(0) }
        for candidate in candidates {
            records[ends[candidate.probe]] = candidate.record
            ends[candidate.probe] += 1
            FeatureIndex.prefetch(candidate.record, index, data)
        }
        var start = 0
        for probe in 0..<count {
            try body(probe, probes[probe], records[start..<ends[probe]])
            start = ends[probe]
        }
    }
}

extension FeatureIndex {
    /// Starts reading what a record leads to.
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
