// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

/// Sorting of many things by where they lie.
enum SpatialOrder {
    /// The order of keys, smallest first, equal ones as they came; O(n), two passes per 32-bit key.
    static func sorted(_ keys: [UInt32]) -> [UInt32] {
        var order = (0..<UInt32(keys.count)).map { $0 }
        var other = order
        for shift in [UInt32(0), 16] {
            var starts = [Int](repeating: 0, count: 65537)
            for key in keys { starts[Int(key >> shift & 0xFFFF) + 1] += 1 }
            for digit in 1...65536 { starts[digit] += starts[digit - 1] }
            for item in order {
                let digit = Int(keys[Int(item)] >> shift & 0xFFFF)
                other[starts[digit]] = item
                starts[digit] += 1
            }
            swap(&order, &other)
        }
        return order
    }
}
