// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// A JSON value in the relaxed syntax of clients.
enum RelaxedValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([RelaxedValue])
    case object([String: RelaxedValue])

    /// The member of that name; nil if it is absent or this is not an object.
    subscript(name: String) -> RelaxedValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The number; nil for anything else.
    var number: Double? {
        guard case .number(let value) = self else { return nil }
        return value
    }
}

/// Parses JSON in the relaxed syntax of GIS clients: keys may be unquoted or in single quotes (`{x:
/// -181081.0, y: 6714729.0}`), strings may be in single quotes.
///
/// Bounded: ``depthLimit`` levels, and no more values than bytes. Any input results in a value or a
/// `Failure`.
struct RelaxedJSON {
    /// Maximum nesting of arrays and objects.
    static let depthLimit = 16

    private let bytes: [UInt8]
    private var offset = 0

    private init(_ text: String) { bytes = Array(text.utf8) }

    /// Parses the whole text; throws `invalidParameter` with the byte offset of the error.
    static func parse(_ text: String) throws(Failure) -> RelaxedValue {
        var parser = RelaxedJSON(text)
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.offset == parser.bytes.count else { throw parser.fault("the end") }
        return value
    }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            offset += 1
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard next == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private func fault(_ expected: String) -> Failure {
        Failure(.invalidParameter, "JSON at byte \(offset): expected \(expected)")
    }

    private mutating func value(depth: Int) throws(Failure) -> RelaxedValue {
        guard depth <= Self.depthLimit else {
            throw Failure(
                .invalidParameter,
                "JSON at byte \(offset): nested deeper than \(Self.depthLimit)")
        }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try string())
        case .some: return try scalar()
        case nil: throw fault("a value")
        }
    }

    private mutating func object(depth: Int) throws(Failure) -> RelaxedValue {
        offset += 1
        var members: [String: RelaxedValue] = [:]
        if take("}") { return .object(members) }
        repeat {
            skipSpace()
            let isQuoted = next == UInt8(ascii: "\"") || next == UInt8(ascii: "'")
            let key = isQuoted ? try string() : word()
            guard !key.isEmpty || isQuoted else { throw fault("a key") }
            guard take(":") else { throw fault("':'") }
            members[key] = try value(depth: depth + 1)
        } while take(",")
        guard take("}") else { throw fault("',' or '}'") }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(Failure) -> RelaxedValue {
        offset += 1
        var elements: [RelaxedValue] = []
        if take("]") { return .array(elements) }
        repeat { elements.append(try value(depth: depth + 1)) } while take(",")
        guard take("]") else { throw fault("',' or ']'") }
        return .array(elements)
    }

    /// Letters, digits and the other characters of numbers and names.
    private mutating func word() -> String {
        let start = offset
        while let byte = next, Self.isWord(byte) { offset += 1 }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "$"):
            true
        default: false
        }
    }

    private mutating func scalar() throws(Failure) -> RelaxedValue {
        let start = offset
        switch word() {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        case let text:
            guard let number = Parameters.number(text) else {
                offset = start
                throw fault("a value")
            }
            return .number(number)
        }
    }

    private mutating func string() throws(Failure) -> String {
        let quote = bytes[offset]
        offset += 1
        var result: [UInt8] = []
        while let byte = next, byte != quote {
            offset += 1
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                continue
            }
            try escape(into: &result)
        }
        guard next == quote else { throw fault("the end of the string") }
        offset += 1
        return String(decoding: result, as: UTF8.self)
    }

    private mutating func escape(into result: inout [UInt8]) throws(Failure) {
        guard let byte = next else { throw fault("an escape") }
        offset += 1
        switch byte {
        case UInt8(ascii: "n"): result.append(0x0A)
        case UInt8(ascii: "t"): result.append(0x09)
        case UInt8(ascii: "r"): result.append(0x0D)
        case UInt8(ascii: "b"): result.append(0x08)
        case UInt8(ascii: "f"): result.append(0x0C)
        case UInt8(ascii: "u"): result.append(contentsOf: String(try unicodeEscape()).utf8)
        default: result.append(byte)
        }
    }

    private mutating func unicodeEscape() throws(Failure) -> Character {
        let high = try codeUnit()
        guard 0xD800...0xDBFF ~= high else { return Self.character(high) }
        guard next == UInt8(ascii: "\\"), offset + 1 < bytes.count,
            bytes[offset + 1] == UInt8(ascii: "u")
        else { return "\u{FFFD}" }
        offset += 2
        let low = try codeUnit()
        guard 0xDC00...0xDFFF ~= low else { return "\u{FFFD}" }
        return Self.character(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
    }

    private mutating func codeUnit() throws(Failure) -> UInt32 {
        guard offset + 4 <= bytes.count,
            bytes[offset..<offset + 4].allSatisfy({ $0 != 0x2B && $0 != 0x2D }),
            let unit = UInt32(
                String(decoding: bytes[offset..<offset + 4], as: UTF8.self), radix: 16)
        else { throw fault("four hexadecimal digits") }
        offset += 4
        return unit
    }

    private static func character(_ value: UInt32) -> Character {
        Unicode.Scalar(value).map(Character.init) ?? "\u{FFFD}"
    }
}
