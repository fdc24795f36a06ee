// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Platform
internal import Synchronization

/// An open file of an audit, locked by its process.
final class AuditSegment: Sendable {
    let journal: MappedJournal
    private let lock: Mutex<FileLock?>

    init(_ journal: MappedJournal, _ lock: consuming FileLock) {
        self.journal = journal
        self.lock = Mutex(lock)
    }

    /// Cuts the file to its entries, and unlocks it.
    func end() {
        journal.close()
        lock.withLock { lock in lock.take()?.release(removingFile: true) }
    }
}

/// The files of a site's audit: `<microseconds since 1970, 16 digits>-<process id>.audit`, so that
/// the order of names is that of their beginnings, each with `….seal` once it is complete.
public struct AuditFiles: Sendable {
    /// The folder.
    public let directory: String

    static let headerByteCount = 16
    private static let magic = Array("CAIRNAUD".utf8)
    private static let version: UInt8 = 1

    /// Names the folder, whether it exists or not.
    public init(directory: String) { self.directory = directory }

    /// What is known of a complete file.
    struct Seal: Codable {
        var formatVersion = 1
        var entryCount: Int
        /// The SHA-256 of the digests of all entries, one after the other.
        var hash: ContentID
    }

    // MARK: Writing

    /// Begins a file; throws `Failure` (`noSpace`, `unreadable`).
    func begin(_ policy: AuditPolicy, byteCount: Int) throws(Failure) -> AuditSegment {
        let digits = String(WallClock.microseconds())
        let path =
            directory + "/" + String(repeating: "0", count: max(0, 16 - digits.count)) + digits
            + "-\(ProcessInfo.processInfo.processIdentifier).audit"
        var header = Self.magic + [Self.version, 0, 0, 0]
        for byte in 0..<4 {
            header.append(UInt8(truncatingIfNeeded: policy.sampledPerMillion >> (8 * byte)))
        }
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            guard let lock = try FileLock.tryAcquire(path + ".lock") else {
                throw Failure(.unreadable, "'\(path).lock' is held by another process")
            }
            return AuditSegment(
                try MappedJournal(creating: path, byteCount: byteCount, header: header), lock)
        } catch let error as Failure {
            throw error
        } catch let error as PlatformError {
            throw Failure(error)
        } catch {
            throw Failure(.unreadable, "'\(directory)' cannot be made: \(error)")
        }
    }

    /// Seals the files of processes that were killed.
    func sealAbandoned() {
        for path in paths() where FileSystem.kind(of: path + ".seal") == nil {
            // Locked by a process that lives.
            guard let lock = try? FileLock.tryAcquire(path + ".lock") else { continue }
            seal(path)
            lock.release(removingFile: true)
        }
    }

    /// Seals a complete file; one that cannot be read or written stays without a seal.
    func seal(_ path: String) {
        guard let seal = try? Self.seal(of: path), let data = try? CairnJSON.encode(seal) else {
            return
        }
        try? FileSystem.replace(path + ".seal", with: Array(data))
    }

    private static func seal(of path: String) throws(Failure) -> Seal {
        var hash = SHA256()
        var count = 0
        for bytes in try entries(of: path) {
            guard let digest = AuditEntry.digest(bytes) else {
                throw Failure(.corrupt, "'\(path)': entry \(count + 1) is damaged")
            }
            hash.update(digest)
            count += 1
        }
        return Seal(entryCount: count, hash: ContentID(hash.finish()))
    }

    /// Removes the files of that age, and the oldest where all together are too large.
    func remove(olderThan days: Int, beyond byteLimit: Int64) {
        let oldest = WallClock.microseconds() - Int64(days) * 86_400_000_000
        var sizes = paths().map { (path: $0, byteCount: FileSystem.byteCount(of: $0) ?? 0) }
        var total = sizes.reduce(0) { $0 + $1.byteCount }
        while let (path, byteCount) = sizes.first,
            (Self.begun(path) ?? .max) < oldest || total > byteLimit,
            FileSystem.kind(of: path + ".seal") != nil
        {
            OutputFile.remove(path)
            OutputFile.remove(path + ".seal")
            total -= byteCount
            sizes.removeFirst()
        }
    }

    private static func begun(_ path: String) -> Int64? {
        path.split(separator: "/").last.flatMap { Int64($0.prefix(16)) }
    }

    // MARK: Reading

    /// The files, oldest first.
    func paths() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasSuffix(".audit") }.sorted().map { directory + "/" + $0 }
    }

    private static func entries(of path: String) throws(Failure) -> JournalEntries {
        let entries: JournalEntries
        do throws(PlatformError) {
            entries = try JournalEntries(of: path, after: headerByteCount)
        } catch {
            throw Failure(error)
        }
        let header = entries.header(magic.count + 1)
        guard header == magic + [version] else {
            throw Failure(
                header.starts(with: magic) ? .newerVersion : .corrupt,
                "'\(path)' is not an audit file of version \(version)")
        }
        return entries
    }

    /// Calls `body` for every entry in the order of files and of entries, until it returns false.
    ///
    /// Files that are removed meanwhile are skipped. Throws `Failure`: `corrupt`, `newerVersion`,
    /// `unreadable`, and errors of `body`.
    public func forEach(_ body: (AuditEntry) throws -> Bool) throws {
        for path in paths() {
            let entries: JournalEntries
            do throws(Failure) {
                entries = try Self.entries(of: path)
            } catch {
                if FileSystem.kind(of: path) == nil { continue }
                throw error
            }
            for bytes in entries {
                guard let entry = AuditEntry(bytes) else {
                    throw Failure(.corrupt, "'\(path)' has a damaged entry")
                }
                guard try body(entry) else { return }
            }
        }
    }

    /// The outcome of a verification.
    public struct Verification: Hashable, Sendable, Codable {
        /// Files with a seal that agrees.
        public var sealedCount = 0
        /// Files that a process still writes, or that were not sealed yet.
        public var openCount = 0
        /// Entries in all files.
        public var entryCount = 0
        /// Entries without a personal part.
        public var redactedCount = 0
    }

    /// Compares every sealed file with its seal; throws `corrupt`, naming the file.
    public func verify() throws(Failure) -> Verification {
        var sum = Verification()
        for path in paths() {
            let found = try Self.seal(of: path)
            sum.entryCount += found.entryCount
            for bytes in try Self.entries(of: path) where AuditEntry(bytes)?.isRedacted == true {
                sum.redactedCount += 1
            }
            guard let data = FileManager.default.contents(atPath: path + ".seal") else {
                sum.openCount += 1
                continue
            }
            let seal = try CairnJSON.decode(Seal.self, from: data)
            guard seal.entryCount == found.entryCount, seal.hash == found.hash else {
                throw Failure(
                    .corrupt,
                    "'\(path)' was changed: its \(found.entryCount) entries have hash "
                        + "\(found.hash), the seal says \(seal.entryCount) entries, \(seal.hash)")
            }
            sum.sealedCount += 1
        }
        return sum
    }

    // MARK: Redaction

    /// Removes user, address and question of every entry that `isMeant`, in place, also in files
    /// that a process appends to; returns how many.
    ///
    /// Seals stay valid. Throws `Failure`: `corrupt`, `unreadable`, `noSpace`.
    public func redact(_ isMeant: (AuditEntry) -> Bool) throws(Failure) -> Int {
        var count = 0
        for path in paths() {
            var entries = try Self.entries(of: path)
            let before = count
            while true {
                let place = entries.offset + 4
                guard let bytes = entries.next() else { break }
                guard let entry = AuditEntry(bytes), isMeant(entry),
                    let rest = AuditEntry.redacted(bytes)
                else { continue }
                do throws(PlatformError) {
                    try OutputFile(existing: path).write(rest, at: place)
                } catch {
                    throw Failure(error)
                }
                count += 1
            }
            guard count > before else { continue }
            do throws(PlatformError) { try StagedFile.sync(path) } catch { throw Failure(error) }
        }
        return count
    }
}
