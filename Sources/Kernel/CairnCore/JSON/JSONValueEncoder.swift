// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import FoundationEssentials
internal import Platform

/// One value of a JSON text as an `Encoder`.
///
/// It writes the bytes of Foundation's `JSONEncoder` with sorted keys and plain slashes, several
/// times as fast, or nil: then the caller falls back to Foundation, which reports any error. So
/// `codingPath` is empty.
package struct JSONValueEncoder: Encoder {
    private let page: JSONPageBuffer
    private let value: JSONBuffer.Beginning

    /// The text, or nil: for values outside `JSONBuffer`, without a JSON form, and wherever
    /// Foundation might differ.
    package static func encode(_ value: some Encodable) -> Data? {
        let page = JSONPageBuffer()
        guard (try? write(value, to: page)) != nil, let text = page.draft.finish() else {
            return nil
        }
        return Data(text)
    }

    /// Any value outside the fast path.
    private struct UnfitValue: Error {}

    private static func misfit(_ page: JSONPageBuffer) -> UnfitValue {
        page.draft.abandon()
        return UnfitValue()
    }

    /// An encoder for values left to Foundation.
    private static func refused(_ page: JSONPageBuffer) -> JSONValueEncoder {
        page.draft.abandon()
        return JSONValueEncoder(page: page, value: page.draft.beginValue())
    }

    package var codingPath: [any CodingKey] { [] }
    package var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Types without a JSON form are strings, or follow Foundation's own rules.
    private static func write<Value: Encodable>(_ value: Value, to page: JSONPageBuffer) throws {
        if Value.self == UUID.self, let id = value as? UUID {
            return page.draft.string(UUIDText.text(id.words, inCapitals: true))
        }
        if Value.self == Data.self, let data = value as? Data {
            return page.draft.string(data.base64EncodedString())
        }
        if Value.self == URL.self || Value.self == Decimal.self || Value.self == Date.self {
            throw misfit(page)
        }
        let beginning = page.draft.beginValue()
        do { try value.encode(to: JSONValueEncoder(page: page, value: beginning)) } catch {
            page.draft.abandon()
            throw error
        }
        page.draft.endValue(beginning)
        if page.draft.isAbandoned { throw UnfitValue() }
    }

    private func open(isObject: Bool) -> JSONBuffer.Container? {
        if let container = page.draft.container(at: value.depth, isObject: isObject) {
            return container
        }
        guard page.draft.byteCount == value.start else {
            page.draft.abandon()
            return nil
        }
        return page.draft.open(isObject: isObject)
    }

    package func container<Key: CodingKey>(
        keyedBy type: Key.Type
    ) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Members<Key>(page: page, object: open(isObject: true)))
    }

    package func unkeyedContainer() -> any UnkeyedEncodingContainer {
        Elements(page: page, array: open(isObject: false))
    }

    package func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension JSONValueEncoder: SingleValueEncodingContainer {
    /// The page, for the one value there may be.
    private func begin() throws -> JSONPageBuffer {
        guard page.draft.byteCount == value.start else { throw JSONValueEncoder.misfit(page) }
        return page
    }

    package func encodeNil() throws { try begin().draft.null() }
    package func encode(_ value: Bool) throws { try begin().draft.bool(value) }
    package func encode(_ value: String) throws { try begin().draft.string(value) }
    package func encode(_ value: Double) throws { try begin().draft.real(value) }
    package func encode(_ value: Float) throws { try begin().draft.real(value) }
    package func encode(_ value: Int) throws { try begin().draft.integer(Int64(value)) }
    package func encode(_ value: Int8) throws { try begin().draft.integer(Int64(value)) }
    package func encode(_ value: Int16) throws { try begin().draft.integer(Int64(value)) }
    package func encode(_ value: Int32) throws { try begin().draft.integer(Int64(value)) }
    package func encode(_ value: Int64) throws { try begin().draft.integer(value) }
    package func encode(_ value: UInt) throws { try begin().draft.integer(UInt64(value)) }
    package func encode(_ value: UInt8) throws { try begin().draft.integer(Int64(value)) }
    package func encode(_ value: UInt16) throws { try begin().draft.integer(Int64(value)) }
    package func encode(_ value: UInt32) throws { try begin().draft.integer(Int64(value)) }
    package func encode(_ value: UInt64) throws { try begin().draft.integer(value) }
    package func encode<Value: Encodable>(_ value: Value) throws {
        try JSONValueEncoder.write(value, to: begin())
    }
}

extension JSONValueEncoder {
    /// An object by its members' names; nil where there cannot be one.
    private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let page: JSONPageBuffer
        let object: JSONBuffer.Container?

        var codingPath: [any CodingKey] { [] }

        private func begin(_ key: Key) throws -> JSONPageBuffer {
            guard let object, page.draft.beginMember(key.stringValue, of: object) else {
                throw UnfitValue()
            }
            return page
        }

        func encodeNil(forKey key: Key) throws { try begin(key).draft.null() }
        func encode(_ value: Bool, forKey key: Key) throws { try begin(key).draft.bool(value) }
        func encode(_ value: String, forKey key: Key) throws { try begin(key).draft.string(value) }
        func encode(_ value: Double, forKey key: Key) throws { try begin(key).draft.real(value) }
        func encode(_ value: Float, forKey key: Key) throws { try begin(key).draft.real(value) }
        func encode(_ value: Int, forKey key: Key) throws {
            try begin(key).draft.integer(Int64(value))
        }
        func encode(_ value: Int8, forKey key: Key) throws {
            try begin(key).draft.integer(Int64(value))
        }
        func encode(_ value: Int16, forKey key: Key) throws {
            try begin(key).draft.integer(Int64(value))
        }
        func encode(_ value: Int32, forKey key: Key) throws {
            try begin(key).draft.integer(Int64(value))
        }
        func encode(_ value: Int64, forKey key: Key) throws { try begin(key).draft.integer(value) }
        func encode(_ value: UInt, forKey key: Key) throws {
            try begin(key).draft.integer(UInt64(value))
        }
        func encode(_ value: UInt8, forKey key: Key) throws {
            try begin(key).draft.integer(Int64(value))
        }
        func encode(_ value: UInt16, forKey key: Key) throws {
            try begin(key).draft.integer(Int64(value))
        }
        func encode(_ value: UInt32, forKey key: Key) throws {
            try begin(key).draft.integer(Int64(value))
        }
        func encode(_ value: UInt64, forKey key: Key) throws { try begin(key).draft.integer(value) }
        func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
            try JSONValueEncoder.write(value, to: begin(key))
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> {
            KeyedEncodingContainer(
                Members<Nested>(
                    page: page, object: (try? begin(key))?.draft.open(isObject: true)))
        }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            Elements(page: page, array: (try? begin(key))?.draft.open(isObject: false))
        }
        func superEncoder() -> any Encoder { JSONValueEncoder.refused(page) }
        func superEncoder(forKey key: Key) -> any Encoder { JSONValueEncoder.refused(page) }
    }

    /// An array from front to back; nil where there cannot be one.
    private struct Elements: UnkeyedEncodingContainer {
        let page: JSONPageBuffer
        let array: JSONBuffer.Container?
        private(set) var count = 0

        init(page: JSONPageBuffer, array: JSONBuffer.Container?) {
            self.page = page
            self.array = array
        }

        var codingPath: [any CodingKey] { [] }

        private mutating func begin() throws -> JSONPageBuffer {
            guard let array, page.draft.beginElement(of: array) else { throw UnfitValue() }
            count += 1
            return page
        }

        mutating func encodeNil() throws { try begin().draft.null() }
        mutating func encode(_ value: Bool) throws { try begin().draft.bool(value) }
        mutating func encode(_ value: String) throws { try begin().draft.string(value) }
        mutating func encode(_ value: Double) throws { try begin().draft.real(value) }
        mutating func encode(_ value: Float) throws { try begin().draft.real(value) }
        mutating func encode(_ value: Int) throws { try begin().draft.integer(Int64(value)) }
        mutating func encode(_ value: Int8) throws { try begin().draft.integer(Int64(value)) }
        mutating func encode(_ value: Int16) throws { try begin().draft.integer(Int64(value)) }
        mutating func encode(_ value: Int32) throws { try begin().draft.integer(Int64(value)) }
        mutating func encode(_ value: Int64) throws { try begin().draft.integer(value) }
        mutating func encode(_ value: UInt) throws { try begin().draft.integer(UInt64(value)) }
        mutating func encode(_ value: UInt8) throws { try begin().draft.integer(Int64(value)) }
        mutating func encode(_ value: UInt16) throws { try begin().draft.integer(Int64(value)) }
        mutating func encode(_ value: UInt32) throws { try begin().draft.integer(Int64(value)) }
        mutating func encode(_ value: UInt64) throws { try begin().draft.integer(value) }
        mutating func encode<Value: Encodable>(_ value: Value) throws {
            try JSONValueEncoder.write(value, to: begin())
        }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) -> KeyedEncodingContainer<Nested> {
            KeyedEncodingContainer(
                Members<Nested>(page: page, object: (try? begin())?.draft.open(isObject: true)))
        }
        mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
            Elements(page: page, array: (try? begin())?.draft.open(isObject: false))
        }
        mutating func superEncoder() -> any Encoder { JSONValueEncoder.refused(page) }
    }
}
