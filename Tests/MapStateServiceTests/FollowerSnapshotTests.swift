// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import EventLog
import Foundation
import Logging
import MapState
import MapStateService
import Site
import SiteStory
import Synchronization
import TestKit
import Testing

/// States of the folder of snapshots.
enum SnapshotFolder: String, CaseIterable {
    case empty
    case whole
    case lastDamaged
    case allDamaged
    case ofAnotherLog
    case ahead
}

/// Followers that start from snapshots are equal to those that fold the whole log.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FollowerSnapshotTests {
    let running: SnapshotSite
    private static let eventCount = 600
    static let names = ["World", "Town", "Sea", "Nowhere"].compactMap(
        MapName.init(rawValue:))

    init() throws { running = try SnapshotSite() }

    /// A log that everything happened in, and the maps folded at every sequence number.
    struct Told {
        var records: [RecordedEvent]
        var states: [MapsState]
        var head: Int64 { Int64(records.count) }

        /// The last map event recorded until then.
        func position(at time: Timestamp) -> Int64 {
            records.last { $0.stream.category == "map" && $0.recordedAt <= time.endOfMillisecond }?
                .globalPosition
                ?? 0
        }

        func count(after position: Int64, _ categories: Set<String>) -> Int {
            records.count {
                $0.globalPosition > position && categories.contains($0.stream.category)
            }
        }
    }

    /// Appends a story, and writes its maps down at some places of a seed; the locators are left
    /// out, as the service that writes snapshots has none.
    func tell(
        _ seed: UInt64, _ random: inout SeededGenerator
    ) async throws -> (Told, kept: [Int64]) {
        var story = SiteStory(seed: seed)
        try story.run(to: Self.eventCount)
        let snapshots = running.snapshots()
        _ = try await snapshots.restore()
        var (kept, maps) = ([Int64](), MapsState())
        var rest = story.records[...]
        while !rest.isEmpty {
            let batch = rest.prefix(Int.random(in: 20...150, using: &random))
            rest = rest.dropFirst(batch.count)
            try await running.append(batch, size: Int.random(in: 1...20, using: &random))
            for record in batch where record.stream.category == "map" { try maps.apply(record) }
            guard !rest.isEmpty else { break }
            await snapshots.keep(maps)
            kept.append(maps.sequence)
        }
        let records = try await running.log.events(ReadRequest(after: 0, limit: .max))
        #expect(records.map(\.event) == story.records.map(\.event))
        var states = [MapsState()]
        for record in records {
            var next = states[states.count - 1]
            try next.apply(record)
            states.append(next)
        }
        kept = Array(Set(kept).intersection(running.store.names().map(\.sequence))).sorted()
        return (Told(records: records, states: states), kept)
    }

    /// Brings the folder into a condition; returns where a follower may start, 0 for the first
    /// event.
    func prepare(_ folder: SnapshotFolder, _ kept: [Int64]) async throws -> Int64 {
        let store = running.store
        func damage(_ sequence: Int64) throws {
            let path = try running.path(sequence)
            let bytes = try Data(contentsOf: URL(filePath: path))
            try bytes.dropLast(9).write(to: URL(filePath: path))
        }
        func rewrite(_ change: (inout SnapshotStore.Label) -> Void) throws {
            let name = try #require(store.names().first)
            let (read, pieces) = try store.read(name)
            var label = read
            change(&label)
            try FileManager.default.removeItem(atPath: store.directory)
            try store.write(label, pieces)
        }
        switch folder {
        case .empty:
            try FileManager.default.removeItem(atPath: store.directory)
            return 0
        case .whole: return kept.last ?? 0
        case .lastDamaged:
            try damage(try #require(kept.last))
            return kept.dropLast().last ?? 0
        case .allDamaged:
            for sequence in kept { try damage(sequence) }
            return 0
        case .ofAnotherLog:
            try rewrite { $0.incarnation = UUID() }
            return 0
        case .ahead:
            try rewrite { $0.sequence += 1_000_000 }
            return 0
        }
    }

    @Test(.slow, arguments: SnapshotFolder.allCases, Seeds.chosen(1, from: 11))
    func `a follower knows the same maps wherever it began, and reads only what came after`(
        folder: SnapshotFolder, seed: UInt64
    ) async throws {
        defer { running.end() }
        var random = SeededGenerator(seed: seed)
        let (told, kept) = try await tell(seed, &random)
        let start = try await prepare(folder, kept)
        let whole = told.states[told.states.count - 1]

        let all = try MapFollower(following: running.bus, from: running.snapshots())
        let maps = try MapFollower(
            following: running.bus, hasLocators: false, from: running.snapshots())
        defer {
            all.stop()
            maps.stop()
        }
        let known = try await all.snapshot(minSequence: told.head, timeout: .seconds(60))
        let knownMaps = try await maps.snapshot(
            minSequence: told.head, timeout: .seconds(60))

        #expect(known == whole, "seed \(seed)")
        #expect(
            try knownMaps.hash().limited(to: ["map", "commands"]).hash
                == whole.hash().limited(to: ["map", "commands"]).hash)
        #expect(
            all.foldedCount == told.count(after: start, ["map"])
                + told.count(after: 0, ["locator"]))
        #expect(maps.foldedCount == told.count(after: start, ["map"]))
        #expect(folder == .whole || folder == .lastDamaged ? start > 0 : start == 0)
        let isFaultless = folder == .empty || folder == .whole
        #expect(running.takeComplaints().isEmpty == isFaultless)

        // Later events are followed.
        var story = SiteStory(seed: seed)
        try story.run(to: Self.eventCount + 50)
        let next = story.records.dropFirst(told.records.count)
        try await running.append(next, size: 7)
        let later = try await all.snapshot(
            minSequence: Int64(story.records.count), timeout: .seconds(60))
        var live = MapsState()
        for record in story.records { try live.apply(record) }
        #expect(try later.hash() == live.hash())
    }

    @Test(.slow, arguments: SnapshotFolder.allCases, Seeds.chosen(1, from: 21))
    func `a past state from snapshots is that of the whole log`(
        folder: SnapshotFolder, seed: UInt64
    ) async throws {
        defer { running.end() }
        var random = SeededGenerator(seed: seed)
        let (told, kept) = try await tell(seed, &random)
        _ = try await prepare(folder, kept)
        // Pages so small that a question about the past meets the snapshots.
        let follower = MapFollower(snapshots: running.snapshots(), pageSize: 16)
        try await follower.restore(from: running.log)
        let after = follower.current.sequence
        follower.ingest(
            told.records.filter {
                $0.globalPosition > after && MapsState.categories.contains($0.stream.category)
            }, upTo: told.head)
        #expect(follower.current == told.states[told.states.count - 1])
        let read: MapFollower.Reader = { request async throws(Failure) in
            request.events(of: told.records)
        }

        for _ in 0..<40 {
            let position = Int64.random(in: 0...told.head, using: &random)
            let expected = told.states[Int(position)]
            for name in Self.names.shuffled(using: &random) {
                let map = try await follower.map(named: name, at: position, reading: read)
                var wanted = expected.map(named: name)
                wanted?.sequence = position
                #expect(map == wanted, "seed \(seed), \(name) at \(position)")
                let remembered = follower.remembered(name, at: position)
                switch (remembered, map) {
                case (.map(let again, let change), let map?):
                    #expect(again == map && change == expected.lastChange(of: name))
                case (.absent, nil), (.unknown, nil): break
                default: Issue.record("seed \(seed), \(name) at \(position): \(remembered)")
                }
            }
            let past = try await follower.history(at: position, reading: read)
            #expect(try past.hash() == expected.hash(), "seed \(seed), at \(position)")
            #expect(past.sequence == position)

            let time = told.records[Int.random(in: 0..<told.records.count, using: &random)]
                .recordedAt
            for offset in [-1, 0, 1] as [Int64] {
                let moment = Timestamp(microseconds: time.microseconds + offset)
                let found = try await follower.position(of: .time(moment), reading: read)
                #expect(found == told.position(at: moment), "seed \(seed), \(moment)")
                #expect(follower.knownPosition(of: .time(moment)) == found, "read once")
            }
        }
        let early = Timestamp(microseconds: told.records[0].recordedAt.microseconds - 1_000)
        #expect(try await follower.position(of: .time(early), reading: read) == 0)
    }

    @Test(.slow)
    func `a question about the past reads from the snapshot before it on, the next one nothing`()
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
        let follower = MapFollower(snapshots: running.snapshots(), pageSize: 16)
        try await follower.restore(from: running.log)
        #expect(follower.current.sequence == second)
        let rest = try await running.log.events(ReadRequest(after: second, limit: .max))
        follower.ingest(rest, upTo: running.live.sequence)
        let readCount = Atomic<Int>(0)
        let log = running.log
        let read: MapFollower.Reader = { request async throws(Failure) in
            let events = try await log.events(request)
            readCount.add(events.count, ordering: .relaxed)
            return events
        }
        func asked(at position: Int64) async throws -> Int {
            readCount.store(0, ordering: .relaxed)
            let map = try await follower.map(named: world, at: position, reading: read)
            #expect(map == running.history[position]?.map(named: world))
            return readCount.load(ordering: .relaxed)
        }

        // One page before the snapshot is looked up, and whole pages after it.
        #expect(try await asked(at: first + 40) == 16 + 48)
        #expect(try await asked(at: first + 40) == 0)
        // Goes on from that state.
        #expect(try await asked(at: first + 50) == 16)
        #expect(try await asked(at: first - 1) > 180)
        // After its start it knows the changes of the map.
        #expect(try await asked(at: running.live.sequence) == 0)
        readCount.store(0, ordering: .relaxed)
        let past = try await follower.history(at: first + 3, reading: read)
        #expect(past == running.history[first + 3])
        #expect(readCount.load(ordering: .relaxed) <= 16)
        #expect(running.takeComplaints() == [])
    }

    @Test func `a snapshot that cannot be taken is named once, however often the past is asked`()
        async throws
    {
        defer { running.end() }
        let world = try MapName(parsing: "World")
        let snapshots = running.snapshots()
        _ = try await snapshots.restore()
        try await running.grow(60)
        await snapshots.keep(running.live)
        try Data("no snapshot".utf8).write(
            to: URL(filePath: try running.path(running.live.sequence)))
        try await running.grow(60)
        let follower = MapFollower(snapshots: running.snapshots(), pageSize: 4)
        let rest = try await running.log.events(ReadRequest(after: 0, limit: .max))
        follower.ingest(rest, upTo: running.live.sequence)

        for position in stride(from: running.live.sequence - 10, to: 30, by: -7) {
            let map = try await follower.map(
                named: world, at: position
            ) { [log = running.log] request async throws(Failure) in
                try await log.events(request)
            }
            #expect(map == running.history[position]?.map(named: world))
        }

        #expect(running.takeComplaints().count == 1)
    }

    @Test func `a follower that began at a snapshot ends when the log is replaced`() async throws {
        defer { running.end() }
        let snapshots = running.snapshots()
        _ = try await snapshots.restore()
        try await running.grow(20)
        await snapshots.keep(running.live)
        let backup = running.site.path + "/backup.sqlite"
        _ = try await running.log.backup(to: backup)
        let (faults, told) = AsyncStream.makeStream(of: Failure.self)
        let follower = try MapFollower(
            following: running.bus, from: running.snapshots(), onFault: { told.yield($0) })
        defer { follower.stop() }
        _ = try await follower.snapshot(
            minSequence: running.live.sequence, timeout: .seconds(60))
        running.stopLog()
        _ = try LogBackup.restore(backup, to: running.site.logFile)
        try running.startLog()

        var first: Failure?
        for await fault in faults where fault.code == .conflict {
            first = fault
            break
        }
        #expect(first?.code == .conflict)
        #expect(follower.isStale)
    }

    @Test(.slow) func `a service that has to fold a long log writes states down on the way`()
        async throws
    {
        defer { running.end() }
        var story = SiteStory(seed: 41)
        try story.run(to: 5_000)
        try await running.append(story.records[...], size: 500)
        let bus = try BusThread(name: "mapstate", runDirectory: running.site.runDirectory)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let service = try MapStateService(
            site: running.site, bus: bus, logger: logger, pace: SnapshotPace(eventCount: 400))
        let work = Task { try await service.run() }
        let client = CairnClient(sharing: running.bus, patience: .seconds(60))
        #expect(try await client.stateHash(of: .mapState).sequence > 0)
        // The background write completes in a moment.
        try await waitUntil("a snapshot is written") { !running.store.names().isEmpty }
        service.stop()
        _ = await work.result
        bus.stop()

        let sequences = running.store.names().map(\.sequence)
        #expect((sequences.last ?? 0) < 4_500, "\(sequences)")
        // The service has gone on: it settled loads that the story had left.
        let records = try await running.log.events(ReadRequest(after: 0, limit: .max))
        for sequence in sequences {
            var maps = MapsState()
            for record in records.prefix(Int(sequence))
            where record.stream.category == "map" { try maps.apply(record) }
            let kept = try await running.snapshots().restore(through: sequence)
            #expect(kept == maps, "at \(sequence)")
        }
        #expect(running.takeComplaints() == [])
    }
}
