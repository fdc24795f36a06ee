// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Codecs
import EventLog
import Foundation
import Platform
import SQLite
import TestKit
import Testing

/// The first part of a log in files of its own.
@Suite struct ArchiveTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private func open() throws -> SQLiteEventStore {
        try SQLiteEventStore(path: scratch.file) { Timestamp(microseconds: 5) }
    }

    /// Commits of 1, 2, 3 … events until there are 45; returns them and the chain's end.
    @discardableResult
    private func fill(_ store: SQLiteEventStore) throws -> (events: [RecordedEvent], hash: String) {
        for size in 1...9 {
            try store.append([
                StreamAppend(
                    stream: name("map-\(size % 3)"), expected: .any,
                    events: (0..<size).map { event("event \(size).\($0)") })
            ])
        }
        return (
            try store.everything(), try store.verify(after: 0, limit: 1_000).chainHash
        )
    }

    private func folder() -> String { scratch.path + "/archives" }
    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder()).sorted()
    }

    private func archive(_ store: SQLiteEventStore, through position: Int64) throws -> LogArchive {
        let made = try ArchiveWriter(log: scratch.file).write(through: position)
        try store.adopt(made)
        while try store.evict(limit: 4) {}
        return made
    }

    @Test func `archived events are read, found by id and verified as before, over two archives`()
        throws
    {
        let store = try open()
        let before = try fill(store)

        let first = try archive(store, through: 12)
        let second = try archive(store, through: 30)

        // Whole commits only: 10 and 28 are the ends of commits.
        #expect(first.first == 1 && first.last == 10)
        #expect(second.first == 11 && second.last == 28)
        #expect(try files() == [first.name, second.name])
        for archive in [first, second] {
            let bytes = try Data(contentsOf: URL(filePath: folder() + "/" + archive.name))
            #expect(Int64(bytes.count) == archive.byteCount)
            #expect(SHA256.digest(Array(bytes)).hexadecimal == archive.fileHash)
        }
        let left = try Connection(path: scratch.file, mode: .read)
        #expect(try left.integer("SELECT min(position) FROM event") == 29)
        #expect(try store.head() == 45)
        #expect(try store.everything() == before.events)
        for limit in [1, 7, 1_000] { #expect(try store.firstFault(limit: limit) == nil) }
        let end = try store.verify(after: 28, limit: 1_000)
        #expect(end.checkedThrough == 45 && end.chainHash == before.hash)
        for record in before.events {
            let again = try store.append([
                StreamAppend(stream: record.stream, expected: .any, events: [record.event])
            ])
            #expect(again.isRepeat && again.firstPosition == record.globalPosition)
        }
        let stolen = event("other", id: before.events[3].event.id)
        #expect(
            code {
                try store.append([
                    StreamAppend(stream: name("map-0"), expected: .any, events: [stolen])
                ])
            } == .idReused)
    }

    @Test func `an id of a year ago is known for ever, in the file and in an archive`() throws {
        let store = try open()
        let yearAgo: Int64 = 1_700_000_000_000_000_000
        let old = event(
            "old", id: UUID(uuid: UUIDBits.version7(nanoseconds: yearAgo, random: 7)))
        let append = [StreamAppend(stream: try name("map-old"), expected: .noStream, events: [old])]
        let first = try store.append(append)
        try fill(store)
        #expect(try store.append(append).isRepeat)

        _ = try archive(store, through: 40)

        for expected in [ExpectedVersion.noStream, .exact(3), .streamExists, .any] {
            var again = append
            again[0].expected = expected
            #expect(
                try store.append(again)
                    == AppendResult(
                        firstPosition: first.firstPosition, lastPosition: first.lastPosition,
                        isRepeat: true, recordedAt: first.recordedAt))
        }
        // The stream's end is known though nothing of it is left in the file.
        #expect(try store.lastPosition(of: name("map-old")) == 0)
        #expect(
            code {
                try store.append([
                    StreamAppend(stream: name("map-old"), expected: .noStream, events: [event("x")])
                ])
            } == .conflict)
    }

    @Test func `an archive that is not in its place is named, and nothing is read as empty`() throws
    {
        let store = try open()
        let before = try fill(store)
        let archive = try archive(store, through: 20)
        try FileManager.default.removeItem(atPath: folder() + "/" + archive.name)
        let reader = try ArchivedLogReader(path: scratch.file)

        for range in [
            ReadRange(after: 0, limit: 5), ReadRange(after: 14, limit: 100),
            ReadRange(after: 0, limit: 5, filter: .stream(try name("map-1"))),
        ] {
            let refusal = failure { _ = try reader.read(range) }
            #expect(refusal?.code == .archived)
            #expect(refusal?.message.contains(archive.name) == true)
        }
        #expect(failure { _ = try reader.verify(after: 0, limit: 5) }?.code == .archived)
        let repeated = [
            StreamAppend(
                stream: before.events[2].stream, expected: .any, events: [before.events[2].event])
        ]
        #expect(failure { try store.append(repeated) }?.code == .archived)
        // The events after it are continued.
        #expect(
            try reader.read(ReadRange(after: archive.last, limit: 100)).events
                == Array(before.events[Int(archive.last)...]))
        #expect(try reader.verify(after: archive.last, limit: 100).fault == nil)
        #expect(
            code {
                try store.append([
                    StreamAppend(stream: name("map-9"), expected: .any, events: [event("x")])
                ])
            } == nil)
    }

    @Test func `ended at any step of an archive, the log is whole and the archive can be made`()
        throws
    {
        for step in 0..<6 {
            let scratch = try Scratch()
            func open() throws -> SQLiteEventStore {
                try SQLiteEventStore(path: scratch.file) { Timestamp(microseconds: 5) }
            }
            var store: SQLiteEventStore? = try open()
            let before = try fill(try #require(store))
            do {
                let store = try #require(store)
                let writer = ArchiveWriter(log: scratch.file)
                switch step {
                case 0:
                    // While it is copied.
                    #expect(
                        failure {
                            _ = try writer.write(through: 30) { _, _ throws(Failure) in
                                throw Failure(.cancelled, "stopped")
                            }
                        }?.code == .cancelled)
                case 1: _ = try writer.write(through: 30)
                default:
                    try store.adopt(try writer.write(through: 30))
                    for _ in 2..<step { _ = try store.evict(limit: 9) }
                }
            }
            store = nil

            let again = try open()
            #expect(try again.everything() == before.events, "step \(step)")
            #expect(try scratch.indexFault() == nil, "step \(step)")
            #expect(try again.firstFault() == nil, "step \(step)")
            #expect(try again.head() == 45)
            while try again.evict(limit: 9) {}
            if step < 2 {
                try again.adopt(try ArchiveWriter(log: scratch.file).write(through: 30))
                while try again.evict(limit: 9) {}
            }
            #expect(try again.everything() == before.events, "step \(step)")
            #expect(try again.verify(after: 28, limit: 100).chainHash == before.hash)
        }
    }

    @Test func `copies that a killed process left are removed when the log is opened next`()
        throws
    {
        do { try fill(try open()) }
        try FileManager.default.createDirectory(
            atPath: folder(), withIntermediateDirectories: false)
        let id = UUID().uuidString.lowercased()
        let left = [
            scratch.path + "/.staged-\(id)", scratch.path + "/.staged-\(id)-wal",
            scratch.path + "/.staged-\(id)-shm", scratch.path + "/.staged-\(id)-journal",
            folder() + "/.staged-\(id)",
        ]
        let other = scratch.path + "/.staged-plans"
        func put() {
            for path in left + [other] {
                #expect(FileManager.default.createFile(atPath: path, contents: Data("x".utf8)))
            }
        }
        func isLeft(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

        put()
        do {
            let store = try open()
            #expect(!left.contains(where: isLeft) && isLeft(other))
            put()
            // Without the lock an archive in progress is left alone.
            #expect(code { _ = try open() } == .conflict)
            #expect(left.allSatisfy(isLeft))
            #expect(try store.head() == 45)
        }
        let copy = scratch.path + "/copy.sqlite"
        try LogBackup.write(of: scratch.file, to: copy)
        _ = try LogBackup.restore(copy, to: scratch.file)
        #expect(!left.contains(where: isLeft) && isLeft(other))
    }

    @Test func `an archive of another log, or a damaged one, is noticed`() throws {
        let store = try open()
        try fill(store)
        let archive = try archive(store, through: 20)
        let path = folder() + "/" + archive.name
        let good = try Data(contentsOf: URL(filePath: path))
        let other = try Scratch()
        let stranger = try SQLiteEventStore(path: other.file) { Timestamp(microseconds: 6) }
        try fill(stranger)
        let foreign = try ArchiveWriter(log: other.file).write(through: 20)

        try Data(contentsOf: URL(filePath: other.path + "/archives/" + foreign.name))
            .write(to: URL(filePath: path))
        let reader = try ArchivedLogReader(path: scratch.file)
        #expect(try reader.firstFault()?.position == 1)
        let end = try reader.verify(after: archive.last, limit: 10)
        #expect(end.fault?.position == archive.last + 1)
        #expect(end.fault?.message.contains("does not go on from the archive") == true)

        var bad = good
        let text = try #require(bad.range(of: Data("event 4.1".utf8)))
        bad[text.lowerBound] = UInt8(ascii: "E")
        try bad.write(to: URL(filePath: path))
        #expect(try ArchivedLogReader(path: scratch.file).firstFault()?.position == 8)
    }

    @Test(
        .slow,
        arguments: [
            ("DELETE FROM archived_event WHERE position = 3", 3),
            ("UPDATE archived_event SET position = 4 WHERE position = 3", 3),
            ("UPDATE archived_event SET id = x'00' WHERE position = 5", 5),
            ("INSERT INTO archived_event VALUES (randomblob(16), 7)", 49),
            ("UPDATE stream SET archived = archived - 1 WHERE name = 'map-old'", 49),
            ("UPDATE stream SET archived = archived + 1 WHERE name = 'map-old'", 49),
            ("UPDATE stream SET archived = -1 WHERE name = 'map-old'", 49),
            ("DELETE FROM stream WHERE name = 'map-old'", 49),
            // What the one stream lacks another has too much.
            (
                "UPDATE stream SET archived = archived + iif(name = 'map-old', -1, 1) "
                    + "WHERE name IN ('map-old', 'map-older')", 49
            ),
            ("UPDATE category SET archived = 48 WHERE name = 'map'", 49),
            ("UPDATE category SET archived = 50 WHERE name = 'map'", 49),
            ("UPDATE category SET archived = 40 WHERE name = 'job'", 40),
            ("UPDATE category SET archived = -1 WHERE name = 'job'", 1),
        ])
    func `what the file keeps of archived events is compared with them`(
        _ change: String, _ position: Int64
    ) throws {
        let store = try open()
        try fill(store)
        for stream in ["map-older", "map-old"] {
            try store.append([
                StreamAppend(
                    stream: name(stream), expected: .any, events: [event("a"), event("b")])
            ])
        }
        try store.append([
            StreamAppend(stream: name("job-1"), expected: .any, events: [event("c")])
        ])
        _ = try archive(store, through: 12)
        try store.adopt(try ArchiveWriter(log: scratch.file).write(through: 49))
        // Also while what has been archived is being removed.
        _ = try store.evict(limit: 4)
        for limit in [2, 1_000] { #expect(try store.firstFault(limit: limit) == nil) }
        while try store.evict(limit: 4) {}
        for limit in [2, 1_000] { #expect(try store.firstFault(limit: limit) == nil) }

        try Connection(path: scratch.file, mode: .write).execute(change)

        for limit in [2, 1_000] {
            let fault = try #require(
                try ArchivedLogReader(path: scratch.file).firstFault(limit: limit))
            #expect(fault.position == position, "\(fault)")
        }
    }

    @Test func `an archive that is put away or replaced while it is open is noticed`() throws {
        let store = try open()
        try fill(store)
        let archive = try archive(store, through: 20)
        let path = folder() + "/" + archive.name
        let away = scratch.path + "/away"
        let reader = try ArchivedLogReader(path: scratch.file)
        #expect(try reader.firstFault() == nil)

        try FileManager.default.moveItem(atPath: path, toPath: away)
        #expect(failure { _ = try reader.verify(after: 0, limit: 5) }?.code == .archived)
        #expect(failure { _ = try reader.read(ReadRange(after: 0, limit: 5)) }?.code == .archived)

        var bad = try Data(contentsOf: URL(filePath: away))
        let text = try #require(bad.range(of: Data("event 4.1".utf8)))
        bad[text.lowerBound] = UInt8(ascii: "E")
        try bad.write(to: URL(filePath: path))
        #expect(try reader.firstFault()?.position == 8)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: away, toPath: path)
        #expect(try reader.firstFault() == nil)
    }

    @Test func `an archive must have events, and follow on the last one`() throws {
        let store = try open()
        #expect(
            code { _ = try ArchiveWriter(log: scratch.file).write(through: 5) } == .invalidParameter
        )
        try fill(store)
        let first = try ArchiveWriter(log: scratch.file).write(through: 10)
        let beyond = failure { _ = try ArchiveWriter(log: scratch.file).write(through: 46) }
        #expect(beyond?.code == .invalidParameter)
        #expect(beyond?.message.contains("expected 1 to 45, where the log ends") == true)
        let longer = try ArchiveWriter(log: scratch.file).write(through: 45)
        #expect(longer.last == 36)
        try store.adopt(first)
        try store.adopt(first)
        #expect(code { try store.adopt(longer) } == .conflict)
        #expect(
            code { _ = try ArchiveWriter(log: scratch.file).write(through: 10) }
                == .invalidParameter)
    }
}
