// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

/// Spatial sorting of many items.
enum SpatialOrder {
    /// The order of keys, smallest first, equal ones as they came; O(n).
    static func sorted(_ keys: [UInt32]) -> [UInt32] {
        sorted(Self.items(keys.count) { keys[$0] }, bits: 16)
    }

    /// Keys, each above its number.
    @inline(__always)
    private static func items(_ count: Int, _ key: (Int) -> UInt32) -> [UInt64] {
        unsafe [UInt64](unsafeUninitializedCapacity: count) { items, filled in
            for number in 0..<count {
                unsafe items[number] = UInt64(key(number)) << 32 | UInt64(number)
            }
            filled = count
        }
    }

    /// The indices of items in the order of their keys, which have twice so many bits.
    private static func sorted(_ items: [UInt64], bits: UInt64) -> [UInt32] {
        // Number of items with each digit; then, the next index for that digit.
        var low = [UInt32](repeating: 0, count: 1 << bits)
        var high = low
        let mask = UInt64(1) << bits - 1
        for item in items {
            low[Int(item >> 32 & mask)] += 1
            high[Int(item >> (32 + bits) & mask)] += 1
        }
        var (lowEnd, highEnd) = (UInt32(0), UInt32(0))
        for digit in low.indices {
            (low[digit], lowEnd) = (lowEnd, lowEnd + low[digit])
            (high[digit], highEnd) = (highEnd, highEnd + high[digit])
        }
        let byLow = unsafe [UInt64](unsafeUninitializedCapacity: items.count) { target, filled in
            for item in items {
                let digit = Int(item >> 32 & mask)
                unsafe target[Int(low[digit])] = item
                low[digit] += 1
            }
            filled = items.count
        }
        return unsafe [UInt32](unsafeUninitializedCapacity: items.count) { target, filled in
            for item in byLow {
                let digit = Int(item >> (32 + bits) & mask)
                unsafe target[Int(high[digit])] = UInt32(truncatingIfNeeded: item)
                high[digit] += 1
            }
            filled = items.count
        }
    }

    /// An order in which neighbours mostly follow each other: along a curve (Morton's) of 2,048
    /// cells a side over the rectangle around all positions.
    static func ofPositions(_ positions: [Coordinate]) -> [UInt32] {
        guard positions.count > 64 else { return (0..<UInt32(positions.count)).map { $0 } }
        var extent = Envelope.empty
        for position in positions where position.isFinite { extent.extend(to: position) }
        let (scaleX, scaleY) = (2047 / extent.width, 2047 / extent.height)
        let items = items(positions.count) { number in
            let position = positions[number]
            return spread((position.x - extent.minX) * scaleX)
                | spread((position.y - extent.minY) * scaleY) << 1
        }
        return sorted(items, bits: 11)
    }

    /// The bits of a whole number below 2^11, spread to every second place; 0 for any other.
    @inline(__always)
    private static func spread(_ value: Double) -> UInt32 {
        var bits = value >= 0 && value < 2048 ? UInt32(value) : 0
        bits = (bits | bits << 8) & 0x00FF_00FF
        bits = (bits | bits << 4) & 0x0F0F_0F0F
        bits = (bits | bits << 2) & 0x3333_3333
        bits = (bits | bits << 1) & 0x5555_5555
        return bits
    }
}
