// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Codecs
internal import FoundationEssentials
internal import Platform
internal import SQLite

/// Copies the beginning of a log into an archive: a log file of its own that is never written
/// again.
///
/// It reads over a connection of its own and changes nothing of the log; `SQLiteEventStore.adopt`
/// does, once the copy has been verified. A crash leaves at most an unreferenced file; one without
/// its final name is removed when the log is next opened. Blocks on the disk; any thread.
public struct ArchiveWriter {
    /// Events copied or checked between two calls of `progress`.
    static let step: Int64 = 5_000

    private let path: String
    private let folder: String

    /// Prepares to archive the log file at `path`.
    public init(log path: String) {
        self.path = path
        folder = LogArchive.folder(ofLog: path)
    }

    /// Called between two steps with the work done and in total; an error ends the operation.
    public typealias Progress = (_ done: Int64, _ total: Int64) throws(Failure) -> Void

    /// Copies the events after the floor up to `position`, in whole commit batches, and verifies
    /// the copy.
    ///
    /// The newest batch of the log is never archived. Throws `Failure`: `invalidParameter` for an
    /// empty range, or a `position` beyond the log's end, `corrupt` for a log that does not verify,
    /// `noSpace`, and errors of `progress`.
    public func write(
        through position: Int64, progress: Progress = { _, _ in }
    ) throws(Failure) -> LogArchive {
        let log = try SQLiteEventReader(path: path)
        let (floor, head) = (try log.floor(), try log.head())
        guard position <= head else {
            throw Failure(
                .invalidParameter,
                "sequence number \(position): expected \(floor + 1) to \(head), where the log ends")
        }
        let last = try log.batchEnd(through: min(position, try log.batchEnd(through: head - 1)))
        guard last > floor else {
            throw Failure(
                .invalidParameter,
                "there is nothing to archive through \(position): the log's file holds the events "
                    + "\(floor + 1) to \(head), in whole commits, and keeps the newest")
        }
        guard let hash = try log.chainHash(at: last) else {
            throw Failure(.corrupt, "sequence \(last): the log has no commit batch that ends there")
        }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw Failure(.unreadable, "'\(folder)' cannot be made: \(error)")
        }
        let staged = StagedCopy.path(in: folder)
        defer { StagedCopy.remove(staged) }
        let count = last - floor
        try copy(after: floor, through: last, to: staged) { done throws(Failure) in
            try progress(done, 2 * count)
        }
        try verify(staged, after: floor, through: last, hash: hash) { done throws(Failure) in
            try progress(count + done, 2 * count)
        }
        return try publish(staged, first: floor + 1, last: last, hash: hash)
    }

    /// Makes the file, in steps; a log's first part never changes, so they need no common snapshot.
    private func copy(
        after floor: Int64, through last: Int64, to staged: String,
        progress: (Int64) throws(Failure) -> Void
    ) throws(Failure) {
        let archive = try Self.attempt { () throws(SQLiteError) in
            let archive = try Connection(path: staged, mode: .create)
            try archive.execute("PRAGMA page_size = 8192; PRAGMA journal_mode = OFF")
            try archive.execute("PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY")
            try SQLiteSchema.make(archive)
            try archive.attachReadOnly(path, as: "log")
            try archive.execute(
                """
                DELETE FROM incarnation;
                INSERT INTO incarnation SELECT * FROM log.incarnation;
                INSERT INTO archive SELECT * FROM log.archive;
                INSERT INTO category SELECT number, name, archived FROM log.category;
                INSERT INTO batch SELECT * FROM log.batch WHERE last BETWEEN \(floor) AND \(last);
                """)
            return archive
        }
        var after = floor
        while after < last {
            let through = min(after + Self.step, last)
            try Self.attempt { () throws(SQLiteError) in
                try archive.execute(
                    """
                    INSERT INTO event SELECT * FROM log.event \
                    WHERE position > \(after) AND position <= \(through) ORDER BY position
                    """)
            }
            after = through
            try progress(after - floor)
        }
        try Self.attempt { () throws(SQLiteError) in
            try archive.execute(
                """
                INSERT INTO stream SELECT number, name, category, archived FROM log.stream \
                WHERE number IN (SELECT stream FROM event)
                """)
            try EventIndexes.write(after: floor, through: last, newest: nil, to: archive)
            try SQLiteSchema.markErased(archive)
        }
    }

    private static func attempt<Value>(
        _ body: () throws(SQLiteError) -> Value
    ) throws(Failure) -> Value {
        do { return try body() } catch { throw Failure(log: error) }
    }

    private func verify(
        _ staged: String, after floor: Int64, through last: Int64, hash: String,
        progress: (Int64) throws(Failure) -> Void
    ) throws(Failure) {
        let archive = try SQLiteEventReader(path: staged)
        var position = floor
        while position < last {
            let page = try archive.verify(after: position, limit: Int(Self.step))
            if let fault = page.fault {
                throw Failure(.corrupt, "sequence \(fault.position): \(fault.message)")
            }
            guard page.checkedThrough > position else { break }
            position = page.checkedThrough
            try progress(position - floor)
        }
        guard position == last, try archive.chainHash(at: last) == hash else {
            throw Failure(
                .corrupt, "the copy of the events \(floor + 1) to \(last) differs from the log"
            )
        }
    }

    private func publish(
        _ staged: String, first: Int64, last: Int64, hash: String
    ) throws(Failure) -> LogArchive {
        do throws(PlatformError) {
            let (digest, byteCount) = try Self.digest(of: staged)
            let name = "\(Self.digits(first))-\(Self.digits(last))-\(hash.prefix(12)).sqlite"
            try StagedFile.publish(staged, as: folder + "/" + name)
            return LogArchive(
                first: first, last: last, name: name, byteCount: byteCount,
                fileHash: digest.hexadecimal)
        } catch {
            throw Failure(error)
        }
    }

    private static func digits(_ position: Int64) -> String {
        let text = String(position)
        return String(repeating: "0", count: max(0, 12 - text.utf8.count)) + text
    }

    static func digest(
        of path: String
    ) throws(PlatformError) -> (SHA256.Digest, Int64) {
        let source = try ByteSource(path: path)
        var hash = SHA256()
        var byteCount: Int64 = 0
        while true {
            let bytes = try source.read(upTo: 256 << 10)
            guard !bytes.isEmpty else { return (hash.finish(), byteCount) }
            hash.update(bytes)
            byteCount += Int64(bytes.count)
        }
    }
}
