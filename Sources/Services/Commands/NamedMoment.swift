// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// Moments in the words of a command line: `yesterday`, `2 hours ago`, `last monday`, `14:30`.
///
/// A day is its first moment. A time without a day is the last one that has passed.
struct NamedMoment {
    /// The present.
    let now: Timestamp
    /// Seconds by which local time is ahead of UTC at a moment, in seconds since 1970.
    let offset: (Int64) -> Int64

    static let forms =
        "'yesterday', '2 hours ago', 'last monday', '2026-11-01', '14:30' or 2026-11-21T09:30:00Z"

    private static let weekdays = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]
    private static let seconds: [String: Int64] = [
        "second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800,
    ]
    private static let months: [String: Int64] = ["month": 1, "year": 12]

    /// The moment that a text names; nil for any other text, and for one that states its zone.
    func moment(_ text: String) -> Timestamp? {
        guard text.utf8.count <= 64 else { return nil }
        let words = text.lowercased().split(separator: " ").map(String.init)
        if words == ["now"] { return now }
        if words.count == 3, words[2] == "ago" { return past(words[0], words[1]) }
        return onDay(words)
    }

    /// `2 hours ago`; a month or a year is one of the calendar.
    private func past(_ count: String, _ unit: String) -> Timestamp? {
        let known: [String: Int64] = ["a": 1, "an": 1, "one": 1]
        guard let count = known[count] ?? Int64(count), 0...1_000_000 ~= count else { return nil }
        let word = unit.hasSuffix("s") ? String(unit.dropLast()) : unit
        if let length = Self.seconds[word] {
            return Timestamp(microseconds: now.microseconds - count * length * 1_000_000)
        }
        guard let length = Self.months[word] else { return nil }
        return utc(local(now).adding(months: -count * length).milliseconds)
    }

    /// A day, a time, or both.
    private func onDay(_ words: [String]) -> Timestamp? {
        var words = words
        // The form of ISO 8601 joins the two by a 'T'.
        if words.count == 1, let mark = words[0].firstIndex(of: "t"),
            words[0].first?.isNumber == true
        {
            words = [String(words[0][..<mark]), String(words[0][words[0].index(after: mark)...])]
        }
        var time: Int64?
        if let last = words.last, let found = Self.time(last) {
            time = found
            words.removeLast()
        }
        if words.isEmpty {
            guard let time else { return nil }
            let today = utc(start(daysAgo: 0) + time)
            return today <= now ? today : utc(start(daysAgo: 1) + time)
        }
        guard let day = day(words) else { return nil }
        return utc(day + (time ?? 0))
    }

    /// The start of a day in local milliseconds.
    private func day(_ words: [String]) -> Int64? {
        switch words {
        case ["today"]: return start(daysAgo: 0)
        case ["yesterday"]: return start(daysAgo: 1)
        default: break
        }
        if words.count == 1 || words.count == 2 && words[0] == "last",
            let weekday = Self.weekdays.firstIndex(of: words[words.count - 1])
        {
            // The epoch was a Thursday.
            let today = (local(now).dayNumber % 7 + 10) % 7
            let days = (today - Int64(weekday) + 7) % 7
            return start(daysAgo: days == 0 ? 7 : days)
        }
        guard words.count == 1, words[0].wholeMatch(of: #/\d{4}-\d\d-\d\d/#) != nil else {
            return nil
        }
        return Timestamp(iso: words[0]).map { $0.microseconds / 1_000 }
    }

    /// `14:30`, `14:30:00` or `14:30:00.25` in milliseconds since the start of the day.
    private static func time(_ text: String) -> Int64? {
        guard
            let match = text.wholeMatch(of: #/(\d{1,2}):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?/#),
            let hour = Int64(match.1), let minute = Int64(match.2), hour < 24, minute < 60
        else { return nil }
        let second = match.3.flatMap { Int64($0) } ?? 0
        guard second < 60 else { return nil }
        let fraction = String(match.4 ?? "") + "000"
        let milliseconds = Int64(fraction.prefix(3)) ?? 0
        return ((hour * 60 + minute) * 60 + second) * 1_000 + milliseconds
    }

    // MARK: Local time

    private func local(_ time: Timestamp) -> CalendarClock {
        let seconds = time.microseconds / 1_000_000
        return CalendarClock(milliseconds: time.microseconds / 1_000 + offset(seconds) * 1_000)
    }

    private func start(daysAgo: Int64) -> Int64 {
        let today = local(now)
        return today.milliseconds - today.millisecondOfDay - daysAgo * 86_400_000
    }

    /// The moment of local milliseconds; where clocks go back the earlier of the two.
    private func utc(_ local: Int64) -> Timestamp {
        let seconds = local / 1_000
        let early = offset(seconds - offset(seconds - 86_400))
        return Timestamp(microseconds: (local - early * 1_000) * 1_000)
    }
}
