// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Expression
import SQLite
import TestKit
import Testing

/// Random clauses in which like is compared with like: where kinds are mixed, SQLite's column
/// affinities differ from ours on purpose.
private struct ClauseGenerator {
    var random: SeededGenerator

    private mutating func pick<T>(_ items: [T]) -> T {
        items[Int.random(in: 0..<items.count, using: &random)]
    }

    mutating func condition(_ depth: Int) -> String {
        switch Int.random(in: 0..<(depth > 0 ? 10 : 6), using: &random) {
        case 0: return "\(number(depth)) \(comparison()) \(number(depth))"
        case 1: return "\(text(depth)) \(comparison()) \(text(depth))"
        case 2: return "\(pick([number(depth), text(depth)])) IS \(maybeNot())NULL"
        case 3:
            let items = (0...Int.random(in: 0...3, using: &random)).map { _ in number(0) }
            return "\(number(depth)) \(maybeNot())IN (\(items.joined(separator: ", ")))"
        case 4:
            return "\(number(depth)) \(maybeNot())BETWEEN \(number(depth)) AND \(number(depth))"
        case 5:
            let pattern = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                pick(["%", "_", "a", "b", "A", "!%", "!_", "é", "''"])
            }
            return "\(text(0)) \(maybeNot())LIKE '\(pattern.joined())' ESCAPE '!'"
        case 6: return "NOT \(condition(depth - 1))"
        case 7: return "(\(condition(depth - 1)))"
        default:
            let word = pick(["AND", "OR"])
            return (0...Int.random(in: 1...2, using: &random))
                .map { _ in condition(depth - 1) }.joined(separator: " \(word) ")
        }
    }

    private mutating func maybeNot() -> String { pick(["", "NOT "]) }

    private mutating func comparison() -> String { pick(["=", "<>", "!=", "<", "<=", ">", ">="]) }

    private mutating func number(_ depth: Int) -> String {
        let literals = [
            "0", "1", "-1", "2.5", "9007199254740993", "9007199254740992.0", "9223372036854775807",
            "-9223372036854775808", "9223372036854775808", "1e300", ".5", "NULL",
        ]
        if depth > 0, Int.random(in: 0..<3, using: &random) == 0 {
            let (left, right) = (number(depth - 1), number(depth - 1))
            return pick([
                "(\(left) + \(right))", "\(left) - \(right)", "\(left) * \(right)",
                "(\(left) / \(right))", "- \(left)",
            ])
        }
        return pick(["whole", "\"whole\"", "REAL1", "Missing"] + literals)
    }

    private mutating func text(_ depth: Int) -> String {
        if depth > 0, Int.random(in: 0..<3, using: &random) == 0 {
            return pick(["UPPER", "lower"]) + "(\(text(depth - 1)))"
        }
        return pick(["word", "WORD", "'a'", "'AB'", "''", "'it''s'", "'éa'", "NULL"])
    }
}

@Suite struct SQLiteOracleTests {
    private static let rows: [[AttributeValue]] = [
        [.integer(0), .real(0), .string("a")], [.integer(1), .real(-0.5), .string("AB")],
        [.integer(.max), .real(1e300), .string("")], [.integer(.min), .real(-0.0), .null],
        [.integer(9_007_199_254_740_993), .real(9_007_199_254_740_992), .string("b%")],
        [.null, .real(2.5), .string("éa")], [.integer(-7), .null, .string("it's")],
        [.integer(2), .real(0x1p63), .string("a_b")],
    ]

    private func connection() throws -> Connection {
        let connection = try Connection(path: ":memory:", mode: .create)
        try connection.execute("PRAGMA case_sensitive_like = ON")
        try connection.execute(
            "CREATE TABLE t (whole INTEGER, real1 REAL, word TEXT, missing INTEGER)")
        for row in Self.rows {
            let values = row.map { value in
                switch value {
                case .null, .date: "NULL"
                case .integer(let integer): "\(integer)"
                case .real(let real): "\(real)"
                case .string(let text):
                    "'"
                        + text.split(separator: "'", omittingEmptySubsequences: false)
                        .joined(separator: "''") + "'"
                }
            }
            try connection.execute(
                "INSERT INTO t VALUES (\(values.joined(separator: ",")), NULL)")
        }
        return connection
    }

    @Test(arguments: 1...4)
    func `every clause selects what SQLite selects`(seed: Int) throws {
        var generator = ClauseGenerator(random: SeededGenerator(seed: UInt64(seed)))
        let connection = try connection()
        var counts: [Bool?: Int] = [:]
        for round in 0..<500 {
            let text = generator.condition(3)
            let clause = try WhereClause(parsing: text)
            var statement = try connection.prepare("SELECT (\(text)) FROM t ORDER BY rowid")
            for row in Self.rows {
                let hasRow = try statement.step()
                #expect(hasRow)
                let expected: Bool? = statement.isNull(0) ? nil : statement.integer(0) != 0

                let truth = clause.evaluate { name in
                    switch name.lowercased() {
                    case "whole": row[0]
                    case "real1": row[1]
                    case "word": row[2]
                    default: .null
                    }
                }

                counts[expected, default: 0] += 1
                if truth != expected {
                    Issue.record("seed \(seed) round \(round) \(row): \(text)")
                }
            }
        }
        #expect(counts.count == 3 && counts.values.allSatisfy { $0 > 100 }, "\(counts)")
    }
}
