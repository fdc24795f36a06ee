// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Jobs
import MapState
import Replay
import SiteStory
import TestKit
import Testing

/// A restored state continues like the original.
@Suite struct SnapshotTests {
    private static let eventCount = 500

    @Test(.slow, arguments: Seeds.chosen(6))
    func `a snapshot and the tail of the log lead to where the whole log leads`(
        seed: UInt64
    ) throws {
        var story = SiteStory(seed: seed)
        try story.run(to: Self.eventCount)
        let records = story.records
        let end = try story.live.hash()
        var random = SeededGenerator(seed: seed)
        var places = Set((0..<12).map { _ in Int.random(in: 0...records.count, using: &random) })
        places.formUnion([0, 1, records.count])
        for place in places {
            let state = try StateHashTests.fold(records[..<place])

            let maps = try MapsState(pieces: try state.maps.pieces())
            let jobs = try JobTable(pieces: try state.jobs.pieces())

            #expect(maps == state.maps, "seed \(seed), event \(place)")
            #expect(jobs.jobs == state.jobs.jobs, "seed \(seed), event \(place)")
            #expect(jobs.subJobs == state.jobs.subJobs)
            #expect(jobs.foldedThrough == state.jobs.foldedThrough)
            var restored = SiteState(maps: maps, jobs: jobs)
            #expect(try restored.hash().hash == state.hash().hash)
            for record in records { try restored.apply(record) }
            #expect(try restored.hash() == end, "seed \(seed), event \(place)")
        }
    }

    @Test func `the pieces of a snapshot are lines`() throws {
        var story = SiteStory(seed: 3)
        try story.run(to: Self.eventCount)
        let pieces = try story.live.maps.pieces() + story.live.jobs.pieces()

        #expect(pieces.count >= 5)
        #expect(pieces.allSatisfy { !$0.isEmpty && !$0.contains(UInt8(ascii: "\n")) })
        #expect(throws: Failure.self) { try MapsState(pieces: [Data("{}".utf8)]) }
        #expect(throws: Failure.self) { try JobTable(pieces: [Data("7".utf8)]) }
    }
}
