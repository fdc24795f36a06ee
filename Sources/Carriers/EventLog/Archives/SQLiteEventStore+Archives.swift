// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Codecs
internal import FoundationEssentials
internal import Platform
internal import SQLite

/// Changes to the file when its first part has been archived, each inside a transaction.
extension SQLiteEventStore {
    static func store(_ archive: LogArchive, in connection: Connection) throws(SQLiteError) {
        var insert = try connection.prepare(
            """
            INSERT INTO archive (last, first, name, byte_count, file_hash) \
            VALUES (?1, ?2, ?3, ?4, ?5)
            """)
        try insert.bind(1, archive.last)
        try insert.bind(2, archive.first)
        try insert.bind(3, archive.name)
        try insert.bind(4, archive.byteCount)
        try insert.bind(5, Hexadecimal.decode(archive.fileHash) ?? [])
        try insert.run()
    }

    static func incarnation(_ connection: Connection) throws(SQLiteError) -> UUID {
        var newest = try connection.prepare(
            "SELECT id FROM incarnation ORDER BY number DESC LIMIT 1")
        guard try newest.step(), let id = UUID(bytes: newest.bytes(0)) else {
            throw SQLiteError(
                extendedCode: 11, operation: "open", reason: "it does not name its incarnation")
        }
        return id
    }

    static func isEvictionDue(_ connection: Connection) throws(SQLiteError) -> Bool {
        guard let floor = try connection.integer("SELECT max(last) FROM archive") else {
            return false
        }
        return try connection.integer("SELECT min(position) FROM event") ?? .max <= floor
    }

    /// Removes events at or before `floor`, the first ones first.
    ///
    /// It keeps their ids, the ends of their streams and categories, and the hash of the last
    /// batch.
    static func evict(
        through floor: Int64, limit: Int, from connection: Connection
    ) throws(SQLiteError) -> Bool {
        guard let first = try connection.integer("SELECT min(position) FROM event"), first <= floor
        else { return false }
        let last = min(floor, first + Int64(limit) - 1)
        try connection.execute(
            """
            INSERT INTO archived_event SELECT id, position FROM event WHERE position <= \(last);
            UPDATE stream SET archived = gone.last FROM (
                SELECT stream AS number, max(stream_position) AS last FROM event
                WHERE position <= \(last) GROUP BY stream
            ) AS gone WHERE stream.number = gone.number;
            UPDATE category SET archived = gone.last FROM (
                SELECT category AS number, max(position) AS last FROM event
                WHERE position <= \(last) GROUP BY category
            ) AS gone WHERE category.number = gone.number;
            DELETE FROM event_id WHERE id IN (SELECT id FROM event WHERE position <= \(last));
            \(forgetRuns(of: "stream", through: last))
            \(forgetRuns(of: "category", through: last))
            DELETE FROM event WHERE position <= \(last);
            DELETE FROM batch WHERE last < \(last) AND last < \(floor);
            """)
        return last < floor
    }

    /// Removes runs through `last`; the rest of a run that goes on after it stays.
    private static func forgetRuns(of kind: String, through last: Int64) -> String {
        """
        INSERT INTO \(kind)_run SELECT \(kind), \(last + 1), first + count - 1 - \(last)
            FROM \(kind)_run WHERE \(kind) = (SELECT \(kind) FROM event WHERE position = \(last))
            AND first <= \(last) AND first + count - 1 > \(last);
        DELETE FROM \(kind)_run WHERE (\(kind), first) IN (
            SELECT \(kind), position FROM event WHERE position <= \(last));
        """
    }
}
