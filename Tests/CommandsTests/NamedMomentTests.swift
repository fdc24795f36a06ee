// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Testing

@testable import Commands

@Suite struct NamedMomentTests {
    /// Sunday, 2026-11-29T15:20:00Z.
    private static let now = Timestamp(iso: "2026-11-29T15:20:00Z")

    private func text(_ words: String, hoursAhead: Int64 = 0) throws -> String? {
        let now = try #require(Self.now)
        let moments = NamedMoment(now: now) { _ in hoursAhead * 3_600 }
        return moments.moment(words).map { CalendarClock($0).text }
    }

    @Test(arguments: [
        ("now", "2026-11-29T15:20:00Z"), ("today", "2026-11-29T00:00:00Z"),
        ("yesterday", "2026-11-28T00:00:00Z"), ("Yesterday 14:30", "2026-11-28T14:30:00Z"),
        ("2 hours ago", "2026-11-29T13:20:00Z"), ("an hour ago", "2026-11-29T14:20:00Z"),
        ("90 minutes ago", "2026-11-29T13:50:00Z"), ("3 days ago", "2026-11-26T15:20:00Z"),
        ("1 month ago", "2026-10-29T15:20:00Z"), ("2 years ago", "2024-11-29T15:20:00Z"),
        ("last monday", "2026-11-23T00:00:00Z"), ("saturday", "2026-11-28T00:00:00Z"),
        ("last sunday", "2026-11-22T00:00:00Z"), ("last friday 08:00", "2026-11-27T08:00:00Z"),
        ("2026-11-01", "2026-11-01T00:00:00Z"), ("2026-11-01T09:30", "2026-11-01T09:30:00Z"),
        ("2026-11-01 09:30:15.25", "2026-11-01T09:30:15.250Z"),
        ("14:30", "2026-11-29T14:30:00Z"), ("15:30", "2026-11-28T15:30:00Z"),
    ])
    func `words name a moment in UTC`(words: String, expected: String) throws {
        #expect(try text(words) == expected)
    }

    @Test(arguments: [
        ("today", "2026-11-28T23:00:00Z"), ("14:30", "2026-11-29T13:30:00Z"),
        ("2026-11-01", "2026-10-31T23:00:00Z"), ("2 hours ago", "2026-11-29T13:20:00Z"),
        ("last monday", "2026-11-22T23:00:00Z"),
    ])
    func `days and times are those of the local zone`(words: String, expected: String) throws {
        #expect(try text(words, hoursAhead: 1) == expected)
    }

    @Test func `a day ends with its zone's change of clocks`() throws {
        // Central European Time began on 2026-10-25 at 01:00 UTC.
        let change = try #require(Timestamp(iso: "2026-10-25T01:00:00Z")).microseconds / 1_000_000
        let moments = NamedMoment(now: try #require(Self.now)) { $0 < change ? 7_200 : 3_600 }
        func text(_ words: String) -> String? {
            moments.moment(words).map { CalendarClock($0).text }
        }

        #expect(text("2026-10-25") == "2026-10-24T22:00:00Z")
        #expect(text("2026-10-26") == "2026-10-25T23:00:00Z")
        #expect(text("2026-10-25 12:00") == "2026-10-25T11:00:00Z")
    }

    @Test(arguments: [
        "", "17", "tomorrowish", "2026-13-01", "25:00", "2 lightyears ago", "last", "last week",
        "2026-11-21T09:30:00Z", "2026-11-21T09:30:00+01:00", "yesterday noon", "-2 hours ago",
    ])
    func `other text, and text with a zone of its own, is none of these`(words: String) throws {
        #expect(try text(words) == nil)
    }
}

@Suite struct NearestWordTests {
    @Test(arguments: [
        ("idetify", "identify"), ("idnetify", "identify"), ("Wrold", "World"), ("world", "World"),
        ("lits", "list"),
    ])
    func `the nearest word is the one with the fewest slips`(word: String, expected: String) {
        let known = ["identify", "import", "list", "show", "World", "Roads"]
        #expect(NearestWord.nearest(to: word, among: known) == expected)
    }

    @Test func `a word that is far from all has no neighbour`() {
        #expect(NearestWord.nearest(to: "geology", among: ["identify", "World"]) == nil)
        #expect(NearestWord.sentence(for: "x", among: [String]()) == "")
    }

    @Test func `a misspelt subcommand is answered by the nearest one`() {
        #expect(
            CairnCommand.misspelling(in: ["idetify", "--map", "World"])
                == "'cairn' has no subcommand 'idetify' (did you mean 'identify'?)")
        #expect(
            CairnCommand.misspelling(in: ["map", "lits"])
                == "'cairn map' has no subcommand 'lits' (did you mean 'list'?)")
        for words in [["identify", "lits"], ["map", "list"], ["--version"], ["help"], ["xyzzy"]] {
            #expect(CairnCommand.misspelling(in: words) == nil, "\(words)")
        }
    }

    @Test(arguments: ["j12", "12", "job", "j123g", "last1"])
    func `a job is not named by fewer than four digits`(text: String) {
        #expect(throws: Failure.self) { try NamedJob.read(text) }
    }
}
