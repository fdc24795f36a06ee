// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Codecs
internal import FoundationEssentials
internal import Platform
internal import SQLite

extension LogArchive {
    /// The archive folder of a log file.
    static func folder(ofLog path: String) -> String {
        (path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".") + "/archives"
    }
}

/// The part of a log that has moved from its file into archives.
extension SQLiteEventReader {
    /// The archives before this file, in the order of the log.
    func archives() throws(Failure) -> [LogArchive] {
        guard hasFloor else { return [] }
        return try query { () throws(SQLiteError) in
            var rows = try connection.prepare(
                "SELECT first, last, name, byte_count, file_hash FROM archive ORDER BY last")
            var archives: [LogArchive] = []
            while try rows.step() {
                archives.append(
                    LogArchive(
                        first: rows.integer(0), last: rows.integer(1), name: rows.text(2),
                        byteCount: rows.integer(3), fileHash: Hexadecimal.encode(rows.bytes(4))))
            }
            return archives
        }
    }

    /// A fault at an archived event after `after` for which the file lacks an entry; nil for none.
    func archivedFault(
        in archive: SQLiteEventReader, after: Int64, through: Int64
    ) throws(Failure) -> LogFault? {
        try query { () throws(SQLiteError) in
            try ArchivedCheck.fault(
                in: connection, of: archive.connection, after: after, through: through)
        }
    }

    /// The log's incarnation; nil for a file of version 1.
    func incarnation() throws(Failure) -> UUID? {
        guard hasFloor else { return nil }
        return try query { () throws(SQLiteError) in
            try SQLiteEventStore.incarnation(connection)
        }
    }

    /// The last archived position of a stream; nil for none.
    func archivedPosition(of stream: String) throws(Failure) -> Int64? {
        let found = try value("SELECT archived FROM stream WHERE name = ?1") {
            statement throws(SQLiteError) in
            try statement.bind(1, stream)
        }
        return found.flatMap { $0 < 0 ? nil : $0 }
    }

    /// The category's last event at or before `position` according to this file; nil where only the
    /// archives have it.
    func lastGlobalPosition(
        inFileOf category: String, through position: Int64
    ) throws(Failure) -> Int64? {
        let found = try lastGlobalPosition(inCategory: category, through: position)
        if found > 0 { return found }
        let archived = try value("SELECT archived FROM category WHERE name = ?1") {
            statement throws(SQLiteError) in
            try statement.bind(1, category)
        }
        guard let archived, archived > 0 else { return 0 }
        return archived <= position ? archived : nil
    }

    /// The chain's value after the batch that ends at a position, 64 hexadecimal digits; nil when
    /// no batch ends there.
    func chainHash(at position: Int64) throws(Failure) -> String? {
        try query { () throws(SQLiteError) in
            var statement = try connection.prepare("SELECT hash FROM batch WHERE last = ?1")
            try statement.bind(1, position)
            guard try statement.step() else { return nil }
            return BatchHash(stored: statement.bytes(0)).map { Hexadecimal.encode($0.chain) }
        }
    }

    /// The end of the last batch wholly at or before a position; 0 for none.
    func batchEnd(through position: Int64) throws(Failure) -> Int64 {
        try query { () throws(SQLiteError) in
            var statement = try connection.prepare("SELECT max(last) FROM batch WHERE last <= ?1")
            try statement.bind(1, position)
            return try statement.step() ? statement.integer(0) : 0
        }
    }

    /// The first column of the first row; nil for none, for NULL, and in a file of version 1, which
    /// has no floor.
    private func value(
        _ sql: String, bind: (inout Statement) throws(SQLiteError) -> Void = { _ in }
    ) throws(Failure) -> Int64? {
        guard hasFloor else { return nil }
        return try query { () throws(SQLiteError) in
            var statement = try connection.prepare(sql)
            try bind(&statement)
            guard try statement.step(), !statement.isNull(0) else { return nil }
            return statement.integer(0)
        }
    }
}
