// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform
internal import SQLite

/// Rows of the table `event` as canonical bytes: no column becomes a value of its own on the way.
struct EventRows: ~Copyable {
    /// What a statement has to select.
    static let columns = """
        event.position, event.stream, stream_position, recorded_at, id, schema, type, metadata, data, \
        crc
        """
    /// Names remembered at most; beyond, all are forgotten and read again.
    private static let bound = 50_000

    private var findName: Statement
    private var names: [Int64: [UInt8]] = [:]
    /// The stream met last: neighbours often are of one.
    private var last: (number: Int64, name: [UInt8]) = (-1, [])

    init(_ connection: Connection) throws(SQLiteError) {
        findName = try connection.prepare("SELECT name FROM stream WHERE number = ?1")
    }

    /// Appends the canonical bytes of a row to others; throws where it is not what was stored, and then
    /// appends nothing.
    mutating func append(
        _ row: borrowing Statement, to records: inout CanonicalRecords
    ) throws(LogFault) {
        let position = row.integer(0)
        let number = row.integer(1)
        if number != last.number { last = (number, try name(of: number, at: position)) }
        records.append { writer in
            writer.append(position)
            writer.append(row.integer(2))
            writer.append(row.integer(3))
            row.withBytes(4) { writer.append($0) }
            writer.append(UInt32(truncatingIfNeeded: row.integer(5)))
            writer.append(count: last.name.count)
            writer.append(last.name)
            row.withBytes(6) { writer.append(counted: $0) }
            row.withBytes(7) { writer.append(counted: $0) }
            row.withBytes(8) { writer.append(counted: $0) }
        }
        guard Int64(records.checksum(records.count - 1)) == row.integer(9) else {
            records.removeLast()
            throw LogFault(position: position, message: "the record fails its checksum")
        }
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
