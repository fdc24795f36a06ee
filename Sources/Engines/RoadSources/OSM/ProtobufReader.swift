// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The reason why bytes are not an extract.
struct ExtractDamage: Error {
    var reason: String
    init(_ reason: String) { self.reason = reason }
}

/// Reads the fields of one message of Protocol Buffers in place, first to last.
///
/// It holds a range; every read is lent the bytes. Nothing outside the range is read.
struct ProtobufReader {
    private var place: Int
    private let end: Int

    init(_ range: Range<Int>) {
        place = range.lowerBound
        end = range.upperBound
    }

    /// Whether nothing is left.
    var isAtEnd: Bool { place >= end }

    /// A field's number and wire type.
    struct Field {
        var number: Int
        var wire: UInt8
    }

    /// The next field; nil at the end.
    @inline(__always)
    mutating func field(_ bytes: RawSpan) throws(ExtractDamage) -> Field? {
        guard place < end else { return nil }
        let key = try varint(bytes)
        guard key >> 3 <= 0x1FFF_FFFF, key >> 3 > 0 else {
            throw ExtractDamage("a field has the number \(key >> 3)")
        }
        return Field(number: Int(key >> 3), wire: UInt8(key & 7))
    }

    /// An unsigned number of at most ten bytes; more than 64 bits are cut.
    @inline(__always)
    mutating func varint(_ bytes: RawSpan) throws(ExtractDamage) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while place < end {
            let byte = bytes.byte(at: place)
            place += 1
            value |= UInt64(byte & 0x7F) &<< shift
            if byte < 0x80 { return value }
            shift += 7
            guard shift < 70 else { throw ExtractDamage("a number has more than ten bytes") }
        }
        throw ExtractDamage("a number is cut")
    }

    /// A number in the zigzag form.
    @inline(__always)
    mutating func zigzag(_ bytes: RawSpan) throws(ExtractDamage) -> Int64 {
        let value = try varint(bytes)
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    /// The range of a text, a message or a packed list.
    mutating func range(_ bytes: RawSpan) throws(ExtractDamage) -> Range<Int> {
        let count = try varint(bytes)
        guard count <= UInt64(end - place) else {
            throw ExtractDamage("a field of \(count) bytes exceeds its message")
        }
        defer { place += Int(count) }
        return place..<place + Int(count)
    }

    /// Passes over a field's value.
    mutating func skip(_ field: Field, _ bytes: RawSpan) throws(ExtractDamage) {
        switch field.wire {
        case 0: _ = try varint(bytes)
        case 1: try pass(8)
        case 2: _ = try range(bytes)
        case 5: try pass(4)
        default: throw ExtractDamage("a field has the wire type \(field.wire)")
        }
    }

    private mutating func pass(_ count: Int) throws(ExtractDamage) {
        guard count <= end - place else { throw ExtractDamage("a field is cut") }
        place += count
    }

    /// Throws unless a field has a wire type.
    static func expect(_ field: Field, wire: UInt8) throws(ExtractDamage) {
        guard field.wire == wire else {
            throw ExtractDamage(
                "field \(field.number) has the wire type \(field.wire); expected \(wire)")
        }
    }
}
