// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import TestKit
import Testing

@Suite struct CalendarTests {
    private func foundation() -> (Calendar, ISO8601DateFormatter) {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = .gmt
        let formatter = ISO8601DateFormatter()
        return (calendar, formatter)
    }

    @Test(.slow) func `moments have the calendar's day and clock`() {
        var generator = SeededGenerator(seed: 5)
        let formatter = foundation().1
        for _ in 0..<2_000 {
            let seconds = Int64.random(in: -12_000_000_000...250_000_000_000, using: &generator)
            let clock = CalendarClock(milliseconds: seconds * 1000)

            #expect(clock.milliseconds == seconds * 1000)
            #expect(
                clock.text == formatter.string(from: Date(timeIntervalSince1970: Double(seconds))))
            #expect(Timestamp(iso: clock.text)?.microseconds == seconds * 1_000_000)
        }
        #expect(CalendarClock(milliseconds: -62_135_596_800_001).text == "0000-12-31T23:59:59.999Z")
        #expect(
            CalendarClock(milliseconds: -62_167_219_200_001).text == "-000001-12-31T23:59:59.999Z")
    }

    @Test func `months are added as on a calendar`() {
        var generator = SeededGenerator(seed: 6)
        let calendar = foundation().0
        for _ in 0..<2_000 {
            let seconds = Int64.random(in: 0...4_000_000_000, using: &generator)
            let months = Int.random(in: -600...600, using: &generator)
            let date = Date(timeIntervalSince1970: Double(seconds))
            let expected = calendar.date(byAdding: .month, value: months, to: date)

            let found = CalendarClock(milliseconds: seconds * 1000).adding(months: Int64(months))

            #expect(found.milliseconds == expected.map { Int64($0.timeIntervalSince1970) * 1000 })
        }
    }

    @Test(arguments: [
        ("2026-11-21", 1_795_219_200_000_000), ("2026-11-21T09:30", 1_795_253_400_000_000),
        ("2026-11-21 09:30:01Z", 1_795_253_401_000_000),
        ("2026-11-21T09:30:01.25+01:00", 1_795_249_801_250_000),
        ("2026-11-21T09:30:01.000001-0530", 1_795_273_201_000_001),
    ]) func `ISO 8601 is read to the microsecond`(_ text: String, _ microseconds: Int64) {
        #expect(Timestamp(iso: text)?.microseconds == microseconds)
    }

    @Test(arguments: [
        "", "now", "2026-02-29", "2026-13-01", "2026-11-21T24:00", "2026-11-21T09:30:61",
        "2026-11-21T09:30+25:00", "2026-11-21Z", "12", "2026-11-21T09:30:00.Z",
    ]) func `text of another form is no moment`(_ text: String) {
        #expect(Timestamp(iso: text) == nil)
    }
    @Test(arguments: [0, 1, 724_000, 724_001, 724_999, 10_000_000] as [Int64])
    func `the past as of an event's time, as it is shown, includes the event`(microseconds: Int64)
        throws
    {
        let recorded = Timestamp(microseconds: microseconds)
        guard case .time(let moment)? = AsOf(parsing: AsOf.time(recorded).description) else {
            Issue.record("the text is not read as a time")
            return
        }
        #expect(moment >= recorded && moment.microseconds / 1_000 == microseconds / 1_000)
        var request = IdentifyRequest(
            map: try MapName(parsing: "World"), geometry: .point(Coordinate(x: 0, y: 0)),
            tolerance: 0, mapExtent: Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1),
            imageDisplay: ImageDisplay(width: 1, height: 1))
        request.atTime = Timestamp(microseconds: microseconds / 1_000 * 1_000)
        #expect(request.asOf == .time(moment))
    }

    @Test func `a time with microseconds means itself`() {
        #expect(
            AsOf(parsing: "1970-01-01T00:00:00.000001Z") == .time(Timestamp(microseconds: 1)))
    }
}
