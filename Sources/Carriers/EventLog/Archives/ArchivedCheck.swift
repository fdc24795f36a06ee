// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import SQLite

/// Compares the log file's records of archived events with the archives: ids, and the ends of
/// streams and categories.
///
/// ``fault(in:of:after:through:)`` finds missing entries. Surplus entries follow from counts:
/// streams count up from 0, so if no end is too low and the sum equals the number of archived
/// events, each end is right.
enum ArchivedCheck {
    /// The last evicted event: the floor, or less while the eviction up to it is under way.
    private static let evicted = """
        SELECT coalesce(min(last, coalesce((SELECT min(position) FROM event) - 1, last)), 0)
        FROM (SELECT max(last) AS last FROM archive)
        """

    /// A fault at an archived event after `after` for which the log's file lacks an entry; nil for
    /// none.
    static func fault(
        in log: Connection, of archive: Connection, after: Int64, through: Int64
    ) throws(SQLiteError) -> LogFault? {
        let last = min(through, try log.integer(evicted) ?? 0)
        guard last > after else { return nil }
        var events = try archive.scan(
            "position, id, stream, stream_position, category",
            "FROM event WHERE position > ?1 AND position <= ?2 ORDER BY position")
        try events.bind(1, after)
        try events.bind(2, last)
        var ids = try IDCheck(log, table: "archived_event", called: "the list of archived ids")
        var streams: [Int64: End] = [:]
        var categories: [Int64: End] = [:]
        while try events.step() {
            let position = events.integer(0)
            do throws(LogFault) { try ids.take(events, 1, at: position) } catch { return error }
            streams[events.integer(2)] = End(number: events.integer(3), position: position)
            categories[events.integer(4)] = End(number: position, position: position)
        }
        return [
            try ids.fault(through: last), try fault("stream", streams, log, archive),
            try fault("category", categories, log, archive),
        ].compactMap { $0 }.min { $0.position < $1.position }
    }

    /// The last event of a stream or category among some.
    private struct End {
        /// The least position that the file must record.
        var number: Int64
        var position: Int64
    }

    /// The first stream or category whose recorded end is too low.
    private static func fault(
        _ kind: String, _ ends: [Int64: End], _ log: Connection, _ archive: Connection
    ) throws(SQLiteError) -> LogFault? {
        var findName = try archive.prepare("SELECT name FROM \(kind) WHERE number = ?1")
        var find = try log.prepare("SELECT archived FROM \(kind) WHERE name = ?1")
        var first: LogFault?
        for (number, end) in ends where end.position < first?.position ?? .max {
            defer {
                findName.reset()
                find.reset()
            }
            try findName.bind(1, number)
            guard try findName.step() else { continue }
            try find.bind(1, findName.text(0))
            if try find.step(), find.integer(0) >= end.number { continue }
            first = LogFault(
                position: end.position, message: "its \(kind) ends before it in the log's file")
        }
        return first
    }

    /// Whether the counts of ids and of stream positions equal the number of archived events.
    static func totals(in log: Connection) throws(SQLiteError) -> LogFault? {
        // One statement, and so of one moment.
        var totals = try log.prepare(
            """
            SELECT (\(evicted)), (SELECT count(*) FROM archived_event),
                (SELECT total(archived + 1) FROM stream)
            """)
        guard try totals.step() else { return nil }
        let (last, ids, events) = (totals.integer(0), totals.integer(1), totals.integer(2))
        let message: String? =
            if ids != last {
                "the list of archived ids has \(ids) of \(last) events"
            } else if events != last {
                "the streams of the log's file end after \(events) archived events, of \(last)"
            } else {
                nil
            }
        return message.map { LogFault(position: max(1, last), message: $0) }
    }

    /// The recorded end of each category in the archives, and the last evicted event.
    static func categories(
        in log: Connection
    ) throws(SQLiteError) -> (ends: [(name: String, position: Int64)], evicted: Int64) {
        var rows = try log.prepare(
            "SELECT name, archived, (\(evicted)) FROM category WHERE archived <> 0")
        var found: (ends: [(name: String, position: Int64)], evicted: Int64) = ([], 0)
        while try rows.step() {
            found.ends.append((rows.text(0), rows.integer(1)))
            found.evicted = rows.integer(2)
        }
        return found
    }
}
