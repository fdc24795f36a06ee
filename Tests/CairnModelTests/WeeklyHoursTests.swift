// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import TestKit
import Testing

@Suite struct WeeklyHoursTests {
    /// A Monday.
    private static let monday = Timestamp(iso: "2026-11-30T00:00:00Z")

    private func moment(_ day: Int, _ hour: Int, _ minute: Int = 0) throws -> Timestamp {
        let monday = try #require(Self.monday)
        let minutes = Int64((day * 24 + hour) * 60 + minute)
        return Timestamp(microseconds: monday.microseconds + minutes * 60_000_000)
    }

    @Test(arguments: [
        ("Mo-Fr 07:00-09:00,16:00-18:00; Sa 10:00-12:00", 0, 7, 0, true),
        ("Mo-Fr 07:00-09:00,16:00-18:00; Sa 10:00-12:00", 0, 6, 59, false),
        ("Mo-Fr 07:00-09:00,16:00-18:00; Sa 10:00-12:00", 0, 9, 0, false),
        ("Mo-Fr 07:00-09:00,16:00-18:00; Sa 10:00-12:00", 4, 17, 59, true),
        ("Mo-Fr 07:00-09:00,16:00-18:00; Sa 10:00-12:00", 5, 8, 0, false),
        ("Mo-Fr 07:00-09:00,16:00-18:00; Sa 10:00-12:00", 5, 11, 0, true),
        ("Mo-Fr 07:00-09:00,16:00-18:00; Sa 10:00-12:00", 6, 11, 0, false),
        ("22:00-05:00", 2, 23, 0, true), ("22:00-05:00", 2, 4, 59, true),
        ("22:00-05:00", 2, 5, 0, false),
        ("Su 22:00-05:00", 6, 23, 0, true), ("Su 22:00-05:00", 0, 4, 0, true),
        ("Su 22:00-05:00", 1, 4, 0, false), ("Su 22:00-05:00", 6, 4, 0, false),
        ("Fr-Mo 00:00-24:00", 5, 12, 0, true), ("Fr-Mo 00:00-24:00", 0, 12, 0, true),
        ("Fr-Mo 00:00-24:00", 1, 0, 0, false), ("Tu,Th 08:00-09:00", 3, 8, 30, true),
        ("Tu,Th 08:00-09:00", 2, 8, 30, false), ("24/7", 3, 3, 0, true),
        ("Mo 08:00-10:00; Mo 09:00-11:00", 0, 10, 30, true),
    ])
    func `hours hold from their beginning until before their end`(
        text: String, day: Int, hour: Int, minute: Int, holds: Bool
    ) throws {
        let hours = try WeeklyHours(text)
        #expect(hours.contains(try moment(day, hour, minute), longitude: 0) == holds)
        // Weeks before 1970 have the same hours.
        let week: Int64 = 7 * 86_400_000_000
        let past = Timestamp(
            microseconds: try moment(day, hour, minute).microseconds - 4_000 * week)
        #expect(hours.contains(past, longitude: 0) == holds)
    }

    @Test func `a degree of longitude is four minutes`() throws {
        let hours = try WeeklyHours("Mo 07:00-08:00")
        #expect(hours.contains(try moment(0, 6, 20), longitude: 10))
        #expect(!hours.contains(try moment(0, 6, 19), longitude: 10))
        #expect(!hours.contains(try moment(0, 7, 20), longitude: 10))
        #expect(hours.contains(try moment(0, 12, 0), longitude: -75))
        #expect(hours.contains(try moment(-1, 19, 30), longitude: 180))
    }

    @Test(arguments: [
        "", " ", "Mo", "Mo 07:00", "Mo 7:00-08:00", "Mo 07:00-07:00", "Mo 24:00-01:00",
        "Mo 07:00-24:01", "Mo 07:60-08:00", "mo 07:00-08:00", "Mo- 07:00-08:00",
        "Mo,, 07:00-08:00", "Mo 07:00-08:00,", "Mo 07:00-08:00;", "Mo 07:00-08:00 09:00-10:00",
        "Mo 07:00–08:00", "PH 07:00-08:00", "Mo 0a:00-08:00", "24/6", "Mo-Tu-We 07:00-08:00",
        String(repeating: "a", count: 2_000), "٠٧:00-08:00",
    ])
    func `other texts are refused`(text: String) {
        #expect(throws: Failure.self) { try WeeklyHours(text) }
    }

    @Test func `the span around a moment is all that has its state`() throws {
        var random = SeededGenerator(seed: 5)
        for text in [
            "Mo-Fr 07:00-09:00,16:00-18:00; Sa 10:00-12:00", "Su 22:00-05:00", "22:00-05:00",
            "We 00:00-24:00",
        ] {
            let hours = try WeeklyHours(text)
            for _ in 0..<500 {
                let start = try moment(0, 0).microseconds
                let time = Timestamp(
                    microseconds: start + Int64(random.next() % (14 * 86_400_000_000)))
                let longitude = Double.random(in: -180...180, using: &random)
                let state = hours.state(at: time, longitude: longitude)
                #expect(state.since <= time && time < state.until)
                for _ in 0..<5 {
                    let other = Timestamp(
                        microseconds: Int64.random(
                            in: state.since.microseconds..<state.until.microseconds,
                            using: &random))
                    #expect(hours.contains(other, longitude: longitude) == state.holds)
                }
            }
        }
    }
}
