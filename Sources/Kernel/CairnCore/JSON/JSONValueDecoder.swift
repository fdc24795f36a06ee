// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import FoundationEssentials
internal import Platform

/// One value of a JSON text as a `Decoder`.
///
/// It gives the values of Foundation's `JSONDecoder`, several times as fast, or nil: then the
/// caller falls back to Foundation, which reports any error. So `codingPath` is empty and errors
/// have no text.
package struct JSONValueDecoder: Decoder {
    let text: JSONScanner
    let value: Int

    /// The value, or nil: for texts outside `JSONScanner`, for malformed values, and wherever
    /// Foundation might differ.
    package static func decode<Value: Decodable>(
        _ type: Value.Type, from data: Data
    ) -> Value? {
        guard let text = JSONScanner(data.bytes),
            let value = try? JSONValueDecoder(text: text, value: 0).decode(type)
        else { return nil }
        return text.isAbandoned ? nil : value
    }

    /// Any value outside the fast path.
    struct UnfitValue: Error {}

    package var codingPath: [any CodingKey] { [] }
    package var userInfo: [CodingUserInfoKey: Any] { [:] }
    private var kind: JSONScanner.Kind { text.kind(value) }

    package func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<
        Key
    > {
        guard kind == .object else { throw UnfitValue() }
        return KeyedDecodingContainer(Members<Key>(object: self))
    }

    package func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard kind == .array else { throw UnfitValue() }
        return Elements(array: self)
    }

    package func singleValueContainer() -> any SingleValueDecodingContainer { self }

    private func integer<Number: FixedWidthInteger>() throws -> Number {
        guard let integer = text.integer(value) else { throw UnfitValue() }
        guard let number = Number(exactly: integer) else {
            text.abandon()
            throw UnfitValue()
        }
        return number
    }
}

extension JSONValueDecoder: SingleValueDecodingContainer {
    package func decodeNil() -> Bool { kind == .null }

    package func decode(_ type: Bool.Type) throws -> Bool {
        switch kind {
        case .true: true
        case .false: false
        default: throw UnfitValue()
        }
    }

    package func decode(_ type: String.Type) throws -> String {
        guard kind == .string else { throw UnfitValue() }
        return text.string(value)
    }

    package func decode(_ type: Double.Type) throws -> Double {
        guard let real = text.real(value) else { throw UnfitValue() }
        return real
    }

    /// Rounding twice is not rounding once: Foundation's affair.
    package func decode(_ type: Float.Type) throws -> Float {
        text.abandon()
        throw UnfitValue()
    }

    package func decode(_ type: Int.Type) throws -> Int { try integer() }
    package func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    package func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    package func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    package func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    package func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    package func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    package func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    package func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    package func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }

    /// Types without a JSON form are strings, or follow Foundation's own rules.
    package func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if type == UUID.self {
            guard let words = text.uuid(value), let id = UUID(words: words) as? Value else {
                throw UnfitValue()
            }
            return id
        }
        if type == Data.self {
            guard kind == .string, let data = Data(base64Encoded: text.string(value)) as? Value
            else { throw UnfitValue() }
            return data
        }
        if type == URL.self || type == Decimal.self || type == Date.self { text.abandon() }
        return try Value(from: self)
    }
}

extension JSONValueDecoder {
    /// An object by its members' names.
    private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let object: JSONValueDecoder

        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] {
            object.text.names(of: object.value).compactMap { Key(stringValue: $0) }
        }

        private func find(_ key: Key) -> JSONValueDecoder? {
            object.text.member(key.stringValue, of: object.value).map {
                JSONValueDecoder(text: object.text, value: $0)
            }
        }

        private func member(_ key: Key) throws -> JSONValueDecoder {
            guard let member = find(key) else { throw UnfitValue() }
            return member
        }

        /// Absent, and null, are nil.
        private func present(_ key: Key) -> JSONValueDecoder? {
            guard let member = find(key), !member.decodeNil() else { return nil }
            return member
        }

        func contains(_ key: Key) -> Bool { find(key) != nil }
        func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }

        func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
            try member(key).decode(type)
        }
        func decode(_ type: String.Type, forKey key: Key) throws -> String {
            try member(key).decode(type)
        }
        func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
            try member(key).decode(type)
        }
        func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
            try member(key).decode(type)
        }
        func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
            try member(key).decode(type)
        }
        func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
            try member(key).decode(type)
        }
        func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
            try member(key).decode(type)
        }
        func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
            try member(key).decode(type)
        }
        func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
            try member(key).decode(type)
        }
        func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
            try member(key).decode(type)
        }
        func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
            try member(key).decode(type)
        }
        func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
            try member(key).decode(type)
        }
        func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
            try member(key).decode(type)
        }
        func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
            try member(key).decode(type)
        }
        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            try member(key).decode(type)
        }
        func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
            try present(key)?.decode(type)
        }
        func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
            try present(key)?.decode(type)
        }
        func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
            try present(key)?.decode(type)
        }
        func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
            try present(key)?.decode(type)
        }
        func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
            try present(key)?.decode(type)
        }
        func decodeIfPresent<Value: Decodable>(
            _ type: Value.Type, forKey key: Key
        ) throws -> Value? {
            try present(key)?.decode(type)
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> {
            try member(key).container(keyedBy: type)
        }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try member(key).unkeyedContainer()
        }
        func superDecoder() throws -> any Decoder {
            object.text.abandon()
            throw UnfitValue()
        }
        func superDecoder(forKey key: Key) throws -> any Decoder { try member(key) }
    }

    /// An array from front to back.
    private struct Elements: UnkeyedDecodingContainer {
        let text: JSONScanner
        private var place: Int
        private let elementCount: Int
        private(set) var currentIndex = 0

        init(array: JSONValueDecoder) {
            text = array.text
            place = array.value + 1
            elementCount = text.count(array.value)
        }

        var codingPath: [any CodingKey] { [] }
        var count: Int? { elementCount }
        var isAtEnd: Bool { currentIndex == elementCount }

        private mutating func take<Value>(
            _ body: (JSONValueDecoder) throws -> Value
        ) throws -> Value {
            guard !isAtEnd else { throw UnfitValue() }
            let value = try body(JSONValueDecoder(text: text, value: place))
            place = text.next(after: place)
            currentIndex += 1
            return value
        }

        mutating func decodeNil() throws -> Bool {
            guard !isAtEnd else { throw UnfitValue() }
            guard text.kind(place) == .null else { return false }
            return try take { $0.decodeNil() }
        }

        mutating func decode(_ type: Bool.Type) throws -> Bool { try take { try $0.decode(type) } }
        mutating func decode(_ type: String.Type) throws -> String {
            try take { try $0.decode(type) }
        }
        mutating func decode(_ type: Double.Type) throws -> Double {
            try take { try $0.decode(type) }
        }
        mutating func decode(_ type: Float.Type) throws -> Float {
            try take { try $0.decode(type) }
        }
        mutating func decode(_ type: Int.Type) throws -> Int { try take { try $0.decode(type) } }
        mutating func decode(_ type: Int8.Type) throws -> Int8 { try take { try $0.decode(type) } }
        mutating func decode(_ type: Int16.Type) throws -> Int16 {
            try take { try $0.decode(type) }
        }
        mutating func decode(_ type: Int32.Type) throws -> Int32 {
            try take { try $0.decode(type) }
        }
        mutating func decode(_ type: Int64.Type) throws -> Int64 {
            try take { try $0.decode(type) }
        }
        mutating func decode(_ type: UInt.Type) throws -> UInt { try take { try $0.decode(type) } }
        mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
            try take { try $0.decode(type) }
        }
        mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
            try take { try $0.decode(type) }
        }
        mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
            try take { try $0.decode(type) }
        }
        mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
            try take { try $0.decode(type) }
        }
        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            try take { try $0.decode(type) }
        }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) throws -> KeyedDecodingContainer<Nested> {
            try take { try $0.container(keyedBy: type) }
        }
        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
            try take { try $0.unkeyedContainer() }
        }
        mutating func superDecoder() throws -> any Decoder { try take { $0 } }
    }
}
