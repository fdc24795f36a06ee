// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import TestKit
import Testing

@Suite struct MapHoursTests {
    private func holds(_ text: String, _ time: String, longitude: Double = 0) throws -> Bool {
        let hours = try #require(MapHours(text), "'\(text)'")
        return hours.state(
            at: try #require(Timestamp(iso: time)), longitude: longitude
        ).holds
    }

    // 30 November 2026 is a Monday.
    @Test(arguments: [
        ("(Mo-Fr 07:00-09:00; Sa)", "2026-11-30T07:00:00Z", true),
        ("(Mo-Fr 07:00-09:00; Sa)", "2026-11-30T09:00:00Z", false),
        ("(Mo-Fr 07:00-09:00; Sa)", "2026-12-05T23:59:59Z", true),
        ("(Mo-Fr 07:00-09:00; Sa)", "2026-12-06T08:00:00Z", false),
        ("Mo-Fr 7:00-9:00, 16:00-18:00", "2026-12-01T17:00:00Z", true),
        ("22:00-06:00", "2026-11-30T05:59:00Z", true),
        ("22:00-06:00", "2026-11-30T06:00:00Z", false),
        ("Fr 22:00-05:00", "2026-12-05T04:00:00Z", true),
        ("Fr 22:00-05:00", "2026-12-04T04:00:00Z", false),
        ("Su,PH 10:00-18:00", "2026-12-06T12:00:00Z", true),
        ("Mo-Sa 08:00-18:00; PH off", "2026-12-05T12:00:00Z", true),
        ("08:00-18:00; We 09:00-12:00", "2026-12-02T08:30:00Z", false),
        ("08:00-18:00; We 09:00-12:00", "2026-12-03T08:30:00Z", true),
        ("24/7; Sa-Su off", "2026-12-05T12:00:00Z", false),
        ("Fr-Mo", "2026-11-30T12:00:00Z", true), ("Fr-Mo", "2026-12-01T12:00:00Z", false),
        ("Nov-Apr", "2026-11-30T12:00:00Z", true), ("Nov-Apr", "2026-05-01T12:00:00Z", false),
        ("Nov 15 - Apr 30", "2026-11-14T12:00:00Z", false),
        ("Nov 15-Apr 30", "2026-04-30T12:00:00Z", true),
        ("Dec 1-10 08:00-10:00", "2026-12-10T09:00:00Z", true),
        ("Dec 1-10 08:00-10:00", "2026-12-11T09:00:00Z", false),
        ("Jul,Aug Mo-Fr 08:00-16:00", "2026-08-03T09:00:00Z", true),
        ("Jan 07:00-09:00", "2026-01-20T08:00:00Z", true),
        ("(Mo-Fr) AND (07:00-09:00)", "2026-11-30T08:00:00Z", true),
        ("Mo-Fr AND 07:00-09:00", "2026-12-05T08:00:00Z", false),
        ("day_on=Monday day_off=Friday hour_on=07:00 hour_off=09:00", "2026-11-30T08:00:00Z", true),
        ("hour_on=07:00 hour_off=09:00", "2026-12-05T10:00:00Z", false),
    ])
    func `times of the map hold when they say`(_ text: String, _ time: String, _ expected: Bool)
        throws
    {
        #expect(try holds(text, time) == expected)
    }

    @Test func `the clock is that of the longitude`() throws {
        #expect(try holds("07:00-09:00", "2026-11-30T06:30:00Z", longitude: 15))
        #expect(try !holds("07:00-09:00", "2026-11-30T06:30:00Z", longitude: 0))
    }

    @Test(arguments: [
        "", "unknown", "weight>7.5", "sunset-sunrise", "wet", "Mo-Fr 07:00", "Mo-Fr 25-26",
        "PH", "week 1-10", "2026 Nov", "Mo-Fr 07:00-09:00 AND weight>3.5", "18:00+", "a=b",
        String(repeating: "Mo;", count: 400), "Mo-", "-Fr", "12:75-13:00",
    ])
    func `what is not read is no time`(_ text: String) { #expect(MapHours(text) == nil) }

    @Test func `between two changes nothing changes`() throws {
        var random = SeededGenerator(seed: 3)
        for text in ["Mo-Fr 07:00-09:00,22:00-03:00; We off", "Nov-Feb 20:00-06:00", "24/7"] {
            let hours = try #require(MapHours(text))
            for _ in 0..<200 {
                let moment = Timestamp(
                    microseconds: 1_796_000_000_000_000
                        + Int64(random.next() % 31_536_000) * 1_000_000)
                let state = hours.state(at: moment, longitude: 2.3)
                #expect(state.since <= moment && moment < state.until)
                let span = state.until.microseconds - state.since.microseconds
                let other = Timestamp(
                    microseconds: state.since.microseconds
                        + Int64(random.next() % UInt64(span)))
                #expect(hours.state(at: other, longitude: 2.3).holds == state.holds)
            }
        }
        for edge in [Int64.min, .max] {
            _ = MapHours("Mo")?.state(at: Timestamp(microseconds: edge), longitude: 180)
        }
    }
}
