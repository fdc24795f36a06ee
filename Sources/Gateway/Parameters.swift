// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials

/// The parameters of one request: query string and form body merged, names in any letter case.
///
/// An empty value is the same as an absent one, and so are the words that scripts send for "nothing"
/// (`undefined`, `null`). The first of several equal names wins, the query string before the body.
struct Parameters: Hashable, Sendable {
    /// The most parameters in one request; further ones are refused.
    static let countLimit = 256

    private var values: [String: String] = [:]

    /// Reads `application/x-www-form-urlencoded` text; throws `tooLarge` and, for a broken `%XX`,
    /// `invalidParameter`.
    init(query: some Sequence<UInt8>, form: some Sequence<UInt8>) throws(Failure) {
        try add(Array(query))
        try add(Array(form))
    }

    /// Parameters by name, for tests and internal calls.
    init(_ values: [String: String]) {
        for (name, value) in values where !value.isEmpty { self.values[name.lowercased()] = value }
    }

    /// The value, or nil when it is absent, empty or stands for nothing.
    subscript(name: String) -> String? {
        guard let value = values[name.lowercased()], value != "undefined", value != "null" else {
            return nil
        }
        return value
    }

    /// The value of the first of the names that is there.
    func first(of names: String...) -> String? {
        for name in names { if let value = self[name] { return value } }
        return nil
    }

    private mutating func add(_ bytes: [UInt8]) throws(Failure) {
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = try Self.decode(parts[0]).lowercased()
            guard !name.isEmpty, parts.count == 2, !parts[1].isEmpty else { continue }
            let value = try Self.decode(parts[1])
            if values[name] == nil { values[name] = value }
            guard values.count <= Self.countLimit else {
                throw Failure(.tooLarge, "more than \(Self.countLimit) parameters")
            }
        }
    }

    /// Undoes `%XX` and `+`; bytes that are not UTF-8 become U+FFFD.
    static func decode(_ bytes: some Sequence<UInt8>) throws(Failure) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.underestimatedCount)
        var rest = bytes.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): result.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = digit(rest.next()), let low = digit(rest.next()) else {
                    throw Failure(
                        .invalidParameter, "'%' must be followed by two hexadecimal digits")
                }
                result.append(high << 4 | low)
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
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

// Typed access; every sentence names the parameter and what was expected.
extension Parameters {
    /// The value, or a failure that says it is missing.
    func required(_ name: String) throws(Failure) -> String {
        guard let value = self[name] else {
            throw Failure(.invalidParameter, "parameter '\(name)' is missing")
        }
        return value
    }

    /// A number that is finite; nil when absent.
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

    /// `timeout`: how long the client waits at most, in seconds; 15 when absent, at most 60.
    func timeout() throws(Failure) -> Duration {
        guard let seconds = try number("timeout") else { return .seconds(15) }
        guard 0.001...60 ~= seconds else {
            throw Self.unexpected("timeout", self["timeout"] ?? "", "seconds, 0.001 to 60")
        }
        return .milliseconds(Int64(seconds * 1_000))
    }

    /// `true` or `false` in any letter case, or 1 or 0; the default when absent.
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
        let parts = text.utf8.split(
            separator: UInt8(ascii: ","), maxSplits: counts.upperBound,
            omittingEmptySubsequences: false)
        guard counts.contains(parts.count) else { return nil }
        var values: [Double] = []
        for part in parts {
            guard let value = number(String(Substring(part))) else { return nil }
            values.append(value)
        }
        return values
    }

    static func number(_ text: String) -> Double? {
        var text = text
        if text.utf8.contains(UInt8(ascii: " ")) { text.removeAll { $0 == " " } }
        guard text.utf8.allSatisfy(isNumeric), let value = Double(text), value.isFinite else {
            return nil
        }
        return value
    }

    private static func isNumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    static func unexpected(_ name: String, _ text: String, _ expected: String) -> Failure {
        Failure(
            .invalidParameter, "parameter '\(name)' is '\(text.prefix(60))': expected \(expected)")
    }
}
