// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Codecs
internal import FoundationEssentials
internal import Platform
internal import SQLite

/// Takes bytes out of stored events for good, while order and integrity stay provable.
///
/// A batch with an erased record keeps its value of the hash chain, so that every later batch still
/// follows from it, and gets the digest of its records as they are now beside it. Positions, ids,
/// times, streams and types stay. The caller records which batches changed, as an event behind
/// them, whose own place in the chain then proves the digests.
public enum LogErasure {
    /// The outcome of an erasure.
    public struct Outcome: Hashable, Sendable {
        /// Number of events whose bytes were replaced.
        public var eventCount = 0
        /// The last position of each changed batch, with the digest of its records now, 64
        /// hexadecimal digits.
        public var batches: [Int64: String] = [:]
    }

    /// Events read between two transactions.
    private static let step = 5_000

    /// Erases in a log, archives included, that no process may have open.
    ///
    /// Interrupted, it has replaced some of the bytes; done again, it replaces the rest. Throws
    /// `Failure`: `conflict` while the log is in use, `corrupt`, `archived` for a missing archive,
    /// `noSpace`, `unreadable`, and errors of `replace`.
    ///
    /// - Parameters:
    ///   - path: The log's file.
    ///   - replace: Called with every event in order: the event in its place, with the same id and
    ///     type; nil leaves it as it is.
    public static func erase(
        in path: String,
        _ replace: (RecordedEvent) throws(Failure) -> NewEvent?
    ) throws(Failure) -> Outcome {
        let lock = try SQLiteEventStore.lock(path)
        defer { extendLifetime(lock) }
        do {
            // A file of an older version is migrated first.
            try SQLiteSchema.prepare(try Connection(path: path, mode: .write))
        } catch {
            throw failure(error, path)
        }
        var outcome = Outcome()
        let archives = try SQLiteEventReader(path: path).archives()
        for archive in archives {
            try erase(archive, ofLog: path, &outcome, replace)
        }
        try eraseFile(path, &outcome, replace)
        return outcome
    }

    /// Replaces an archive by a copy without the bytes; the name stays, as the chain's value does.
    private static func erase(
        _ archive: LogArchive, ofLog path: String, _ outcome: inout Outcome,
        _ replace: (RecordedEvent) throws(Failure) -> NewEvent?
    ) throws(Failure) {
        let file = LogArchive.folder(ofLog: path) + "/" + archive.name
        guard FileSystem.kind(of: file) == .file else {
            throw Failure(
                Failure.Code(rawValue: "archived"),
                "the archive '\(file)' is missing: what it holds cannot be erased")
        }
        let staged = StagedCopy.path(in: LogArchive.folder(ofLog: path))
        defer { StagedCopy.remove(staged) }
        let before = outcome.eventCount
        do {
            var copy = try StagedFile(inDirectory: LogArchive.folder(ofLog: path))
            try copy.write(contentsOfFile: file)
            try copy.publish(as: staged)
            try eraseFile(staged, &outcome, replace)
            guard outcome.eventCount > before else { return }
            let (digest, byteCount) = try ArchiveWriter.digest(of: staged)
            let log = try Connection(path: path, mode: .write)
            var update = try log.prepare(
                "UPDATE archive SET byte_count = ?2, file_hash = ?3 WHERE last = ?1")
            try update.bind(1, archive.last)
            try update.bind(2, byteCount)
            try update.bind(3, digest.bytes)
            try update.run()
            try StagedFile.publish(staged, as: file)
        } catch {
            throw failure(error, file)
        }
    }

    private static func eraseFile(
        _ path: String, _ outcome: inout Outcome,
        _ replace: (RecordedEvent) throws(Failure) -> NewEvent?
    ) throws(Failure) {
        do {
            let connection = try Connection(path: path, mode: .write)
            // The bytes are overwritten, not only unlinked, in the file and its free pages.
            try connection.execute("PRAGMA secure_delete = ON")
            let reader = try SQLiteEventReader(path: path)
            let head = try reader.head()
            var position = try reader.floor()
            while position < head {
                let page = try reader.read(ReadRange(after: position, limit: step))
                guard let last = page.events.last else { break }
                var replacements: [Int64: RecordedEvent] = [:]
                for record in page.events {
                    guard let replacement = try replace(record) else { continue }
                    var event = record
                    event.event.data = replacement.data
                    event.event.schema = replacement.schema
                    event.event.metadata = replacement.metadata
                    if event != record { replacements[record.globalPosition] = event }
                }
                if !replacements.isEmpty {
                    try write(replacements, connection, reader, &outcome)
                }
                position = last.globalPosition
            }
            // Events that left the file for an archive left their bytes in free pages, and the
            // write-ahead log has older ones.
            if outcome.eventCount > 0 { try connection.execute("VACUUM") }
            _ = try connection.checkpoint(truncating: true)
        } catch {
            throw failure(error, path)
        }
    }

    /// Writes events in the place of others and the digests of their batches, in one transaction.
    private static func write(
        _ replacements: [Int64: RecordedEvent], _ connection: Connection,
        _ reader: SQLiteEventReader, _ outcome: inout Outcome
    ) throws {
        var changed: [Int64: String] = [:]
        try connection.transaction { () throws(SQLiteError) in
            var update = try connection.prepare(
                "UPDATE event SET metadata = ?2, data = ?3, crc = ?4, schema = ?5 "
                    + "WHERE position = ?1"
            )
            for (position, event) in replacements {
                let records = try canonical([event])
                update.reset()
                try update.bind(1, position)
                try update.bind(2, try metadata(of: event))
                try update.bind(3, Array(event.event.data))
                try update.bind(4, Int64(records.checksum(0)))
                try update.bind(5, Int64(event.event.schema))
                try update.run()
            }
            var find = try connection.prepare(
                "SELECT last, first, hash FROM batch WHERE last >= ?1 ORDER BY last LIMIT 1")
            var store = try connection.prepare("UPDATE batch SET hash = ?2 WHERE last = ?1")
            for position in replacements.keys {
                find.reset()
                try find.bind(1, position)
                guard try find.step(), changed[find.integer(0)] == nil else { continue }
                let (last, first) = (find.integer(0), find.integer(1))
                guard let hash = BatchHash(stored: find.bytes(2)) else {
                    throw SQLiteError(
                        extendedCode: 11, operation: "erase",
                        reason: "the batch that ends at \(last) has no hash")
                }
                let present = BatchHash(
                    chain: hash.chain, of: try records(first...last, connection))
                store.reset()
                try store.bind(1, last)
                try store.bind(2, present.stored)
                try store.run()
                changed[last] = Hexadecimal.encode(present.erased ?? [])
            }
            try SQLiteSchema.markErased(connection)
        }
        outcome.eventCount += replacements.count
        outcome.batches.merge(changed) { _, new in new }
    }

    private static func canonical(_ events: [RecordedEvent]) throws(SQLiteError) -> CanonicalRecords
    {
        do throws(Failure) { return try CanonicalRecords(events) } catch { throw unwritable(error) }
    }

    private static func metadata(of event: RecordedEvent) throws(SQLiteError) -> [UInt8] {
        do throws(Failure) { return try event.event.metadata.storedForm() } catch {
            throw unwritable(error)
        }
    }

    private static func unwritable(_ error: Failure) -> SQLiteError {
        SQLiteError(extendedCode: 1, operation: "erase", reason: error.message)
    }

    /// The records of a batch as they are now.
    private static func records(
        _ range: ClosedRange<Int64>, _ connection: Connection
    ) throws(SQLiteError) -> CanonicalRecords {
        var rows = try connection.scan(
            EventRows.columns,
            "FROM event WHERE event.position BETWEEN ?1 AND ?2 ORDER BY event.position")
        try rows.bind(1, range.lowerBound)
        try rows.bind(2, range.upperBound)
        var names = try EventRows(connection)
        var records = CanonicalRecords()
        while try rows.step() {
            do throws(LogFault) { try names.append(rows, to: &records) } catch {
                throw SQLiteError(extendedCode: 11, operation: "erase", reason: error.message)
            }
        }
        return records
    }

    private static func failure(_ error: any Error, _ path: String) -> Failure {
        switch error {
        case let failure as Failure: failure
        case let error as SQLiteError: Failure(log: error, at: path)
        case let error as PlatformError: Failure(error)
        default: Failure(.internal, "\(error)")
        }
    }
}
