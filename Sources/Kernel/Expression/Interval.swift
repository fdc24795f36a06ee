// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Lengths of time as WHERE clauses write them: standard SQL's intervals of days, hours, minutes
/// and seconds.
enum Interval {
    /// The units, from long to short.
    enum Unit: String, CaseIterable {
        case day = "DAY"
        case hour = "HOUR"
        case minute = "MINUTE"
        case second = "SECOND"

        fileprivate var milliseconds: Int64 {
            switch self {
            case .day: 86_400_000
            case .hour: 3_600_000
            case .minute: 60_000
            case .second: 1000
            }
        }

        /// This unit and the shorter ones.
        var andShorter: ArraySlice<Unit> { Self.allCases.drop { $0 != self } }
    }

    /// Reads `3`, `-3`, `12:30` or `3 05:32:28.5`: numbers of the units from `first` to `last`, a
    /// space after the days and a colon after the others, the seconds with a fraction perhaps; nil
    /// for anything else.
    static func milliseconds(_ text: String, from first: Unit, to last: Unit) -> Int64? {
        var rest = text[...]
        let isNegative = rest.first == "-"
        if isNegative { rest.removeFirst() }
        var total: Int64 = 0
        var longer: Unit?
        for unit in first.andShorter {
            if let longer, rest.popFirst() != (longer == .day ? " " : ":") { return nil }
            // Nine digits of days fit 64 bits.
            guard let number = digits(&rest, 1...9).flatMap({ Int64($0) }) else { return nil }
            if let longer, number * unit.milliseconds >= longer.milliseconds { return nil }
            total += number * unit.milliseconds
            if unit == last { break }
            longer = unit
        }
        if last == .second, rest.first == "." {
            rest.removeFirst()
            guard let digits = digits(&rest, 1...9),
                let thousandths = Int64((digits + "00").prefix(3))
            else { return nil }
            total += thousandths
        }
        return rest.isEmpty ? (isNegative ? -total : total) : nil
    }

    private static func digits(_ rest: inout Substring, _ counts: ClosedRange<Int>) -> Substring? {
        let digits = rest.prefix { "0"..."9" ~= $0 }
        guard counts.contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        return digits
    }
}
