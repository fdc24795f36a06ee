// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// A moment by calendar and clock in UTC, proleptic Gregorian.
///
/// The only such calculation in the sources: Foundation's calendars are Julian before 1582, turn at
/// the year -4712, and take fifteen times as long (decision 0219).
public struct CalendarClock: Hashable, Sendable {
    /// The year; 0 and negative before our era.
    public var year: Int64
    /// 1…12.
    public var month: Int64
    /// 1…31.
    public var day: Int64
    /// Milliseconds since the start of the day, below 86,400,000.
    public var millisecondOfDay: Int64

    private static let dayMilliseconds: Int64 = 86_400_000

    /// The moment of a number of milliseconds since the epoch (Howard Hinnant's `civil_from_days`).
    public init(milliseconds: Int64) {
        var (days, rest) = milliseconds.quotientAndRemainder(dividingBy: Self.dayMilliseconds)
        if rest < 0 {
            days -= 1
            rest += Self.dayMilliseconds
        }
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        millisecondOfDay = rest
    }

    /// The millisecond in which a timestamp is.
    public init(_ time: Timestamp) {
        let (milliseconds, rest) = time.microseconds.quotientAndRemainder(dividingBy: 1000)
        self.init(milliseconds: rest < 0 ? milliseconds - 1 : milliseconds)
    }

    /// The first moment of a day; one that the month lacks is counted on into the next.
    public init(year: Int64, month: Int64, day: Int64) {
        (self.year, self.month, self.day, millisecondOfDay) = (year, month, day, 0)
    }

    /// Milliseconds since the epoch.
    public var milliseconds: Int64 { dayNumber * Self.dayMilliseconds + millisecondOfDay }

    /// Days since 1970-01-01 (Howard Hinnant's `days_from_civil`).
    public var dayNumber: Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The moment so many months later; a day that the month lacks becomes its last.
    public func adding(months: Int64) -> CalendarClock {
        var result = self
        var count = year * 12 + month - 1 + months
        var rest = count % 12
        if rest < 0 { rest += 12 }
        count -= rest
        (result.year, result.month) = (count / 12, rest + 1)
        result.day = min(day, Self.length(ofMonth: result.month, in: result.year))
        return result
    }

    /// How many days a month of a year has.
    public static func length(ofMonth month: Int64, in year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

extension CalendarClock {
    /// ISO 8601, `2026-11-21T09:30:00Z`, with milliseconds where there are any; years beyond 0…9999
    /// have a sign and as many digits as they need, six at least.
    public var text: String {
        let seconds = millisecondOfDay / 1000
        let isPlain = 0...9999 ~= year
        let yearText =
            isPlain
            ? Self.digits(year, 4) : (year < 0 ? "-" : "+") + Self.digits(abs(year), 6)
        let date = yearText + "-" + Self.digits(month, 2) + "-" + Self.digits(day, 2)
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { Self.digits($0, 2) }
        let fraction = millisecondOfDay % 1000
        return date + "T" + clock.joined(separator: ":")
            + (fraction == 0 ? "" : "." + Self.digits(fraction, 3)) + "Z"
    }

    private static func digits(_ value: Int64, _ count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}

extension Timestamp {
    /// Parses ISO 8601: `2026-11-21`, or that with `T` or a space and `09:30`, `09:30:00` or
    /// `09:30:00.25`, then optionally `Z` or `±HH:MM`; without a zone it is UTC.
    ///
    /// A day alone is its first moment. Nil for any other text, and for invalid dates.
    public init?(iso text: String) {
        let form =
            #/
            (\d{4})-(\d\d)-(\d\d)
            (?:[T\ ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?)?
            /#
        guard text.utf8.count <= 64, let match = text.wholeMatch(of: form) else { return nil }
        func number(_ text: Substring?) -> Int64 { text.flatMap { Int64($0) } ?? 0 }
        let parts = match.output
        let (year, month, day) = (number(parts.1), number(parts.2), number(parts.3))
        let (hour, minute, second) = (number(parts.4), number(parts.5), number(parts.6))
        guard 1...12 ~= month, 1...CalendarClock.length(ofMonth: month, in: year) ~= day,
            hour < 24, minute < 60, second < 60
        else { return nil }
        let clock = CalendarClock(year: year, month: month, day: day)
        let fraction = String(parts.7 ?? "").prefix(6)
        let micros = number(fraction + String(repeating: "0", count: 6 - fraction.count))
        var seconds = clock.milliseconds / 1000 + hour * 3600 + minute * 60 + second
        if let zone = parts.8, zone != "Z" {
            let digits = zone.filter(\.isNumber)
            let minutes = number(digits.prefix(2)) * 60 + number(digits.suffix(2))
            guard minutes < 24 * 60 else { return nil }
            seconds -= zone.first == "-" ? -minutes * 60 : minutes * 60
        }
        self.init(microseconds: seconds * 1_000_000 + micros)
    }
}
