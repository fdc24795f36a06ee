// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import MapState
import Testing

/// When refreshes are due.
@Suite struct RefreshesTests {
    private struct Story {
        var refreshes = Refreshes()
        private var position: Int64 = 0

        mutating func add(_ event: RefreshEvent, at seconds: Int64, by actor: String? = nil) throws
        {
            position += 1
            try refreshes.apply(
                RecordedEvent(
                    globalPosition: position,
                    stream: try #require(StreamName(rawValue: "refresh-roads")),
                    streamPosition: position - 1,
                    recordedAt: Timestamp(microseconds: seconds * 1_000_000),
                    event: try event.payload.newEvent(
                        id: UUID(), metadata: EventMetadata(actor: actor))))
        }

        mutating func define(every: Int? = nil, watches: Bool = false) throws {
            var definition = RefreshDefinition(
                name: "roads", map: MapFixture.world, layer: 0, source: "/data/roads.gpkg")
            definition.everySeconds = every
            definition.watches = watches ? true : nil
            try add(
                .added(RefreshAdded(refresh: definition, fingerprint: "a")), at: 1000, by: "anna")
        }

        mutating func succeed(_ fingerprint: String?, at seconds: Int64) throws {
            try add(
                .succeeded(
                    RefreshSucceeded(
                        name: "roads", fingerprint: fingerprint, sequence: 7, added: 1, changed: 0,
                        removed: 0, rowCount: 2, carried: 0)), at: seconds)
        }

        mutating func fail(_ fingerprint: String?, at seconds: Int64) throws {
            try add(
                .failed(
                    RefreshFailed(
                        name: "roads", fingerprint: fingerprint,
                        error: Failure(.unreadable, "broken"))), at: seconds)
        }

        /// Whether a run is due, by the state of the source's files.
        func isDue(_ fingerprint: String?, at seconds: Int64) -> Bool? {
            refreshes.all["roads"]?.isDue(
                at: Timestamp(microseconds: seconds * 1_000_000), fingerprint: fingerprint)
        }
    }

    @Test func `an interval starts a run at once, and then after each interval`() throws {
        var story = Story()
        try story.define(every: 600)
        #expect(story.refreshes.all["roads"]?.actor == "anna")
        #expect(story.isDue("a", at: 1000) == true)

        try story.succeed("a", at: 2000)
        #expect(story.isDue("b", at: 2599) == false)
        #expect(story.isDue("a", at: 2600) == true)
    }

    @Test func `each failure doubles the interval, up to a day, and a success ends that`() throws {
        var story = Story()
        try story.define(every: 600)
        try story.fail("a", at: 2000)
        #expect(story.isDue("a", at: 3199) == false)
        #expect(story.isDue("a", at: 3200) == true)
        try story.fail("a", at: 4000)
        #expect(story.isDue("a", at: 6399) == false)
        #expect(story.isDue("a", at: 6400) == true)
        for _ in 0..<30 { try story.fail("a", at: 10_000) }
        #expect(story.refreshes.all["roads"]?.failuresInRow == 32)
        #expect(story.isDue("a", at: 96_399) == false)
        #expect(story.isDue("a", at: 96_400) == true)
        try story.succeed("a", at: 100_000)
        #expect(story.isDue("a", at: 100_600) == true)
    }

    @Test func `a watched source starts a run when it has changed, and only then`() throws {
        var story = Story()
        try story.define(watches: true)
        #expect(story.isDue("a", at: 9_999_999) == false)
        #expect(story.isDue(nil, at: 9_999_999) == false)
        #expect(story.isDue("b", at: 1001) == true)

        try story.succeed("b", at: 2000)
        #expect(story.isDue("b", at: 9_999_999) == false)
        try story.fail("c", at: 3000)
        #expect(story.isDue("c", at: 3059) == false)
        #expect(story.isDue("c", at: 3060) == true)
        #expect(story.isDue("d", at: 3001) == true)
    }

    @Test func `a refresh without schedule runs by command, and a removed one is gone`() throws {
        var story = Story()
        try story.define()
        #expect(story.isDue("b", at: 9_999_999) == false)
        try story.fail("b", at: 2000)
        #expect(story.isDue("c", at: 9_999_999) == false)
        try story.add(.removed(RefreshRemoved(name: "roads")), at: 3000)
        #expect(story.refreshes.all.isEmpty)
    }
}
