// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A JSON value as it was written: members keep their order, whole numbers their digits.
public enum JSONTree: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([JSONTree])
    case object([(name: String, value: JSONTree)])

    /// The member of that name; nil for anything else.
    public subscript(name: String) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The elements of an array; empty for anything else.
    public var elements: [JSONTree] { if case .array(let elements) = self { elements } else { [] } }

    /// The members of an object; empty for anything else.
    public var members: [(name: String, value: JSONTree)] {
        if case .object(let members) = self { members } else { [] }
    }

    /// The text; nil for anything else.
    public var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The number, also one written as text.
    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .string(let text): Double(text)
        default: nil
        }
    }

    /// The whole number, also one written as text.
    public var whole: Int64? {
        switch self {
        case .integer(let value): value
        case .real(let value): Int64(exactly: value)
        case .string(let text): Int64(text)
        default: nil
        }
    }

    /// Whether it is `true`.
    public var isTrue: Bool { if case .bool(true) = self { true } else { false } }

    /// Reads a text; nil when it is no JSON, or nested more than 64 deep.
    public init?(_ bytes: [UInt8]) {
        var reader = Reader(bytes: bytes)
        guard let value = reader.value(depth: 0) else { return nil }
        reader.skipSpace()
        guard reader.place == bytes.count else { return nil }
        self = value
    }

    private struct Reader {
        let bytes: [UInt8]
        var place = 0

        mutating func skipSpace() {
            if place == 0, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
            while place < bytes.count, [32, 9, 10, 13].contains(bytes[place]) { place += 1 }
        }

        private mutating func take(_ character: Character) -> Bool {
            skipSpace()
            guard place < bytes.count, bytes[place] == character.asciiValue else { return false }
            place += 1
            return true
        }

        mutating func value(depth: Int) -> JSONTree? {
            skipSpace()
            guard depth < 64, place < bytes.count else { return nil }
            switch bytes[place] {
            case UInt8(ascii: "{"): return object(depth)
            case UInt8(ascii: "["): return array(depth)
            case UInt8(ascii: "\""): return string().map { .string($0) }
            case UInt8(ascii: "t"): return word("true", .bool(true))
            case UInt8(ascii: "f"): return word("false", .bool(false))
            case UInt8(ascii: "n"): return word("null", .null)
            default: return number()
            }
        }

        private mutating func word(_ text: String, _ value: JSONTree) -> JSONTree? {
            guard bytes[place...].starts(with: text.utf8) else { return nil }
            place += text.utf8.count
            return value
        }

        private mutating func object(_ depth: Int) -> JSONTree? {
            place += 1
            var members: [(name: String, value: JSONTree)] = []
            if take("}") { return .object(members) }
            while true {
                skipSpace()
                guard place < bytes.count, bytes[place] == UInt8(ascii: "\""), let name = string(),
                    take(":"), let value = value(depth: depth + 1)
                else { return nil }
                members.append((name, value))
                if take("}") { return .object(members) }
                guard take(",") else { return nil }
            }
        }

        private mutating func array(_ depth: Int) -> JSONTree? {
            place += 1
            var elements: [JSONTree] = []
            if take("]") { return .array(elements) }
            while true {
                guard let value = value(depth: depth + 1) else { return nil }
                elements.append(value)
                if take("]") { return .array(elements) }
                guard take(",") else { return nil }
            }
        }

        private mutating func number() -> JSONTree? {
            let start = place
            while place < bytes.count, "+-.0123456789eE".utf8.contains(bytes[place]) { place += 1 }
            let text = String(decoding: bytes[start..<place], as: UTF8.self)
            if let integer = Int64(text) { return .integer(integer) }
            return Double(text).flatMap { $0.isFinite ? .real($0) : nil }
        }

        private mutating func string() -> String? {
            place += 1
            var text: [UInt8] = []
            while place < bytes.count {
                let byte = bytes[place]
                place += 1
                switch byte {
                case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard let scalar = escape() else { return nil }
                    text.append(contentsOf: String(scalar).utf8)
                default: text.append(byte)
                }
            }
            return nil
        }

        private mutating func escape() -> Unicode.Scalar? {
            guard place < bytes.count else { return nil }
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "n"): return "\n"
            case UInt8(ascii: "t"): return "\t"
            case UInt8(ascii: "r"): return "\r"
            case UInt8(ascii: "b"): return "\u{8}"
            case UInt8(ascii: "f"): return "\u{c}"
            case UInt8(ascii: "u"):
                guard let first = unit() else { return nil }
                guard 0xD800..<0xDC00 ~= first else { return Unicode.Scalar(first) ?? "\u{FFFD}" }
                guard bytes[place...].starts(with: Array("\\u".utf8)) else { return "\u{FFFD}" }
                place += 2
                guard let second = unit() else { return nil }
                guard 0xDC00..<0xE000 ~= second else { return "\u{FFFD}" }
                return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
            default: return Unicode.Scalar(byte)
            }
        }

        private mutating func unit() -> UInt32? {
            guard place + 4 <= bytes.count else { return nil }
            let text = String(decoding: bytes[place..<place + 4], as: UTF8.self)
            place += 4
            return UInt32(text, radix: 16)
        }
    }
}
