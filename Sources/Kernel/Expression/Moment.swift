// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Dates and times as WHERE clauses write them, proleptic Gregorian, UTC.
enum Moment {
    /// Milliseconds since 1970 of `yyyy-mm-dd`, or of that with a space or `T` and `hh:mm`,
    /// `hh:mm:ss` or `hh:mm:ss.fff` and an optional `Z`; nil for anything else.
    static func milliseconds(_ text: String) -> Int64? {
        var rest = Array(text.utf8)[...]
        guard let year = number(&rest, 4), mark(&rest, "-"), let month = number(&rest, 2),
            mark(&rest, "-"), let day = number(&rest, 2), (1...12).contains(month),
            (1...CalendarClock.length(ofMonth: month, in: year)).contains(day)
        else { return nil }
        let midnight = CalendarClock(year: year, month: month, day: day).milliseconds
        if rest.isEmpty { return midnight }
        guard mark(&rest, " ") || mark(&rest, "T"), let hour = number(&rest, 2),
            mark(&rest, ":"), let minute = number(&rest, 2), hour < 24, minute < 60
        else { return nil }
        var result = midnight + hour * 3_600_000 + minute * 60_000
        if mark(&rest, ":") {
            guard let second = number(&rest, 2), second < 60 else { return nil }
            result += second * 1000
            if mark(&rest, ".") {
                guard let fraction = fraction(&rest) else { return nil }
                result += fraction
            }
        }
        _ = mark(&rest, "Z")
        return rest.isEmpty ? result : nil
    }

    private static func mark(_ rest: inout ArraySlice<UInt8>, _ mark: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: mark) else { return false }
        rest.removeFirst()
        return true
    }

    private static func number(_ rest: inout ArraySlice<UInt8>, _ digits: Int) -> Int64? {
        guard rest.count >= digits else { return nil }
        var value: Int64 = 0
        for byte in rest.prefix(digits) {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        rest = rest.dropFirst(digits)
        return value
    }

    /// One to nine digits after the point, cut to milliseconds.
    private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        var value: Int64 = 0
        var count = 0
        while count < 9, let digit = number(&rest, 1) {
            if count < 3 { value = value * 10 + digit }
            count += 1
        }
        guard count > 0 else { return nil }
        for _ in min(count, 3)..<3 { value *= 10 }
        return value
    }
}
