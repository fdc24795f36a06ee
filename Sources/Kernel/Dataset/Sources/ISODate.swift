// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import GDAL

/// Moments as text: `YYYY-MM-DD`, `YYYY-MM-DDTHH:MM[:SS[.fraction]]`, then optionally `Z` or
/// `±HH:MM` (the default is UTC), proleptic Gregorian.
enum ISODate {
    /// Milliseconds since 1970-01-01T00:00:00Z; nil when the text has another form.
    static func milliseconds(_ text: String) -> Int64? {
        var scanner = Scanner(bytes: Array(text.utf8))
        guard let day = date(&scanner) else { return nil }
        guard scanner.skip("T") || scanner.skip(" ") else {
            return scanner.isAtEnd ? day * 86_400_000 : nil
        }
        guard let hour = scanner.digits(2), hour <= 24, scanner.skip(":"),
            let minute = scanner.digits(2), minute < 60
        else { return nil }
        var milliseconds = (hour * 60 + minute) * 60_000
        if scanner.skip(":") {
            guard let second = scanner.digits(2), second <= 60 else { return nil }
            milliseconds += second * 1000 + scanner.fractionMilliseconds()
        }
        guard let offset = scanner.zoneMinutes(), scanner.isAtEnd else { return nil }
        return day * 86_400_000 + milliseconds - offset * 60_000
    }

    private static func date(_ scanner: inout Scanner) -> Int64? {
        let sign: Int64 = scanner.skip("-") ? -1 : 1
        guard let year = scanner.digits(4), scanner.skip("-"), let month = scanner.digits(2),
            1...12 ~= month, scanner.skip("-"), let day = scanner.digits(2), 1...31 ~= day
        else { return nil }
        return CalendarClock(year: sign * year, month: month, day: day).dayNumber
    }

    private struct Scanner {
        let bytes: [UInt8]
        var place = 0

        var isAtEnd: Bool { place == bytes.count }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard place < bytes.count, bytes[place] == UInt8(ascii: character) else {
                return false
            }
            place += 1
            return true
        }

        mutating func digits(_ count: Int) -> Int64? {
            guard place + count <= bytes.count else { return nil }
            var value: Int64 = 0
            for byte in bytes[place..<place + count] {
                guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else { return nil }
                value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            }
            place += count
            return value
        }

        mutating func fractionMilliseconds() -> Int64 {
            guard skip(".") else { return 0 }
            var (value, scale): (Int64, Int64) = (0, 100)
            while let digit = digits(1) {
                value += digit * scale
                scale /= 10
            }
            return value
        }

        mutating func zoneMinutes() -> Int64? {
            if isAtEnd || skip("Z") { return 0 }
            let sign: Int64 = skip("-") ? -1 : 1
            guard sign < 0 || skip("+"), let hours = digits(2) else { return nil }
            _ = skip(":")
            return sign * (hours * 60 + (digits(2) ?? 0))
        }
    }
}

extension ISODate {
    /// A moment of the years 0…9999 in UTC as GDAL writes it: `2001-02-03T04:05:06Z`, with `.789`
    /// where there are thousandths.
    static func text(_ moment: CivilMoment) -> String {
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let (seconds, thousandths) = moment.milliseconds.quotientAndRemainder(dividingBy: 1000)
        return digits(moment.year, 4) + "-" + digits(moment.month, 2) + "-" + digits(moment.day, 2)
            + "T" + digits(moment.hour, 2) + ":" + digits(moment.minute, 2) + ":"
            + digits(seconds, 2) + (thousandths == 0 ? "" : "." + digits(thousandths, 3)) + "Z"
    }

    /// The moment in UTC; nil outside the years 1…9999 or for an invalid day.
    static func universal(_ moment: CivilMoment) -> CivilMoment? {
        guard 1...9999 ~= moment.year, 1...12 ~= moment.month, 1...31 ~= moment.day else {
            return nil
        }
        let day = moment.dayNumber
        let minutes = Int64(moment.hour * 60 + moment.minute - moment.zoneMinutes)
        let total = day * 86_400_000 + minutes * 60_000 + Int64(moment.milliseconds)
        let result = civil(milliseconds: total)
        return 1...9999 ~= result.year ? result : nil
    }

    /// Calendar and clock in UTC.
    static func civil(milliseconds: Int64) -> CivilMoment {
        let clock = CalendarClock(milliseconds: milliseconds)
        let rest = Int(clock.millisecondOfDay)
        return CivilMoment(
            year: Int(clock.year), month: Int(clock.month), day: Int(clock.day),
            hour: rest / 3_600_000, minute: rest / 60_000 % 60, milliseconds: rest % 60_000,
            zoneMinutes: 0)
    }
}

extension ISODate {
    /// A moment that there may not be, for messages.
    static func shown(_ moment: CivilMoment) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(moment.year)-\(two(moment.month))-\(two(moment.day)) "
            + "\(two(moment.hour)):\(two(moment.minute)):\(two(moment.milliseconds / 1000))"
    }

    /// Whether there is such a day, and such a time on it: no leap seconds, no 24 o'clock.
    static func isReal(_ moment: CivilMoment) -> Bool {
        guard 1...9999 ~= moment.year, 1...12 ~= moment.month, 1...31 ~= moment.day,
            0...23 ~= moment.hour, 0...59 ~= moment.minute, 0..<60_000 ~= moment.milliseconds
        else { return false }
        return civil(milliseconds: moment.dayNumber * 86_400_000).day == moment.day
    }
}

extension CivilMoment {
    /// Days since 1970-01-01.
    fileprivate var dayNumber: Int64 {
        CalendarClock(year: Int64(year), month: Int64(month), day: Int64(day)).dayNumber
    }
}
