// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Bytes of a protocol buffer, as far as vector tiles use them.
struct ProtobufWriter {
    var bytes: [UInt8] = []

    @inline(__always)
    mutating func varint(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func field(_ number: UInt64, _ value: UInt64) {
        varint(number << 3)
        varint(value)
    }

    mutating func field(_ number: UInt64, fixed bits: UInt32) {
        varint(number << 3 | 5)
        for shift in stride(from: 0, to: 32, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(shift)))
        }
    }

    mutating func field(_ number: UInt64, fixed bits: UInt64) {
        varint(number << 3 | 1)
        for shift in stride(from: 0, to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
        }
    }

    mutating func field(_ number: UInt64, bytes content: some Collection<UInt8>) {
        varint(number << 3 | 2)
        varint(UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    mutating func field(_ number: UInt64, _ text: String) {
        field(number, bytes: text.utf8)
    }

    @inline(__always)
    static func zigzag(_ number: Int64) -> UInt64 {
        UInt64(bitPattern: (number << 1) ^ (number >> 63))
    }
}
