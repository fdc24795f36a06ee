// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import EventLog
import Foundation
import MapState
import Site
import Synchronization
import TestKit
import Testing

@testable import CairnIdentify

/// Programs that read the log's file themselves start from snapshots as followers do.
extension FollowerSnapshotTests {
    private func history(
        pageSize: Int, _ report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> MapHistory {
        let log = try ArchivedLogReader(path: running.site.logFile)
        let snapshots = try #require(try LogSnapshots(running.store, of: log, report: report))
        return try MapHistory(reading: log, from: snapshots, pageSize: pageSize)
    }

    @Test(.slow, arguments: SnapshotFolder.allCases, Seeds.chosen(1, from: 31))
    func `a history of the file begins at snapshots and says what the whole log says`(
        folder: SnapshotFolder, seed: UInt64
    ) async throws {
        defer { running.end() }
        var random = SeededGenerator(seed: seed)
        let (told, kept) = try await tell(seed, &random)
        let start = try await prepare(folder, kept)
        let complaints = Mutex<[String]>([])
        var history = try history(pageSize: 16) { text in complaints.withLock { $0.append(text) } }
        #expect(history.foldedCount == told.count(after: start, ["map"]))
        #expect(folder == .whole || folder == .lastDamaged ? start > 0 : start == 0)
        #expect(history.sequence == told.head)
        #expect(history.mapNames == told.states[told.states.count - 1].mapNames)

        func check(_ name: MapName, _ moment: AsOf, at position: Int64) throws {
            var wanted = told.states[Int(position)].map(named: name)
            wanted?.sequence = position
            let map = try history.map(name, at: moment)
            #expect(map == wanted, "seed \(seed), \(name) at \(moment)")
        }
        for name in Self.names {
            let now = try history.map(name, at: nil)
            #expect(now == told.states[told.states.count - 1].map(named: name))
        }
        for _ in 0..<60 {
            let position = Int64.random(in: 0...told.head, using: &random)
            for name in Self.names.shuffled(using: &random) {
                try check(name, .sequence(position), at: position)
            }
            let time = told.records[Int.random(in: 0..<told.records.count, using: &random)]
                .recordedAt
            for offset in [-1, 0, 1] as [Int64] {
                let moment = Timestamp(microseconds: time.microseconds + offset)
                try check(Self.names[0], .time(moment), at: told.position(at: moment))
            }
        }
        let isFaultless = folder == .empty || folder == .whole
        let said = complaints.withLock(\.self)
        #expect(said.isEmpty == isFaultless, "\(said)")
        // Each is reported once, however often the past is read.
        #expect(Set(said).count == said.count)
    }

    @Test(.slow)
    func `a question to the file reads from the snapshot before it on, the next one nothing`()
        async throws
    {
        defer { running.end() }
        let world = try MapName(parsing: "World")
        let snapshots = running.snapshots()
        _ = try await snapshots.restore()
        try await running.grow(200)
        await snapshots.keep(running.live)
        let first = running.live.sequence
        try await running.grow(200)
        await snapshots.keep(running.live)
        let second = running.live.sequence
        try await running.grow(50)

        var history = try history(pageSize: 16)
        #expect(history.foldedCount == Int(running.live.sequence - second))
        func asked(at position: Int64) throws -> Int {
            let before = history.foldedCount
            let map = try history.map(world, at: .sequence(position))
            #expect(map == running.history[position]?.map(named: world))
            return history.foldedCount - before
        }
        // One page before the snapshot is looked up, and the events after it.
        #expect(try asked(at: first + 40) == 16 + 40)
        #expect(try asked(at: first + 40) == 0)
        #expect(try asked(at: first + 50) == 10)
        #expect(try asked(at: running.live.sequence) == 0)
        #expect(try asked(at: first - 1) == Int(first) - 1)

        // Later events are read.
        try await running.grow(5)
        let end = running.live.sequence
        #expect(try asked(at: end) == 5)
        #expect(history.sequence == end)

        // A program on the site does the same.
        let atlas = try Atlas(site: running.site.path)
        #expect(atlas.foldedCount == Int(end - second))
        #expect(try atlas.map(named: world) == running.live.map(named: world))
        let past = try atlas.map(named: world, at: .sequence(first + 7))
        #expect(past == running.history[first + 7]?.map(named: world))
        #expect(running.takeComplaints() == [])
    }
}
