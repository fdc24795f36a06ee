// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

/// Sorting of many things by where they lie.
enum SpatialOrder {
    /// The order of keys of so many times so many bits, smallest first, equal ones as they came;
    /// O(n).
    static func sorted(_ keys: [UInt32], passes: Int = 2, bits: UInt32 = 16) -> [UInt32] {
        var order = (0..<UInt32(keys.count)).map { $0 }
        var other = order
        let mask = UInt32(1) << bits - 1
        for pass in 0..<UInt32(passes) {
            let shift = pass * bits
            var starts = [Int](repeating: 0, count: Int(mask) + 2)
            for key in keys { starts[Int(key >> shift & mask) + 1] += 1 }
            for digit in 1..<starts.count { starts[digit] += starts[digit - 1] }
            for item in order {
                let digit = Int(keys[Int(item)] >> shift & mask)
                other[starts[digit]] = item
                starts[digit] += 1
            }
            swap(&order, &other)
        }
        return order
    }
}

extension SpatialOrder {
    /// An order in which neighbours mostly follow each other: along a curve (Morton's) of 2,048 cells
    /// a side over the rectangle around all positions.
    static func ofPositions(_ positions: [Coordinate]) -> [UInt32] {
        guard positions.count > 64 else { return (0..<UInt32(positions.count)).map { $0 } }
        var extent = Envelope.empty
        for position in positions where position.isFinite { extent.extend(to: position) }
        let (scaleX, scaleY) = (2047 / extent.width, 2047 / extent.height)
        let keys = positions.map { position in
            spread((position.x - extent.minX) * scaleX)
                | spread((position.y - extent.minY) * scaleY) << 1
        }
        return sorted(keys, passes: 2, bits: 11)
    }

    /// The bits of a whole number below 2^11, every second place left free; 0 for what is none.
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
