// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Expression
import SQLite
import TestKit
import Testing

/// One expression in two dialects: ours, and SQLite's.
private struct Phrase {
    var ours: String
    var theirs: String

    init(_ ours: String, _ theirs: String? = nil) {
        self.ours = ours
        self.theirs = theirs ?? ours
    }

    /// Both texts with the values of the other phrases in place of `$0`, `$1`, ….
    func filled(_ parts: Phrase...) -> Phrase {
        var result = self
        for (place, part) in parts.enumerated() {
            result.ours = result.ours.replacing("$\(place)", with: part.ours)
            result.theirs = result.theirs.replacing("$\(place)", with: part.theirs)
        }
        return result
    }
}

private struct PhraseGenerator {
    var random: SeededGenerator

    private mutating func pick<T>(_ items: [T]) -> T {
        items[Int.random(in: 0..<items.count, using: &random)]
    }

    private mutating func goesOn(_ depth: Int) -> Bool {
        depth > 0 && Int.random(in: 0..<3, using: &random) > 0
    }

    mutating func condition() -> Phrase {
        let comparison = pick(["=", "<>", "<", "<=", ">", ">="])
        let sides =
            switch Int.random(in: 0..<3, using: &random) {
            case 0: (number(3), number(1))
            case 1: (text(3), text(1))
            default: (moment(2), moment(1))
            }
        return Phrase("$0 \(comparison) $1").filled(sides.0, sides.1)
    }

    private mutating func whole() -> Phrase {
        Phrase(pick(["whole", "0", "1", "-1", "3", "7", "NULL"]))
    }

    private mutating func number(_ depth: Int) -> Phrase {
        guard goesOn(depth) else {
            return pick([Phrase("fraction"), Phrase("2.5"), Phrase("-0.5"), whole()])
        }
        switch Int.random(in: 0..<9, using: &random) {
        case 0:
            return pick([
                Phrase("ABS($0)"), Phrase("FLOOR($0)"), Phrase("CEILING($0)"), Phrase("ROUND($0)"),
                Phrase("TRUNCATE($0)", "trunc($0)"), Phrase("CAST($0 AS INTEGER)"),
                Phrase("CAST($0 AS FLOAT)"), Phrase("SIGN($0)"), Phrase("LOG($0)", "ln($0)"),
                Phrase("LOG10($0)"), Phrase("SIN($0)"), Phrase("COS($0)"), Phrase("TAN($0)"),
            ]).filled(number(depth - 1))
        case 1: return Phrase("MOD($0, $1)").filled(number(depth - 1), number(0))
        case 2 where Bool.random(using: &random):
            // SQLite's has no bounds.
            return Phrase("POWER($0, $1)", "nullif(nullif(POWER($0, $1), 9e999), -9e999)")
                .filled(number(0), number(depth - 1))
        case 2: return Phrase("($0 % $1)").filled(whole(), whole())
        case 3: return Phrase("CHAR_LENGTH($0)", "length($0)").filled(text(depth - 1))
        case 4:
            return pick([
                Phrase("POSITION($0 IN $1)", "instr($1, $0)"),
                Phrase("POSITION($0, $1)", "instr($1, $0)"),
            ]).filled(text(0), text(depth - 1))
        case 5:
            let (part, form) = pick([
                ("YEAR", "%Y"), ("MONTH", "%m"), ("DAY", "%d"), ("HOUR", "%H"), ("MINUTE", "%M"),
                ("SECOND", "%f"),
            ])
            return Phrase(
                "EXTRACT(\(part) FROM $0)",
                "CAST(strftime('\(form)', $0 / 1000.0, 'unixepoch') AS REAL)"
            ).filled(moment(depth - 1))
        case 6:
            return Phrase("($0 - $1)", "(($0 - $1) / 86400000.0)").filled(
                moment(depth - 1), moment(0))
        case 7: return Phrase("NULLIF($0, $1)").filled(number(depth - 1), number(0))
        default: return Phrase("COALESCE($0, $1)").filled(number(depth - 1), number(depth - 1))
        }
    }

    private mutating func text(_ depth: Int) -> Phrase {
        guard goesOn(depth) else {
            return Phrase(pick(["word", "word", "'a'", "''", "'é'", "'b '", "'xx'", "NULL"]))
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return Phrase("($0 || $1)").filled(text(depth - 1), text(depth - 1))
        case 1:
            return Phrase("CONCAT($0, $1, $0)", "($0 || $1 || $0)").filled(
                text(depth - 1), text(0))
        case 2:
            let (start, length) = (pick([0, 1, 2, 3, 9]), pick([0, 1, 2, 9]))
            return pick([
                Phrase("SUBSTRING($0, \(start), \(length))"),
                Phrase("SUBSTRING($0, \(max(start, 1)))"),
            ]).filled(text(depth - 1))
        case 3:
            return pick([
                Phrase("TRIM($0)"), Phrase("TRIM($1 FROM $0)", "trim($0, $1)"),
                Phrase("TRIM(BOTH $1 FROM $0)", "trim($0, $1)"),
                Phrase("TRIM(LEADING $1 FROM $0)", "ltrim($0, $1)"),
                Phrase("TRIM(TRAILING FROM $0)", "rtrim($0)"),
            ]).filled(text(depth - 1), text(0))
        case 4:
            return pick([Phrase("COALESCE($0, $1)"), Phrase("NULLIF($0, $1)")]).filled(
                text(depth - 1), text(0))
        default:
            return pick([Phrase("CAST($0 AS VARCHAR)"), Phrase("CAST($0 AS VARCHAR)")]).filled(
                Phrase("whole"))
        }
    }

    private mutating func moment(_ depth: Int) -> Phrase {
        guard goesOn(depth) else {
            return pick([
                Phrase("seen"), Phrase("DATE '2001-02-03'", "981158400000"),
                Phrase("TIMESTAMP '1969-12-31 23:59:59.5'", "-500"),
                Phrase("CAST('2001-02-03 05:06:07' AS TIMESTAMP)", "981176767000"),
            ])
        }
        return pick([
            Phrase("($0 + 3)", "($0 + 259200000)"), Phrase("($0 - 0.25)", "($0 - 21600000)"),
            Phrase("($0 - INTERVAL '36' HOUR)", "($0 - 129600000)"),
            Phrase("($0 + INTERVAL '1 02:03:04.5' DAY TO SECOND)", "($0 + 93784500)"),
            Phrase("COALESCE($0, seen)"),
            Phrase("CAST($0 AS DATE)", "($0 - (($0 % 86400000) + 86400000) % 86400000)"),
        ]).filled(moment(depth - 1))
    }
}

@Suite struct SQLiteFunctionTests {
    private struct Row {
        var whole: Int64?
        var fraction: Double?
        var word: String?
        var seen: Int64?

        func value(_ name: String) -> AttributeValue {
            switch name {
            case "whole": whole.map { .integer($0) } ?? .null
            case "fraction": fraction.map { .real($0) } ?? .null
            case "word": word.map { .string($0) } ?? .null
            default: seen.map { .date($0) } ?? .null
            }
        }
    }

    private static let rows = [
        Row(whole: 0, fraction: 0, word: "a", seen: 0),
        Row(whole: -7, fraction: -2.5, word: " bxa ", seen: 981_176_767_125),
        Row(whole: 12, fraction: 1234.5, word: "", seen: -1),
        Row(whole: nil, fraction: 0.49, word: "éxé", seen: nil),
        Row(whole: 2, fraction: nil, word: nil, seen: 253_000_000_000_000),
        Row(whole: 1_000_000, fraction: -1e9, word: "xxaxx", seen: -2_208_988_800_000),
    ]
    private static let fields = [
        FieldDescription(name: "whole", type: .integer),
        FieldDescription(name: "fraction", type: .double),
        FieldDescription(name: "word", type: .string),
        FieldDescription(name: "seen", type: .date),
    ]

    private func connection() throws -> Connection {
        let connection = try Connection(path: ":memory:", mode: .create)
        try connection.execute(
            "CREATE TABLE t (whole INTEGER, fraction REAL, word TEXT, seen INTEGER)")
        for row in Self.rows {
            let values = [
                row.whole.map { "\($0)" }, row.fraction.map { "\($0)" }, row.word.map { "'\($0)'" },
                row.seen.map { "\($0)" },
            ]
            let list = values.map { $0 ?? "NULL" }.joined(separator: ", ")
            try connection.execute("INSERT INTO t VALUES (\(list))")
        }
        return connection
    }

    @Test(arguments: Seeds.chosen(4))
    func `functions give what SQLite's give`(seed: UInt64) throws {
        var generator = PhraseGenerator(random: SeededGenerator(seed: seed))
        let connection = try connection()
        var counts: [Bool?: Int] = [:]
        for round in 0..<600 {
            let phrase = generator.condition()
            let bound = try WhereClause(parsing: phrase.ours).bound(to: Self.fields)
            var statement = try connection.prepare(
                "SELECT (\(phrase.theirs)) FROM t ORDER BY rowid")
            for row in Self.rows {
                let hasRow = try statement.step()
                #expect(hasRow)
                let expected: Bool? = statement.isNull(0) ? nil : statement.integer(0) != 0

                let truth = bound.evaluate { row.value(Self.fields[$0].name) }

                counts[expected, default: 0] += 1
                if truth != expected {
                    Issue.record("seed \(seed) round \(round) \(row): \(phrase)")
                }
            }
        }
        #expect(counts.count == 3 && counts.values.allSatisfy { $0 > 100 }, "\(counts)")
    }
}
