// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EventLog
import Foundation
import SQLite
import TestKit
import Testing

/// A directory that goes away with the test.
final class Scratch {
    let path: String
    init() throws {
        path = NSTemporaryDirectory() + "log-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(atPath: path) }
    var file: String { path + "/events.sqlite" }

    /// The difference between the indexes of the log file and its events, up to where the indexes
    /// end; nil for none.
    func indexFault() throws -> String? {
        let file = try Connection(path: file, mode: .read)
        func values(_ sql: String, _ see: (borrowing Statement) -> Void) throws {
            var rows = try file.prepare(sql)
            while try rows.step() { see(rows) }
        }
        let events = "FROM event WHERE position <= (SELECT through FROM indexed)"
        for kind in ["stream", "category"] {
            var (held, named): ([[Int64]], [[Int64]]) = ([], [])
            try values("SELECT \(kind), position \(events) ORDER BY \(kind), position") {
                held.append([$0.integer(0), $0.integer(1)])
            }
            try values("SELECT \(kind), first, count FROM \(kind)_run ORDER BY \(kind), first") {
                row in
                for offset in 0..<row.integer(2) {
                    named.append([row.integer(0), row.integer(1) + offset])
                }
            }
            guard held == named else { return "\(kind): \(held) are there, \(named) are named" }
        }
        let strays = try file.integer(
            "SELECT (SELECT count(*) \(events)) - count(*) FROM event_id JOIN event USING (id, position)"
        )
        return strays == 0 ? nil : "\(strays ?? -1) ids are not where they belong"
    }
}

/// A clock that the test turns.
final class TestClock {
    var now: Int64 = 1_000
    func read() -> Timestamp { Timestamp(microseconds: now) }
}

/// A store under test, which can be closed and opened again if it is in a file.
final class StoreUnderTest {
    enum Kind: String, CaseIterable, Sendable {
        case memory, sqlite
        /// The log in a file, of which everything that may be is archived whenever it is closed, in
        /// part only just before.
        case archived
    }

    let scratch: Scratch
    let clock = TestClock()
    let kind: Kind
    private(set) var store: any EventStore

    init(_ kind: Kind) throws {
        self.kind = kind
        scratch = try Scratch()
        let clock = clock
        switch kind {
        case .memory: store = InMemoryEventStore { clock.read() }
        case .sqlite, .archived: store = try SQLiteEventStore(path: scratch.file) { clock.read() }
        }
    }

    /// Archives all but the newest commit; its events may stay in the file for a while.
    func archive() throws {
        guard let store = store as? SQLiteEventStore, let head = try? store.head() else { return }
        let writer = ArchiveWriter(log: scratch.file)
        // The newest commit stays; where there is no other, there is nothing to archive.
        guard let archive = try? writer.write(through: head) else { return }
        try store.adopt(archive)
        _ = try store.evict(limit: Int(head % 5))
    }

    /// Ends the process, so to speak.
    func reopen() throws {
        guard kind != .memory else { return }
        let clock = clock
        if kind == .archived { try archive() }
        store = InMemoryEventStore { Timestamp(microseconds: 0) }
        store = try SQLiteEventStore(path: scratch.file) { clock.read() }
    }
}

func event(_ text: String, id: UUID = UUID(), type: String = "test.happened") -> NewEvent {
    NewEvent(
        id: id, type: type, schema: 1, data: Data(text.utf8),
        metadata: EventMetadata(correlation: id, actor: "tester", producer: "tests/1"))
}

func name(_ text: String) throws -> StreamName { try #require(StreamName(rawValue: text)) }

func code(_ body: () throws -> Void) -> Failure.Code? { failure(body)?.code }

func failure(_ body: () throws -> Void) -> Failure? {
    do {
        try body()
        return nil
    } catch {
        return error as? Failure
    }
}

extension EventStore {
    /// Appends of writers without a claim.
    func append(batch: [[StreamAppend]]) -> CommittedBatch {
        append(batch: batch.map { AppendRequest(appends: $0) })
    }
}

extension EventReader {
    func everything() throws -> [RecordedEvent] {
        try read(ReadRange(after: 0, limit: .max, byteLimit: .max)).events
    }

    /// Verifies page by page; the first fault, or nil.
    func firstFault(limit: Int = 10) throws -> LogFault? {
        var after: Int64 = 0
        while true {
            let page = try verify(after: after, limit: limit)
            if let fault = page.fault { return fault }
            if page.checkedThrough >= page.head { return nil }
            #expect(page.checkedThrough > after)
            after = page.checkedThrough
        }
    }
}
