// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import SQLite

/// Writes rows of the table `event`, many with one statement.
///
/// SQLite's fixed cost of a statement is about a third of a row. Used by the writer's thread,
/// inside a transaction that is rolled back when this throws.
struct EventInsertion {
    /// The rows of each statement, of the greatest first.
    private static let sizes = [64, 16, 4, 1]

    private final class Sized {
        let count: Int
        var statement: Statement

        init(_ count: Int, _ connection: Connection) throws(SQLiteError) {
            self.count = count
            statement = try connection.prepare(EventRow.insertion(of: count))
        }
    }

    private let statements: [Sized]

    init(_ connection: Connection) throws(SQLiteError) {
        var statements: [Sized] = []
        for size in Self.sizes { statements.append(try Sized(size, connection)) }
        self.statements = statements
    }

    /// Inserts rows whose bytes are ranges of `bytes`.
    func write(_ rows: [EventRow], from bytes: RawSpan) throws(SQLiteError) {
        var start = 0
        for sized in statements {
            let (count, times) = (sized.count, (rows.count - start) / sized.count)
            guard times > 0 else { continue }
            try sized.statement.run(times: times, lending: bytes) {
                statement, time throws(SQLiteError) in
                for offset in 0..<count {
                    try rows[start + time * count + offset].bind(to: statement, asNumber: offset)
                }
            }
            start += times * count
        }
    }
}
