// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel

/// Reads the properties of one feature.
///
/// They are pairs of a 16-bit column number and a value whose form the column's type gives; missing
/// columns are null.
enum FlatGeobufProperties {
    /// The values in the order of `columns`.
    static func values(
        _ bytes: RawSpan, _ range: Range<Int>, _ columns: [Column]
    ) throws(Damage) -> [AttributeValue] {
        var values = [AttributeValue](repeating: .null, count: columns.count)
        try forEach(bytes, range, columns) { index, place throws(Damage) in
            values[index] = try value(bytes, &place, columns[index].type)
        }
        return values
    }

    /// Puts the place of each column's value into `places`, −1 for null.
    ///
    /// The widths of columns are looked up once for each value, and no value is made.
    static func find(
        _ places: inout [Int], _ bytes: RawSpan, _ range: Range<Int>, _ columns: [Column]
    ) throws(Damage) {
        for index in places.indices { places[index] = -1 }
        try forEach(bytes, range, columns) { index, place throws(Damage) in
            places[index] = place
            if let width = columns[index].type.byteCount {
                place += width
            } else {
                place += 4 + Int(try bytes.number(at: place, as: UInt32.self))
            }
        }
    }

    /// Throws unless ``values(_:_:_:)`` can be read; makes none.
    static func check(
        _ bytes: RawSpan, _ range: Range<Int>, _ columns: [Column]
    ) throws(Damage) {
        try forEach(bytes, range, columns) { index, place throws(Damage) in
            if let width = columns[index].type.byteCount {
                place += width
            } else {
                place += 4 + Int(try bytes.number(at: place, as: UInt32.self))
            }
        }
    }

    /// Calls `body` with the column and the place of each value; it moves the place to the value's
    /// end.
    private static func forEach(
        _ bytes: RawSpan, _ range: Range<Int>, _ columns: [Column],
        _ body: (_ column: Int, _ place: inout Int) throws(Damage) -> Void
    ) throws(Damage) {
        var place = range.lowerBound
        while place < range.upperBound {
            let index = Int(try bytes.number(at: place, as: UInt16.self))
            guard index < columns.count else {
                throw Damage(offset: place, expected: "a column number below \(columns.count)")
            }
            place += 2
            try body(index, &place)
        }
        guard place == range.upperBound else {
            throw Damage(offset: place, expected: "the end of the attributes")
        }
    }

    /// The object id: the first value of the first column, of 64 bits where `isWide`, else of 32.
    static func objectID(
        _ bytes: RawSpan, _ range: Range<Int>, isWide: Bool = false
    ) throws(Damage) -> Int64 {
        guard range.count >= (isWide ? 10 : 6),
            try bytes.number(at: range.lowerBound, as: UInt16.self) == 0
        else { throw Damage(offset: range.lowerBound, expected: "an object id") }
        if isWide { return try bytes.number(at: range.lowerBound + 2, as: Int64.self) }
        return Int64(try bytes.number(at: range.lowerBound + 2, as: Int32.self))
    }

    /// The shortest decimal number that is this one of 32 bits: 0.1, not 0.10000000149.
    private static func decimal(_ single: Float) -> Double {
        let real = Double(single)
        return real == real.rounded() ? real : Double(single.description) ?? real
    }

    /// The value at a place, which is moved to its end.
    static func value(
        _ bytes: RawSpan, _ place: inout Int, _ type: ColumnType
    ) throws(Damage) -> AttributeValue {
        func integer<T: FixedWidthInteger & BitwiseCopyable>(
            _ type: T.Type
        ) throws(Damage) -> AttributeValue {
            let value = try bytes.number(at: place, as: T.self)
            place += MemoryLayout<T>.size
            return .integer(Int64(truncatingIfNeeded: value))
        }
        switch type {
        case .byte: return try integer(Int8.self)
        case .unsignedByte, .bool: return try integer(UInt8.self)
        case .short: return try integer(Int16.self)
        case .unsignedShort: return try integer(UInt16.self)
        case .int: return try integer(Int32.self)
        case .unsignedInt: return try integer(UInt32.self)
        case .long: return try integer(Int64.self)
        case .unsignedLong: return try integer(UInt64.self)
        case .float:
            let bits = try bytes.number(at: place, as: UInt32.self)
            place += 4
            return real(Self.decimal(Float(bitPattern: bits)))
        case .double:
            place += 8
            return real(try bytes.double(at: place - 8))
        case .string, .json: return .string(try text(bytes, &place))
        case .dateTime:
            let text = try text(bytes, &place)
            return ISODate.milliseconds(text).map { .date($0) } ?? .string(text)
        case .binary:
            _ = try text(bytes, &place)
            return .null
        }
    }

    private static func real(_ value: Double) -> AttributeValue {
        value.isFinite ? .real(value) : .null
    }

    private static func text(_ bytes: RawSpan, _ place: inout Int) throws(Damage) -> String {
        let count = Int(try bytes.number(at: place, as: UInt32.self))
        let start = place + 4
        guard count <= bytes.byteCount - start else {
            throw Damage(offset: place, expected: "\(count) bytes of text")
        }
        place = start + count
        return bytes.text(start..<place)
    }
}
