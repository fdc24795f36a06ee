// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import GDAL

/// Numbers and moments written as text.
enum TextValue {
    /// A whole number without sign `+`, leading zeros or blanks, of 64 bits: its text is given back
    /// by it.
    static func integer(_ text: some Collection<UInt8>) -> Int64? {
        let digits = text.first == UInt8(ascii: "-") ? text.dropFirst() : text.dropFirst(0)
        guard let first = digits.first, digits.count <= 19, digits.allSatisfy(isDigit),
            first != UInt8(ascii: "0") || digits.count == 1 && digits.count == text.count
        else { return nil }
        return Int64(String(decoding: text, as: UTF8.self))
    }

    /// A decimal number in the canonical notation of programs, which a double holds to its last
    /// digit: no leading zeros, no `+`, an exponent only behind a decimal point or with a sign of
    /// its own.
    static func real(_ text: [UInt8], decimalComma: Bool = false) -> Double? {
        guard let parts = Decimal(text, decimalComma: decimalComma), parts.isPlain else {
            return nil
        }
        guard let value = Double(parts.text), value.isFinite, parts.isHeld(by: value) else {
            return nil
        }
        return value
    }

    /// A decimal number in any notation; rounded to a double.
    static func lenientReal(_ text: [UInt8], decimalComma: Bool = false) -> Double? {
        guard let parts = Decimal(trimmed(text), decimalComma: decimalComma),
            let value = Double(parts.text), value.isFinite
        else { return nil }
        return value
    }

    /// A whole number in any notation; nil beyond 64 bits.
    static func lenientInteger(_ text: [UInt8]) -> Int64? {
        Int64(String(decoding: trimmed(text), as: UTF8.self))
    }

    static func trimmed(_ text: [UInt8]) -> [UInt8] {
        guard let first = text.firstIndex(where: { $0 > 0x20 }),
            let last = text.lastIndex(where: { $0 > 0x20 })
        else { return [] }
        return Array(text[first...last])
    }

    /// Whether the text is a spelling of NaN or infinity.
    static func isNoNumber(_ text: [UInt8]) -> Bool {
        var word = String(decoding: text, as: UTF8.self).lowercased()[...]
        if word.hasPrefix("-") || word.hasPrefix("+") { word = word.dropFirst() }
        return ["nan", "inf", "infinity"].contains(word)
    }

    static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }

    /// The parts of a decimal number.
    struct Decimal {
        let isNegative: Bool
        let whole: [UInt8]
        let fraction: [UInt8]
        let exponent: Int
        let hasPoint: Bool
        let hasExponent: Bool
        let isPlain: Bool

        init?(_ text: [UInt8], decimalComma: Bool) {
            var place = 0
            var plain = true
            func peek() -> UInt8? { place < text.count ? text[place] : nil }
            func digits() -> [UInt8] {
                let start = place
                while let byte = peek(), isDigit(byte) { place += 1 }
                return Array(text[start..<place])
            }
            isNegative = peek() == UInt8(ascii: "-")
            if isNegative {
                place += 1
            } else if peek() == UInt8(ascii: "+") {
                place += 1
                plain = false
            }
            whole = digits()
            let point = UInt8(ascii: decimalComma ? "," : ".")
            hasPoint = peek() == point
            if hasPoint { place += 1 }
            fraction = hasPoint ? digits() : []
            guard !whole.isEmpty || !fraction.isEmpty else { return nil }
            plain = plain && !whole.isEmpty && (!hasPoint || !fraction.isEmpty)
            if whole.count > 1, whole[0] == UInt8(ascii: "0") { plain = false }
            hasExponent = (peek() ?? 0) | 0x20 == UInt8(ascii: "e")
            var exponent = 0
            if hasExponent {
                place += 1
                let sign = peek()
                let hasSign = sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+")
                if hasSign { place += 1 }
                let power = digits()
                guard 1...6 ~= power.count else { return nil }
                exponent = Int(String(decoding: power, as: UTF8.self)) ?? 0
                if sign == UInt8(ascii: "-") { exponent = -exponent }
                if !hasPoint, !hasSign { plain = false }
            }
            guard place == text.count else { return nil }
            self.exponent = exponent
            isPlain = plain
        }

        /// The number in Swift's syntax.
        var text: String {
            (isNegative ? "-" : "") + (whole.isEmpty ? "0" : String(decoding: whole, as: UTF8.self))
                + (fraction.isEmpty ? "" : "." + String(decoding: fraction, as: UTF8.self))
                + (exponent == 0 ? "" : "e\(exponent)")
        }

        /// Number of significant digits, from the first that is not zero.
        var significantCount: Int {
            (whole + fraction).drop { $0 == UInt8(ascii: "0") }.count
        }

        /// Whether a double that was read from it, written with as many digits, is the same number.
        func isHeld(by value: Double) -> Bool {
            let count = significantCount
            guard count > 15 else { return count == 0 || value != 0 && value.isFinite }
            guard count <= 800 else { return false }
            // Without the zeros at its end it may be short enough.
            let digits = (whole + fraction).drop { $0 == UInt8(ascii: "0") }
            let kept = digits.reversed().drop { $0 == UInt8(ascii: "0") }.reversed()
            guard kept.count > 15 else { return value != 0 }
            return DecimalDigits.of(value, count: kept.count) == Array(kept)
        }
    }
}

/// A day, perhaps with a time, as ISO 8601 and databases write it.
struct TextMoment {
    /// The moment; its zone is 0 without one.
    let moment: CivilMoment
    /// Whether digits behind thousandths of a second are left out.
    let isRounded: Bool

    /// `YYYY-MM-DD` or `YYYY/MM/DD`, then perhaps `T` or a blank and `HH:MM[:SS[.fraction]]`, then
    /// optionally `Z` or `±HH[[:]MM]`; nil for any other form, and for an invalid day or time.
    init?(_ text: [UInt8]) {
        var place = 0
        func digits(_ count: Int) -> Int? {
            guard place + count <= text.count else { return nil }
            var value = 0
            for byte in text[place..<place + count] {
                guard TextValue.isDigit(byte) else { return nil }
                value = value * 10 + Int(byte - UInt8(ascii: "0"))
            }
            place += count
            return value
        }
        func skip(_ sign: Unicode.Scalar) -> Bool {
            guard place < text.count, text[place] == UInt8(ascii: sign) else { return false }
            place += 1
            return true
        }
        guard let year = digits(4), place < text.count else { return nil }
        let hyphen: Unicode.Scalar = text[place] == UInt8(ascii: "/") ? "/" : "-"
        guard skip(hyphen), let month = digits(2), skip(hyphen), let day = digits(2) else {
            return nil
        }
        var result = CivilMoment(
            year: year, month: month, day: day, hour: 0, minute: 0, milliseconds: 0,
            zoneMinutes: 0)
        var isRounded = false
        if place < text.count {
            guard skip("T") || skip(" "), let hour = digits(2), skip(":"), let minute = digits(2)
            else { return nil }
            (result.hour, result.minute) = (hour, minute)
            if skip(":") {
                guard let second = digits(2) else { return nil }
                result.milliseconds = second * 1000
                if skip(".") || skip(",") {
                    let fraction = text[place...].prefix(while: TextValue.isDigit)
                    guard 1...12 ~= fraction.count else { return nil }
                    place += fraction.count
                    for (digit, scale) in zip(fraction, [100, 10, 1]) {
                        result.milliseconds += Int(digit - UInt8(ascii: "0")) * scale
                    }
                    isRounded = fraction.dropFirst(3).contains { $0 != UInt8(ascii: "0") }
                }
            }
            if !skip("Z"), place < text.count {
                let isBehind = skip("-")
                guard isBehind || skip("+"), let hours = digits(2) else { return nil }
                var minutes = 0
                if place < text.count {
                    _ = skip(":")
                    guard let stated = digits(2), stated < 60 else { return nil }
                    minutes = stated
                }
                guard hours <= 18 else { return nil }
                result.zoneMinutes = (isBehind ? -1 : 1) * (hours * 60 + minutes)
            }
        }
        guard place == text.count, ISODate.isReal(result), ISODate.universal(result) != nil else {
            return nil
        }
        (moment, self.isRounded) = (result, isRounded)
    }
}

/// The digits of a double's exact value.
enum DecimalDigits {
    /// The first `count` significant digits, rounded half to even as `printf` does, with trailing
    /// zeros.
    static func of(_ value: Double, count: Int) -> [UInt8] {
        // The exact value is significand × 2^exponent, a decimal number of at most 767 digits.
        let magnitude = value.magnitude
        guard magnitude > 0, magnitude.isFinite else { return [] }
        var significand = magnitude.significandBitPattern
        var exponent = Int(magnitude.exponentBitPattern) - 1075
        if magnitude.isNormal { significand |= 1 << 52 } else { exponent += 1 }
        var digits = String(significand).utf8.map { UInt32($0 - UInt8(ascii: "0")) }
        // The lowest digit first; ×2 for each power, or ×5 with the point moved on by one.
        digits.reverse()
        let factor: UInt32 = exponent < 0 ? 5 : 2
        for _ in 0..<exponent.magnitude {
            var carry: UInt32 = 0
            for index in digits.indices {
                let product = digits[index] * factor + carry
                (carry, digits[index]) = product.quotientAndRemainder(dividingBy: 10)
            }
            while carry > 0 {
                digits.append(carry % 10)
                carry /= 10
            }
        }
        var result = Array(digits.reversed())
        guard result.count > count else {
            return (result + Array(repeating: 0, count: count - result.count))
                .map { UInt8($0) + UInt8(ascii: "0") }
        }
        let rest = result[count...]
        let isUp =
            rest[count] > 5
            || rest[count] == 5
                && (rest.dropFirst().contains { $0 > 0 } || result[count - 1] % 2 == 1)
        result = Array(result[..<count])
        if isUp {
            var index = count - 1
            while index >= 0, result[index] == 9 {
                result[index] = 0
                index -= 1
            }
            if index >= 0 { result[index] += 1 } else { result = [1] + result.dropLast() }
        }
        return result.map { UInt8($0) + UInt8(ascii: "0") }
    }
}
