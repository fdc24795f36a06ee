// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// Hours of the week at which something holds: `Mo-Fr 07:00-09:00,16:00-18:00; Sa 10:00-12:00`.
///
/// Days are `Mo`, `Tu`, `We`, `Th`, `Fr`, `Sa`, `Su`, ranges of them (`Fr-Mo` too) and lists with
/// commas; left out they are all. A time whose end is not after its begin goes over midnight into
/// the next day. Of several parts with semicolons between each adds hours. `24/7` is always.
public struct WeeklyHours: Hashable, Sendable {
    /// Microseconds of the week from Monday 00:00, ascending, apart from each other.
    private let ranges: [Range<Int64>]

    /// Most bytes of a text.
    public static let largestByteCount = 1_000

    private static let minute: Int64 = 60_000_000
    private static let dayMinutes: Int64 = 1_440
    private static let week = 7 * dayMinutes * minute
    private static let days = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]

    /// Reads hours; throws `Failure` (`invalidParameter`) with the part that is not understood.
    public init(_ text: String) throws(Failure) {
        guard text.utf8.count <= Self.largestByteCount else {
            throw Failure(
                .invalidParameter,
                "hours of \(text.utf8.count) bytes: expected at most \(Self.largestByteCount)")
        }
        let trimmed = Self.trimmed(text[...])
        guard trimmed != "24/7" else {
            ranges = [0..<Self.week]
            return
        }
        var all: [Range<Int64>] = []
        for part in trimmed.split(separator: ";", omittingEmptySubsequences: false) {
            all += try Self.part(Self.trimmed(part), of: text)
        }
        ranges = Self.merged(all)
    }

    /// Whether a moment is among the hours, in the local mean time of a longitude in degrees: four
    /// minutes from UTC for each degree.
    public func contains(_ moment: Timestamp, longitude: Double) -> Bool {
        state(at: moment, longitude: longitude).holds
    }

    /// Whether a moment is among the hours, and a span of time around it in which that is so:
    /// from `since` until before `until`.
    public func state(
        at moment: Timestamp, longitude: Double
    ) -> (holds: Bool, since: Timestamp, until: Timestamp) {
        let shift = Int64((max(-180, min(180, longitude)) * 240_000_000).rounded())
        // The first Monday begins three days before 1970, which began on a Thursday.
        let local = moment.microseconds &+ shift &+ 3 * Self.dayMinutes * Self.minute
        let place = (local % Self.week + Self.week) % Self.week
        func time(_ other: Int64) -> Timestamp {
            Timestamp(microseconds: moment.microseconds &+ (other - place))
        }
        let next = ranges.firstIndex { place < $0.upperBound } ?? ranges.count
        if next < ranges.count, ranges[next].contains(place) {
            return (true, time(ranges[next].lowerBound), time(ranges[next].upperBound))
        }
        let since = next > 0 ? ranges[next - 1].upperBound : 0
        let until = next < ranges.count ? ranges[next].lowerBound : Self.week
        return (false, time(since), time(until))
    }

    private static func part(
        _ part: Substring, of text: String
    ) throws(Failure) -> [Range<Int64>] {
        let words = part.split(separator: " ")
        guard 1...2 ~= words.count else { throw refusal(part, text) }
        let days =
            words.count == 2 ? try days(words[0], part, text) : Array(0..<Int64(Self.days.count))
        var ranges: [Range<Int64>] = []
        for span in words[words.count - 1].split(separator: ",", omittingEmptySubsequences: false) {
            let ends = span.split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let start = time(ends[0]), let end = time(ends[1]),
                start < dayMinutes, start != end
            else { throw refusal(part, text) }
            let length = end > start ? end - start : end - start + dayMinutes
            for day in days {
                let first = (day * dayMinutes + start) * minute
                let last = first + length * minute
                ranges.append(first..<min(last, week))
                if last > week { ranges.append(0..<last - week) }
            }
        }
        return ranges
    }

    private static func days(
        _ word: Substring, _ part: Substring, _ text: String
    ) throws(Failure) -> [Int64] {
        var found: [Int64] = []
        for span in word.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = span.split(separator: "-", omittingEmptySubsequences: false)
                .map { end in days.firstIndex { $0 == end } }
            guard 1...2 ~= ends.count, let first = ends[0], let last = ends[ends.count - 1] else {
                throw refusal(part, text)
            }
            let length = (last - first + days.count) % days.count
            found += (0...length).map { Int64((first + $0) % days.count) }
        }
        return found
    }

    /// Minutes of `hh:mm`, to 24:00.
    private static func time(_ text: Substring) -> Int64? {
        let digits = text.utf8.map { Int64($0) - 48 }
        guard digits.count == 5, text.utf8.dropFirst(2).first == UInt8(ascii: ":") else {
            return nil
        }
        guard [0, 1, 3, 4].allSatisfy({ 0...9 ~= digits[$0] }) else { return nil }
        let (hour, minute) = (digits[0] * 10 + digits[1], digits[3] * 10 + digits[4])
        guard minute < 60, hour * 60 + minute <= dayMinutes else { return nil }
        return hour * 60 + minute
    }

    private static func merged(_ ranges: [Range<Int64>]) -> [Range<Int64>] {
        var merged: [Range<Int64>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound {
                merged[merged.count - 1] =
                    last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }

    private static func refusal(_ part: Substring, _ text: String) -> Failure {
        Failure(
            .invalidParameter,
            "hours '\(text.prefix(200))': '\(part.prefix(80))' is not understood; expected days and"
                + " times such as 'Mo-Fr 07:00-09:00,16:00-18:00; Sa 10:00-12:00', or '24/7'")
    }
}
