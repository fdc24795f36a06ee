// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// The features near many positions.
public struct NearFeatures: Hashable, Sendable {
    /// All features found, by position; those of one position in unspecified order.
    public internal(set) var features: [NearFeature]
    /// The start of each position's features in ``features``, then the end.
    public internal(set) var starts: [Int]

    /// The features near one of the positions.
    public subscript(position: Int) -> ArraySlice<NearFeature> {
        features[starts[position]..<starts[position + 1]]
    }
}

extension FeatureIndex {
    /// The features near each position, the same as those of ``search(_:_:_:_:into:counted:)``.
    ///
    /// `probe` makes the probe of a position. Positions are visited in the order of a space-filling
    /// curve, so that neighbours share reads: with many positions that saves more than the sort
    /// costs.
    public func search(
        _ index: RawSpan, _ data: RawSpan, _ positions: [Coordinate], _ frame: Frame? = nil,
        probe: (Coordinate) -> PointProbe
    ) throws(IndexDamage) -> NearFeatures {
        guard index.byteCount == byteCount, data.byteCount == dataByteCount else {
            throw IndexDamage(0, "the files this index was opened with")
        }
        return try unsafe index.withUnsafeBytes { index throws(IndexDamage) in
            try unsafe data.withUnsafeBytes { data throws(IndexDamage) in
                try unsafe search(Memory(index), Memory(data), positions, frame, probe)
            }
        }
    }

    /// Batch size: the state of so many positions fits a processor's second-level cache.
    private static let positionsTogether = 50_000

    private func search(
        _ index: Memory, _ data: Memory, _ positions: [Coordinate], _ frame: Frame?,
        _ probe: (Coordinate) -> PointProbe
    ) throws(IndexDamage) -> NearFeatures {
        guard positions.count > Self.positionsTogether else {
            return try searchTogether(index, data, positions, frame, probe)
        }
        var all = NearFeatures(features: [], starts: [])
        all.starts.reserveCapacity(positions.count + 1)
        for first in stride(from: 0, to: positions.count, by: Self.positionsTogether) {
            let end = min(first + Self.positionsTogether, positions.count)
            let part = try searchTogether(
                index, data, Array(positions[first..<end]), frame, probe)
            let start = all.features.count
            all.features += part.features
            all.starts += part.starts.dropLast().map { start + $0 }
        }
        all.starts.append(all.features.count)
        return all
    }

    private func searchTogether(
        _ index: Memory, _ data: Memory, _ positions: [Coordinate], _ frame: Frame?,
        _ probe: (Coordinate) -> PointProbe
    ) throws(IndexDamage) -> NearFeatures {
        let order = SpatialOrder.ofPositions(positions)
        var found: [NearFeature] = []
        found.reserveCapacity(positions.count)
        // Number of features of each position; then, their starts.
        var starts = [Int](repeating: 0, count: positions.count + 1)
        var group = ProbeGroup(tree, origin)
        for first in stride(from: 0, to: order.count, by: ProbeGroup.width) {
            let end = min(first + ProbeGroup.width, order.count)
            group.removeAll()
            for place in first..<end { group.append(probe(positions[Int(order[place])])) }
            group.descend(index, data)
            for place in first..<end {
                let start = found.count
                for candidate in group.candidates(of: place - first) {
                    try take(
                        group.records[candidate], index, data, group.probes[place - first], frame,
                        from: start, &found)
                }
                starts[Int(order[place])] = found.count - start
            }
        }
        return Self.inOrderOfPositions(found, order, starts)
    }

    /// Reorders from the order of the search to that of the positions.
    private static func inOrderOfPositions(
        _ found: [NearFeature], _ order: [UInt32], _ counts: [Int]
    ) -> NearFeatures {
        var starts = counts
        var end = 0
        for number in starts.indices {
            let count = starts[number]
            starts[number] = end
            end += count
        }
        guard let any = found.first else { return NearFeatures(features: [], starts: starts) }
        var features = [NearFeature](repeating: any, count: found.count)
        var source = 0
        for number in order {
            for target in starts[Int(number)]..<starts[Int(number) + 1] {
                features[target] = found[source]
                source += 1
            }
        }
        return NearFeatures(features: features, starts: starts)
    }
}
