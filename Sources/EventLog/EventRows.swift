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
    private var writer = ByteWriter(capacity: 1_024)

    init(_ connection: Connection) throws(SQLiteError) {
        findName = try connection.prepare("SELECT name FROM stream WHERE number = ?1")
    }

    /// The canonical bytes of a row, lent until the next one; throws where it is not what was stored.
    mutating func canonical<Value>(
        _ row: borrowing Statement, _ body: (RawSpan) -> Value
    ) throws(LogFault) -> Value {
        let position = row.integer(0)
        let name = try name(of: row.integer(1), at: position)
        writer.removeAll()
        writer.append(position)
        writer.append(row.integer(2))
        writer.append(row.integer(3))
        row.withBytes(4) { writer.append($0) }
        writer.append(UInt32(truncatingIfNeeded: row.integer(5)))
        writer.append(count: name.count)
        writer.append(name)
        for column in 6...8 { row.withBytes(column) { writer.append(counted: $0) } }
        guard Int64(writer.checksum) == row.integer(9) else {
            throw LogFault(position: position, message: "the record fails its checksum")
        }
        return writer.withBytes(body)
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
