// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel

extension AttributeValue {
    /// The value as text; null is empty, a moment is ISO 8601 in UTC.
    package var displayText: String {
        switch self {
        case .null: ""
        case .integer(let integer): String(integer)
        case .real(let real): Self.text(of: real)
        case .string(let string): string
        case .date(let milliseconds):
            Timestamp(microseconds: milliseconds.multipliedReportingOverflow(by: 1000).partialValue)
                .displayText
        }
    }

    private static func text(of real: Double) -> String {
        real == real.rounded() && abs(real) < 1e15 ? String(Int64(real)) : String(real)
    }
}

extension Timestamp {
    /// `2026-11-21T09:30:00Z`, with milliseconds where there are any.
    package var displayText: String {
        let (days, inDay) = Self.divided(microseconds, by: 86_400_000_000)
        let date = Self.civil(daysSinceEpoch: days)
        let seconds = inDay / 1_000_000
        let milliseconds = inDay / 1000 % 1000
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        func padded(_ value: Int64, _ width: Int) -> String {
            let text = String(abs(value))
            let zeros = String(repeating: "0", count: max(0, width - text.count))
            return (value < 0 ? "-" : "") + zeros + text
        }
        let fraction = milliseconds == 0 ? "" : ".\(padded(milliseconds, 3))"
        return "\(padded(date.year, 4))-\(two(date.month))-\(two(date.day))T"
            + "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))\(fraction)Z"
    }

    private static func divided(_ value: Int64, by divisor: Int64) -> (Int64, Int64) {
        let remainder = value % divisor
        return remainder < 0
            ? (value / divisor - 1, remainder + divisor) : (value / divisor, remainder)
    }

    /// The Gregorian date, by Howard Hinnant's `civil_from_days`.
    private static func civil(
        daysSinceEpoch: Int64
    ) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = daysSinceEpoch + 719_468
        let (era, dayOfEra) = divided(shifted, by: 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}

extension Double {
    /// Rounded to that many decimals, without trailing zeros; `nan` and `inf` unchanged.
    package func displayText(decimals: Int) -> String {
        guard isFinite, abs(self) < 1e15 else { return String(self) }
        let scale = (0..<max(0, decimals)).reduce(1.0) { factor, _ in factor * 10 }
        let rounded = (self * scale).rounded()
        guard abs(rounded) < 9e15 else { return String(self) }
        let whole = Int64(abs(rounded)) / Int64(scale)
        var fraction = String(Int64(abs(rounded)) % Int64(scale))
        fraction = String(repeating: "0", count: max(0, decimals - fraction.count)) + fraction
        while fraction.last == "0" { fraction.removeLast() }
        let sign = rounded < 0 ? "-" : ""
        return sign + String(whole) + (fraction.isEmpty ? "" : "." + fraction)
    }
}

extension Int64 {
    /// With commas between groups of three digits: `35,000,000`.
    package var grouped: String {
        var digits = Array(String(magnitude))
        for offset in stride(from: digits.count - 3, to: 0, by: -3) {
            digits.insert(",", at: offset)
        }
        return (self < 0 ? "-" : "") + String(digits)
    }
}
