// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import Codecs
import EventLog
import Foundation
import LogService
import Logging
import MapState
import Platform
import Site
import Synchronization
import TestKit
import Testing

/// Every kind of snapshot that must not be taken.
@Suite(.serialized, .timeLimit(.minutes(3))) struct StateSnapshotTests {
    private let running: SnapshotSite

    init() throws { running = try SnapshotSite() }

    @Test(.slow) func `the latest snapshot up to a sequence number is found, and few are kept`()
        async throws
    {
        defer { running.end() }
        let snapshots = running.snapshots()
        #expect(try await snapshots.restore() == nil)
        var written: [Int64] = []
        for _ in 0..<(SnapshotLadder.usual.fileCount + 8) {
            try await running.grow(7)
            await snapshots.keep(running.live)
            written.append(running.live.sequence)
        }
        try await running.grow(3)

        let kept = Array(running.store.names().map(\.sequence).reversed())
        #expect(kept.count == SnapshotLadder.usual.fileCount)
        #expect(kept.suffix(3) == written.suffix(3))
        #expect(Set(written).isSuperset(of: kept))
        for last in 0...running.live.sequence {
            let expected = kept.last { $0 <= last }
            let found = try await running.snapshots().restore(through: last)
            #expect(found == expected.flatMap { running.history[$0] }, "up to \(last)")
        }
        #expect(running.takeComplaints() == [])
    }

    @Test func `a snapshot with a changed byte, or cut short, is noticed`() async throws {
        defer { running.end() }
        let snapshots = running.snapshots()
        _ = try await snapshots.restore()
        try await running.grow(5)
        await snapshots.keep(running.live)
        let older = running.live
        try await running.grow(5)
        await snapshots.keep(running.live)
        let path = try running.path(running.live.sequence)
        let good = try Data(contentsOf: URL(filePath: path))
        var random = SeededGenerator(seed: 5)
        var damaged: [Data] = [Data(), Data("\n".utf8)]
        for _ in 0..<60 {
            var flipped = good
            flipped[Int.random(in: 0..<good.count, using: &random)] ^=
                1 << UInt8.random(in: 0..<8, using: &random)
            damaged.append(flipped)
            damaged.append(good.prefix(Int.random(in: 0..<good.count, using: &random)))
        }
        for bytes in damaged {
            try bytes.write(to: URL(filePath: path))
            #expect(try await snapshots.restore() == older)
            #expect(running.takeComplaints().count == 1)
        }
        try good.write(to: URL(filePath: path))
        #expect(try await snapshots.restore() == running.live)
        #expect(running.takeComplaints() == [])
    }

    @Test func `a snapshot that says another thing than the log is not taken`() async throws {
        defer { running.end() }
        let snapshots = running.snapshots()
        _ = try await snapshots.restore()
        try await running.grow(6)
        await snapshots.keep(running.live)
        let name = try #require(running.store.names().first)
        let (label, pieces) = try running.store.read(name)
        /// Writes a snapshot with a right checksum, and restores it.
        func isTaken(_ change: (inout SnapshotStore.Label) -> Void) async throws -> Bool {
            var label = label
            change(&label)
            try FileManager.default.removeItem(atPath: running.store.directory)
            try running.store.write(label, pieces)
            return try await snapshots.restore() != nil
        }

        #expect(try await isTaken { _ in })
        #expect(running.takeComplaints() == [])
        let changes: [(inout SnapshotStore.Label) -> Void] = [
            { $0.form = "maps 999" },
            { $0.state = "jobs" },
            { $0.incarnation = UUID() },
            { $0.chainHash = String(repeating: "0", count: 64) },
            { $0.committedThrough += 1 },
            { $0.sequence -= 1 },
            { $0.sequence += 1_000 },
            { $0.stateHash = ContentID(SHA256.digest("another")) },
        ]
        for (number, change) in changes.enumerated() {
            #expect(try await !isTaken(change), "change \(number)")
            #expect(running.takeComplaints().count == 1, "change \(number)")
        }
        // One whole snapshot under the name of another.
        try FileManager.default.removeItem(atPath: running.store.directory)
        try running.store.write(label, pieces)
        let other = SnapshotStore.Name(incarnation: name.incarnation, sequence: name.sequence - 1)
        try FileManager.default.moveItem(
            atPath: running.store.path(name), toPath: running.store.path(other))
        #expect(try await snapshots.restore() == nil)
        #expect(running.takeComplaints().count == 1)
    }

    @Test func `a log restored from a backup has no snapshots, and then its own`() async throws {
        defer { running.end() }
        let snapshots = running.snapshots()
        _ = try await snapshots.restore()
        try await running.grow(6)
        await snapshots.keep(running.live)
        let backup = running.site.path + "/backup.sqlite"
        _ = try await running.log.backup(to: backup)
        running.stopLog()
        _ = try LogBackup.restore(backup, to: running.site.logFile)
        try running.startLog()

        // A fold of the lost log is not kept.
        await snapshots.keep(running.live)
        #expect(running.takeComplaints().count == 1)
        let after = running.snapshots()
        #expect(try await after.restore() == nil)
        #expect(running.takeComplaints().count == 1)
        await after.keep(running.live)
        #expect(running.store.names().count == 1)
        #expect(try await running.snapshots().restore() == running.live)
        #expect(running.takeComplaints() == [])
    }

    @Test func `a snapshot above the floor needs no archive, one below is held against it`()
        async throws
    {
        defer { running.end() }
        let snapshots = running.snapshots()
        _ = try await snapshots.restore()
        try await running.grow(6)
        let below = running.live
        await snapshots.keep(below)
        try await running.grow(6)
        await snapshots.keep(running.live)
        let kept = running.live
        try await running.grow(2)
        let archive = try await running.log.archive(through: kept.sequence - 2)
        #expect(try await running.snapshots().restore() == kept)
        #expect(try await running.snapshots().restore(through: below.sequence) == below)
        #expect(running.takeComplaints() == [])

        try FileManager.default.removeItem(
            atPath: running.site.logDirectory + "/archives/" + archive.name)
        running.stopLog()
        try running.startLog()
        #expect(try await running.snapshots().restore() == kept)
        #expect(running.takeComplaints() == [])
        #expect(try await running.snapshots().restore(through: below.sequence) == nil)
        #expect(running.takeComplaints().count == 1)
    }

    @Test func `files of other forms, and what a killed writer left, go when one is written`()
        async throws
    {
        defer { running.end() }
        let snapshots = running.snapshots()
        _ = try await snapshots.restore()
        var sequences: [Int64] = []
        for _ in 0..<3 {
            try await running.grow(4)
            await snapshots.keep(running.live)
            sequences.append(running.live.sequence)
        }
        let name = try #require(running.store.names().first { $0.sequence == sequences[0] })
        let (read, pieces) = try running.store.read(name)
        var label = read
        label.form = "of an older build"
        try SnapshotStore(directory: running.site.path + "/other").write(label, pieces)
        let other = running.site.path + "/other/"
        let file = try #require(try FileManager.default.contentsOfDirectory(atPath: other).first)
        try FileManager.default.removeItem(atPath: running.store.path(name))
        try FileManager.default.moveItem(atPath: other + file, toPath: running.store.path(name))
        try Data("x".utf8).write(to: URL(filePath: running.store.directory + "/.staged-1"))
        try await running.grow(4)
        await snapshots.keep(running.live)

        #expect(
            running.store.names().map(\.sequence)
                == [running.live.sequence, sequences[2], sequences[1]])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: running.store.directory).count
                == 3)
        #expect(running.takeComplaints() == [])
    }

    @Test func `a snapshot that cannot be written is reported, without another effect`()
        async throws
    {
        defer { running.end() }
        let snapshots = running.snapshots()
        _ = try await snapshots.restore()
        try await running.grow(4)
        // A file where the folder should be.
        try Data().write(to: URL(filePath: running.site.path + "/snapshots"))
        await snapshots.keep(running.live)
        #expect(running.takeComplaints().count == 1)
        #expect(try await snapshots.restore() == nil)
        try FileManager.default.removeItem(atPath: running.site.path + "/snapshots")
        await snapshots.keep(running.live)
        #expect(running.takeComplaints() == [])
        #expect(try await snapshots.restore() == running.live)
    }
}
