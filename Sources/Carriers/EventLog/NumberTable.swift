// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import SQLite

/// The numbers of stream and category names in the file, assigned on first use, and the ends of
/// streams.
struct NumberTable: ~Copyable {
    /// Most streams remembered after the indexes have been written; beyond it all are dropped and
    /// read again.
    private static let bound = 50_000

    private var findStream: Statement
    private var addStream: Statement
    private var findCategory: Statement
    private var addCategory: Statement
    private var committed: [StreamName: Numbers]
    private var uncommitted: [StreamName: Numbers] = [:]
    private var categories: [String: Int64] = [:]
    private var uncommittedCategories: [String: Int64] = [:]

    /// A table of the streams of all events after a position, since unindexed events are looked up
    /// nowhere else.
    init(_ connection: Connection, after position: Int64) throws(SQLiteError) {
        let findStream = try connection.prepare("SELECT number FROM stream WHERE name = ?1")
        let addStream = try connection.prepare(
            "INSERT INTO stream (name, category) VALUES (?1, ?2) RETURNING number")
        let findCategory = try connection.prepare("SELECT number FROM category WHERE name = ?1")
        let addCategory = try connection.prepare(
            "INSERT INTO category (name) VALUES (?1) RETURNING number")
        var committed: [StreamName: Numbers] = [:]
        var rest = try connection.prepare(
            """
            SELECT name, number, stream.category, max(stream_position) FROM event JOIN stream \
            ON number = event.stream WHERE position > ?1 GROUP BY number
            """)
        try rest.bind(1, position)
        while try rest.step() {
            guard let name = StreamName(rawValue: rest.text(0)) else { continue }
            committed[name] = Numbers(
                number: rest.integer(1), category: rest.integer(2), last: rest.integer(3))
        }
        self.findStream = findStream
        self.addStream = addStream
        self.findCategory = findCategory
        self.addCategory = addCategory
        self.committed = committed
    }

    /// The numbers of a stream and its category.
    struct Numbers {
        var number: Int64
        var category: Int64
        /// The stream's last position; nil while unknown.
        var last: Int64?
    }

    /// The last position of a stream written through this table; nil for others.
    func lastPosition(of name: StreamName) -> Int64? { committed[name]?.last }

    /// Sets the end of a stream as of the open transaction.
    mutating func end(_ name: StreamName, at position: Int64) {
        guard var numbers = uncommitted[name] ?? committed[name] else { return }
        numbers.last = position
        uncommitted[name] = numbers
    }

    mutating func stream(_ name: StreamName) throws(SQLiteError) -> Numbers {
        if let known = uncommitted[name] ?? committed[name] { return known }
        let category = try category(name.category)
        try findStream.bind(1, name.rawValue)
        var number = try Self.first(&findStream)
        if number == nil {
            try addStream.bind(1, name.rawValue)
            try addStream.bind(2, category)
            number = try Self.first(&addStream)
        }
        let numbers = Numbers(number: number ?? 0, category: category, last: nil)
        uncommitted[name] = numbers
        return numbers
    }

    private mutating func category(_ name: String) throws(SQLiteError) -> Int64 {
        if let known = categories[name] ?? uncommittedCategories[name] { return known }
        try findCategory.bind(1, name)
        var number = try Self.first(&findCategory)
        if number == nil {
            try addCategory.bind(1, name)
            number = try Self.first(&addCategory)
        }
        uncommittedCategories[name] = number
        return number ?? 0
    }

    private static func first(_ statement: inout Statement) throws(SQLiteError) -> Int64? {
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : nil
    }

    /// The transaction they were made in is committed.
    mutating func keepUncommitted() {
        for (name, numbers) in uncommitted { committed[name] = numbers }
        categories.merge(uncommittedCategories) { $1 }
        forgetUncommitted()
    }

    /// Everything committed is in the indexes, so a surplus of entries can be dropped and read
    /// again.
    mutating func forgetIfMany() {
        if committed.count > Self.bound { committed = [:] }
        if categories.count > Self.bound { categories = [:] }
    }

    /// The transaction they were made in is rolled back.
    mutating func forgetUncommitted() {
        uncommitted.removeAll(keepingCapacity: uncommitted.count < 1_000)
        uncommittedCategories.removeAll()
    }
}
