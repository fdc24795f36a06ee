// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EventLog
import Foundation
import TestKit
import Testing

/// Copies of a log, made while it is written, and put in its place again.
@Suite struct BackupTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    private var copy: String { scratch.path + "/backup.sqlite" }

    private func open() throws -> SQLiteEventStore {
        try SQLiteEventStore(path: scratch.file) { Timestamp(microseconds: 5) }
    }

    private func append(_ store: SQLiteEventStore, _ count: Int) throws {
        for number in 0..<count {
            try store.append([
                StreamAppend(
                    stream: name("job-\(number % 7)"), expected: .any,
                    events: [event(String(repeating: "\(number) ", count: 400))])
            ])
        }
    }

    @Test(.slow) func `a backup made while the log grows is the log as it was when it began`()
        throws
    {
        let store = try open()
        try append(store, 3_000)
        let before = try store.everything()
        var calls = 0

        let head = try LogBackup.write(of: scratch.file, to: copy) { done, total throws(Failure) in
            calls += 1
            #expect(done <= total && total > 0)
            do { try append(store, 3) } catch { throw Failure(.internal, "\(error)") }
            try store.checkpoint()
        }

        #expect(calls > 2 && head == 3_000)
        #expect(try store.head() == 3_000 + Int64(3 * calls))
        let backup = try SQLiteEventReader(path: copy)
        #expect(try backup.everything() == before)
        #expect(try backup.firstFault(limit: 500) == nil)
        #expect(
            failure { try LogBackup.write(of: scratch.file, to: copy) }?.code == .conflict)
    }

    @Test func `a backup that is given up leaves nothing behind`() throws {
        let store = try open()
        try append(store, 10)
        let refusal = failure {
            try LogBackup.write(of: scratch.file, to: copy) { _, _ throws(Failure) in
                throw Failure(.draining, "stopping")
            }
        }
        #expect(refusal?.code == .draining)
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path)
        #expect(names.allSatisfy { $0.hasPrefix("events.sqlite") })
        #expect(try store.head() == 10)
    }

    @Test func `a restored log is the backup, another incarnation, and fences earlier writers`()
        throws
    {
        let (before, incarnation, claim) = try backedUp()
        let outcome = try LogBackup.restore(copy, to: scratch.file)

        #expect(outcome.head == 40 && outcome.incarnation == 2 && outcome.missingArchives == [])
        let aside = try SQLiteEventReader(path: try #require(outcome.replaced) + "/events.sqlite")
        #expect(try aside.head() == 50)
        let store = try open()
        #expect(try store.everything() == before)
        #expect(try store.firstFault() == nil)
        #expect(store.incarnation != incarnation)
        let lineage = try SQLiteEventReader(path: scratch.file).lineage()
        #expect(lineage.holds(40, of: incarnation) && !lineage.holds(41, of: incarnation))
        #expect(lineage.holds(50, of: store.incarnation) && !lineage.holds(1, of: UUID()))
        let zombie = [StreamAppend(stream: try name("map-a"), expected: .any, events: [event("z")])]
        #expect(code { try store.append(zombie, epochs: ["map": claim.epoch]) } == .fenced)
        let next = try store.claim(
            ClaimRequest(category: "map", instance: UUID(), holder: "tests/1"))
        try store.append(zombie, epochs: ["map": next.epoch])
    }

    /// A log of 50 events, the first 40 of them in a backup, and what it was then.
    private func backedUp() throws -> ([RecordedEvent], UUID, WriterClaim) {
        let store = try open()
        try append(store, 40)
        let claim = try store.claim(
            ClaimRequest(category: "map", instance: UUID(), holder: "tests/1"))
        let before = try store.everything()
        try LogBackup.write(of: scratch.file, to: copy)
        try append(store, 10)
        #expect(failure { _ = try LogBackup.restore(copy, to: scratch.file) }?.code == .conflict)
        return (before, store.incarnation, claim)
    }

    @Test func `a damaged backup is refused, and the log stays as it is`() throws {
        do {
            let store = try open()
            try append(store, 60)
            try LogBackup.write(of: scratch.file, to: copy)
            try append(store, 5)
        }
        var bad = try Data(contentsOf: URL(filePath: copy))
        let place = try #require(bad.range(of: Data("40 40 40".utf8)))
        bad[place.lowerBound] = UInt8(ascii: "5")
        try bad.write(to: URL(filePath: copy))

        let refusal = failure { _ = try LogBackup.restore(copy, to: scratch.file) }

        #expect(refusal?.code == .corrupt)
        #expect(refusal?.message.contains("sequence 41") == true)
        #expect(try open().head() == 65)
        #expect(
            failure { _ = try LogBackup.restore(scratch.path + "/none", to: scratch.file) }?.code
                == .unreadable)
    }

    @Test func `a log of which a part is archived is backed up and restored with its archives`()
        throws
    {
        let before: [RecordedEvent]
        let name: String
        do {
            let store = try open()
            try append(store, 50)
            before = try store.everything()
            let archive = try ArchiveWriter(log: scratch.file).write(through: 30)
            name = archive.name
            try store.adopt(archive)
            while try store.evict(limit: 100) {}
            try LogBackup.write(of: scratch.file, to: copy)
        }
        let away = scratch.path + "/" + name
        try FileManager.default.moveItem(atPath: scratch.path + "/archives/" + name, toPath: away)

        let outcome = try LogBackup.restore(copy, to: scratch.file)
        #expect(outcome.missingArchives == [name])
        try FileManager.default.moveItem(atPath: away, toPath: scratch.path + "/archives/" + name)
        let store = try open()
        #expect(try store.everything() == before)
        #expect(try store.firstFault() == nil)
    }
}
