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
        case .date(let milliseconds): CalendarClock(milliseconds: milliseconds).text
        }
    }

    private static func text(of real: Double) -> String {
        real == real.rounded() && abs(real) < 1e15 ? String(Int64(real)) : String(real)
    }
}

extension Timestamp {
    /// `2026-11-21T09:30:00Z`, with milliseconds where there are any.
    package var displayText: String { CalendarClock(self).text }
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
