// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Codecs
internal import FoundationEssentials
internal import Platform
internal import SQLite

/// Copies of a log: made while it is written, and put in its place again.
public enum LogBackup {
    /// Pages of 8 KiB copied between two calls of `progress`.
    static let step = 256

    /// Copies a log file as it is now into a new file, which is a log file itself.
    ///
    /// Appends continue meanwhile and are not in the copy. To be called in the process that writes
    /// the log. Archives are not copied. Throws `Failure`: `conflict` when the file exists,
    /// `noSpace`, `unreadable`, and errors of `progress`; then nothing is left behind.
    ///
    /// - Parameters:
    ///   - path: The log's file.
    ///   - target: The new file.
    ///   - progress: Called after each step with the pages copied and their total.
    /// - Returns: The last global position in the copy.
    @discardableResult
    public static func write(
        of path: String, to target: String,
        progress: (_ done: Int64, _ total: Int64) throws(Failure) -> Void = { _, _ in }
    ) throws(Failure) -> Int64 {
        guard !FileManager.default.fileExists(atPath: target) else {
            throw Failure(.conflict, "'\(target)' exists already; a backup goes into a new file")
        }
        let staged = StagedCopy.path(in: folder(of: target))
        defer { StagedCopy.remove(staged) }
        try copy(path, to: staged, progress: progress)
        let head = try SQLiteEventReader(path: staged).head()
        for suffix in ["-wal", "-shm"] { OutputFile.remove(staged + suffix) }
        do throws(PlatformError) {
            try StagedFile.publish(staged, as: target)
        } catch {
            throw Failure(error)
        }
        return head
    }

    private static func copy(
        _ path: String, to target: String,
        progress: (_ done: Int64, _ total: Int64) throws(Failure) -> Void
    ) throws(Failure) {
        var stopped: Failure?
        do throws(SQLiteError) {
            let source = try Connection(path: path, mode: .read)
            try SQLiteSchema.check(source)
            try source.copy(to: target, pagesPerStep: step) { done, total in
                do throws(Failure) { try progress(done, total) } catch { stopped = error }
                return stopped == nil
            }
        } catch {
            if let stopped { throw stopped }
            if error.isNoSpace { throw Failure(log: error) }
            throw Failure(.unreadable, "'\(path)' cannot be copied to '\(target)': \(error.reason)")
        }
    }

    /// The result of a restore.
    public struct Restored: Hashable, Sendable, Codable {
        /// The last global position of the log now.
        public var head: Int64
        /// The log's incarnation now: 1 and one more for each restore.
        public var incarnation: Int64
        /// The folder of the replaced log's files; nil without an earlier log.
        public var replaced: String?
        /// Archives that hold the log's first part but are not in their folder.
        public var missingArchives: [String]
    }

    /// Replaces a log, which no process may have open, with a backup.
    ///
    /// The copy is verified first. It becomes a new incarnation of the log, which fences every
    /// earlier writer: a process that goes on from the replaced log is refused or stops. The old
    /// files are kept beside it. A crash leaves the old log or the new one, and perhaps a copy that
    /// is removed when the log is next opened. Throws `Failure`: `conflict` while the log is in
    /// use, `corrupt`, `unreadable`, `newerVersion`, `noSpace`.
    public static func restore(_ backup: String, to path: String) throws(Failure) -> Restored {
        // Held to the end.
        let lock = try SQLiteEventStore.lock(path)
        defer { extendLifetime(lock) }
        StagedCopy.removeAbandoned(ofLog: path)
        let staged = StagedCopy.path(in: folder(of: path))
        defer { StagedCopy.remove(staged) }
        try copy(backup, to: staged) { _, _ in }
        try verify(staged, named: backup)
        let restored = try begin(staged, shelf: path)
        let replaced = try setAside(path)
        do throws(PlatformError) {
            try StagedFile.publish(staged, as: path)
        } catch {
            throw Failure(error)
        }
        return Restored(
            head: restored.head, incarnation: restored.incarnation, replaced: replaced,
            missingArchives: restored.missing)
    }

    private static func verify(_ staged: String, named name: String) throws(Failure) {
        guard let fault = try LogAudit.verify(path: staged).fault else { return }
        throw Failure(
            .corrupt, "'\(name)' is damaged at sequence \(fault.position): \(fault.message)")
    }

    /// Makes a verified copy a new incarnation.
    private static func begin(
        _ staged: String, shelf path: String
    ) throws(Failure) -> (head: Int64, incarnation: Int64, missing: [String]) {
        do {
            let connection = try Connection(path: staged, mode: .write)
            try SQLiteSchema.prepare(connection)
            try SQLiteSchema.beginIncarnation(connection)
            _ = try connection.checkpoint(truncating: true)
            let log = try SQLiteEventReader(connection: connection)
            let folder = LogArchive.folder(ofLog: path)
            return (
                try log.head(), try connection.integer("SELECT max(number) FROM incarnation") ?? 0,
                try log.archives().map(\.name).filter {
                    !FileManager.default.fileExists(atPath: folder + "/" + $0)
                }
            )
        } catch {
            throw (error as? Failure) ?? (error as? SQLiteError).map { Failure(log: $0) }
                ?? Failure(.internal, "\(error)")
        }
    }

    /// Moves the files of the old log into a folder beside it; the log itself stays in place until
    /// the new one takes its name.
    private static func setAside(_ path: String) throws(Failure) -> String? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let aside = folder(of: path) + "/replaced-" + UUID.timeOrdered().uuidString.lowercased()
        do {
            // The write-ahead log that a crash left is moved into the file, if still readable.
            if let old = try? Connection(path: path, mode: .write) {
                _ = try? old.checkpoint(truncating: true)
            }
            try FileManager.default.createDirectory(
                atPath: aside, withIntermediateDirectories: false)
            try FileManager.default.linkItem(atPath: path, toPath: aside + "/events.sqlite")
            for suffix in ["-wal", "-shm"]
            where FileManager.default.fileExists(atPath: path + suffix) {
                try FileManager.default.moveItem(
                    atPath: path + suffix, toPath: aside + "/events.sqlite" + suffix)
            }
        } catch {
            throw Failure(.unreadable, "the old log cannot be moved to '\(aside)': \(error)")
        }
        return aside
    }

    static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }
}
