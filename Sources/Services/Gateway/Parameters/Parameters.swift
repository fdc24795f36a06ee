// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Expression
internal import FoundationEssentials
internal import Platform
internal import Tables

/// The parameters of a request: query string and form body merged, with case-insensitive names.
///
/// An empty value counts as absent, and so do the words that scripts send for "nothing"
/// (`undefined`, `null`). The first of several equal names wins, the query string before the body.
struct Parameters: Sendable {
    private struct Entry {
        var name: String
        var value: String
    }

    /// Maximum number of parameters in a request; more are refused.
    static let countLimit = 256

    /// A list: there are few entries, and comparing names costs less than hashing them.
    private var entries: [Entry] = []
    /// Whether names with an empty value, or without one, count.
    private let keepsEmpty: Bool
    /// Visibility of the past for the caller; until it is set, requests about the past fail.
    var sight = PastSight.undecided
    /// Whether the caller sees internal details: errors of other servers, reasons for layers not
    /// loaded.
    var showsInside = false
    /// Parameter names declared by the route; nil where any may be read.
    var declaredNames: Set<String>?
    /// Time of the request.
    private let moment = Timestamp(microseconds: WallClock.microseconds())

    /// Parses `application/x-www-form-urlencoded` text; throws `tooLarge`.
    init(
        query: some Collection<UInt8>, form: some Collection<UInt8>, keepsEmpty: Bool = false
    ) throws(Failure) {
        self.keepsEmpty = keepsEmpty
        try add(query)
        try add(form)
    }

    /// Parameters by name, for tests and internal calls.
    init(_ values: [String: String]) {
        keepsEmpty = false
        for (name, value) in values where !value.isEmpty {
            entries.append(Entry(name: name, value: value))
        }
    }

    /// The value; nil when it is absent, empty or a word for nothing.
    subscript(name: String) -> String? {
        guard let value = entry(name)?.value, !value.isEmpty, value != "undefined",
            value != "null"
        else { return nil }
        return value
    }

    /// The names, in order of appearance.
    var names: [String] { entries.map(\.name) }

    /// The raw value, including words for nothing; nil when absent.
    func text(_ name: String) -> String? { entry(name)?.value }

    /// Replaces a value, or adds it.
    mutating func set(_ name: String, to value: String) {
        entries.removeAll { $0.name.isEqualIgnoringCase(name) }
        entries.append(Entry(name: name, value: value))
    }

    /// Parameters that must not appear in a page's links.
    static let secrets = ["token", "username", "password", "csrf"]

    /// The query of a URL that repeats the request with one parameter replaced, or omitted if the
    /// value is nil; the names in order of appearance.
    ///
    /// Secrets are omitted, unless the link goes back to the client that sent them.
    func query(setting name: String, to value: String?, keepsSecrets: Bool = false) -> String {
        query(setting: [(name, value)], keepsSecrets: keepsSecrets)
    }

    /// The query of a URL that repeats the request with several parameters replaced or omitted.
    func query(setting changes: [(name: String, value: String?)], keepsSecrets: Bool = false)
        -> String
    {
        let left = changes.map(\.name) + (keepsSecrets ? [] : Self.secrets)
        let others = entries.filter { entry in
            !left.contains { entry.name.isEqualIgnoringCase($0) }
        }
        let set = changes.compactMap { change in
            change.value.map { Entry(name: change.name, value: $0) }
        }
        return (others + set).map {
            Self.encode($0.name) + "=" + Self.encode($0.value)
        }.joined(separator: "&")
    }

    /// Percent-encodes every byte but letters, digits and `-._~,:`.
    static func encode(_ text: String) -> String {
        var result: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: ","), UInt8(ascii: ":"):
                result.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                result += [
                    UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)],
                ]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// In test builds, traps for a name that the route does not declare.
    private func entry(_ name: String) -> Entry? {
        assert(
            declaredNames?.contains(name.lowercased()) ?? true,
            "the row of the resource lacks parameter '\(name)'")
        for entry in entries where entry.name.isEqualIgnoringCase(name) { return entry }
        return nil
    }

    private mutating func add(_ text: some Collection<UInt8>) throws(Failure) {
        let bytes = Array(text)
        var start = 0
        while start < bytes.count {
            var end = bytes[start...].firstIndex(of: UInt8(ascii: "&")) ?? bytes.count
            let nameEnd = bytes[start..<end].firstIndex(of: UInt8(ascii: "=")) ?? end
            let rawEnd = Self.rawJSONEnd(bytes[min(nameEnd + 1, end)...])
            if let rawEnd { end = rawEnd }
            let pair = bytes[start..<end]
            start = end + 1
            let name = Self.decode(pair[..<nameEnd])
            guard !name.isEmpty, keepsEmpty || nameEnd + 1 < end else { continue }
            let text = pair[min(nameEnd + 1, end)...]
            let value = rawEnd == nil ? Self.decode(text) : RawJSONForm.decode(text)
            if entry(name) != nil { continue }
            guard entries.count < Self.countLimit else {
                throw Failure(.tooLarge, "more than \(Self.countLimit) parameters")
            }
            entries.append(Entry(name: name, value: value))
        }
    }

    /// The end of a value that is unencoded JSON, with its quotes and brackets; nil for any other
    /// value.
    ///
    /// Recent QGIS versions send features that way. The strings of such JSON may contain `&`, `+`
    /// and `%`.
    private static func rawJSONEnd(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard let first = bytes.first, first == UInt8(ascii: "[") || first == UInt8(ascii: "{")
        else { return nil }
        var (depth, isText, isEscaped, hasText) = (0, false, false, false)
        for (index, byte) in zip(bytes.indices, bytes) {
            if isText {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isText = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): (isText, hasText) = (true, true)
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                depth -= 1
                guard depth == 0 else { continue }
                let rest = bytes[(index + 1)...].drop { $0 <= UInt8(ascii: " ") }
                let isEnd = rest.isEmpty || rest.first == UInt8(ascii: "&")
                return hasText && isEnd ? rest.startIndex : nil
            case UInt8(ascii: "&"), UInt8(ascii: "%"): return nil
            default: break
            }
        }
        return nil
    }

    /// Decodes `%XX`, `%uXXXX` and `+`; any other `%` stands for itself, as in browsers.
    ///
    /// Bytes that are not UTF-8 are decoded as Windows-1252.
    static func decode(_ bytes: some Collection<UInt8>) -> String {
        // Nearly all text: neither a copy nor a validation, which the standard library does slowly.
        if bytes.allSatisfy({
            $0 < 0x80 && $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "+")
        }) {
            return String(decoding: bytes, as: UTF8.self)
        }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        let bytes = Array(bytes)
        var place = 0
        while place < bytes.count {
            if bytes[place] == UInt8(ascii: "+") {
                result.append(UInt8(ascii: " "))
                place += 1
            } else if let (character, length) = escape(bytes[place...]) {
                result += character
                place += length
            } else {
                result.append(bytes[place])
                place += 1
            }
        }
        return text(result)
    }

    /// Decodes UTF-8, or else Windows-1252.
    static func text(_ bytes: [UInt8]) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? String(decoding: Windows1252.utf8(bytes), as: UTF8.self)
    }

    /// The bytes of an escape at the beginning, and its length; nil without one.
    static func escape(_ bytes: ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)? {
        guard bytes.first == UInt8(ascii: "%") else { return nil }
        if let byte = number(bytes.dropFirst().prefix(2), digitCount: 2) {
            return ([UInt8(byte)], 3)
        }
        guard let unit = unit(bytes) else { return nil }
        if 0xD800...0xDBFF ~= unit, let low = self.unit(bytes.dropFirst(6)),
            0xDC00...0xDFFF ~= low,
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        {
            return (Array(Character(scalar).utf8), 12)
        }
        return (Array(Character(Unicode.Scalar(unit) ?? "\u{FFFD}").utf8), 6)
    }

    /// The UTF-16 code unit of `%uXXXX`, as JavaScript's `escape` writes it.
    private static func unit(_ bytes: ArraySlice<UInt8>) -> UInt32? {
        guard bytes.starts(with: "%u".utf8) else { return nil }
        return number(bytes.dropFirst(2).prefix(4), digitCount: 4)
    }

    private static func number(_ bytes: ArraySlice<UInt8>, digitCount: Int) -> UInt32? {
        guard bytes.count == digitCount else { return nil }
        var value: UInt32 = 0
        for byte in bytes {
            guard let digit = digit(byte) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    private static func digit(_ byte: UInt8?) -> UInt8? {
        switch byte {
        case .some(let byte) where UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte:
            byte - UInt8(ascii: "0")
        case .some(let byte) where UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte | 0x20:
            (byte | 0x20) - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

// Typed access; every error names the parameter and the expected form.
extension Parameters {
    /// The value; throws a failure if it is missing.
    func required(_ name: String) throws(Failure) -> String {
        guard let value = self[name] else {
            throw Failure(.invalidParameter, "parameter '\(name)' is missing")
        }
        return value
    }

    /// A WHERE clause with the request's time substituted; nil when absent.
    func clause(_ name: String) -> String? { self[name].map(asked) }

    /// The clause with the request's time substituted where it refers to the current time.
    func asked(_ clause: String) -> String { WhereClause.dated(clause, at: moment) }

    /// A finite number; nil when absent.
    func number(_ name: String) throws(Failure) -> Double? {
        guard let text = self[name] else { return nil }
        guard let value = Self.number(text) else {
            throw Self.unexpected(name, text, "a number")
        }
        return value
    }

    /// A whole number in a range; nil when absent.
    func integer(_ name: String, in range: ClosedRange<Int>) throws(Failure) -> Int? {
        guard let text = self[name] else { return nil }
        guard let value = Int(text.filter { $0 != " " }), range.contains(value) else {
            throw Self.unexpected(
                name, text, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// `timeout`: the client's time limit in seconds; 15 by default, at most 60.
    func timeout() throws(Failure) -> Duration {
        guard let seconds = try number("timeout") else { return .seconds(15) }
        guard 0.001...60 ~= seconds else {
            throw Self.unexpected("timeout", self["timeout"] ?? "", "seconds, 0.001 to 60")
        }
        return .milliseconds(Int64(seconds * 1_000))
    }

    /// `maxAllowableOffset`: tolerance of generalised geometries; nil when absent or 0.
    func maxAllowableOffset() throws(Failure) -> Double? {
        let offset = try number("maxAllowableOffset")
        if let offset, offset < 0 {
            throw Self.unexpected("maxAllowableOffset", "\(offset)", "0 or more")
        }
        return offset == 0 ? nil : offset
    }

    /// `true` or `false`, case-insensitively, or 1 or 0; the default when absent.
    func flag(_ name: String, default value: Bool) throws(Failure) -> Bool {
        guard let text = self[name] else { return value }
        switch text.lowercased() {
        case "true", "1": return true
        case "false", "0": return false
        default: throw Self.unexpected(name, text, "true or false")
        }
    }

    /// Finite numbers separated by commas; nil when absent.
    func numbers(_ name: String, counts: ClosedRange<Int>) throws(Failure) -> [Double]? {
        guard let text = self[name] else { return nil }
        guard let values = Self.numbers(text, counts: counts) else {
            throw Self.unexpected(
                name, text,
                "\(counts.lowerBound)"
                    + (counts.count == 1 ? "" : " to \(counts.upperBound)")
                    + " numbers separated by commas")
        }
        return values
    }

    static func numbers(_ text: String, counts: ClosedRange<Int>) -> [Double]? {
        let bytes = Array(text.utf8)
        var values: [Double] = []
        values.reserveCapacity(counts.upperBound)
        var start = 0
        while start <= bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: ",")) ?? bytes.count
            guard values.count < counts.upperBound,
                let value = Double(decimal: bytes[start..<end])
            else { return nil }
            values.append(value)
            start = end + 1
        }
        return counts.contains(values.count) ? values : nil
    }

    static func number(_ text: String) -> Double? { Double(decimal: text.utf8) }

    static func unexpected(_ name: String, _ text: String, _ expected: String) -> Failure {
        Failure(
            .invalidParameter, "parameter '\(name)' is '\(text.prefix(60))': expected \(expected)")
    }
}

extension String {
    /// Whether the texts are equal, ignoring the case of ASCII letters.
    func isEqualIgnoringCase(_ other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        var others = other.utf8.makeIterator()
        for byte in utf8 where byte.lowercase != others.next()?.lowercase { return false }
        return true
    }
}

extension UInt8 {
    /// An ASCII capital in lower case, everything else unchanged.
    var lowercase: UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self
    }
}
