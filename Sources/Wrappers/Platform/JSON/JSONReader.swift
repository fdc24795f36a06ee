// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// What a reader of JSON allows.
public enum JSONSyntax: Sendable {
    /// JSON (RFC 8259) up to 64 levels deep, also after a byte order mark.
    case strict
    /// What GIS clients write into URLs, up to 17 levels deep: besides, keys without quotes or in
    /// single ones (`{x: -181081.0, y: 6714729.0}`), and strings in single quotes.
    case relaxed

    /// Maximum nesting of arrays and objects.
    var levelLimit: Int {
        switch self {
        case .strict: 64
        case .relaxed: 17
        }
    }
}

/// The first place of a text that is not the JSON expected there.
public struct JSONFault: Error, Equatable, CustomStringConvertible {
    /// Its offset in bytes.
    public let offset: Int
    /// What was expected there, or what is wrong with it.
    public let problem: String

    /// `JSON at byte 7: expected ':'`.
    public var description: String { "JSON at byte \(offset): \(problem)" }
}

/// Reads one JSON text; bounded by the syntax's levels, and by as many values as bytes.
struct JSONReader {
    private let bytes: [UInt8]
    private let syntax: JSONSyntax
    private let packsPositions: Bool
    private var place = 0

    init(_ bytes: [UInt8], _ syntax: JSONSyntax, packsPositions: Bool = false) {
        self.bytes = bytes
        self.syntax = syntax
        self.packsPositions = packsPositions
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
    }

    /// The value that the whole text is.
    mutating func document() throws(JSONFault) -> JSONTree {
        let value = try value(level: 0)
        skipSpace()
        guard place == bytes.count else { throw expected("the end") }
        return value
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private func expected(_ what: String) -> JSONFault {
        JSONFault(offset: place, problem: "expected \(what)")
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            place += 1
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard next == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    private var isAtQuote: Bool {
        next == UInt8(ascii: "\"") || syntax == .relaxed && next == UInt8(ascii: "'")
    }

    // MARK: Values

    private mutating func value(level: Int) throws(JSONFault) -> JSONTree {
        guard level < syntax.levelLimit else {
            throw JSONFault(
                offset: place, problem: "nested deeper than \(syntax.levelLimit - 1)")
        }
        skipSpace()
        switch next {
        case nil: throw expected("a value")
        case UInt8(ascii: "{"): return try object(level)
        case UInt8(ascii: "["): return try array(level)
        case _ where isAtQuote: return .string(try string())
        default: return try scalar()
        }
    }

    private mutating func object(_ level: Int) throws(JSONFault) -> JSONTree {
        place += 1
        var members: [(name: String, value: JSONTree)] = []
        if take("}") { return .object(members) }
        members.reserveCapacity(4)
        repeat {
            skipSpace()
            let name = try memberName()
            guard take(":") else { throw expected("':'") }
            if let positions = positions(name, level + 1) {
                members.append((name, positions))
            } else {
                members.append((name, try value(level: level + 1)))
            }
        } while take(",")
        guard take("}") else { throw expected("',' or '}'") }
        return .object(members)
    }

    /// The value of a member that has positions; nil, without moving on, for any other.
    private mutating func positions(_ name: String, _ level: Int) -> JSONTree? {
        guard packsPositions, name == "rings" || name == "paths" || name == "points" else {
            return nil
        }
        // Lists, lists of positions, positions, numbers.
        let isFlat = name == "points"
        guard level + (isFlat ? 2 : 3) < syntax.levelLimit,
            let read = JSONPositionReader.read(bytes, at: place, isFlat: isFlat)
        else { return nil }
        place = read.end
        return .positions(read.positions)
    }

    private mutating func memberName() throws(JSONFault) -> String {
        if isAtQuote { return try string() }
        let name = syntax == .relaxed ? word() : ""
        guard !name.isEmpty else { throw expected("a key") }
        return name
    }

    private mutating func array(_ level: Int) throws(JSONFault) -> JSONTree {
        place += 1
        var elements: [JSONTree] = []
        if take("]") { return .array(elements) }
        // Most arrays of a long text are positions.
        elements.reserveCapacity(2)
        repeat { elements.append(try value(level: level + 1)) } while take(",")
        guard take("]") else { throw expected("',' or ']'") }
        return .array(elements)
    }

    private mutating func scalar() throws(JSONFault) -> JSONTree {
        if let number = shortNumber() { return number }
        let start = place
        switch word() {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        case let text:
            guard syntax == .relaxed || Self.isNumber(Substring(text).utf8) else {
                place = start
                throw expected("a value")
            }
            if let integer = Int64(text) { return .integer(integer) }
            // `Double(_:)` reads `nan`, `inf` and `0x10` too.
            guard text.utf8.allSatisfy({ "+-.0123456789eE".utf8.contains($0) }),
                let number = Double(text), number.isFinite
            else {
                place = start
                throw expected("a value")
            }
            return .real(number)
        }
    }

    /// A number of up to 18 digits without an exponent; nil, without moving on, for anything else.
    private mutating func shortNumber() -> JSONTree? {
        var end = place
        var value: Int64 = 0
        func digit() -> Int64? {
            guard end < bytes.count else { return nil }
            let digit = bytes[end] &- UInt8(ascii: "0")
            return digit < 10 ? Int64(digit) : nil
        }
        let isNegative = next == UInt8(ascii: "-")
        if isNegative { end += 1 }
        let first = end
        while end - first < 18, let digit = digit() {
            value = value * 10 + digit
            end += 1
        }
        let wholeCount = end - first
        guard wholeCount == 1 || wholeCount > 1 && bytes[first] != UInt8(ascii: "0") else {
            return nil
        }
        var fractionCount = 0
        if end < bytes.count, bytes[end] == UInt8(ascii: ".") {
            end += 1
            while wholeCount + fractionCount < 18, let digit = digit() {
                value = value * 10 + digit
                fractionCount += 1
                end += 1
            }
            guard fractionCount > 0 else { return nil }
        }
        guard end == bytes.count || !Self.isWord(bytes[end]) else { return nil }
        place = end
        guard fractionCount > 0 else { return .integer(isNegative ? -value : value) }
        let magnitude = DecimalScale.all[fractionCount].nearest(UInt64(value))
        return .real(isNegative ? -magnitude : magnitude)
    }

    /// Whether a text is a number of RFC 8259, section 6: no leading zeros, no sign but a minus,
    /// digits on both sides of the point.
    static func isNumber(_ text: Substring.UTF8View) -> Bool {
        var rest = text
        func digits() -> Substring.UTF8View {
            rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
        func skip(_ characters: String) -> Bool {
            guard let first = rest.first, characters.utf8.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        _ = skip("-")
        let whole = digits()
        guard !whole.isEmpty, whole.count == 1 || whole.first != UInt8(ascii: "0") else {
            return false
        }
        rest = rest[whole.endIndex...]
        if skip(".") {
            let fraction = digits()
            guard !fraction.isEmpty else { return false }
            rest = rest[fraction.endIndex...]
        }
        if skip("eE") {
            _ = skip("+-")
            let exponent = digits()
            guard !exponent.isEmpty else { return false }
            rest = rest[exponent.endIndex...]
        }
        return rest.isEmpty
    }

    /// Letters, digits and the other characters of numbers and names.
    private mutating func word() -> String {
        let start = place
        while let byte = next, Self.isWord(byte) { place += 1 }
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "$"):
            true
        default: false
        }
    }

    // MARK: Strings

    private mutating func string() throws(JSONFault) -> String {
        let quote = bytes[place]
        place += 1
        let start = place
        while let byte = next, byte != quote, byte != UInt8(ascii: "\\") { place += 1 }
        if next == quote {
            place += 1
            return String(decoding: bytes[start..<place - 1], as: UTF8.self)
        }
        var text = Array(bytes[start..<place])
        while let byte = next, byte != quote {
            place += 1
            if byte == UInt8(ascii: "\\") {
                try escape(into: &text)
            } else {
                text.append(byte)
            }
        }
        guard next == quote else { throw expected("the end of the string") }
        place += 1
        return String(decoding: text, as: UTF8.self)
    }

    /// Any other character after `\` stands for itself.
    private mutating func escape(into text: inout [UInt8]) throws(JSONFault) {
        guard let byte = next else { throw expected("an escape") }
        place += 1
        switch byte {
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try scalarEscape()).utf8)
        default: text.append(byte)
        }
    }

    /// The character of one `\uXXXX` or a pair; half a pair is U+FFFD.
    private mutating func scalarEscape() throws(JSONFault) -> Unicode.Scalar {
        let high = try codeUnit()
        guard 0xD800..<0xDC00 ~= high else { return Unicode.Scalar(high) ?? "\u{FFFD}" }
        guard bytes[place...].starts(with: "\\u".utf8) else { return "\u{FFFD}" }
        place += 2
        let low = try codeUnit()
        guard 0xDC00..<0xE000 ~= low else { return "\u{FFFD}" }
        return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}"
    }

    private mutating func codeUnit() throws(JSONFault) -> UInt32 {
        let digits = bytes[place...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ $0 != 0x2B && $0 != 0x2D }),
            let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw expected("four hexadecimal digits") }
        place += 4
        return unit
    }
}
