// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import FoundationEssentials
internal import SQLite

/// The indexes of events by id, stream and category.
///
/// A commit writes rows of the table `event` alone: three more trees would touch a page for every
/// stream of each commit, at more cost than the rest of it. Some thousand events later all of them
/// are indexed at once, in the order of each tree. Until then readers scan the events after
/// `through`, and the writer remembers their ids. Used by the writer's thread alone.
struct EventIndexes: ~Copyable {
    /// Number of pending events worth a transaction of their own while the log is idle.
    static let worthwhileCount = 1_024
    /// Number of pending events at which indexing is no longer deferred.
    static let dueCount = 4_096
    /// Number of pending events at which appends are refused: a disk without room for indexes is
    /// full.
    static let bound = 65_536

    /// Number of events per step when a whole file is indexed.
    private static let stepCount: Int64 = 20_000

    /// The last event that is in the indexes.
    private(set) var through: Int64
    /// The events after it, in their order.
    private var recent: RecentIDs
    private var runs: EventRuns
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
                reason: "it does not state the position of its indexes")
        }
        let through = state.integer(0)
        var recent = RecentIDs()
        let runs = try Self.runs(after: through, through: .max, of: connection) { id in
            if let id { recent.append(id) }
        }
        newest = UUID(bytes: state.bytes(1))
        self.through = through
        self.recent = recent
        self.runs = runs
        self.find = find
        self.findArchived = findArchived
    }

    /// Events that are not in the indexes yet.
    var pendingCount: Int { recent.ids.count }

    /// Whether the log has an event with this id.
    ///
    /// The answer rarely needs the file: time-ordered ids arrive in about that order.
    mutating func holds(_ id: UUID) throws(SQLiteError) -> Bool {
        if recent.place(of: id) != nil { return true }
        if id.isTimeOrdered, id.isTimeOrdered(after: newest) { return false }
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

    /// Adds the ids and rows of a commit.
    mutating func append(_ ids: [UUID], _ committed: EventRuns) {
        for id in ids { recent.append(id) }
        runs.append(committed)
    }

    /// Puts the events up to `head`, the last one, where they belong, in one transaction.
    mutating func write(through head: Int64, to connection: Connection) throws(SQLiteError) {
        guard head > through else { return }
        let known = recent.newest.map { $0.isTimeOrdered(after: newest) ? $0 : newest } ?? newest
        // Ids that all begin with their time come in about the order of their tree.
        let isInOrder = recent.ids.allSatisfy(\.isTimeOrdered)
        let (through, runs) = (through, runs)
        try connection.transaction { () throws(SQLiteError) in
            try Self.writeIDs(after: through, through: head, isInOrder: isInOrder, to: connection)
            try runs.write(to: connection)
            try Self.note(through: head, newest: known, in: connection)
        }
        (self.through, newest) = (head, known)
        let isUsual = recent.ids.count <= 2 * Self.dueCount
        recent.removeAll(keepingCapacity: isUsual)
        self.runs.removeAll(keepingCapacity: isUsual)
    }

    /// Indexes events of a file of which none is indexed, inside the caller's transaction.
    static func write(
        after: Int64, through: Int64, newest: UUID?, to connection: Connection
    ) throws(SQLiteError) {
        try inSteps(after: after, through: through) { after, through throws(SQLiteError) in
            try writeIDs(after: after, through: through, isInOrder: false, to: connection)
            try runs(after: after, through: through, of: connection).write(to: connection)
        }
        try note(through: through, newest: newest, in: connection)
    }

    /// Writes the runs of a file that has the other indexes, inside the caller's transaction.
    static func writeRuns(
        after: Int64, through: Int64, to connection: Connection
    ) throws(SQLiteError) {
        try inSteps(after: after, through: through) { after, through throws(SQLiteError) in
            try runs(after: after, through: through, of: connection).write(to: connection)
        }
    }

    private static func inSteps(
        after: Int64, through: Int64, _ body: (Int64, Int64) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        var after = after
        while after < through {
            let end = min(after + stepCount, through)
            try body(after, end)
            after = end
        }
    }

    private static func writeIDs(
        after: Int64, through: Int64, isInOrder: Bool, to connection: Connection
    ) throws(SQLiteError) {
        var insert = try connection.prepare(
            // As with the rows of `event`: the writer rolls the whole transaction back.
            "INSERT OR FAIL INTO event_id SELECT id, position FROM event WHERE position > ?1 "
                + "AND position <= ?2 ORDER BY \(isInOrder ? "position" : "id")")
        try insert.bind(1, after)
        try insert.bind(2, through)
        try insert.run()
    }

    /// The runs of events in the file; `see` gets the id of each, nil for a malformed one.
    private static func runs(
        after: Int64, through: Int64, of connection: Connection, see: (UUID?) -> Void = { _ in }
    ) throws(SQLiteError) -> EventRuns {
        var runs = EventRuns()
        var events = try connection.prepare(
            "SELECT position, stream, category, id FROM event WHERE position > ?1 "
                + "AND position <= ?2 ORDER BY position")
        try events.bind(1, after)
        try events.bind(2, through)
        while try events.step() {
            runs.append(
                stream: events.integer(1), category: events.integer(2), first: events.integer(0),
                count: 1)
            see(UUID(bytes: events.bytes(3)))
        }
        return runs
    }

    private static func note(
        through: Int64, newest: UUID?, in connection: Connection
    ) throws(SQLiteError) {
        var update = try connection.prepare("UPDATE indexed SET through = ?1, newest_id = ?2")
        try update.bind(1, through)
        if let newest { try update.bind(2, newest.bytes) } else { try update.bindNull(2) }
        try update.run()
    }
}
