// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

extension PackedHilbertTree {
    /// The order in which items are packed: along a Hilbert curve through their middles.
    ///
    /// The curve has order 16 over the rectangle around all items; ties keep the order of the
    /// input. O(n log n).
    ///
    /// - Returns: For each leaf the index of its item in `envelopes`.
    public static func hilbertOrder(_ envelopes: [Envelope]) -> [Int] {
        let all = envelopes.reduce(Envelope.empty) { $0.union($1) }
        let keys = envelopes.map { hilbertKey(of: $0, in: all) }
        return envelopes.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }
    }

    /// The order in which GDAL's FlatGeobuf driver writes features: back along a Hilbert curve
    /// through their middles; ties keep the order of the input.
    ///
    /// O(n).
    ///
    /// - Returns: For each leaf the index of its item in `envelopes`.
    public static func fileOrder(_ envelopes: [Envelope]) -> [UInt32] {
        let all = envelopes.reduce(Envelope.empty) { $0.union($1) }
        func cell(_ low: Double, _ high: Double, _ from: Double, _ size: Double) -> UInt32 {
            size > 0 ? UInt32(max(0, min(65535, (65535 * ((low + high) / 2 - from) / size)))) : 0
        }
        return SpatialOrder.sorted(
            envelopes.map { box in
                ~fileKey(
                    cell(box.minX, box.maxX, all.minX, all.width),
                    cell(box.minY, box.maxY, all.minY, all.height))
            })
    }

    /// The distance of the cell (x, y) along the curve, as FlatGeobuf computes it
    /// (github.com/rawrunprotected/hilbert_curves).
    static func fileKey(_ x: UInt32, _ y: UInt32) -> UInt32 {
        let (first, second, third) = (x ^ y, 0xFFFF ^ (x ^ y), 0xFFFF ^ (x | y))
        let fourth = x & (y ^ 0xFFFF)
        var a = first | (second >> 1)
        var b = (first >> 1) ^ first
        var c = ((third >> 1) ^ (second & (fourth >> 1))) ^ third
        var d = ((first & (third >> 1)) ^ (fourth >> 1)) ^ fourth
        for shift: UInt32 in [2, 4, 8] {
            let (p, q, r, s) = (a, b, c, d)
            a = (p & (p >> shift)) ^ (q & (q >> shift))
            b = (p & (q >> shift)) ^ (q & ((p ^ q) >> shift))
            c ^= (p & (r >> shift)) ^ (q & (s >> shift))
            d ^= (q & (r >> shift)) ^ ((p ^ q) & (s >> shift))
        }
        let (high, low) = (c ^ (c >> 1), d ^ (d >> 1))
        let even = x ^ y
        return spread(low | (0xFFFF ^ (even | high))) << 1 | spread(even)
    }

    /// The sixteen lower bits, every second place left free.
    private static func spread(_ value: UInt32) -> UInt32 {
        var bits = value
        bits = (bits | bits << 8) & 0x00FF_00FF
        bits = (bits | bits << 4) & 0x0F0F_0F0F
        bits = (bits | bits << 2) & 0x3333_3333
        return (bits | bits << 1) & 0x5555_5555
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
        unsafe Swift.withUnsafeBytes(of: value.littleEndian) { unsafe append(contentsOf: $0) }
    }
}
