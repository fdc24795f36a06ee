// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import GDAL

/// The common properties of a column's texts, and the type that keeps all of them unchanged.
struct TextFacts {
    /// Whether a comma may be the decimal point.
    var mayHaveDecimalComma = false
    /// Whether quotes around a number mark it as text.
    var quotesMeanText = true
    /// Whether numbers are looked for, or moments only.
    var takesNumbers = true

    private var row = 0
    private var count = 0
    private var isInteger = true
    private var isSmall = true
    private var isReal = true
    /// Whether a whole number is one that a double does not hold.
    private var hasLargeInteger = false
    private var isMoment = true
    private var momentCount = 0
    private var noNumberCount = 0
    private var plainCount = 0
    private var quotedNumber: (row: Int, text: String)?
    /// Number of decimals; nil without a number, −1 for differing ones.
    private var decimals: Int?
    private var hasTrailingZero = false
    private(set) var hasCommas = false
    private var hasPoints = false
    /// Whether every text looks like a number, in any notation.
    private var looksNumeric = true
    /// The first that keeps the column from being numbers, with the reason.
    private var obstacle: (row: Int, text: String, reason: String)?
    private var noMoment: (row: Int, text: String)?

    /// Takes the next row's text; nil and empty for none.
    mutating func take(_ text: [UInt8]?, isQuoted: Bool = false) {
        row += 1
        guard let text, !text.isEmpty else { return }
        count += 1
        if isMoment || momentCount > 0 {
            if TextMoment(text) != nil {
                momentCount += 1
            } else {
                isMoment = false
                if noMoment == nil { noMoment = (row, Self.shown(text)) }
            }
        }
        guard takesNumbers, looksNumeric else {
            isInteger = false
            isReal = false
            return
        }
        if isReal || isInteger, TextValue.isNoNumber(text) {
            noNumberCount += 1
            isInteger = false
            return
        }
        if isQuoted, quotedNumber == nil { quotedNumber = (row, Self.shown(text)) }
        if isInteger {
            if let value = TextValue.integer(text) {
                if Int32(exactly: value) == nil { isSmall = false }
                if Int64(exactly: Double(value)) != value { hasLargeInteger = true }
            } else {
                isInteger = false
            }
        } else if TextValue.real(text) == nil, let value = TextValue.integer(text),
            Int64(exactly: Double(value)) != value
        {
            hasLargeInteger = true
        }
        takeReal(text)
    }

    private mutating func takeReal(_ text: [UInt8]) {
        let hasComma = mayHaveDecimalComma && text.contains(UInt8(ascii: ","))
        guard let parts = TextValue.Decimal(text, decimalComma: hasComma) else {
            isReal = false
            if Self.seemsNumeric(text) {
                note(text, "is not written as numbers are")
            } else {
                looksNumeric = false
            }
            return
        }
        if let reason = Self.reason(text, parts, hasComma) {
            isReal = false
            return note(text, reason)
        }
        plainCount += 1
        if hasComma { hasCommas = true } else if parts.hasPoint { hasPoints = true }
        if hasCommas, hasPoints {
            isReal = false
            return note(text, "has another decimal sign than numbers before it")
        }
        if !parts.fraction.isEmpty {
            let length = parts.fraction.count
            if decimals == nil { decimals = length } else if decimals != length { decimals = -1 }
            if length > 1, parts.fraction.last == UInt8(ascii: "0") { hasTrailingZero = true }
        }
    }

    private mutating func note(_ text: [UInt8], _ reason: String) {
        if obstacle == nil { obstacle = (row, Self.shown(text), reason) }
    }

    private static func reason(
        _ text: [UInt8], _ parts: TextValue.Decimal, _ hasComma: Bool
    ) -> String? {
        if TextValue.real(text, decimalComma: hasComma) != nil { return nil }
        if TextValue.integer(text) != nil { return nil }
        if parts.isPlain {
            return parts.hasPoint || parts.hasExponent
                ? "has more digits than a number of 64 bits"
                : "is beyond 64 bits"
        }
        if text.first == UInt8(ascii: "+") { return "begins with +" }
        if parts.whole.count > 1, parts.whole[0] == UInt8(ascii: "0") {
            return "has a leading zero"
        }
        return parts.hasExponent
            ? "may be a code, or a number with an exponent" : "is not written as numbers are"
    }

    /// Whether a text consists of digits and signs used in other notations of numbers.
    private static func seemsNumeric(_ text: [UInt8]) -> Bool {
        let signs = Set("+-.,' _()/xX\u{A0}\u{202F}".utf8)
        return text.contains(where: TextValue.isDigit)
            && text.allSatisfy { TextValue.isDigit($0) || signs.contains($0) }
    }

    static func shown(_ text: [UInt8]) -> String {
        String(String(decoding: text.prefix(200), as: UTF8.self).prefix(40))
    }

    /// The type that keeps every value as it is; `text` where there is no other.
    var kind: SourceField.Kind {
        guard count > 0 else { return .text }
        if isMoment { return .date }
        guard takesNumbers, looksNumeric, plainCount > 0 else { return .text }
        if quotesMeanText, quotedNumber != nil { return .text }
        if isInteger { return isSmall ? .integer32 : .integer64 }
        // 1.1 and 1.10 may be two sections of a text.
        let mayBeCodes = decimals == -1 && hasTrailingZero
        return isReal && !mayBeCodes && !hasLargeInteger ? .real64 : .text
    }

    /// The reason why the column is text although it resembles numbers or days; nil for plain text.
    var note: String? {
        guard kind == .text, count > 0 else { return nil }
        if momentCount > 0, momentCount * 2 >= count, let noMoment {
            return "is text: '\(noMoment.text)' in row \(noMoment.row) is not a valid date"
        }
        guard takesNumbers, looksNumeric else { return nil }
        if let obstacle {
            return "is text: '\(obstacle.text)' in row \(obstacle.row) \(obstacle.reason)"
        }
        if let quotedNumber {
            return "is text: '\(quotedNumber.text)' in row \(quotedNumber.row) is quoted"
        }
        if decimals == -1, hasTrailingZero {
            return
                "is text: its numbers have different counts of decimals, some with zeros at the end"
        }
        return hasLargeInteger
            ? "is text: whole numbers beyond 2⁵³ are mixed with fractions" : nil
    }
}
