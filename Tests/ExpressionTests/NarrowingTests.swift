// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Expression
import SQLite
import TestKit
import Testing

/// Clauses for other servers, checked on two databases with different dialects of SQL.
@Suite struct NarrowingTests {
    private static let fields = [
        FieldDescription(name: "OBJECTID", type: .objectID),
        FieldDescription(name: "whole", type: .integer),
        FieldDescription(name: "real", type: .double),
        FieldDescription(name: "word", type: .string),
        FieldDescription(name: "seen", type: .date),
    ]

    private struct Clauses {
        var random: SeededGenerator

        private mutating func pick<T>(_ items: [T]) -> T {
            items[Int.random(in: 0..<items.count, using: &random)]
        }

        private mutating func comparison() -> String {
            pick(["=", "<>", "<", "<=", ">", ">="])
        }

        mutating func number() -> String {
            pick(["0", "1", "-3", "2.5", "7", "-0.1", "4000000000", "1e3", "'5'", "NULL"])
        }

        mutating func text() -> String {
            pick(["'a'", "'AB'", "''", "'it''s'", "'é'", "'a_b'", "'a\\b'", "'STRASSE'", "NULL"])
        }

        mutating func moment() -> String {
            pick(["DATE '2001-02-03'", "TIMESTAMP '2001-02-04 05:06:07'", "'2003-01-01'", "0"])
        }

        mutating func condition(_ depth: Int) -> String {
            let not = pick(["", "NOT "])
            switch Int.random(in: 0..<(depth > 0 ? 12 : 9), using: &random) {
            case 0: return "whole \(comparison()) \(number())"
            case 1: return "\(number()) \(comparison()) real"
            case 2:
                return "\(pick(["word", "UPPER(word)", "lower(word)"])) \(comparison()) \(text())"
            case 3: return "seen \(comparison()) \(moment())"
            case 4: return "\(pick(["whole", "real", "word", "seen"])) IS \(not)NULL"
            case 5:
                let field = pick(["whole", "real"])
                return "\(field) \(not)IN (\(number()), \(number()), \(number()))"
            case 6:
                return pick([
                    "word \(not)IN (\(text()), \(text()))",
                    "whole \(not)BETWEEN \(number()) AND \(number())",
                    "seen \(not)BETWEEN \(moment()) AND \(moment())",
                ])
            case 7:
                let field = pick(["word", "UPPER(word)", "LOWER(word)", "whole"])
                let pattern = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    pick(["%", "_", "a", "B", "!%", "!_", "é", "''", "S", "5", "[", "\\"])
                }
                return "\(field) \(not)LIKE '\(pattern.joined())' ESCAPE '!'"
            case 8: return pick(["whole > real", "whole + 1 > 3", "1 = 1", "1 = 0"])
            case 9: return "NOT (\(condition(depth - 1)))"
            default:
                let word = pick(["AND", "OR"])
                return "("
                    + (0...Int.random(in: 1...2, using: &random))
                    .map { _ in condition(depth - 1) }.joined(separator: " \(word) ") + ")"
            }
        }
    }

    private struct Row {
        var whole: Int64?
        var real: Double?
        var word: String?
        var seen: Int64?

        init(_ random: inout SeededGenerator) {
            func maybe<T>(_ items: [T]) -> T? {
                Int.random(in: 0..<6, using: &random) == 0
                    ? nil : items[Int.random(in: 0..<items.count, using: &random)]
            }
            whole = maybe([0, 1, -3, 5, 7, 2_000_000_000])
            real = maybe([0, 1, -3, 2.5, -0.1, 5, 1000, 999.5])
            word = maybe([
                "a", "A", "ab", "AB", "", "it's", "é", "É", "a_b", "aXb", "a\\b", "straße",
                "STRASSE",
                "B5", "%", "[", "ſ", "5",
            ])
            let day: Int64 = 86_400_000
            seen = maybe([
                0, 981_158_400_000, 981_158_400_000 + day / 2, 981_263_167_000, 1_041_379_200_000,
            ])
        }

        func value(_ name: String) -> AttributeValue {
            switch name.lowercased() {
            case "whole": whole.map { .integer($0) } ?? .null
            case "real": real.map { .real($0) } ?? .null
            case "word": word.map { .string($0) } ?? .null
            default: seen.map { .date($0) } ?? .null
            }
        }
    }

    /// A database that understands things in its own way.
    private struct Server {
        let connection: Connection

        /// - Parameters:
        ///   - ignoresCase: Whether text is compared without regard to the letters of ASCII.
        ///   - drift: How far the numbers are from those that it shows, as a part of them.
        ///   - hours: Its time zone.
        init(_ rows: [Row], ignoresCase: Bool, drift: Double, hours: Int64) throws {
            connection = try Connection(path: ":memory:", mode: .create)
            try connection.execute("PRAGMA case_sensitive_like = \(ignoresCase ? "OFF" : "ON")")
            try connection.execute(
                "CREATE TABLE t (whole INTEGER, real REAL, word TEXT"
                    + (ignoresCase ? " COLLATE NOCASE" : "") + ", seen TEXT)")
            for row in rows {
                let word = row.word.map { "'\($0.replacing("'", with: "''"))'" } ?? "NULL"
                let seen = row.seen.map { seen in
                    let text = CalendarClock(milliseconds: seen + hours * 3_600_000).text
                    return "'\(text.prefix(10)) \(text.dropFirst(11).prefix(8))'"
                }
                try connection.execute(
                    "INSERT INTO t VALUES (\(row.whole.map { "\($0)" } ?? "NULL"), "
                        + "\(row.real.map { "\($0 * (1 + drift))" } ?? "NULL"), \(word), "
                        + "\(seen ?? "NULL"))")
            }
        }

        /// Of every row in their order, whether the clause selects it.
        func selects(_ sql: String, _ count: Int) throws -> [Bool] {
            let plain = sql.replacing("TIMESTAMP '", with: "'")
            var statement = try connection.prepare("SELECT (\(plain)) FROM t ORDER BY rowid")
            var result: [Bool] = []
            while try statement.step() {
                result.append(!statement.isNull(0) && statement.integer(0) != 0)
            }
            return result
        }
    }

    @Test(.slow, arguments: Seeds.chosen(3))
    func `a narrowed clause keeps what counts, whatever a server makes of text, numbers and time`(
        _ seed: UInt64
    ) throws {
        var clauses = Clauses(random: SeededGenerator(seed: seed))
        let rows = (0..<120).map { _ in Row(&clauses.random) }
        let servers = [
            try Server(rows, ignoresCase: false, drift: 0, hours: 0),
            try Server(rows, ignoresCase: true, drift: 4e-7, hours: 14),
            try Server(rows, ignoresCase: true, drift: -4e-7, hours: -12),
        ]
        var (narrowed, exact) = (0, 0)
        for round in 0..<400 {
            let text = clauses.condition(3)
            let clause = try WhereClause(parsing: text)
            // Text can be compared with numbers only where it is a number.
            guard let bound = try? clause.bound(to: Self.fields) else { continue }
            let narrowing = bound.narrowing(Self.fields)
            guard let sql = narrowing.sql else { continue }
            // It is of our own dialect too.
            let again = try WhereClause(parsing: sql).bound(to: Self.fields)
            let expected = rows.map { row in clause.evaluate { row.value($0) } == true }
            for (index, row) in rows.enumerated() where expected[index] {
                let holds = again.evaluate { row.value(Self.fields[$0].name) }
                #expect(holds == true, "seed \(seed) round \(round) \(row): \(text) → \(sql)")
            }
            for (number, server) in servers.enumerated() {
                let found = try server.selects(sql, rows.count)
                #expect(found.count == rows.count)
                for index in rows.indices {
                    let label: Comment =
                        "seed \(seed) round \(round) server \(number) \(rows[index]): \(text) → \(sql)"
                    if expected[index] { #expect(found[index], label) }
                    if narrowing.isExact { #expect(found[index] == expected[index], label) }
                }
                if found.contains(false) { narrowed += 1 }
            }
            if narrowing.isExact { exact += 1 }
        }
        #expect(narrowed > 300 && exact > 30, "\(narrowed) \(exact)")
    }

    @Test(arguments: Seeds.chosen(3))
    func `a clause in standard SQL selects the same in a database`(_ seed: UInt64) throws {
        var clauses = Clauses(random: SeededGenerator(seed: seed))
        let rows = (0..<120).map { _ in Row(&clauses.random) }
        let server = try Server(rows, ignoresCase: false, drift: 0, hours: 0)
        var written = 0
        for round in 0..<400 {
            let text = clauses.condition(3)
            let clause = try WhereClause(parsing: text)
            // Moments are written in a way of this database's own.
            guard (try? clause.bound(to: Self.fields)) != nil, let sql = clause.standardSQL,
                !clause.fieldNames.contains("seen")
            else { continue }
            written += 1
            #expect(try WhereClause(parsing: sql).standardSQL == sql)
            // This database changes the case of ASCII letters only.
            let changesCase = sql.contains("UPPER") || sql.contains("LOWER")
            for (whether, asked) in [(true, sql), (false, "NOT (\(sql))")] {
                let found = try server.selects(asked, rows.count)
                for (index, row) in rows.enumerated()
                where !changesCase || row.word?.utf8.allSatisfy({ $0 < 0x80 }) != false {
                    #expect(
                        found[index] == (clause.evaluate { row.value($0) } == whether),
                        "seed \(seed) round \(round) \(row): \(text) → \(asked)")
                }
            }
        }
        #expect(written > 100, "\(written)")
    }

    @Test func `letters that turn into others in another letter case are left open`() throws {
        let scalars = (0x80...0x1FFFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init)
        func check(_ function: String, _ changed: (String) -> String) throws -> Int {
            var count = 0
            for scalar in scalars {
                let letters = changed(String(scalar)).unicodeScalars.filter(\.isASCII)
                for letter in letters {
                    count += 1
                    let text = "\(function)(word) LIKE '%\(letter)%'"
                    let clause = try WhereClause(parsing: text).bound(to: Self.fields)
                    #expect(clause.evaluate { _ in .string(String(scalar)) } == true)
                    // Nothing is left of the pattern.
                    #expect(
                        clause.narrowing(Self.fields).sql == "word IS NOT NULL",
                        "\(scalar) \(letter)")
                }
            }
            return count
        }

        #expect(try check("UPPER") { $0.uppercased() } > 10)
        #expect(try check("LOWER") { $0.lowercased() } > 1)
    }

    @Test(
        arguments: [
            ("whole = 5 AND word = 'it''s'", "whole = 5 AND word = 'it''s'", false),
            ("NOT (whole < 5 OR whole IS NULL)", "whole >= 5 AND whole IS NOT NULL", true),
            ("whole IN (1, 2, NULL)", "whole IN (1,2)", true),
            ("whole > 2.5 OR whole = 2.5", "whole > 2", true),
            ("whole > '7'", "whole > 7", true),
            ("5 < whole", "whole > 5", true),
            ("whole > 4000000000", nil, false),
            ("word = 'Zürich'", "word LIKE 'Z%rich'", false),
            ("UPPER(word) LIKE '%BERGEN%'", "UPPER(word) LIKE '%BERGE%'", false),
            ("word LIKE '50!% off%' ESCAPE '!'", "word LIKE '50% off%'", false),
            ("word <> 'a' AND whole = 1 + 1", "word IS NOT NULL", false),
            ("whole = 1 OR real > whole", nil, false),
            ("word > 'a' OR whole LIKE '%x%'", "word IS NOT NULL", false),
            ("seen >= DATE '2001-02-03'", "seen >= TIMESTAMP '2001-02-02 00:00:00'", false),
            (
                "seen >= DATE '2001-02-05' - INTERVAL '2' DAY",
                "seen >= TIMESTAMP '2001-02-02 00:00:00'", false
            ),
            ("seen > seen - 1 OR EXTRACT(YEAR FROM seen) = 2001", nil, false),
            ("TRIM(word) = 'a' AND whole = 5", "whole = 5", false),
            ("1 = 1", nil, true), ("1 = 1 AND whole > 5", "whole > 5", true),
            ("1 = 0 OR NULL = 1", "1=0", true),
        ] as [(String, String?, Bool)])
    func `a clause that is sent is written anew`(
        text: String, sql: String?, isExact: Bool
    ) throws {
        let narrowing = try WhereClause(parsing: text).bound(to: Self.fields)
            .narrowing(Self.fields)

        #expect(narrowing.sql == sql)
        #expect(narrowing.isExact == isExact)
    }

    @Test func `a clause with a name not valid everywhere, too long or too deep is not sent`()
        throws
    {
        for name in ["Shape.STArea()", "größe", "ORDER", "a b", ""] {
            let fields = Self.fields + [FieldDescription(name: name, type: .integer)]
            let clause = try WhereClause(parsing: "\"\(name)\" = 1").bound(to: fields)
            #expect(clause.narrowing(fields).sql == nil, "\(name)")
        }
        let parts = (0..<2_000).map { "whole = \($0)" }
        func narrowing(_ text: String) throws -> Narrowing {
            try WhereClause(parsing: text).bound(to: Self.fields).narrowing(Self.fields)
        }
        #expect(try narrowing(parts.joined(separator: " OR ")).sql == nil)
        let all = try narrowing(
            (0..<2_000).map { "whole <> \($0)" }.joined(separator: " AND "))
        #expect(!all.isExact && (all.sql?.utf8.count ?? 0) <= Narrowing.lengthLimit)
        let deep =
            String(repeating: "NOT (", count: 90) + "whole = 1"
            + String(repeating: ")", count: 90)
        let left = try narrowing(deep)
        #expect(left.sql == nil && !left.isExact)
        let many = (0..<300).map { "\($0)" }.joined(separator: ",")
        #expect(try narrowing("whole IN (\(many))").sql == "whole >= 0 AND whole <= 299")
    }
}
