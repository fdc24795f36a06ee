// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Codecs
import EventLog
import Foundation
import Platform
import TestKit
import Testing

/// A log as one would write it without thinking of speed: the oracle.
private struct NaiveLog {
    var records: [RecordedEvent] = []

    func last(_ stream: StreamName) -> Int64? {
        records.last { $0.stream == stream }?.streamPosition
    }

    mutating func append(_ appends: [StreamAppend], at time: Timestamp) -> Result<
        AppendResult, Failure.Code
    > {
        let flat = appends.flatMap { append in append.events.map { (append.stream, $0) } }
        let known = flat.filter { pair in records.contains { $0.event.id == pair.1.id } }
        if !known.isEmpty {
            for start in records.indices where records.count - start >= flat.count {
                let there = records[start..<start + flat.count]
                guard zip(there, flat).allSatisfy({ $0.stream == $1.0 && $0.event == $1.1 }) else {
                    continue
                }
                return .success(
                    AppendResult(
                        firstPosition: Int64(start + 1), lastPosition: Int64(start + flat.count),
                        isRepeat: true, recordedAt: records[start].recordedAt))
            }
            return .failure(.idReused)
        }
        let before = records
        for append in appends {
            let last = last(append.stream)
            let isMet =
                switch append.expected {
                case .any: true
                case .noStream: last == nil
                case .streamExists: last != nil
                case .exact(let position): last == position
                }
            guard isMet else {
                records = before
                return .failure(.conflict)
            }
            for event in append.events {
                records.append(
                    RecordedEvent(
                        globalPosition: Int64(records.count + 1), stream: append.stream,
                        streamPosition: (self.last(append.stream) ?? -1) + 1, recordedAt: time,
                        event: event))
            }
        }
        return .success(
            AppendResult(
                firstPosition: Int64(before.count + 1), lastPosition: Int64(records.count),
                isRepeat: false,
                recordedAt: time))
    }

    func page(_ range: ReadRange) -> [RecordedEvent] {
        Array(
            records.filter { record in
                record.globalPosition > range.after && range.filter.admits(record.stream)
            }.prefix(range.limit))
    }
}

extension Failure.Code: Error {}

@Suite struct ModelTests {
    private static let streams = [
        "map-a", "map-b", "job-1", "job-2", "job-3", "locator-World",
    ].compactMap { StreamName(rawValue: $0) }

    @Test(.slow, arguments: StoreUnderTest.Kind.allCases, (0..<8).map { UInt64($0) })
    func `any history gives the same log as the naive store`(
        kind: StoreUnderTest.Kind, seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let log = try StoreUnderTest(kind)
        var model = NaiveLog()
        var earlier: [[StreamAppend]] = []
        for step in 0..<60 {
            log.clock.now += Int64.random(in: -50...100, using: &random)
            let time = max(
                log.clock.read(), model.records.last?.recordedAt ?? log.clock.read())
            let batch = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                Self.append(model, earlier, &random)
            }
            earlier += batch

            let result = log.store.append(batch: batch)

            let expected = batch.map { model.append($0, at: time) }
            let actual = result.results.map { $0.mapError(\.code) }
            #expect(actual == expected, "seed \(seed), step \(step)")
            if step % 7 == 0 { try log.reopen() }
            if step % 11 == 0 { try (log.store as? SQLiteEventStore)?.checkpoint() }
            if Int.random(in: 0..<5, using: &random) == 0 {
                try (log.store as? SQLiteEventStore)?.writeIndexes()
            }
            try Self.compare(log.store, model, &random)
            if log.store is SQLiteEventStore {
                #expect(try log.scratch.indexFault() == nil, "seed \(seed), step \(step)")
            }
        }
        #expect(try log.store.everything() == model.records, "seed \(seed)")
        #expect(try log.store.firstFault() == nil, "seed \(seed)")
        #expect(model.records.count > 100, "seed \(seed) makes too short a log to mean anything")
    }

    private static func compare(
        _ store: any EventStore, _ model: NaiveLog, _ random: inout SeededGenerator
    ) throws {
        let count = Int64(model.records.count)
        let stream = streams.randomElement(using: &random) ?? streams[0]
        let filters: [ReadRange.Filter] = [
            .all, .stream(stream), .category(stream.category), .category("none"),
        ]
        for filter in filters {
            let range = ReadRange(
                after: Int64.random(in: 0...count + 1, using: &random),
                limit: Int.random(in: 1...20, using: &random), filter: filter)
            let slice = try store.read(range)
            #expect(slice.events == model.page(range), "seed \(random.seed), \(range)")
            let all = ReadRange(after: range.after, limit: .max, filter: filter)
            #expect(slice.isLast == (model.page(all).count <= range.limit), "seed \(random.seed)")
        }
        let through = Int64.random(in: 0...count + 1, using: &random)
        #expect(try store.head() == count)
        #expect(try store.lastPosition(of: stream) == model.last(stream))
        #expect(
            try store.lastGlobalPosition(inCategory: stream.category, through: through)
                == model.records.last {
                    $0.stream.category == stream.category && $0.globalPosition <= through
                }?.globalPosition ?? 0)
        #expect(
            try store.categoryHeads()
                == model.records.reduce(into: [:]) { $0[$1.stream.category] = $1.globalPosition })
    }

    /// Something new mostly, with every way to be wrong or repeated mixed in.
    private static func append(
        _ model: NaiveLog, _ earlier: [[StreamAppend]], _ random: inout SeededGenerator
    ) -> [StreamAppend] {
        if Int.random(in: 0..<8, using: &random) == 0,
            var again = earlier.randomElement(using: &random)
        {
            if Bool.random(using: &random) { again[0].expected = .any }
            if Int.random(in: 0..<4, using: &random) == 0 { again[0].events.removeLast() }
            if !again[0].events.isEmpty { return again }
        }
        var used: Set<UUID> = []
        return (0..<Int.random(in: 1...3, using: &random)).map { _ in
            let stream = streams.randomElement(using: &random) ?? streams[0]
            let last = model.last(stream)
            let expected: ExpectedVersion =
                switch Int.random(in: 0..<8, using: &random) {
                case 0: .noStream
                case 1: .streamExists
                case 2...4: last.map { .exact($0) } ?? .noStream
                case 5: .exact(Int64.random(in: 0...5, using: &random))
                default: .any
                }
            let events = (0..<Int.random(in: 1...4, using: &random)).map { _ -> NewEvent in
                if Int.random(in: 0..<40, using: &random) == 0,
                    let old = model.records.randomElement(using: &random)?.event,
                    used.insert(old.id).inserted
                {
                    return Bool.random(using: &random) ? old : event("other", id: old.id)
                }
                // Most start with their time; some have none, as those derived from a name.
                let id =
                    Int.random(in: 0..<4, using: &random) == 0
                    ? UUID(
                        uuid: UUIDBits.version8(
                            namespace: [7], name: Array("\(random.next())".utf8)))
                    : UUID(
                        uuid: UUIDBits.version7(
                            nanoseconds: model.records.last?.recordedAt.microseconds ?? 1,
                            random: random.next()))
                used.insert(id)
                return event("\(random.next() % 1000)", id: id)
            }
            return StreamAppend(stream: stream, expected: expected, events: events)
        }
    }
}
