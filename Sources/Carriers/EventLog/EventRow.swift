// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import SQLite

/// A row of the table `event` to be inserted; its bytes are ranges of those of its commit.
struct EventRow {
    private static let columnCount = 10

    let stream: Int64
    let category: Int64
    /// Microseconds since 1970.
    let time: Int64
    let place: NewRecords.Place
    /// Offset of its record in the bytes of the commit.
    let start: Int
    let checksum: UInt32

    /// The statement that inserts `count` rows at the positions after the last one in the table.
    ///
    /// SQLite assigns the positions: for given ones it would search the table each time before it
    /// goes to the end.
    ///
    /// `OR FAIL`: the caller rolls the transaction back. Otherwise SQLite would copy each page that
    /// the statement changes, to undo it alone.
    static func insertion(of count: Int) -> String {
        let row = "(" + Array(repeating: "?", count: columnCount).joined(separator: ", ") + ")"
        return "INSERT OR FAIL INTO event (stream, stream_position, category, "
            + "recorded_at, id, type, schema, metadata, data, crc) VALUES "
            + Array(repeating: row, count: count).joined(separator: ", ")
    }

    /// Binds it as one of the statement's rows, the first of which is 0.
    func bind(to row: borrowing Statement.Row, asNumber number: Int) throws(SQLiteError) {
        let base = number * Self.columnCount
        try row.bind(base + 1, stream)
        try row.bind(base + 2, place.streamPosition)
        try row.bind(base + 3, category)
        try row.bind(base + 4, time)
        try row.bind(base + 5, blob: inCommit(NewRecords.id))
        try row.bind(base + 6, text: inCommit(place.type))
        try row.bind(base + 7, place.schema)
        try row.bind(base + 8, blob: inCommit(place.metadata))
        try row.bind(base + 9, blob: inCommit(place.data))
        try row.bind(base + 10, Int64(checksum))
    }

    private func inCommit(_ range: Range<Int>) -> Range<Int> {
        range.lowerBound + start..<range.upperBound + start
    }
}
