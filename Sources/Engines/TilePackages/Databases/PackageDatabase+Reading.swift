// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Geometry
internal import SQLite

extension PackageDatabase {
    /// A database that is read; its views, if any, within bounds.
    final class Reading {
        let path: String
        private let connection: Connection
        private var find: Statement?
        /// Steps of SQLite's machine for a question of a few rows, and for one of all tiles.
        private static let (fewSteps, allSteps): (Int64, Int64) = (20_000_000, 20_000_000_000)
        /// The most bytes of a text.
        private static let textLimit = 16 << 20

        init(_ path: String) throws(Failure) {
            self.path = path
            do throws(SQLiteError) {
                connection = try StepBound.run(Self.fewSteps) { () throws(SQLiteError) in
                    let connection = try Connection(path: path, mode: .read)
                    try connection.execute("PRAGMA trusted_schema = OFF; PRAGMA query_only = ON")
                    return connection
                }
            } catch { throw Failure.damaged(path, error.reason) }
        }

        func has(table name: String) throws(Failure) -> Bool {
            try !rows(
                "SELECT 1 FROM sqlite_schema WHERE name = ?1 AND type IN ('table', 'view')",
                [name], columns: 1
            ).isEmpty
        }

        /// The first thousand rows of a question, as texts; nil for NULL and for texts of more than
        /// 16 MiB.
        func rows(
            _ sql: String, _ parameters: [String] = [], columns: Int
        ) throws(Failure) -> [[String?]] {
            try bounded(Self.fewSteps) { () throws(SQLiteError) in
                var statement = try connection.prepare(sql)
                for (index, text) in parameters.enumerated() {
                    try statement.bind(index + 1, text)
                }
                var rows: [[String?]] = []
                while rows.count < 1_000, try statement.step() {
                    rows.append(
                        (0..<columns).map { column in
                            statement.isNull(column)
                                || statement.byteCount(column) > Self.textLimit
                                ? nil : statement.text(column)
                        })
                }
                return rows
            }
        }

        /// Prepares the question for one tile: its bytes and their count, by level, column, row.
        func prepareFind(_ table: String) throws(Failure) {
            let sql = """
                SELECT CASE WHEN length(tile_data) <= \(TilePackage.tileByteLimit)
                THEN tile_data END, length(tile_data) FROM \(table)
                WHERE zoom_level = ?1 AND tile_column = ?2 AND tile_row = ?3 LIMIT 1
                """
            find = try bounded(Self.fewSteps) { () throws(SQLiteError) in
                try connection.prepare(sql)
            }
        }

        /// The bytes of a tile; nil where there is none.
        func tile(level: Int, column: Int, row: Int) throws(Failure) -> [UInt8]? {
            try bounded(Self.fewSteps) { () throws(SQLiteError) -> [UInt8]? in
                defer { find?.reset() }
                try find?.bind(1, Int64(level))
                try find?.bind(2, Int64(column))
                try find?.bind(3, Int64(row))
                guard try find?.step() ?? false else { return nil }
                guard let bytes = find?.bytes(0), !bytes.isEmpty else {
                    throw SQLiteError(
                        extendedCode: 11, operation: "read",
                        reason: "tile_data of level \(level), column \(column), row \(row) has "
                            + "\(find?.integer(1) ?? 0) bytes: expected 1 to "
                            + "\(TilePackage.tileByteLimit)")
                }
                return bytes
            }
        }

        /// Level, column and row of every tile with bytes.
        func list(
            _ table: String, _ body: (Int64, Int64, Int64) throws(Failure) -> Void
        ) throws(Failure) {
            let failure = try bounded(Self.allSteps) { () throws(SQLiteError) -> Failure? in
                var statement = try connection.prepare(
                    "SELECT zoom_level, tile_column, tile_row FROM \(table)")
                do throws(Failure) {
                    while try next(&statement) {
                        try body(
                            statement.integer(0), statement.integer(1), statement.integer(2))
                    }
                } catch { return error }
                return nil
            }
            if let failure { throw failure }
        }

        /// Level, column, row, bytes and state before of every row of an update, as they lie; nil
        /// for NULL, and for a state that the update does not have.
        func changes(
            statesBefore: Bool,
            _ body: (Int64, Int64, Int64, [UInt8]?, [UInt8]?) throws(Failure) -> Void
        ) throws(Failure) {
            let before = statesBefore ? "substr(tile_before, 1, 33)" : "NULL"
            let failure = try bounded(Self.allSteps) { () throws(SQLiteError) -> Failure? in
                var statement = try connection.prepare(
                    """
                    SELECT zoom_level, tile_column, tile_row, tile_data,
                    length(tile_data) > \(TilePackage.tileByteLimit), \(before)
                    FROM tiles ORDER BY rowid
                    """)
                do throws(Failure) {
                    while try next(&statement) {
                        guard statement.integer(4) == 0 else {
                            throw Failure.damaged(path, "a tile has too many bytes")
                        }
                        try body(
                            statement.integer(0), statement.integer(1), statement.integer(2),
                            statement.isNull(3) ? nil : statement.bytes(3),
                            statement.isNull(5) ? nil : statement.bytes(5))
                    }
                } catch { return error }
                return nil
            }
            if let failure { throw failure }
        }

        private func next(_ statement: inout Statement) throws(Failure) -> Bool {
            do throws(SQLiteError) { return try statement.step() } catch {
                throw Failure.damaged(path, error.reason)
            }
        }

        private func bounded<Value: ~Copyable>(
            _ steps: Int64, _ body: () throws(SQLiteError) -> Value
        ) throws(Failure) -> Value {
            do throws(SQLiteError) { return try StepBound.run(steps, body) } catch {
                throw Failure.damaged(path, error.reason)
            }
        }
    }
}
