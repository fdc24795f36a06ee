// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials
internal import Platform
internal import SQLite

/// The log in one SQLite file, as a site keeps it.
///
/// It holds the only connection that writes or checkpoints, and a lock that keeps every other process
/// out. A commit is durable when `append` returns: write-ahead log, `synchronous=FULL`. Calls block
/// on the disk; used by one thread at a time. `Docs/event-log-format.md` describes the file.
public final class SQLiteEventStore: EventStore {
    let connection: Connection
    private let reader: WholeLogReader
    private let lock: FileLock
    private let clock: () -> Timestamp
    private let path: String
    private var lastCommit: Timestamp
    private var committedHead: Int64
    private var chain: HashChain
    private var insertEvent: Statement
    private var insertBatch: Statement
    private var numbers: NumberTable
    private var writers: Writers
    private var bytesSinceCheckpoint = 0
    /// Whether the file may still hold events that are in an archive.
    private var isEvicting: Bool
    /// The id that the log has had since its beginning or its last restore.
    public let incarnation: UUID

    /// Opens the log, making it when the file is missing.
    ///
    /// Throws `Failure`: `conflict` when another process has it open, `unreadable` for another
    /// program's file, `newerVersion`, `corrupt`, `noSpace`.
    ///
    /// - Parameters:
    ///   - path: The database file; `<path>.lock` is the lock.
    ///   - clock: The time of each commit; a clock that goes back is held at the last commit's time.
    public init(path: String, clock: @escaping () -> Timestamp) throws(Failure) {
        self.path = path
        self.clock = clock
        try Self.refuseRemoteDisk(path)
        lock = try Self.lock(path)
        do {
            connection = try Connection(path: path, mode: .create)
        } catch {
            throw SQLiteSchema.opening(path, error)
        }
        try SQLiteSchema.prepare(connection)
        do {
            reader = WholeLogReader(
                live: try SQLiteEventReader(connection: connection), path: path)
            isEvicting = try Self.isEvictionDue(connection)
            incarnation = try Self.incarnation(connection)
            insertEvent = try connection.prepare(
                """
                INSERT INTO event (position, stream, stream_position, category, recorded_at, id, \
                type, schema, metadata, data, crc) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, \
                ?11)
                """)
            insertBatch = try connection.prepare(
                "INSERT INTO batch (last, first, hash) VALUES (?1, ?2, ?3)")
            numbers = try NumberTable(connection)
            writers = try Writers(stored: connection)
            let tail = try Self.tail(connection)
            (committedHead, lastCommit, chain) = tail
        } catch {
            throw SQLiteSchema.opening(path, error)
        }
    }

    /// A write-ahead log needs memory shared between connections, which a network does not give.
    private static func refuseRemoteDisk(_ path: String) throws(Failure) {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        do {
            guard FileSystem.isRemote(type: try FileSystem.type(of: folder)) else { return }
        } catch {
            throw Failure(error)
        }
        throw Failure(
            .unreadable,
            "'\(folder)' lies on a network file system; an event log must lie on a local disk")
    }

    static func lock(_ path: String) throws(Failure) -> FileLock {
        let lock: FileLock?
        do {
            lock = try FileLock.tryAcquire(path + ".lock")
        } catch {
            throw Failure(error)
        }
        guard let lock else {
            let owner = FileLock.owner(of: path + ".lock").map { " \($0)" } ?? ""
            throw Failure(.conflict, "the event log '\(path)' is open in another process\(owner)")
        }
        return lock
    }

    /// Where the log ends: its last position, that event's time, and the chain's value.
    private static func tail(
        _ connection: Connection
    ) throws(SQLiteError) -> (Int64, Timestamp, HashChain) {
        var last = try connection.prepare(
            """
            SELECT position, recorded_at, last, hash FROM event LEFT JOIN batch ON last = position \
            ORDER BY position DESC LIMIT 1
            """)
        guard try last.step() else { return (0, Timestamp(microseconds: .min), HashChain()) }
        guard !last.isNull(2), last.byteCount(3) == 32 else {
            throw SQLiteError(
                extendedCode: 11, operation: "open",
                reason: "its last event, sequence \(last.integer(0)), is in no commit batch")
        }
        return (
            last.integer(0), Timestamp(microseconds: last.integer(1)),
            HashChain(value: last.bytes(3))
        )
    }

    // MARK: Appending

    /// Commits several independent appends at once.
    public func append(batch: [AppendRequest]) -> CommittedBatch {
        var plan = BatchPlan(
            log: reader, writers: writers, head: committedHead, time: max(clock(), lastCommit))
        let results = batch.map { request in
            Result { () throws(Failure) in try plan.add(request) }
        }
        guard !plan.records.isEmpty else { return CommittedBatch(results: results, events: []) }
        do {
            try commit(plan.records)
            return CommittedBatch(results: results, events: plan.records)
        } catch {
            return batch.count == 1
                ? CommittedBatch(results: [.failure(error)], events: []) : appendSingly(batch)
        }
    }

    /// After a group could not be committed: what fits on a full disk alone still gets in.
    private func appendSingly(_ batch: [AppendRequest]) -> CommittedBatch {
        batch.reduce(into: CommittedBatch(results: [], events: [])) { whole, request in
            let part = append(batch: [request])
            whole.results += part.results
            whole.events += part.events
        }
    }

    private func commit(_ records: [RecordedEvent]) throws(Failure) {
        let metadata = try records.map { record throws(Failure) in
            try record.event.metadata.storedForm()
        }
        let stored = zip(records, metadata).map { StoredRecord($0, metadata: $1) }
        var newChain = chain
        newChain.add(stored)
        do {
            try connection.transaction { () throws(SQLiteError) in
                for index in records.indices {
                    try insert(records[index], metadata[index], stored[index].checksum)
                }
                try insertBatch.bind(1, committedHead + Int64(records.count))
                try insertBatch.bind(2, committedHead + 1)
                try insertBatch.bind(3, newChain.value)
                try insertBatch.run()
            }
        } catch {
            numbers.forgetUncommitted()
            throw Failure(log: error)
        }
        numbers.keepUncommitted()
        chain = newChain
        committedHead += Int64(records.count)
        lastCommit = records.last?.recordedAt ?? lastCommit
        bytesSinceCheckpoint += stored.reduce(0) { $0 + $1.canonical.count + 200 }
    }

    private func insert(
        _ record: RecordedEvent, _ metadata: [UInt8], _ checksum: UInt32
    ) throws(SQLiteError) {
        let stream = try numbers.stream(record.stream)
        try insertEvent.bind(1, record.globalPosition)
        try insertEvent.bind(2, stream.number)
        try insertEvent.bind(3, record.streamPosition)
        try insertEvent.bind(4, stream.category)
        try insertEvent.bind(5, record.recordedAt.microseconds)
        try insertEvent.bind(6, record.event.id.bytes)
        try insertEvent.bind(7, record.event.type)
        try insertEvent.bind(8, Int64(record.event.schema))
        try insertEvent.bind(9, metadata)
        try insertEvent.bind(10, record.event.data.bytes)
        try insertEvent.bind(11, Int64(checksum))
        try insertEvent.run()
    }

    /// Makes the asker the only writer of a category.
    public func claim(_ request: ClaimRequest) throws(Failure) -> WriterClaim {
        let claim = try writers.claim(for: request, after: committedHead)
        do {
            try connection.transaction { () throws(SQLiteError) in
                try Writers.store(claim, in: connection)
            }
        } catch {
            throw Failure(log: error)
        }
        writers.keep(claim)
        return claim
    }

    // MARK: Archives

    /// Makes an archive the place of its events: from now on they are read from there.
    ///
    /// Durable when it returns; `evict` then frees their room. Throws `conflict` when the archive does
    /// not begin where the log's file does.
    public func adopt(_ archive: LogArchive) throws(Failure) {
        let floor = try reader.floor()
        if floor >= archive.last, try reader.live.archives().contains(archive) { return }
        guard archive.first == floor + 1, archive.last < committedHead else {
            throw Failure(
                .conflict,
                "the archive '\(archive.name)' holds \(archive.first) to \(archive.last), but the "
                    + "log's file begins at \(floor + 1) and must keep something of what it holds up "
                    + "to \(committedHead)")
        }
        do {
            try connection.transaction { () throws(SQLiteError) in
                try Self.store(archive, in: connection)
            }
        } catch {
            throw Failure(log: error)
        }
        isEvicting = true
    }

    /// Removes up to `limit` events from the file that are in an archive; whether there are more.
    ///
    /// Killed between two calls, it goes on after the next start. The room is used for new events.
    public func evict(limit: Int) throws(Failure) -> Bool {
        guard isEvicting else { return false }
        let floor = try reader.floor()
        do {
            isEvicting = try connection.transaction { () throws(SQLiteError) in
                try Self.evict(through: floor, limit: limit, from: connection)
            }
        } catch {
            throw Failure(log: error)
        }
        bytesSinceCheckpoint += limit * 500
        return isEvicting
    }

    // MARK: Checkpoints

    /// Moves the write-ahead log into the file when about 4 MiB have been committed since the last
    /// time.
    ///
    /// For the moments in which nobody waits for a commit.
    public func checkpointIfDue() throws(Failure) {
        guard bytesSinceCheckpoint > 4 << 20 else { return }
        try checkpoint()
    }

    /// Moves the write-ahead log into the file; with `truncating` it is emptied, as at an orderly
    /// end.
    ///
    /// A reader in the middle of a page may keep some of it back.
    public func checkpoint(truncating: Bool = false) throws(Failure) {
        bytesSinceCheckpoint = 0
        do {
            _ = try connection.checkpoint(truncating: truncating)
        } catch {
            throw Failure(log: error)
        }
    }

    /// A sentence about the library underneath, for the start of a process's output.
    public static var libraryVersion: String { "SQLite " + Connection.libraryVersion }

    /// Limits the file to so many pages, as a full disk would; for tests.
    package func limitPages(to count: Int) throws(Failure) {
        do {
            try connection.execute("PRAGMA max_page_count = \(count)")
        } catch {
            throw Failure(log: error)
        }
    }
}

extension SQLiteEventStore: EventReader {
    /// The last global position.
    public func head() throws(Failure) -> Int64 { committedHead }

    /// The stream's last position; nil when it has no event.
    public func lastPosition(of stream: StreamName) throws(Failure) -> Int64? {
        try reader.lastPosition(of: stream)
    }

    /// The category's last event at or before `position`.
    public func lastGlobalPosition(
        inCategory category: String, through position: Int64
    ) throws(Failure) -> Int64 {
        try reader.lastGlobalPosition(inCategory: category, through: position)
    }

    /// The global position of the last event in each category.
    public func categoryHeads() throws(Failure) -> [String: Int64] { try reader.categoryHeads() }

    /// Events in the order of the log.
    public func read(_ range: ReadRange) throws(Failure) -> EventSlice {
        try reader.read(range)
    }

    /// Checks whole commit batches.
    public func verify(after: Int64, limit: Int) throws(Failure) -> VerifyPage {
        try reader.verify(after: after, limit: limit)
    }
}

extension SQLiteEventStore {
    /// A PRAGMA of the writing connection, as an operator may ask for it.
    package func setting(_ name: String) throws(Failure) -> Int64? {
        do {
            return try connection.integer("PRAGMA \(name)")
        } catch {
            throw Failure(log: error)
        }
    }
}
