// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Platform
import SQLite
import TestKit
import Testing

@Suite struct RowScanTests {
    private let database: Connection

    init() throws {
        database = try Connection(path: ":memory:", mode: .create)
        try database.execute("CREATE TABLE thing (number INTEGER PRIMARY KEY, a, b, c)")
    }

    private func fill(_ count: Int, _ random: inout SeededGenerator) throws {
        var insert = try database.prepare("INSERT INTO thing (a, b, c) VALUES (?1, ?2, ?3)")
        for _ in 0..<count {
            for parameter in 1...3 {
                switch Int.random(in: 0..<6, using: &random) {
                case 0: try insert.bindNull(parameter)
                case 1: try insert.bind(parameter, Int64.random(in: .min ... .max, using: &random))
                case 2: try insert.bind(parameter, "")
                case 3: try insert.bind(parameter, [UInt8]())
                case 4:
                    let length = Int.random(in: 1...40, using: &random)
                    try insert.bind(parameter, String(repeating: "é", count: length))
                default:
                    // Some beyond the room that is kept, and beyond a page.
                    let length = Int.random(
                        in: 1...(.random(using: &random) ? 90 : 100_000), using: &random)
                    try insert.bind(parameter, [UInt8](repeating: 7, count: length))
                }
            }
            try insert.run()
        }
    }

    @Test(arguments: Seeds.chosen(4))
    func `a row taken whole has what a statement says of each column`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try fill(300, &random)
        var kinds = try database.prepare(
            "SELECT typeof(a), typeof(b), typeof(c) FROM thing WHERE number > ?1 ORDER BY number")
        var statement = try database.prepare(
            "SELECT a, b, c, number FROM thing WHERE number > ?1 ORDER BY number")
        var scan = try database.scan(
            "a, b, c, number", "FROM thing WHERE number > ?1 ORDER BY number")
        for start in [Int64(0), 250, 300] {
            try kinds.bind(1, start)
            try statement.bind(1, start)
            try scan.bind(1, start)
            var rowCount = 0
            // Side by side on one connection.
            while try scan.step() {
                #expect(try statement.step() && kinds.step())
                rowCount += 1
                #expect(scan.integer(3) == statement.integer(3))
                var counted = ByteWriter()
                for column in 0..<3 {
                    let isText = ["text", "blob"].contains(kinds.text(column))
                    let bytes = isText ? statement.bytes(column) : []
                    #expect(scan.integer(column) == (isText ? 0 : statement.integer(column)))
                    #expect(scan.withBytes(column) { $0.copy() } == bytes)
                    #expect(scan.byteCount(column) == bytes.count)
                    unsafe counted.append(counted: bytes.span.bytes)
                }
                #expect(scan.withCountedBytes(0...2) { $0.copy() } == counted.bytes)
            }
            #expect(rowCount == 300 - Int(start))
            scan.reset()
            statement.reset()
            kinds.reset()
        }
    }

    @Test func `rows that SQLite would have to sort are refused`() throws {
        try database.execute("INSERT INTO thing (a) VALUES (3), (1), (2)")
        var sorted = try database.scan("number, a", "FROM thing ORDER BY a")
        #expect(throws: SQLiteError.self) { try sorted.step() }
        try database.execute("CREATE INDEX by_a ON thing (a)")
        var found = try database.scan("number, a", "FROM thing ORDER BY a")
        #expect(try found.step() && found.integer(1) == 1)
        #expect(try found.step() && found.integer(1) == 2)
    }

    @Test func `nothing but a scan calls its function`() throws {
        let scan = try database.scan("number", "FROM thing")
        _ = consume scan
        #expect(throws: SQLiteError.self) { try database.execute("SELECT cairn_row(1)") }
        // The content of a file may not either, not even while a scan steps.
        try database.execute("CREATE VIEW trap AS SELECT cairn_row(1) AS number")
        #expect(throws: SQLiteError.self) {
            var scan = try database.scan("number", "FROM trap")
            _ = try scan.step()
        }
    }
}
