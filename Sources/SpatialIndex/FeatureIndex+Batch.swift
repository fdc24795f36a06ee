// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// The features near many positions.
public struct NearFeatures: Hashable, Sendable {
    /// All features found, those of the first position first; of one position in no stated order.
    public internal(set) var features: [NearFeature]
    /// Where the features of each position start in ``features``, and behind them the end.
    public internal(set) var starts: [Int]

    /// The features near one of the positions.
    public subscript(position: Int) -> ArraySlice<NearFeature> {
        features[starts[position]..<starts[position + 1]]
    }
}

extension FeatureIndex {
    /// The features near each position, as ``search(_:_:_:into:counted:)`` finds them one by one.
    ///
    /// `probe` makes the probe of a position. Positions are asked in the order of a curve through
    /// the extent, so that neighbours find the same bytes near the processor: with many positions
    /// that saves more than the sorting costs.
    public func search(
        _ index: RawSpan, _ data: RawSpan, _ positions: [Coordinate],
        probe: (Coordinate) -> PointProbe
    ) throws(IndexDamage) -> NearFeatures {
        guard index.byteCount == byteCount, data.byteCount == dataByteCount else {
            throw IndexDamage(0, "the files this index was opened with")
        }
        return try unsafe index.withUnsafeBytes { index throws(IndexDamage) in
            try unsafe data.withUnsafeBytes { data throws(IndexDamage) in
                try unsafe search(Memory(index), Memory(data), positions, probe)
            }
        }
    }

    private func search(
        _ index: Memory, _ data: Memory, _ positions: [Coordinate],
        _ probe: (Coordinate) -> PointProbe
    ) throws(IndexDamage) -> NearFeatures {
        let order = SpatialOrder.ofPositions(positions)
        var found: [NearFeature] = []
        found.reserveCapacity(positions.count)
        var ends: [Int] = []
        ends.reserveCapacity(positions.count)
        var counts = [Int](repeating: 0, count: positions.count + 1)
        var group = Group()
        for start in stride(from: 0, to: order.count, by: Self.groupSize) {
            let asked = order[start..<min(start + Self.groupSize, order.count)]
            let probes = asked.map { probe(positions[Int($0)]) }
            try search(index, data, probes, &group, &found) { ends.append($0) }
        }
        for (place, number) in order.enumerated() {
            counts[Int(number)] = ends[place] - (place == 0 ? 0 : ends[place - 1])
        }
        // From the order of asking to the order of the positions.
        var end = 0
        for number in counts.indices {
            let count = counts[number]
            counts[number] = end
            end += count
        }
        guard let any = found.first else { return NearFeatures(features: [], starts: counts) }
        var features = [NearFeature](repeating: any, count: found.count)
        var start = 0
        for (place, number) in order.enumerated() {
            var target = counts[Int(number)]
            for source in start..<ends[place] {
                features[target] = found[source]
                target += 1
            }
            start = ends[place]
        }
        return NearFeatures(features: features, starts: counts)
    }

    /// So many positions are asked together.
    private static var groupSize: Int { 64 }

    /// What a group of positions has to look at next.
    private struct Group {
        struct Visit {
            var probe: Int32
            /// A block's number, or a record's place.
            var target: Int
        }

        var visits: [Visit] = []
        var next: [Visit] = []
        var boxes: [FloatBox] = []
        /// Keeps the touching loads from being left out.
        var touched: UInt64 = 0
    }

    /// Asks all probes level by level, each level in two rounds: the first only touches what the second
    /// will read, so that many reads from memory are under way at once.
    private func search(
        _ index: Memory, _ data: Memory, _ probes: [PointProbe], _ group: inout Group,
        _ found: inout [NearFeature], _ end: (Int) -> Void
    ) throws(IndexDamage) {
        guard let tree else {
            for _ in probes { end(found.count) }
            return
        }
        group.visits.removeAll(keepingCapacity: true)
        group.boxes.removeAll(keepingCapacity: true)
        for (number, probe) in probes.enumerated() {
            group.boxes.append(FloatBox(probe.window, from: origin))
            if probe.position.isFinite && !probe.window.isEmpty {
                group.visits.append(Group.Visit(probe: Int32(number), target: 0))
            }
        }
        for level in tree.counts.indices.reversed() {
            descend(index, tree, level, &group)
        }
        for visit in group.visits {
            let piece = Self.piece(visit.target, index)
            let touched = piece.isStriped ? index : data
            if touched.holds(piece.place, 72) {
                group.touched ^= touched.uint64(piece.place) ^ touched.uint64(piece.place + 64)
            }
        }
        var next = 0
        for (number, probe) in probes.enumerated() {
            let start = found.count
            while next < group.visits.count, group.visits[next].probe == number {
                try take(group.visits[next].target, index, data, probe, from: start, &found)
                next += 1
            }
            end(found.count)
        }
    }

    /// One level of the tree, from visits of its blocks to those of the next, or of records.
    private func descend(
        _ index: Memory, _ tree: FloatTree, _ level: Int, _ group: inout Group
    ) {
        let base = Self.headerByteCount + tree.starts[level]
        let stride = FloatTree.stride(level)
        for visit in group.visits {
            let place = base + visit.target * stride
            group.touched ^= index.uint64(place) ^ index.uint64(place + 64)
            group.touched ^= index.uint64(place + 128) ^ index.uint64(place + 192)
        }
        group.next.removeAll(keepingCapacity: true)
        for visit in group.visits {
            let place = base + visit.target * stride
            var children = FloatTree.meets(index, place, group.boxes[Int(visit.probe)])
            while children != 0 {
                let child = children.trailingZeroBitCount
                children &= children - 1
                let target =
                    level == 0
                    ? place + FloatTree.blockByteCount + FloatTree.recordByteCount * child
                    : visit.target * FloatTree.width + child
                group.next.append(Group.Visit(probe: visit.probe, target: target))
            }
        }
        swap(&group.visits, &group.next)
    }
}
