// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnCore
import Foundation
import SQLite
import TestKit
import Testing

@testable import EventLog

/// Bytes taken out of a log for good.
@Suite struct ErasureTests {
    private static let secret = "Secretperson"

    /// A log of batches of random sizes; about a third of the events hold the secret.
    private static func log(_ directory: String, _ random: inout SeededGenerator) throws -> String {
        let path = directory + "/events.sqlite"
        let store = try SQLiteEventStore(path: path) { Timestamp(microseconds: 1) }
        for _ in 0..<40 {
            let appends = (0..<Int.random(in: 1...3, using: &random)).map { number in
                let events = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    let holds = Int.random(in: 0..<3, using: &random) == 0
                    return NewEvent(
                        id: .timeOrdered(), type: "map.t", schema: 1,
                        data: Data(#"{"name":"\#(holds ? Self.secret : "other")"}"#.utf8),
                        metadata: EventMetadata(actor: holds ? Self.secret : "root"))
                }
                return StreamAppend(
                    stream: StreamName(rawValue: "map-\(number)") ?? .siteBlobs, expected: .any,
                    events: events)
            }
            try store.append(appends)
        }
        return path
    }

    private static func replacement(_ record: RecordedEvent) -> NewEvent? {
        guard String(decoding: record.event.data, as: UTF8.self).contains(secret) else {
            return nil
        }
        return NewEvent(
            id: record.event.id, type: record.event.type, schema: 2,
            data: Data(#"{"name":null}"#.utf8), metadata: EventMetadata(actor: "erased"))
    }

    private static func holdsSecret(_ folder: String) throws -> [String] {
        let paths = try #require(FileManager.default.enumerator(atPath: folder))
        return paths.compactMap { $0 as? String }.filter { name in
            let data = try? Data(contentsOf: URL(filePath: folder + "/" + name))
            return data?.range(of: Data(secret.utf8)) != nil
        }
    }

    @Test(arguments: Seeds.chosen(20), [false, true])
    func `erased bytes are in no file, and everything else is as it was and verifies`(
        seed: UInt64, isArchived: Bool
    ) throws {
        let directory = try GuardedDirectory(path: "/tmp/cairn-e-\(UUID().uuidString.prefix(8))")
        defer { directory.end() }
        var random = SeededGenerator(seed: seed)
        let path = try Self.log(directory.path, &random)
        if isArchived {
            let head = try SQLiteEventReader(path: path).head()
            let archive = try ArchiveWriter(log: path).write(through: head / 2)
            let store = try SQLiteEventStore(path: path) { Timestamp(microseconds: 1) }
            try store.adopt(archive)
            while try store.evict(limit: 100) {}
        }
        let before = try ArchivedLogReader(path: path)
        let chain = try before.verify(after: 0, limit: .max)
        #expect(chain.fault == nil)
        let events = try before.read(ReadRange(after: 0, limit: 100_000, byteLimit: .max)).events
        let held = events.filter { Self.replacement($0) != nil }
        try #require(!held.isEmpty && held.count < events.count)

        let outcome = try LogErasure.erase(in: path) { record throws(Failure) in
            Self.replacement(record)
        }

        #expect(outcome.eventCount == held.count)
        #expect(try Self.holdsSecret(directory.path) == [])
        let log = try ArchivedLogReader(path: path)
        let page = try log.verify(after: 0, limit: .max)
        #expect(page.fault == nil && page.chainHash == chain.chainHash)
        let after = try log.read(ReadRange(after: 0, limit: 100_000, byteLimit: .max)).events
        #expect(after.count == events.count)
        for (old, new) in zip(events, after) {
            var expected = old
            if let event = Self.replacement(old) { expected.event = event }
            #expect(new == expected)
        }
        // Done again, there is nothing left to do.
        #expect(try LogErasure.erase(in: path) { Self.replacement($0) }.eventCount == 0)
        // The log goes on.
        let store = try SQLiteEventStore(path: path) { Timestamp(microseconds: 2) }
        let event = NewEvent(
            id: .timeOrdered(), type: "map.t", schema: 1, data: Data("{}".utf8),
            metadata: EventMetadata())
        try store.append([StreamAppend(stream: .siteBlobs, expected: .any, events: [event])])
        #expect(try store.verify(after: 0, limit: .max).fault == nil)
        // So does its archiving.
        let archive = try ArchiveWriter(log: path).write(through: try store.head() - 1)
        try store.adopt(archive)
        while try store.evict(limit: 100) {}
        #expect(try ArchivedLogReader(path: path).verify(after: 0, limit: .max).fault == nil)
    }

    @Test func `a change of an erased batch is found like any other`() throws {
        let directory = try GuardedDirectory(path: "/tmp/cairn-e-\(UUID().uuidString.prefix(8))")
        defer { directory.end() }
        var random = SeededGenerator(seed: 7)
        let path = try Self.log(directory.path, &random)
        let outcome = try LogErasure.erase(in: path) { Self.replacement($0) }
        let last = try #require(outcome.batches.keys.min())
        let connection = try Connection(path: path, mode: .write)
        try connection.execute("UPDATE event SET schema = 9 WHERE position = \(last)")
        #expect(try SQLiteEventReader(path: path).verify(after: 0, limit: .max).fault != nil)
    }
}
