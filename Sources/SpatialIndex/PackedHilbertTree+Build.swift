// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

extension PackedHilbertTree {
    /// The order in which items are packed: along a Hilbert curve through their middles.
    ///
    /// The curve has order 16 over the rectangle around all items; ties keep the order of the input.
    /// O(n log n).
    ///
    /// - Returns: For each leaf the index of its item in `envelopes`.
    public static func hilbertOrder(_ envelopes: [Envelope]) -> [Int] {
        let all = envelopes.reduce(Envelope.empty) { $0.union($1) }
        let keys = envelopes.map { hilbertKey(of: $0, in: all) }
        return envelopes.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
    }

    /// The bytes of a tree over items that are already in leaf order.
    ///
    /// - Parameter items: Each item's rectangle and the number stored with it, in leaf order.
    /// - Returns: Nil when the counts are out of range.
    public static func pack(_ items: [(envelope: Envelope, offset: UInt64)], nodeSize: Int = 16)
        -> [UInt8]?
    {
        guard let tree = PackedHilbertTree(itemCount: items.count, nodeSize: nodeSize) else {
            return nil
        }
        var nodes = [(envelope: Envelope, offset: UInt64)](
            repeating: (.empty, 0), count: tree.levels[0].upperBound)
        nodes.replaceSubrange(tree.levels[0], with: items)
        for (below, level) in zip(tree.levels, tree.levels.dropFirst()) {
            for (node, start) in zip(
                level, stride(from: below.lowerBound, to: below.upperBound, by: nodeSize))
            {
                let children = start..<min(start + nodeSize, below.upperBound)
                let bounds = children.reduce(Envelope.empty) { $0.union(nodes[$1].envelope) }
                nodes[node] = (bounds, UInt64(start))
            }
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(nodes.count * nodeByteCount)
        for (envelope, offset) in nodes {
            for number in [envelope.minX, envelope.minY, envelope.maxX, envelope.maxY] {
                bytes.append(number.bitPattern)
            }
            bytes.append(offset)
        }
        return bytes
    }

    static func hilbertKey(of envelope: Envelope, in all: Envelope) -> UInt32 {
        func cell(_ value: Double, _ low: Double, _ size: Double) -> UInt32 {
            guard size > 0, value.isFinite else { return 0 }
            return UInt32(max(0, min(65535, 65535 * (value - low) / size)))
        }
        let center = envelope.center
        return hilbert(cell(center.x, all.minX, all.width), cell(center.y, all.minY, all.height))
    }

    /// The distance along the curve of the cell (x, y), both below 2^16.
    static func hilbert(_ x: UInt32, _ y: UInt32) -> UInt32 {
        var (x, y, distance) = (x, y, UInt32(0))
        var side: UInt32 = 1 << 15
        while side > 0 {
            let right: UInt32 = x & side > 0 ? 1 : 0
            let upper: UInt32 = y & side > 0 ? 1 : 0
            distance += side * side * ((3 * right) ^ upper)
            if upper == 0 {
                if right == 1 { (x, y) = (65535 - x, 65535 - y) }
                swap(&x, &y)
            }
            side /= 2
        }
        return distance
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ value: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}
