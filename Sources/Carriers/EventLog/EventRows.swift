// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Platform
internal import SQLite

/// Rows of the table `event` as canonical bytes, without a value for each column.
struct EventRows: ~Copyable {
    /// The columns that a statement must select.
    static let columns = """
        event.position, event.stream, stream_position, recorded_at, id, schema, type, metadata, \
        data, crc
        """
    /// Most names remembered; beyond it all are dropped and read again.
    private static let bound = 50_000

    private var findName: Statement
    private var names: [Int64: [UInt8]] = [:]
    /// The stream met last: neighbours often are of one.
    private var last: (number: Int64, name: [UInt8]) = (-1, [])

    init(_ connection: Connection) throws(SQLiteError) {
        findName = try connection.prepare("SELECT name FROM stream WHERE number = ?1")
    }

    /// Appends the canonical bytes of a row to others; throws for a damaged row, and then appends
    /// nothing.
    mutating func append(
        _ row: borrowing RowScan, to records: inout CanonicalRecords
    ) throws(LogFault) {
        let position = row.integer(0)
        let number = row.integer(1)
        if number != last.number { last = (number, try name(of: number, at: position)) }
        let (id, isID) = row.withBytes(4) { bytes in
            bytes.byteCount == 16
                ? ((bytes.uint64(at: 0), bytes.uint64(at: 8)), true) : ((0, 0), false)
        }
        guard isID else { throw Self.broken(position) }
        records.append { writer in
            writer.append(words: [
                UInt64(bitPattern: position), UInt64(bitPattern: row.integer(2)),
                UInt64(bitPattern: row.integer(3)), id.0, id.1,
                UInt64(UInt32(truncatingIfNeeded: row.integer(5)))
                    | UInt64(last.name.count) << 32,
            ])
            writer.append(last.name)
            row.withCountedBytes(6...8) { writer.append($0) }
        }
        guard Int64(records.checksum(records.count - 1)) == row.integer(9) else {
            records.removeLast()
            throw Self.broken(position)
        }
    }

    private static func broken(_ position: Int64) -> LogFault {
        LogFault(position: position, message: "the record fails its checksum")
    }

    private mutating func name(of number: Int64, at position: Int64) throws(LogFault) -> [UInt8] {
        if let known = names[number] { return known }
        guard let name = try? readName(of: number) else {
            throw LogFault(position: position, message: "the event's stream has no name")
        }
        if names.count >= Self.bound { names = [:] }
        names[number] = name
        return name
    }

    private mutating func readName(of number: Int64) throws(SQLiteError) -> [UInt8]? {
        defer { findName.reset() }
        try findName.bind(1, number)
        return try findName.step() ? findName.withBytes(0) { $0.copy() } : nil
    }
}
