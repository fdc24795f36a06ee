// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import DeferredSQLite
internal import Foundation

/// What answers SELECTs: a file, or a transaction in it.
protocol SQLiteReader {
    /// All rows of a SELECT.
    func rows(_ sql: String, _ values: [SQLiteValue]) throws -> [[SQLiteValue]]
}

extension SQLiteTransaction: SQLiteReader {}

extension SQLiteReader {
    /// Whether there is a table or a view of this name.
    func has(_ table: String) throws -> Bool {
        try !rows(
            "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?",
            [.text(table)]
        ).isEmpty
    }

    /// Whether a table has a row of this object id.
    func has(_ id: Int64, in table: GeoPackage.Table) throws -> Bool {
        try !rows(
            "SELECT 1 FROM \(table.name.quotedName) WHERE \(table.key.quotedName) = ?",
            [.integer(id)]
        ).isEmpty
    }
}

/// A SQLite file of an app, with errors that name it.
struct SQLiteFile: SQLiteReader, Sendable {
    private let url: URL
    private let file: DeferredSQLiteFile

    /// Opens a file for reading, and for writing where the machine allows it.
    ///
    /// Throws ``CairnError``: `file` where it cannot be opened, `unsupported` on a machine without
    /// SQLite.
    init(_ url: URL) throws {
        self.url = url
        let path = url.path(percentEncoded: false)
        do {
            file = try DeferredSQLiteFile(
                path: path, isWritable: FileManager.default.isWritableFile(atPath: path)
            ) { bytes in
                guard let geometry = try? GeoPackageGeometry.read(bytes, nil), !geometry.isEmpty
                else { return nil }
                let box = geometry.extent
                return SQLiteBounds(
                    minX: box.xMin, minY: box.yMin, maxX: box.xMax, maxY: box.yMax)
            }
        } catch {
            throw Self.named(error, url)
        }
    }

    private static func named(_ error: any Error, _ url: URL) -> any Error {
        let name = "'\(url.path(percentEncoded: false))'"
        return switch error as? SQLiteFileError {
        case .noLibrary?:
            CairnError(
                .unsupported, "\(name) cannot be read: this machine has no library libsqlite3")
        case .unopened(let code)?:
            CairnError(.file, "\(name) cannot be opened: SQLite's error \(code)")
        case .closed?: CairnError(.invalidState, "\(name) is closed")
        case .refused(let reason)?: CairnError(.invalidArgument, "\(name): \(reason)")
        case nil: error
        }
    }

    func close() { file.close() }

    /// The rows of a SELECT, up to the one with which `take` is content (true).
    ///
    /// Throws ``CairnError`` (`invalidArgument`) for another statement, and for one that SQLite
    /// refuses; `CancellationError` in a cancelled task.
    func rows(
        _ sql: String, _ values: [SQLiteValue] = [], take: ([SQLiteValue]) throws -> Bool
    ) throws {
        do { try file.rows(sql, values, take: take) } catch { throw Self.named(error, url) }
    }

    /// All rows of a SELECT.
    func rows(_ sql: String, _ values: [SQLiteValue] = []) throws -> [[SQLiteValue]] {
        var all: [[SQLiteValue]] = []
        try rows(sql, values) { row in
            all.append(row)
            return false
        }
        return all
    }

    /// Statements that all happen or none; the row that the first of them inserted.
    @discardableResult
    func change(_ statements: [(sql: String, values: [SQLiteValue])]) throws -> Int64 {
        do { return try file.change(statements) } catch { throw Self.named(error, url) }
    }

    /// Questions and changes that all happen or none; throws what `body` throws, and as
    /// ``rows(_:_:take:)``.
    func transaction<Result: Sendable>(
        _ body: (SQLiteTransaction) throws -> Result
    ) throws -> Result {
        do { return try file.transaction(body) } catch { throw Self.named(error, url) }
    }
}

extension String {
    /// The text as a name in SQL.
    var quotedName: String { "\"" + replacingOccurrences(of: "\"", with: "\"\"") + "\"" }
}
