// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import FoundationEssentials
import MapState
import TestKit
import Testing

/// Records of two maps and a locator, with records of other categories between them.
private struct SmallLog {
    private(set) var records: [RecordedEvent] = []
    private var lastPositions: [StreamName: Int64] = [:]

    init() throws {
        let maps = [try MapName(parsing: "A"), try MapName(parsing: "B")]
        for map in maps { try add(.map(map), MapCreated(name: map)) }
        let hash = try #require(ContentID(rawValue: String(repeating: "a", count: 64)))
        for number in 0..<40 {
            let map = maps[number % 2]
            try add(
                .map(map),
                LayerAdded(
                    layer: number / 2, name: "L\(number)", kind: .group, parent: nil, index: 0))
            try add(.job(JobID(rawValue: UUID())), LayerRemoved(layer: 0), type: "job.submitted")
            if number.isMultiple(of: 7) {
                try add(
                    .locator("World"),
                    LocatorPublished(name: "World", locator: hash, placeCount: number))
            }
        }
    }

    mutating func add(
        _ stream: StreamName, _ event: some EventPayload, type: String? = nil
    ) throws {
        var new = try event.newEvent(id: UUID(), metadata: EventMetadata())
        if let type { new.type = type }
        let position = (lastPositions[stream] ?? -1) + 1
        lastPositions[stream] = position
        records.append(
            RecordedEvent(
                globalPosition: Int64(records.count) + 1, stream: stream,
                streamPosition: position, recordedAt: Self.time(Int64(records.count) + 1),
                event: new))
    }

    /// Two seconds an event; the clock goes back by five once, at position 30.
    static func time(_ position: Int64) -> Timestamp {
        Timestamp(microseconds: position * 2_000_000 - (position >= 30 ? 5_000_000 : 0))
    }

    func state(at position: Int64) throws -> MapsState {
        var state = MapsState()
        for record in records where record.globalPosition <= position { try state.apply(record) }
        return state
    }

    func reader() -> MapFollower.Reader {
        { [records] request async throws(Failure) -> [RecordedEvent] in
            request.events(of: records)
        }
    }

    func failingReader() -> MapFollower.Reader {
        { _ async throws(Failure) -> [RecordedEvent] in
            throw Failure(.logUnavailable, "not here")
        }
    }

    /// Events that a subscription to the maps' categories delivers.
    var subscribed: [RecordedEvent] {
        records.filter { MapsState.categories.contains($0.stream.category) }
    }

    var head: Int64 { Int64(records.count) }
}

@Suite(.timeLimit(.minutes(5))) struct MapFollowerTests {
    @Test func `a reader gets the state at once when it is there already`() async throws {
        let log = try SmallLog()
        let follower = MapFollower()
        follower.ingest(log.subscribed, upTo: log.head)

        let state = try await follower.snapshot(minSequence: log.head)

        #expect(state == (try log.state(at: log.head)))
    }

    @Test func `a reader waits until the sequence it asks for has come`() async throws {
        let log = try SmallLog()
        let follower = MapFollower()
        let waiting = Task {
            try await follower.snapshot(minSequence: log.head, timeout: .seconds(30))
        }

        for record in log.subscribed { follower.ingest([record], upTo: record.globalPosition) }
        follower.ingest([], upTo: log.head)

        #expect(try await waiting.value.sequence == log.head)
    }

    @Test func `a sequence that does not come is refused after the timeout`() async throws {
        let follower = MapFollower()
        do throws(Failure) {
            _ = try await follower.snapshot(minSequence: 5, timeout: .milliseconds(5))
            Issue.record("answered")
        } catch {
            #expect(error.code == .timedOut)
        }
    }

    @Test func `an event that cannot be followed stops the follower and says why`() async throws {
        let log = try SmallLog()
        let follower = MapFollower()
        let waiting = Task {
            try await follower.snapshot(minSequence: 1000, timeout: .seconds(30))
        }

        follower.ingest(Array(log.subscribed.dropFirst()), upTo: log.head)

        await #expect(throws: Failure.self) { try await waiting.value }
        #expect(follower.fault?.code == .corrupt)
        #expect(follower.current.sequence == 2)
        // The earlier maps are not returned as the present ones.
        #expect(follower.isStale)
        await #expect(throws: Failure.self) { try await follower.snapshot() }
    }

    @Test func `an event of a newer build stops the follower and says so`() async throws {
        let log = try SmallLog()
        let follower = MapFollower()
        follower.ingest(log.subscribed, upTo: log.head)
        let stream = try #require(log.subscribed.first { $0.stream.category == "map" }).stream
        let last = try #require(log.subscribed.last { $0.stream == stream })
        var newer = last.event
        (newer.id, newer.schema) = (UUID(), 9_999)

        follower.ingest(
            [
                RecordedEvent(
                    globalPosition: log.head + 1, stream: stream,
                    streamPosition: last.streamPosition + 1, recordedAt: last.recordedAt,
                    event: newer)
            ], upTo: log.head + 1)

        #expect(follower.fault?.code == .newerVersion)
        #expect(follower.fault?.message.contains("9999") == true)
        await #expect {
            _ = try await follower.snapshot()
        } throws: {
            ($0 as? Failure)?.code == .newerVersion
        }
    }

    @Test func `the maps of any past moment are those folded up to it`() async throws {
        let log = try SmallLog()
        let follower = MapFollower()
        follower.ingest(log.subscribed, upTo: log.head)

        for position in (0...log.head).reversed() {
            let past = try await follower.history(at: position, reading: log.reader())
            #expect(past.sequence == position)
            let expected = try log.state(at: position)
            #expect(past.mapNames == expected.mapNames)
            for name in past.mapNames {
                #expect(past.map(named: name) == expected.map(named: name))
            }
            #expect(past.locator(named: "World") == expected.locator(named: "World"))
        }
    }

    @Test func `a past moment asked for again is not read again`() async throws {
        let log = try SmallLog()
        let follower = MapFollower()
        follower.ingest(log.subscribed, upTo: log.head)
        let first = try await follower.history(at: 20, reading: log.reader())

        #expect(try await follower.history(at: 20, reading: log.failingReader()) == first)
        await #expect(throws: Failure.self) {
            try await follower.history(at: 19, reading: log.failingReader())
        }
    }

    @Test func `one map's past is that of all maps folded up to there`() async throws {
        var log = try SmallLog()
        let gone = try MapName(parsing: "B")
        try log.add(.map(gone), MapDeleted())
        try log.add(.map(try MapName(parsing: "A")), LayerRemoved(layer: 2))
        try log.add(.map(gone), MapCreated(name: gone))
        try log.add(.map(gone), MapDeleted())
        let follower = MapFollower()
        follower.ingest(log.subscribed, upTo: log.head)
        let names = try ["A", "B", "C"].map { try MapName(parsing: $0) }
        for position in (0...log.head).shuffled() {
            for name in names {
                let past = try await follower.map(
                    named: name, at: position, reading: log.reader())
                #expect(past == (try log.state(at: position).map(named: name)))
            }
        }
    }

    @Test func `sequence numbers between two changes of a map share its state`()
        async throws
    {
        let log = try SmallLog()
        let follower = MapFollower()
        follower.ingest(log.subscribed, upTo: log.head)
        let name = try MapName(parsing: "A")
        let changes = log.records.filter { $0.stream == .map(name) }.map(\.globalPosition)
        let (first, next) = (changes[4], changes[5])
        #expect(next - first > 2)
        let known = try await follower.map(named: name, at: first, reading: log.reader())

        for position in first..<next {
            let past = try await follower.map(
                named: name, at: position, reading: log.failingReader())
            #expect(past?.sequence == position && past?.layers == known?.layers)
            guard case .map(let remembered, _) = follower.remembered(name, at: position) else {
                Issue.record("not at hand")
                return
            }
            #expect(remembered == past)
        }
        // From here on the map is as it is now, and nothing has to be read either.
        let last = try #require(changes.last)
        let present = try await follower.map(named: name, at: last, reading: log.failingReader())
        #expect(present?.layers == follower.current.map(named: name)?.layers)
        await #expect(throws: Failure.self) {
            try await follower.map(named: name, at: next, reading: log.failingReader())
        }
        // Another map's states are its own.
        let other = try MapName(parsing: "B")
        await #expect(throws: Failure.self) {
            try await follower.map(named: other, at: first, reading: log.failingReader())
        }
    }

    @Test func `the number of past states that are kept is bounded`() async throws {
        let name = try MapName(parsing: "A")
        var log = try SmallLog()
        for layer in 100..<(140 + MapFollower.pastLimit) {
            try log.add(
                .map(name),
                LayerAdded(layer: layer, name: "M\(layer)", kind: .group, parent: nil, index: 0))
        }
        let follower = MapFollower()
        follower.ingest(log.subscribed, upTo: log.head)
        let changes = log.records.filter { $0.stream == .map(name) }.map(\.globalPosition)
        for position in changes {
            _ = try await follower.map(named: name, at: position, reading: log.reader())
        }

        let kept = changes.filter { position in
            if case .map = follower.remembered(name, at: position) { true } else { false }
        }

        #expect(kept.count <= MapFollower.pastLimit)
        #expect(kept == Array(changes.suffix(kept.count)))
    }

    @Test func `a time means the last change recorded until then`() async throws {
        let log = try SmallLog()
        let follower = MapFollower()
        follower.ingest(log.subscribed, upTo: log.head)
        let maps = log.records.filter { $0.stream.category == "map" }
        for moment in stride(from: Int64(-1), to: log.head * 2 + 3, by: 1) {
            let time = Timestamp(microseconds: moment * 1_000_000)

            // Up to the first change that is later; what follows it is no earlier.
            let expected = maps.prefix { $0.recordedAt <= time }.last?.globalPosition ?? 0

            #expect(follower.knownPosition(of: .time(time)) == expected, "\(moment) s")
        }
    }

    @Test func `a moment that lies ahead, or before the first, is refused`() async throws {
        let log = try SmallLog()
        let follower = MapFollower()
        follower.ingest(log.subscribed, upTo: log.head)
        for position in [log.head + 1, -1] {
            do throws(Failure) {
                _ = try await follower.history(at: position, reading: log.reader())
                Issue.record("answered \(position)")
            } catch {
                #expect(error.code == .invalidParameter)
            }
        }
    }
}
