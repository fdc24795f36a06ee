// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import FoundationEssentials
internal import Platform
internal import SQLite

/// Reads the log's file over a connection of its own, in the process that writes it.
///
/// It sees every commit at once and holds no lock between calls. Used by one thread at a time.
public final class SQLiteEventReader: EventReader {
    let connection: Connection
    /// Whether the file records its floor: version 1 does not.
    let hasFloor: Bool
    var eventRows: EventRows
    private var decoder = RecordDecoder()
    private var places: StreamPlaces
    private var readAll: RowScan
    private var readRun: RowScan
    private var findStreamRuns: Statement
    private var findCategoryRuns: Statement
    private var readID: RowScan
    private var findHead: Statement
    private var findIndexed: Statement
    private var findPending: Statement
    private var findInCategory: Statement
    private var findHeads: Statement
    private var findFloor: Statement
    private var findArchived: Statement

    /// Opens a log file for reading; throws `Failure` (`unreadable`, `newerVersion`, `corrupt`).
    public convenience init(path: String) throws(Failure) {
        do {
            let connection = try Connection(path: path, mode: .read)
            let version = try SQLiteSchema.check(connection)
            try connection.execute(SQLiteSchema.views(of: version))
            try connection.execute("PRAGMA query_only = ON")
            try self.init(connection: connection, version: version)
        } catch {
            throw SQLiteSchema.opening(path, error)
        }
    }

    init(
        connection: Connection, version: Int64 = SQLiteSchema.version
    ) throws(SQLiteError) {
        hasFloor = version >= 2
        self.connection = connection
        eventRows = try EventRows(connection)
        places = try StreamPlaces(connection, hasFloor: hasFloor)
        readAll = try connection.scan(
            EventRows.columns,
            "FROM event WHERE event.position > ?1 ORDER BY event.position LIMIT ?2")
        readRun = try connection.scan(
            "\(EventRows.columns), event.category",
            "FROM event WHERE event.position BETWEEN ?1 AND ?2 ORDER BY event.position")
        findStreamRuns = try connection.prepare(Self.runs(of: "stream"))
        findCategoryRuns = try connection.prepare(Self.runs(of: "category"))
        readID = try connection.scan(
            EventRows.columns,
            "FROM event WHERE event.position IN (SELECT position FROM event_id WHERE id = ?1 "
                + "UNION ALL SELECT position FROM event WHERE \(Self.isPending) AND id = ?1)")
        findHead = try connection.prepare("SELECT max(position) FROM event")
        findIndexed = try connection.prepare(
            "SELECT stream_position FROM event WHERE position = (SELECT first + count - 1 "
                + "FROM stream_run WHERE stream = (SELECT number FROM stream WHERE name = ?1) "
                + "ORDER BY first DESC LIMIT 1)")
        findPending = try connection.prepare(
            "SELECT max(stream_position) FROM event WHERE \(Self.isPending) AND stream = "
                + "(SELECT number FROM stream WHERE name = ?1)")
        let category = "category = (SELECT number FROM category WHERE name = ?2)"
        findInCategory = try connection.prepare(
            "SELECT max(position) FROM ("
                + "SELECT * FROM (SELECT min(first + count - 1, ?1) AS position FROM category_run "
                + "WHERE first <= ?1 AND \(category) ORDER BY first DESC LIMIT 1) "
                + "UNION ALL SELECT max(position) FROM event "
                + "WHERE \(Self.isPending) AND position <= ?1 AND \(category))")
        findHeads = try connection.prepare(
            "SELECT name, coalesce("
                + "(SELECT max(position) FROM event WHERE \(Self.isPending) AND category = "
                + "number), "
                + "(SELECT first + count - 1 FROM category_run WHERE category = number "
                + "ORDER BY first DESC LIMIT 1), "
                + (hasFloor ? "archived" : "0") + ") FROM category")
        findFloor = try connection.prepare(
            hasFloor ? "SELECT max(last) FROM archive" : "SELECT 0")
        findArchived = try connection.prepare(
            hasFloor
                ? "SELECT position FROM archived_event WHERE id = ?1" : "SELECT 0 WHERE ?1 IS NULL")
    }

    /// The condition for events that are not in the indexes yet.
    private static let isPending = "event.position > (SELECT through FROM indexed)"

    /// The runs of events after ?1 of the stream or category named ?3, with its number: at most ?2
    /// runs from the index, from the run that contains ?1, then the events not yet indexed.
    ///
    /// One statement, for one consistent read.
    private static func runs(of kind: String) -> String {
        let number = "(SELECT number FROM \(kind) WHERE name = ?3)"
        return """
            SELECT start, last, \(number) FROM (
                SELECT * FROM (
                    SELECT max(first, ?1 + 1) AS start, first + count - 1 AS last FROM \(kind)_run
                    WHERE \(kind) = \(number) AND first + count - 1 > ?1 AND first >= coalesce(
                        (SELECT first FROM \(kind)_run WHERE \(kind) = \(number) AND first <= ?1
                        ORDER BY first DESC LIMIT 1), 0)
                    ORDER BY first LIMIT ?2)
                UNION ALL
                SELECT * FROM (
                    SELECT position, position FROM event
                    WHERE \(isPending) AND position > ?1 AND \(kind) = \(number)
                    ORDER BY position LIMIT ?2))
            ORDER BY start LIMIT ?2
            """
    }

    /// The file.
    public var path: String { connection.path }

    /// The last global position.
    public func head() throws(Failure) -> Int64 {
        try query { () throws(SQLiteError) in
            defer { findHead.reset() }
            return try findHead.step() ? findHead.integer(0) : 0
        }
    }

    /// The global position up to which events are archived and no longer read from this file; 0 for
    /// none.
    func floor() throws(Failure) -> Int64 {
        try query { () throws(SQLiteError) in
            defer { findFloor.reset() }
            return try findFloor.step() ? findFloor.integer(0) : 0
        }
    }

    /// The archived position of the event with this id; nil for none.
    func archivedPosition(of id: UUID) throws(Failure) -> Int64? {
        try query { () throws(SQLiteError) in
            defer { findArchived.reset() }
            try findArchived.bind(1, id.bytes)
            return try findArchived.step() ? findArchived.integer(0) : nil
        }
    }

    /// The stream's last position; nil when it has no event.
    public func lastPosition(of stream: StreamName) throws(Failure) -> Int64? {
        let pending = try query { () throws(SQLiteError) in
            try Self.position(of: stream, &findPending)
        }
        if let pending { return pending }
        return try lastIndexedPosition(of: stream)
    }

    /// The last position of a stream whose events are all indexed.
    func lastIndexedPosition(of stream: StreamName) throws(Failure) -> Int64? {
        let inFile = try query { () throws(SQLiteError) in
            try Self.position(of: stream, &findIndexed)
        }
        if let inFile { return inFile }
        return try archivedPosition(of: stream.rawValue)
    }

    private static func position(
        of stream: StreamName, _ statement: inout Statement
    ) throws(SQLiteError) -> Int64? {
        defer { statement.reset() }
        try statement.bind(1, stream.rawValue)
        guard try statement.step(), !statement.isNull(0) else { return nil }
        return statement.integer(0)
    }

    /// The category's last event at or before `position`.
    public func lastGlobalPosition(
        inCategory category: String, through position: Int64
    ) throws(Failure) -> Int64 {
        try query { () throws(SQLiteError) in
            defer { findInCategory.reset() }
            try findInCategory.bind(1, position)
            try findInCategory.bind(2, category)
            return try findInCategory.step() ? findInCategory.integer(0) : 0
        }
    }

    /// The global position of the last event in each category.
    public func categoryHeads() throws(Failure) -> [String: Int64] {
        try query { () throws(SQLiteError) in
            defer { findHeads.reset() }
            var heads: [String: Int64] = [:]
            while try findHeads.step() { heads[findHeads.text(0)] = findHeads.integer(1) }
            return heads
        }
    }

    /// Events in the order of the log, in their canonical bytes (`Docs/event-log-format.md`), which
    /// are not looked into; otherwise as `read`.
    public func readCanonical(_ range: ReadRange) throws(Failure) -> CanonicalSlice {
        let rows = try rows(range)
        if rows.records.isEmpty, let fault = rows.fault {
            throw Failure(.corrupt, "sequence \(fault.position): \(fault.message)")
        }
        return CanonicalSlice(
            records: rows.records, last: rows.last, isLast: rows.isLast && rows.fault == nil)
    }

    /// Events in the order of the log.
    public func read(_ range: ReadRange) throws(Failure) -> EventSlice {
        let rows = try rows(range)
        if rows.records.isEmpty, let fault = rows.fault {
            throw Failure(.corrupt, "sequence \(fault.position): \(fault.message)")
        }
        do throws(Failure) {
            return EventSlice(
                events: try rows.records.decoded(by: &decoder),
                isLast: rows.isLast && rows.fault == nil)
        } catch {
            return try readSingly(rows.records)
        }
    }

    /// Reads the records before the first malformed one, which has a valid checksum all the same.
    private func readSingly(_ records: CanonicalRecords) throws(Failure) -> EventSlice {
        var events: [RecordedEvent] = []
        for index in 0..<records.count {
            guard let event = try? decoder.record(index, of: records) else { break }
            events.append(event)
        }
        if events.isEmpty {
            throw Failure(
                .corrupt, "sequence \(records.position(0)): the record is malformed")
        }
        return EventSlice(events: events, isLast: false)
    }

    /// The records of a range up to the first that is damaged, and that damage.
    func rows(_ range: ReadRange) throws(Failure) -> Rows {
        switch range.filter {
        case .all:
            return try collect(&readAll, range) { statement throws(SQLiteError) in
                try statement.bind(1, range.after)
                try statement.bind(2, Self.limit(range))
            }
        case .stream(let stream):
            let runs = try runs(of: stream.rawValue, in: range, &findStreamRuns)
            return try collect(runs, of: Self.streamColumn, range)
        case .category(let category):
            let runs = try runs(of: category, in: range, &findCategoryRuns)
            return try collect(runs, of: Self.categoryColumn, range)
        }
    }

    /// One row beyond the limit shows that there are more.
    private static func limit(_ range: ReadRange) -> Int64 {
        Int64(min(max(0, range.limit), .max - 1)) + 1
    }

    /// Neighbours in the log that are of one stream or category.
    private struct Run {
        let first: Int64
        let last: Int64
        let number: Int64
    }

    private func runs(
        of name: String, in range: ReadRange, _ statement: inout Statement
    ) throws(Failure) -> [Run] {
        defer { statement.reset() }
        do throws(SQLiteError) {
            try statement.bind(1, range.after)
            try statement.bind(2, Self.limit(range))
            try statement.bind(3, name)
            var runs: [Run] = []
            while try statement.step() {
                runs.append(
                    Run(
                        first: statement.integer(0), last: statement.integer(1),
                        number: statement.integer(2)))
            }
            return runs
        } catch {
            throw Failure(log: error)
        }
    }

    func record(id: UUID) throws(Failure) -> RecordedEvent? {
        let rows = try collect(&readID, ReadRange(after: 0, limit: 1)) {
            statement throws(SQLiteError) in
            try statement.bind(1, id.bytes)
        }
        if let fault = rows.fault {
            throw Failure(.corrupt, "sequence \(fault.position): \(fault.message)")
        }
        guard !rows.records.isEmpty else { return nil }
        return try decoder.record(0, of: rows.records)
    }

    /// Reads rows until a bound is met, and checks each against its checksum.
    private func collect(
        _ statement: inout RowScan, _ range: ReadRange,
        bind: (inout RowScan) throws(SQLiteError) -> Void
    ) throws(Failure) -> Rows {
        defer { statement.reset() }
        var rows = Rows()
        do throws(SQLiteError) { try bind(&statement) } catch { throw Failure(log: error) }
        while try step(&statement, near: (rows.last ?? range.after) + 1, &rows) {
            guard try take(statement, range, to: &rows) else { return rows }
        }
        rows.isLast = rows.fault == nil
        return rows
    }

    private static let streamColumn = 1
    private static let categoryColumn = 10

    /// Collects the events of one stream or category, which each row names in a column.
    private func collect(
        _ runs: [Run], of column: Int, _ range: ReadRange
    ) throws(Failure) -> Rows {
        var rows = Rows()
        var place: Int64?
        for run in runs {
            defer { readRun.reset() }
            do throws(SQLiteError) {
                try readRun.bind(1, run.first)
                try readRun.bind(2, run.last)
            } catch {
                throw Failure(log: error)
            }
            var next = run.first
            while try step(&readRun, near: next, &rows) {
                let position = readRun.integer(0)
                guard position == next, readRun.integer(column) == run.number else { break }
                next += 1
                guard rows.records.count < range.limit else { return rows }
                do throws(LogFault) {
                    if column == Self.streamColumn { try check(readRun, after: place) }
                } catch {
                    rows.fault = error
                    return rows
                }
                place = readRun.integer(2)
                guard try take(readRun, range, to: &rows) else { return rows }
            }
            guard rows.fault == nil else { return rows }
            // Events that were in the file when its runs were read may have been archived since.
            if next <= run.last, try floor() < next {
                rows.fault = LogFault(
                    position: next, message: "the index entry does not match its event")
                return rows
            }
        }
        rows.isLast = true
        return rows
    }

    /// Takes a row; false when a bound is met or the record is damaged.
    private func take(
        _ row: borrowing RowScan, _ range: ReadRange, to rows: inout Rows
    ) throws(Failure) -> Bool {
        guard rows.records.count < range.limit else { return false }
        do throws(LogFault) {
            try eventRows.append(row, to: &rows.records)
        } catch {
            rows.fault = error
            return false
        }
        guard rows.records.count == 1 || rows.records.byteCount <= range.byteLimit else {
            rows.records.removeLast()
            return false
        }
        rows.last = row.integer(0)
        return true
    }

    /// Checks that the index of streams has no gap between the row with the position `last` and
    /// this one; nil for the first row.
    private func check(
        _ row: borrowing RowScan, after last: Int64?
    ) throws(LogFault) {
        let (position, stream, place) = (row.integer(0), row.integer(1), row.integer(2))
        let isThere =
            if let last {
                place == last + 1
            } else {
                try hasEvent(before: place, of: stream, at: position)
            }
        guard !isThere else { return }
        throw LogFault(
            position: position, message: "its stream has no event before position \(place)")
    }

    /// Whether the event at `position`, which has this place in its stream, has the one before it.
    func hasEvent(
        before place: Int64, of stream: Int64, at position: Int64
    ) throws(LogFault) -> Bool {
        do {
            return try places.hasEvent(before: place, of: stream, at: position)
        } catch {
            throw LogFault(near: position, in: path, error)
        }
    }

    /// Advances to the next row; in a damaged file it ends the rows and records the position of the
    /// damage.
    private func step(
        _ statement: inout RowScan, near position: Int64, _ rows: inout Rows
    ) throws(Failure) -> Bool {
        do throws(SQLiteError) {
            return try statement.step()
        } catch {
            guard error.isCorrupt else { throw Failure(log: error) }
            rows.fault = LogFault(near: position, in: path, error)
            return false
        }
    }

    func query<Value>(
        _ body: () throws(SQLiteError) -> Value
    ) throws(Failure) -> Value {
        do { return try body() } catch { throw Failure(log: error, at: path) }
    }
}

/// Events read at once and not looked into.
public struct CanonicalSlice: Hashable, Sendable {
    /// Their canonical bytes, in the order of the log.
    public var records: CanonicalRecords
    /// Global position of the last event; nil for an empty page.
    public var last: Int64?
    /// Whether the end was reached.
    public var isLast: Bool
}

/// Records of the file, with the fault that ended them.
struct Rows {
    var records = CanonicalRecords()
    /// Global position of the last event; nil for an empty page.
    var last: Int64?
    var fault: LogFault?
    /// Whether the end was reached.
    var isLast = false
}
