// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Platform
internal import SQLite

/// Where events lie by their ids, their streams and their categories.
///
/// A commit writes rows of the table `event` and nothing else: to put each event into three more trees at once would
/// touch a page for every stream in it, and costs more than the rest of the commit. Some thousand events later they are
/// all put there in one go, in the order of each tree. Until then whoever reads goes through the events after
/// `through` one by one, and the writer remembers their ids. Used by the writer's thread alone.
struct EventIndexes: ~Copyable {
    /// In a moment in which nobody waits, so many events are worth a transaction of their own.
    static let worthwhileCount = 1_024
    /// So many are not put off any longer.
    static let dueCount = 4_096
    /// Beyond so many nothing is appended before they are in: a disk without room for indexes is full.
    static let bound = 65_536

    /// So many are sorted at once, in memory.
    private static let sortedCount: Int64 = 20_000

    /// The last event that is in the indexes.
    private(set) var through: Int64
    /// The events after it.
    private var recent: [UUID: Int64]
    /// The greatest time-ordered id among the events up to `through`, those in archives too.
    private var newest: UUID?
    private var find: Statement
    private var findArchived: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        let find = try connection.prepare("SELECT 1 FROM event_id WHERE id = ?1")
        let findArchived = try connection.prepare("SELECT 1 FROM archived_event WHERE id = ?1")
        var state = try connection.prepare("SELECT through, newest_id FROM indexed")
        guard try state.step() else {
            throw SQLiteError(
                extendedCode: 11, operation: "open",
                reason: "it does not say how far its indexes go")
        }
        let through = state.integer(0)
        var recent: [UUID: Int64] = [:]
        var rest = try connection.prepare("SELECT id, position FROM event WHERE position > ?1")
        try rest.bind(1, through)
        while try rest.step() {
            if let id = UUID(bytes: rest.bytes(0)) { recent[id] = rest.integer(1) }
        }
        newest = UUID(bytes: state.bytes(1))
        self.through = through
        self.recent = recent
        self.find = find
        self.findArchived = findArchived
    }

    /// Events that are not in the indexes yet.
    var pendingCount: Int { recent.count }

    /// Whether the log has an event with this id.
    ///
    /// Nearly always that is known without a look at the file: ids that begin with their time come in about that order.
    mutating func holds(_ id: UUID) throws(SQLiteError) -> Bool {
        if recent[id] != nil { return true }
        if id.isTimeOrdered, newest.map({ $0.words < id.words }) ?? true { return false }
        if try Self.holds(id, &find) { return true }
        return try Self.holds(id, &findArchived)
    }

    private static func holds(
        _ id: UUID, _ statement: inout Statement
    ) throws(SQLiteError) -> Bool {
        defer { statement.reset() }
        try statement.bind(1, id.bytes)
        return try statement.step()
    }

    /// Takes in what has just been committed.
    mutating func add(_ records: CanonicalRecords) {
        for index in 0..<records.count { recent[records.id(index)] = records.position(index) }
    }

    /// Puts the events up to `head`, the last one, where they belong, in one transaction.
    mutating func write(through head: Int64, to connection: Connection) throws(SQLiteError) {
        guard head > through else { return }
        var known = newest
        for id in recent.keys where id.isTimeOrdered {
            if known.map({ $0.words < id.words }) ?? true { known = id }
        }
        try connection.transaction { () throws(SQLiteError) in
            try Self.write(after: through, through: head, newest: known, to: connection)
        }
        (through, newest) = (head, known)
        recent.removeAll(keepingCapacity: recent.count <= 2 * Self.dueCount)
    }

    /// The same inside the caller's transaction, in any file of events.
    static func write(
        after: Int64, through: Int64, newest: UUID?, to connection: Connection
    ) throws(SQLiteError) {
        for first in stride(from: after + 1, through: through, by: Int(sortedCount)) {
            let last = min(first + sortedCount - 1, through)
            let range = "FROM event WHERE position BETWEEN \(first) AND \(last)"
            try connection.execute(
                """
                INSERT INTO event_id SELECT id, position \(range) ORDER BY id;
                INSERT INTO stream_event SELECT stream, position \(range) ORDER BY stream, position;
                INSERT INTO category_event SELECT category, position \(range) ORDER BY category, position;
                """)
        }
        var update = try connection.prepare("UPDATE indexed SET through = ?1, newest_id = ?2")
        try update.bind(1, through)
        if let newest { try update.bind(2, newest.bytes) } else { try update.bindNull(2) }
        try update.run()
    }
}

extension UUID {
    /// Whether it begins with its time: version 7 of RFC 9562.
    fileprivate var isTimeOrdered: Bool { uuid.6 >> 4 == 7 }
}
