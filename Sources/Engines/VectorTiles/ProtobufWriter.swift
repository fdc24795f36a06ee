// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Bytes of a protocol buffer, as far as vector tiles and glyphs use them.
package struct ProtobufWriter {
    /// The bytes so far.
    package var bytes: [UInt8] = []

    /// A message without fields.
    package init() {}

    /// Appends a number of 1 to 10 bytes.
    @inline(__always)
    package mutating func varint(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Appends a field of wire type 0.
    package mutating func field(_ number: UInt64, _ value: UInt64) {
        varint(number << 3)
        varint(value)
    }

    /// Appends a field of wire type 5.
    package mutating func field(_ number: UInt64, fixed bits: UInt32) {
        varint(number << 3 | 5)
        for shift in stride(from: 0, to: 32, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(shift)))
        }
    }

    /// Appends a field of wire type 1.
    package mutating func field(_ number: UInt64, fixed bits: UInt64) {
        varint(number << 3 | 1)
        for shift in stride(from: 0, to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
        }
    }

    /// Appends a field of wire type 2.
    package mutating func field(_ number: UInt64, bytes content: some Collection<UInt8>) {
        varint(number << 3 | 2)
        varint(UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    /// Appends a text.
    package mutating func field(_ number: UInt64, _ text: String) {
        field(number, bytes: text.utf8)
    }

    /// A signed number as `sint32` and `sint64` have it.
    @inline(__always)
    package static func zigzag(_ number: Int64) -> UInt64 {
        UInt64(bitPattern: (number << 1) ^ (number >> 63))
    }
}
