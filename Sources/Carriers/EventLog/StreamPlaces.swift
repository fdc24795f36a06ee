// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import SQLite

/// Checks that an event's stream has the preceding event, for the first event of each stream that a
/// read or a verification meets.
struct StreamPlaces: ~Copyable {
    private var findIndexed: Statement
    private var findPending: Statement
    private var findArchived: Statement

    /// - Parameter hasFloor: Whether the file records its floor.
    init(_ connection: Connection, hasFloor: Bool) throws(SQLiteError) {
        let indexed = try connection.prepare(
            "SELECT stream_position FROM event WHERE position = (SELECT min(first + count, ?2) - 1 "
                + "FROM stream_run WHERE stream = ?1 AND first < ?2 ORDER BY first DESC LIMIT 1)")
        let pending = try connection.prepare(
            "SELECT max(stream_position) FROM event WHERE stream = ?1 AND position < ?2 "
                + "AND position > (SELECT through FROM indexed)")
        findArchived = try connection.prepare(
            "SELECT \(hasFloor ? "archived" : "-1") FROM stream WHERE number = ?1 AND ?2 > 0")
        findIndexed = indexed
        findPending = pending
    }

    /// Whether the event at `position`, which has this place in its stream, has the one before it,
    /// earlier in the log.
    mutating func hasEvent(
        before place: Int64, of stream: Int64, at position: Int64
    ) throws(SQLiteError) -> Bool {
        guard place > 0 else { return place == 0 }
        let before = place - 1
        if try Self.last(of: stream, before: position, &findIndexed) == before { return true }
        if try Self.last(of: stream, before: position, &findPending) == before { return true }
        return try Self.last(of: stream, before: position, &findArchived) == before
    }

    private static func last(
        of stream: Int64, before position: Int64, _ statement: inout Statement
    ) throws(SQLiteError) -> Int64? {
        defer { statement.reset() }
        try statement.bind(1, stream)
        try statement.bind(2, position)
        return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
    }
}
