// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Platform
internal import SQLite

/// Compares the ids of events with a table of ids, many at a time: a merge of both in id order.
///
/// Ids mostly begin with their time, so those of neighbours are close together: a step from row to
/// row costs a fraction of a search from the root of the tree. Distant ids are searched for.
struct IDCheck: ~Copyable {
    /// Rows of other ids that are passed by before the next id is looked for.
    private static let strideBound = 12

    private var held: [(id: UInt128, position: Int64)] = []
    private var isInOrder = true
    private let name: String
    private var find: RowScan

    init(
        _ connection: Connection, table: String = "event_id",
        called name: String = "the index of ids"
    ) throws(SQLiteError) {
        self.name = name
        find = try connection.scan("id, position", "FROM \(table) WHERE id >= ?1 ORDER BY id")
    }

    /// Takes the id of an event, which the row has in this column.
    mutating func take(
        _ row: borrowing RowScan, _ column: Int, at position: Int64
    ) throws(LogFault) {
        guard let id = Self.id(in: row, column) else {
            throw LogFault(position: position, message: "its id does not have 16 bytes")
        }
        if let last = held.last, last.id > id { isInOrder = false }
        held.append((id, position))
    }

    private static func id(in row: borrowing RowScan, _ column: Int) -> UInt128? {
        row.withBytes(column) { bytes in
            guard bytes.byteCount == 16 else { return nil }
            let (high, low) = (bytes.uint64(at: 0).byteSwapped, bytes.uint64(at: 8).byteSwapped)
            return UInt128(high) << 64 | UInt128(low)
        }
    }

    /// The first event taken, up to `through`, that the table contradicts.
    mutating func fault(through: Int64) throws(SQLiteError) -> LogFault? {
        if !isInOrder { held.sort { ($0.id, $0.position) < ($1.id, $1.position) } }
        isInOrder = true
        defer { find.reset() }
        var first: LogFault?
        // The current row; nil after the last id.
        var row: UInt128?
        var isEnd = false
        for (id, position) in held {
            var strides = 0
            while !isEnd, row.map({ $0 < id }) ?? true {
                if row == nil || strides == Self.strideBound {
                    find.reset()
                    try bind(id)
                }
                isEnd = try !find.step()
                if !isEnd { row = Self.id(in: find, 0) ?? 0 }
                strides += 1
            }
            let place = !isEnd && row == id ? find.integer(1) : nil
            guard let message = message(place, position, isIndexed: position <= through),
                position < first?.position ?? .max
            else { continue }
            first = LogFault(position: position, message: message)
        }
        return first
    }

    private mutating func bind(_ id: UInt128) throws(SQLiteError) {
        var bytes = [UInt8](repeating: 0, count: 16)
        for index in 0..<16 { bytes[index] = UInt8(truncatingIfNeeded: id >> (120 - 8 * index)) }
        try find.bind(1, bytes)
    }

    private func message(_ place: Int64?, _ position: Int64, isIndexed: Bool) -> String? {
        switch (place, isIndexed) {
        case (nil, false): nil
        case (_?, false): "\(name) has its id, beyond where the indexes end"
        case (nil, true): "\(name) leaves it out"
        case (let place?, true):
            place == position ? nil : "\(name) names event \(place) for its id"
        }
    }
}
