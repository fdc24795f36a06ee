// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials
internal import Platform
internal import SQLite

/// The log in one SQLite file, as a site keeps it.
///
/// It holds the only connection that writes or checkpoints, and a lock that keeps every other
/// process out. A commit is durable when `append` returns: write-ahead log, `synchronous=FULL`.
/// Calls block on the disk; used by one thread at a time. `Docs/event-log-format.md` describes the
/// file.
public final class SQLiteEventStore: EventStore {
    let connection: Connection
    private let reader: ArchivedLogReader
    private let lock: FileLock
    private let clock: () -> Timestamp
    private let path: String
    private var lastCommit: Timestamp
    private var committedHead: Int64
    private var chain: HashChain
    private let insertion: EventInsertion
    private var insertBatch: Statement
    private var numbers: NumberTable
    private var indexes: EventIndexes
    private var writers: Writers
    private(set) var categories: Set<String>
    /// The number of frames from which on the write-ahead log is moved into the file.
    private static let checkpointFrames = 1_000
    /// Frames in the write-ahead log at the last checkpoint; 0 after it has restarted.
    private var movedFrames = 0
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
    ///   - clock: The time of each commit; a clock that goes back is held at the last commit's
    ///     time.
    public init(path: String, clock: @escaping () -> Timestamp) throws(Failure) {
        self.path = path
        self.clock = clock
        try Self.refuseRemoteDisk(path)
        lock = try Self.lock(path)
        StagedCopy.removeAbandoned(ofLog: path)
        do {
            connection = try Connection(path: path, mode: .create)
        } catch {
            throw SQLiteSchema.opening(path, error)
        }
        try SQLiteSchema.prepare(connection)
        connection.countFrames()
        do {
            reader = ArchivedLogReader(
                live: try SQLiteEventReader(connection: connection), path: path)
            isEvicting = try Self.isEvictionDue(connection)
            incarnation = try Self.incarnation(connection)
            insertion = try EventInsertion(connection)
            insertBatch = try connection.prepare(
                "INSERT INTO batch (last, first, hash) VALUES (?1, ?2, ?3)")
            indexes = try EventIndexes(connection)
            numbers = try NumberTable(connection, after: indexes.through)
            writers = try Writers(stored: connection)
            categories = try Self.categories(connection)
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
            "'\(folder)' is on a network file system; an event log needs a local disk")
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

    private static func categories(_ connection: Connection) throws(SQLiteError) -> Set<String> {
        var names = try connection.prepare("SELECT name FROM category")
        var categories: Set<String> = []
        while try names.step() { categories.insert(names.text(0)) }
        return categories
    }

    /// The end of the log: its last position, that event's time, and the hash chain's value.
    private static func tail(
        _ connection: Connection
    ) throws(SQLiteError) -> (Int64, Timestamp, HashChain) {
        var last = try connection.prepare(
            """
            SELECT position, recorded_at, last, hash FROM event LEFT JOIN batch ON last = position \
            ORDER BY position DESC LIMIT 1
            """)
        guard try last.step() else { return (0, Timestamp(microseconds: .min), HashChain()) }
        guard !last.isNull(2), let hash = BatchHash(stored: last.bytes(3)) else {
            throw SQLiteError(
                extendedCode: 11, operation: "open",
                reason: "its last event, sequence \(last.integer(0)), is in no commit batch")
        }
        return (
            last.integer(0), Timestamp(microseconds: last.integer(1)),
            HashChain(value: hash.chain)
        )
    }

    // MARK: Appending

    /// Commits several independent appends at once.
    public func append(batch: [AppendBytes]) -> CommittedBatch {
        do throws(Failure) {
            if indexes.pendingCount >= EventIndexes.bound { try writeIndexes() }
        } catch {
            return CommittedBatch(results: batch.map { _ in .failure(error) })
        }
        var plan = BatchPlan(
            for: batch, log: self, writers: writers, head: committedHead,
            time: max(clock(), lastCommit))
        let results = batch.map { append in
            Result { () throws(Failure) in try plan.add(append) }
        }
        let new = plan.new
        guard !new.records.isEmpty else { return CommittedBatch(results: results) }
        do {
            try commit(new)
            categories.formUnion(plan.newCategories)
            return CommittedBatch(results: results, records: new.records, runs: new.runs)
        } catch {
            return batch.count == 1
                ? CommittedBatch(results: [.failure(Failure(log: error))]) : appendSingly(batch)
        }
    }

    /// Commits appends one by one after a group failed: on a full disk small ones may still fit.
    private func appendSingly(_ batch: [AppendBytes]) -> CommittedBatch {
        batch.reduce(into: CommittedBatch(results: [])) { whole, append in
            whole.append(self.append(batch: [append]))
        }
    }

    private func commit(_ new: NewRecords) throws(SQLiteError) {
        var newChain = chain
        newChain.add(new.records)
        let count = Int64(new.records.count)
        var runs = EventRuns()
        do {
            try connection.transaction { () throws(SQLiteError) in
                try insert(new, &runs)
                try insertBatch.bind(1, committedHead + count)
                try insertBatch.bind(2, committedHead + 1)
                try insertBatch.bind(3, newChain.value)
                try insertBatch.run()
            }
        } catch {
            numbers.forgetUncommitted()
            throw error
        }
        numbers.keepUncommitted()
        indexes.append(new.ids.ids, runs)
        chain = newChain
        committedHead += count
        lastCommit = new.time ?? lastCommit
        noteFrames()
    }

    private func noteFrames() {
        if connection.frameCount < movedFrames { movedFrames = 0 }
    }

    /// Inserts the rows of new events, and adds their positions to `runs`.
    private func insert(_ new: NewRecords, _ runs: inout EventRuns) throws(SQLiteError) {
        var rows: [EventRow] = []
        rows.reserveCapacity(new.places.count)
        for (name, group) in new.streams {
            let stream = try numbers.stream(name)
            let first = committedHead + 1 + Int64(group.lowerBound)
            for index in group {
                rows.append(
                    EventRow(
                        stream: stream.number, category: stream.category,
                        time: new.time?.microseconds ?? 0, place: new.places[index],
                        start: new.records.range(index).lowerBound,
                        checksum: new.records.checksum(index)))
            }
            numbers.end(name, at: new.places[group.upperBound - 1].streamPosition)
            runs.append(
                stream: stream.number, category: stream.category, first: first,
                count: Int64(group.count))
        }
        try new.records.withBytes { bytes throws(SQLiteError) in
            try insertion.write(rows, from: bytes)
        }
        let last = committedHead + Int64(rows.count)
        guard connection.lastRowID == last else {
            throw SQLiteError(
                extendedCode: 11, operation: "append",
                reason: "an event would have got the position \(connection.lastRowID), not \(last)")
        }
    }

    /// Makes the caller the only writer of a category.
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

    // MARK: Indexes

    /// Indexes the events committed since the last call by id, stream and category, if enough are
    /// pending: a thousand when idle, else four thousand.
    ///
    /// Blocks some milliseconds. Throws `noSpace`, `corrupt`, `internal`; then nothing has changed.
    public func writeIndexesIfDue(isIdle: Bool) throws(Failure) {
        guard
            indexes.pendingCount
                >= (isIdle ? EventIndexes.worthwhileCount : EventIndexes.dueCount)
        else { return }
        try writeIndexes()
    }

    /// Whether an idle moment should be used, by ``writeIndexesIfDue(isIdle:)`` and
    /// ``checkpointIfDue()``.
    public var isOrderDue: Bool {
        indexes.pendingCount >= EventIndexes.worthwhileCount || isCheckpointDue
    }

    private var isCheckpointDue: Bool {
        connection.frameCount - movedFrames >= Self.checkpointFrames
    }

    /// Puts everything there.
    package func writeIndexes() throws(Failure) {
        do throws(SQLiteError) {
            try indexes.write(through: committedHead, to: connection)
        } catch {
            throw Failure(log: error)
        }
        numbers.forgetIfMany()
        noteFrames()
    }

    // MARK: Archives

    /// Makes an archive the place of its events: from now on they are read from there.
    ///
    /// Durable when it returns; `evict` then frees their room. Throws `conflict` when the archive
    /// does not begin where the log's file does.
    public func adopt(_ archive: LogArchive) throws(Failure) {
        try writeIndexes()
        let floor = try reader.floor()
        if floor >= archive.last, try reader.live.archives().contains(archive) { return }
        guard archive.first == floor + 1, archive.last < committedHead else {
            throw Failure(
                .conflict,
                "the archive '\(archive.name)' holds \(archive.first) to \(archive.last), but the "
                    + "log's file begins at \(floor + 1) and must keep something of what it holds "
                    + "up "
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

    /// Removes up to `limit` archived events from the file; whether there are more.
    ///
    /// After a crash between two calls it continues with the next start. The space is used for new
    /// events.
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
        noteFrames()
        return isEvicting
    }

    // MARK: Checkpoints

    /// Checkpoints the write-ahead log at about a thousand pages, 8 MiB.
    ///
    /// It is then overwritten from its beginning: a sync of bytes within a file takes half as long
    /// as one of bytes by which it grows. To be called while no commit is waiting.
    ///
    /// Returns whether it was due.
    @discardableResult
    public func checkpointIfDue() throws(Failure) -> Bool {
        guard isCheckpointDue else { return false }
        try checkpoint()
        return true
    }

    /// Moves the write-ahead log into the file; `truncating` empties it, as at an orderly end.
    ///
    /// A reader in the middle of a page may keep some of it back.
    public func checkpoint(truncating: Bool = false) throws(Failure) {
        do {
            _ = try connection.checkpoint(truncating: truncating)
            movedFrames = truncating ? 0 : connection.frameCount
        } catch {
            throw Failure(log: error)
        }
    }

    /// A sentence about the library underneath, for the start of a process's output.
    public static var libraryVersion: String { "SQLite " + Connection.libraryVersion }

    /// Limits the file to `count` pages, as a full disk would; for tests.
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
        if let known = numbers.lastPosition(of: stream) { return known }
        return try reader.live.lastIndexedPosition(of: stream)
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

extension SQLiteEventStore: CommittedLog {
    func record(id: UUID) throws(Failure) -> RecordedEvent? { try reader.record(id: id) }

    func holds(_ id: UUID) throws(Failure) -> Bool {
        do throws(SQLiteError) { return try indexes.holds(id) } catch { throw Failure(log: error) }
    }
}

extension SQLiteEventStore {
    /// A PRAGMA of the writing connection, for operators.
    package func setting(_ name: String) throws(Failure) -> Int64? {
        do {
            return try connection.integer("PRAGMA \(name)")
        } catch {
            throw Failure(log: error)
        }
    }
}
