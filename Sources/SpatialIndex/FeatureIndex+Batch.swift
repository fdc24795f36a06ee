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
        var counted = 0
        for number in order {
            let before = found.count
            try search(index, data, probe(positions[Int(number)]), &found, &counted)
            ends.append(found.count)
            counts[Int(number)] = found.count - before
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
}
