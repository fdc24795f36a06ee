// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Glibc

extension Evaluation {
    /// The most bytes of a text that is put together; a longer one is null, so that a clause
    /// neither fills the memory nor takes much longer for a feature than its own texts are long.
    static let textByteLimit = 1 << 16

    func value(of function: ScalarFunction, _ arguments: [Operand]) -> AttributeValue {
        func text(_ place: Int) -> String? { Self.text(value(arguments[place])) }
        func number(_ place: Int) -> Int64? { Self.whole(value(arguments[place])) }
        func string(_ text: String?) -> AttributeValue { text.map { .string($0) } ?? .null }
        switch function {
        case .upper: return string(text(0)?.uppercased())
        case .lower: return string(text(0)?.lowercased())
        case .characterLength:
            return text(0).map { .integer(Int64($0.unicodeScalars.count)) } ?? .null
        case .concatenation: return string(concatenation(arguments))
        case .position:
            guard let needle = text(0), let hay = text(1) else { return .null }
            return .integer(Self.position(of: needle, in: hay))
        case .substring:
            guard let whole = text(0), let start = number(1) else { return .null }
            guard arguments.count > 2 else { return string(Self.substring(whole, start, .max)) }
            return string(number(2).flatMap { Self.substring(whole, start, $0) })
        case .trimmed, .trimmedAtStart, .trimmedAtEnd:
            guard let whole = text(0), let characters = text(1) else { return .null }
            return string(
                Self.trimmed(
                    whole, of: characters, atStart: function != .trimmedAtEnd,
                    atEnd: function != .trimmedAtStart))
        case .absolute:
            let value = value(arguments[0])
            return Self.order(value, .integer(0)) == .ascending
                ? Self.apply(.subtract, .integer(0), value) : Self.number(value)
        case .cosine, .logarithm, .logarithm10, .sine, .tangent:
            return Self.real(value(arguments[0])).map { Self.finite(Self.curve(function, $0)) }
                ?? .null
        case .power:
            guard let base = Self.real(value(arguments[0])),
                let exponent = Self.real(value(arguments[1]))
            else { return .null }
            return Self.finite(pow(base, exponent))
        case .sign:
            return Self.real(value(arguments[0])).map { .integer($0 > 0 ? 1 : $0 < 0 ? -1 : 0) }
                ?? .null
        case .ceiling: return Self.rounded(value(arguments[0]), 0, .up)
        case .floor: return Self.rounded(value(arguments[0]), 0, .down)
        case .rounded, .truncated:
            guard let places = arguments.count > 1 ? number(1) : 0 else { return .null }
            return Self.rounded(
                value(arguments[0]), places,
                function == .truncated ? .towardZero : .toNearestOrAwayFromZero)
        case .coalesce:
            for argument in arguments {
                let found = value(argument)
                if found != .null { return found }
            }
            return .null
        case .nullIf:
            let first = value(arguments[0])
            return Self.order(first, value(arguments[1])) == .same ? .null : first
        }
    }

    // MARK: texts

    private func concatenation(_ arguments: [Operand]) -> String? {
        var result = ""
        for argument in arguments {
            guard let text = Self.text(value(argument)),
                result.utf8.count + text.utf8.count <= Self.textByteLimit
            else { return nil }
            result += text
        }
        return result
    }

    /// The substring from character `start`, counted from 1; places before the text count as
    /// missing characters.
    private static func substring(_ text: String, _ start: Int64, _ length: Int64) -> String? {
        guard length >= 0 else { return nil }
        let (sum, overflow) = start.addingReportingOverflow(length)
        let end = overflow ? Int64.max : sum
        let first = max(start, 1)
        guard end > first else { return "" }
        let scalars = text.unicodeScalars
        // Clamped: a text has at most Int.max characters.
        let from =
            scalars.index(scalars.startIndex, offsetBy: Int(first - 1), limitedBy: scalars.endIndex)
            ?? scalars.endIndex
        let to =
            scalars.index(from, offsetBy: Int(end - first), limitedBy: scalars.endIndex)
            ?? scalars.endIndex
        return String(scalars[from..<to])
    }

    private static func trimmed(
        _ text: String, of characters: String, atStart: Bool, atEnd: Bool
    ) -> String {
        let unwanted = Set(characters.unicodeScalars)
        var rest = text.unicodeScalars[...]
        if atStart { rest = rest.drop { unwanted.contains($0) } }
        if atEnd { while let last = rest.last, unwanted.contains(last) { rest.removeLast() } }
        return String(rest)
    }

    /// The index of the first occurrence in characters, from 1; 0 for none.
    ///
    /// Takes time in proportion to the sum of both lengths (Knuth, Morris and Pratt).
    private static func position(of needle: String, in text: String) -> Int64 {
        let needle = Array(needle.utf8)
        guard !needle.isEmpty else { return 1 }
        // The failure function: length of the longest proper prefix that is a suffix up to each
        // byte.
        var borders = [0]
        borders.reserveCapacity(needle.count)
        for place in needle.indices.dropFirst() {
            var border = borders[place - 1]
            while border > 0, needle[border] != needle[place] { border = borders[border - 1] }
            borders.append(needle[border] == needle[place] ? border + 1 : 0)
        }
        var matched = 0
        for (place, byte) in text.utf8.enumerated() {
            while matched > 0, needle[matched] != byte { matched = borders[matched - 1] }
            if needle[matched] == byte { matched += 1 }
            guard matched == needle.count else { continue }
            // UTF-8 is only found where a character begins.
            let before = text.utf8.prefix(place + 1 - needle.count)
            return Int64(before.lazy.filter { $0 & 0xC0 != 0x80 }.count) + 1
        }
        return 0
    }

    // MARK: numbers

    /// The value where it is a number, else null.
    private static func number(_ value: AttributeValue) -> AttributeValue {
        switch value {
        case .integer, .real: value
        case .null, .string, .date: .null
        }
    }

    private static func curve(_ function: ScalarFunction, _ number: Double) -> Double {
        switch function {
        case .cosine: cos(number)
        case .sine: sin(number)
        case .tangent: tan(number)
        case .logarithm: log(number)
        default: log10(number)
        }
    }

    /// Null for a number without bounds, and for none.
    private static func finite(_ number: Double) -> AttributeValue {
        number.isFinite ? .real(number) : .null
    }

    /// The value as a whole number; nil for any other.
    private static func whole(_ value: AttributeValue) -> Int64? {
        switch value {
        case .integer(let integer): integer
        case .real(let real): Int64(exactly: real)
        case .null, .string, .date: nil
        }
    }

    /// The value rounded to so many decimals; negative ones round to tens, hundreds and so on.
    ///
    /// Null for more than 22, beyond which a double holds no power of ten exactly.
    private static func rounded(
        _ value: AttributeValue, _ places: Int64, _ rule: FloatingPointRoundingRule
    ) -> AttributeValue {
        guard -22...22 ~= places else { return .null }
        if case .integer = value, places >= 0 { return value }
        guard let number = real(value) else { return .null }
        let scale = (0..<abs(places)).reduce(into: 1.0) { scale, _ in scale *= 10 }
        let scaled = places < 0 ? number / scale : number * scale
        guard scaled.isFinite else { return value }
        let result = places < 0 ? scaled.rounded(rule) * scale : scaled.rounded(rule) / scale
        if case .integer = value, let whole = Int64(exactly: result) { return .integer(whole) }
        return .real(result)
    }

    // MARK: moments

    static let dayMilliseconds: Int64 = 86_400_000

    /// `DATE ± days`, `days + DATE` and the days between two moments; nil where neither value is a
    /// moment.
    static func momentArithmetic(
        _ operation: Arithmetic, _ left: AttributeValue, _ right: AttributeValue
    ) -> AttributeValue? {
        switch (operation, left, right) {
        case (.add, .date(let moment), let days), (.add, let days, .date(let moment)):
            return milliseconds(days: days).map { later(.date(moment), by: $0) } ?? .null
        case (.subtract, .date(let first), .date(let second)):
            let (milliseconds, overflow) = first.subtractingReportingOverflow(second)
            return overflow ? .null : .real(Double(milliseconds) / Double(dayMilliseconds))
        case (.subtract, .date, let days):
            // Days in milliseconds are never Int64.min, which has no negative.
            return milliseconds(days: days).map { later(left, by: -$0) } ?? .null
        case (_, .date, _), (_, _, .date): return .null
        default: return nil
        }
    }

    /// Days in milliseconds, rounded to the nearest; nil for non-numbers, and beyond the range of
    /// moments.
    private static func milliseconds(days: AttributeValue) -> Int64? {
        guard let days = real(days), abs(days) < 1e11 else { return nil }
        return Int64(exactly: (days * Double(dayMilliseconds)).rounded())
    }

    /// A moment plus milliseconds; null for any other value, and beyond the range of moments.
    static func later(_ value: AttributeValue, by milliseconds: Int64) -> AttributeValue {
        guard case .date(let moment) = value else { return .null }
        let (sum, overflow) = moment.addingReportingOverflow(milliseconds)
        return overflow ? .null : .date(sum)
    }

    static func part(_ part: MomentPart, of value: AttributeValue) -> AttributeValue {
        guard case .date(let moment) = value else { return .null }
        let clock = CalendarClock(milliseconds: moment)
        let minutes = clock.millisecondOfDay / 60_000
        switch part {
        case .year: return .integer(clock.year)
        case .month: return .integer(clock.month)
        case .day: return .integer(clock.day)
        case .hour: return .integer(minutes / 60)
        case .minute: return .integer(minutes % 60)
        case .second: return .real(Double(clock.millisecondOfDay % 60_000) / 1000)
        }
    }

    // MARK: CAST

    /// The converted value; null when not convertible.
    static func cast(_ value: AttributeValue, to type: CastType) -> AttributeValue {
        switch (type, value) {
        case (_, .null): return .null
        case (.text(let limit), _):
            let text = Self.text(value) ?? Self.isoText(value)
            return .string(limit.map { String(text.unicodeScalars.prefix($0)) } ?? text)
        case (.whole, .integer), (.real, .real), (.moment, .date): return value
        case (.whole, .real(let real)):
            return Int64(exactly: real.rounded(.towardZero)).map { .integer($0) } ?? .null
        case (.real, .integer(let integer)): return .real(Double(integer))
        case (.whole, .date), (.real, .date), (.moment, .real), (.day, .real): return .null
        case (.whole, .string(let text)), (.real, .string(let text)):
            return parse(text, like: .integer(0)).map { cast($0, to: type) } ?? .null
        case (.moment, .string(let text)): return parse(text, like: .date(0)) ?? .null
        case (.day, .string(let text)):
            return parse(text, like: .date(0)).map { cast($0, to: .day) } ?? .null
        case (.moment, .integer(let milliseconds)): return .date(milliseconds)
        case (.day, .integer(let milliseconds)), (.day, .date(let milliseconds)):
            let clock = CalendarClock(milliseconds: milliseconds)
            return later(.date(milliseconds), by: -clock.millisecondOfDay)
        }
    }

    private static func isoText(_ value: AttributeValue) -> String {
        guard case .date(let moment) = value else { return "" }
        return CalendarClock(milliseconds: moment).text
    }
}
