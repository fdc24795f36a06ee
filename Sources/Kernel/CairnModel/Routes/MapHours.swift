// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The times at which a tag of OpenStreetMap holds: `(Mo-Fr 07:00-09:00; Sa off)`.
///
/// A part of the syntax of opening hours (wiki.openstreetmap.org/wiki/Key:opening_hours): parts of
/// the year (`Nov-Apr`, `Nov 15-Apr 30`), days of the week, times, `24/7`, `off` and `closed`,
/// lists and ranges of them; several rules with semicolons, of which the last one that is about a
/// day counts for it; several conditions with `AND`, and the old form of `day_on`, `day_off`,
/// `hour_on` and `hour_off`. Public and school holidays are not known, so that what is said of them
/// alone is passed over. Anything else, such as weights and sunset, is not read.
public struct MapHours: Hashable, Sendable {
    /// The conditions, all of which have to hold.
    private let conditions: [[Rule]]

    /// Most bytes of a text.
    public static let largestByteCount = 1_000

    private static let dayMinutes = 1_440
    private static let days = ["mo", "tu", "we", "th", "fr", "sa", "su"]
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    private struct Rule: Hashable, Sendable {
        /// Parts of the year, by month × 32 + day, both ends included; empty for all of it.
        var seasons: [[Int]] = []
        /// Days from Monday; empty for all.
        var days: Set<Int> = []
        /// Minutes of the day; an end may lie in the next day.
        var spans: [Range<Int>] = []
        /// Whether holidays alone are meant.
        var isOfHolidays = false

        func isAbout(_ date: Int, _ day: Int) -> Bool {
            guard !isOfHolidays, days.isEmpty || days.contains(day) else { return false }
            return seasons.isEmpty
                || seasons.contains { season in
                    season[0] <= season[1]
                        ? season[0]...season[1] ~= date : date >= season[0] || date <= season[1]
                }
        }
    }

    /// Reads times; nil for a text that is not understood.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.largestByteCount else { return nil }
        let plain = Self.plain(text.lowercased())
        var conditions: [[Rule]] = []
        for part in plain.split(separator: " and ", omittingEmptySubsequences: false) {
            var rules: [Rule] = []
            for rule in Self.plain(String(part)).split(separator: ";") {
                var scanner = Scanner(rule)
                guard let rule = scanner.rule() else { return nil }
                rules.append(rule)
            }
            guard rules.contains(where: { !$0.isOfHolidays }) else { return nil }
            conditions.append(rules)
        }
        self.conditions = conditions
    }

    /// Whether the times include a moment, and a span of time around it in which that is so: from
    /// `since` until before `until`.
    ///
    /// In the local mean time of a longitude in degrees: four minutes from UTC for each degree.
    public func state(
        at moment: Timestamp, longitude: Double
    ) -> (holds: Bool, since: Timestamp, until: Timestamp) {
        let shift = Int64((max(-180, min(180, longitude)) * 240_000_000).rounded())
        let minute: Int64 = 60_000_000
        let day = Int64(Self.dayMinutes) * minute
        let (local, isOutside) = moment.microseconds.addingReportingOverflow(shift)
        guard !isOutside else { return (false, moment, Timestamp(microseconds: .max)) }
        let number = local >= 0 ? local / day : (local + 1) / day - 1
        let place = local - number * day
        var state = (holds: true, since: Int64(0), until: day)
        for rules in conditions {
            var own = (holds: false, since: Int64(0), until: day)
            let yesterday = Self.spans(rules, number - 1).map {
                $0.lowerBound - Self.dayMinutes..<$0.upperBound - Self.dayMinutes
            }
            for span in yesterday + Self.spans(rules, number) {
                let (start, end) = (
                    Int64(span.lowerBound) * minute, Int64(span.upperBound) * minute
                )
                if start <= place, place < end { own.holds = true }
                for bound in [start, end] {
                    if bound <= place { own.since = max(own.since, bound) }
                    if bound > place { own.until = min(own.until, bound) }
                }
            }
            state = (
                state.holds && own.holds, max(state.since, own.since), min(state.until, own.until)
            )
        }
        func time(_ other: Int64) -> Timestamp {
            Timestamp(microseconds: moment.microseconds &+ (other - place))
        }
        return (state.holds, time(state.since), time(state.until))
    }

    /// The spans of a day since 1970 by the last rule that is about it.
    private static func spans(_ rules: [Rule], _ number: Int64) -> [Range<Int>] {
        let clock = CalendarClock(milliseconds: number * 86_400_000)
        let date = Int(clock.month) * 32 + Int(clock.day)
        // The first day was a Thursday.
        let day = Int(((number % 7) + 10) % 7)
        return rules.last { $0.isAbout(date, day) }?.spans ?? []
    }

    /// Without brackets around it, and the old form of hours in the new one.
    private static func plain(_ text: String) -> String {
        var text = text[...]
        func trim() {
            while let first = text.first, first.isWhitespace { text.removeFirst() }
            while let last = text.last, last.isWhitespace { text.removeLast() }
        }
        trim()
        while text.first == "(", text.last == ")", !text.dropFirst().dropLast().contains("(") {
            text = text.dropFirst().dropLast()
            trim()
        }
        guard text.contains("=") else { return String(text) }
        var values: [Substring: Substring] = [:]
        for pair in text.split(separator: " ") {
            let sides = pair.split(separator: "=")
            guard sides.count == 2 else { return "=" }
            values[sides[0]] = sides[1]
        }
        var parts: [String] = []
        if let on = values["day_on"], let off = values["day_off"] {
            parts.append("\(on.prefix(2))-\(off.prefix(2))")
        }
        if let on = values["hour_on"], let off = values["hour_off"] { parts.append("\(on)-\(off)") }
        let isWhole = values.count == 2 * parts.count
        return isWhole ? parts.joined(separator: " ") : "="
    }

    /// Reads one rule from its first character to its last.
    private struct Scanner {
        private let text: [UInt8]
        private var place = 0

        init(_ text: Substring) { self.text = Array(text.utf8) }

        private mutating func skipBlanks() {
            while place < text.count, text[place] == 32 { place += 1 }
        }

        private mutating func take(_ sign: Character) -> Bool {
            skipBlanks()
            guard place < text.count, text[place] == sign.asciiValue else { return false }
            place += 1
            return true
        }

        /// A word of letters that is one of some; its place among them.
        private mutating func word(_ words: [String]) -> Int? {
            skipBlanks()
            var end = place
            while end < text.count, 97...122 ~= text[end] { end += 1 }
            let found = String(decoding: text[place..<end], as: UTF8.self)
            guard let index = words.firstIndex(of: found) else { return nil }
            place = end
            return index
        }

        private mutating func number(digits: Int) -> Int? {
            skipBlanks()
            var (end, value) = (place, 0)
            while end < text.count, end - place < digits, 48...57 ~= text[end] {
                value = value * 10 + Int(text[end]) - 48
                end += 1
            }
            guard end > place else { return nil }
            place = end
            return value
        }

        mutating func rule() -> Rule? {
            var rule = Rule()
            skipBlanks()
            if text[place...].starts(with: Array("24/7".utf8)) {
                place += 4
                rule.spans = [0..<MapHours.dayMinutes]
                return isAtEnd ? rule : nil
            }
            guard seasons(&rule), days(&rule) else { return nil }
            _ = take(":")
            if word(["off", "closed"]) != nil { return isAtEnd ? rule : nil }
            guard spans(&rule) else { return nil }
            if rule.spans.isEmpty {
                guard rule.isOfHolidays || !rule.seasons.isEmpty || !rule.days.isEmpty else {
                    return nil
                }
                rule.spans = [0..<MapHours.dayMinutes]
            }
            return isAtEnd ? rule : nil
        }

        private var isAtEnd: Bool { text[place...].allSatisfy { $0 == 32 } }

        /// A day of the month, unless it is the hour of a time.
        private mutating func dayOfMonth() -> Int? {
            let before = place
            if let day = number(digits: 2), place == text.count || text[place] != 58, 1...31 ~= day
            {
                return day
            }
            place = before
            return nil
        }

        private mutating func seasons(_ rule: inout Rule) -> Bool {
            while let month = word(MapHours.months) {
                let first = dayOfMonth()
                var last = (month: month, day: first)
                if take("-") {
                    if let other = word(MapHours.months) {
                        last = (other, dayOfMonth())
                    } else if first != nil, let day = dayOfMonth() {
                        last.day = day
                    } else {
                        return false
                    }
                }
                rule.seasons.append([
                    (month + 1) * 32 + (first ?? 1), (last.month + 1) * 32 + (last.day ?? 31),
                ])
                guard take(",") else { break }
            }
            return true
        }

        private mutating func days(_ rule: inout Rule) -> Bool {
            var hasHolidays = false
            while true {
                if word(["ph", "sh"]) != nil {
                    hasHolidays = true
                } else if let first = word(MapHours.days) {
                    var last = first
                    if take("-") {
                        guard let other = word(MapHours.days) else { return false }
                        last = other
                    }
                    for step in 0...(last - first + 7) % 7 { rule.days.insert((first + step) % 7) }
                } else {
                    break
                }
                guard take(",") else { break }
            }
            rule.isOfHolidays = hasHolidays && rule.days.isEmpty
            return true
        }

        private mutating func minutes() -> Int? {
            guard let hour = number(digits: 2), take(":"), let minute = number(digits: 2),
                minute < 60, hour * 60 + minute <= 2 * MapHours.dayMinutes
            else { return nil }
            return hour * 60 + minute
        }

        private mutating func spans(_ rule: inout Rule) -> Bool {
            guard !isAtEnd else { return true }
            repeat {
                guard let start = minutes(), start < MapHours.dayMinutes, take("-"),
                    var end = minutes()
                else { return false }
                if end <= start { end += MapHours.dayMinutes }
                guard end - start <= MapHours.dayMinutes else { return false }
                rule.spans.append(start..<end)
            } while take(",")
            return true
        }
    }
}
