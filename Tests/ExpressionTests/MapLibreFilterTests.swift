// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Expression
import Platform
import TestKit
import Testing

/// Filters of styles, evaluated as MapLibre does, against the clauses that they are made of.
@Suite struct MapLibreFilterTests {
    private static let fields = [
        FieldDescription(name: "OBJECTID", type: .objectID),
        FieldDescription(name: "Whole", type: .integer),
        FieldDescription(name: "real", type: .double),
        FieldDescription(name: "word", type: .string),
        FieldDescription(name: "seen", type: .date),
    ]

    private func filter(_ clause: String) throws -> JSONTree? {
        try WhereClause(parsing: clause).bound(to: Self.fields).mapLibreFilter(Self.fields)
    }

    @Test func `a filter holds for the features for which its clause does`() throws {
        var clauses = Clauses(random: SeededGenerator(seed: 11))
        let rows = (0..<60).map { _ in Row(&clauses.random) }
        var (translated, selected, left) = (0, 0, 0)
        for _ in 0..<4_000 {
            let text = clauses.condition(3)
            let clause = try WhereClause(parsing: text)
            guard let filter = try filter(text) else { continue }
            translated += 1
            for row in rows {
                let wanted = clause.evaluate { row.value($0) } == true
                let found = MapLibreEvaluator(id: row.id) { row.value($0) }.holds(filter)
                #expect(found == wanted, "\(text) on \(row): \(filter.jsonText)")
                if found { selected += 1 } else { left += 1 }
            }
        }
        #expect(translated > 2_000 && selected > 10_000 && left > 10_000)
    }

    @Test(arguments: [
        "word < 'b'", "word BETWEEN 'a' AND 'c'", "UPPER(word) = 'A'", "whole + 1 > 3",
        "whole > real", "seen > DATE '2001-02-03'", "seen IS NULL", "word LIKE 'a_b'",
        "word LIKE 'a%b'", "word LIKE '🗺%'", "whole LIKE '1%'", "whole = '5'",
        "whole = 9007199254740993", "NOT (word < 'b' AND whole = 1)", "whole IN (1, '2')",
    ])
    func `what MapLibre decides otherwise has no filter`(_ clause: String) throws {
        #expect(try filter(clause) == nil)
    }

    @Test func `fields are spelled as tiles have them`() throws {
        #expect(
            try filter("WHOLE = 1")?.jsonText
                == #"["all",["has","Whole"],["==",["get","Whole"],1]]"#)
        #expect(try filter("objectid <= 3")?.jsonText == #"["all",["all"],["<=",["id"],3]]"#)
        #expect(
            try filter("word LIKE 'a%'")?.jsonText
                == #"["all",["has","word"],["==",["slice",["get","word"],0,1],"a"]]"#)
    }

    private struct Clauses {
        var random: SeededGenerator

        private mutating func pick<T>(_ items: [T]) -> T {
            items[Int.random(in: 0..<items.count, using: &random)]
        }

        private mutating func number() -> String {
            pick(["0", "1", "-3", "2.5", "7", "NULL"])
        }

        private mutating func text() -> String {
            pick(["'a'", "'AB'", "''", "'it''s'", "'é'", "NULL"])
        }

        mutating func condition(_ depth: Int) -> String {
            let not = pick(["", "NOT "])
            let comparison = pick(["=", "<>", "<", "<=", ">", ">="])
            let field = pick(["whole", "real", "objectid"])
            switch Int.random(in: 0..<(depth > 0 ? 11 : 8), using: &random) {
            case 0: return "\(field) \(comparison) \(number())"
            case 1: return "\(number()) \(comparison) \(field)"
            case 2: return "word \(pick(["=", "<>"])) \(text())"
            case 3: return "\(pick(["whole", "real", "word", "objectid"])) IS \(not)NULL"
            case 4: return "\(field) \(not)IN (\(number()), \(number()), \(number()))"
            case 5: return "word \(not)IN (\(text()), \(text()))"
            case 6: return "\(field) \(not)BETWEEN \(number()) AND \(number())"
            case 7:
                let inner = pick(["a", "AB", "", "é", "!%", "s"])
                return "word \(not)LIKE '\(pick(["", "%"]))\(inner)\(pick(["", "%"]))' ESCAPE '!'"
            case 8: return "NOT (\(condition(depth - 1)))"
            default:
                let word = pick(["AND", "OR"])
                return "("
                    + (0...Int.random(in: 1...2, using: &random))
                    .map { _ in condition(depth - 1) }.joined(separator: " \(word) ") + ")"
            }
        }
    }

    private struct Row {
        var id: Int64
        var whole: Int64?
        var real: Double?
        var word: String?

        init(_ random: inout SeededGenerator) {
            func maybe<T>(_ items: [T]) -> T? {
                Int.random(in: 0..<5, using: &random) == 0
                    ? nil : items[Int.random(in: 0..<items.count, using: &random)]
            }
            id = Int64.random(in: 0..<9, using: &random)
            whole = maybe([0, 1, -3, 5, 7])
            real = maybe([0, 1, -3, 2.5, 7.25])
            word = maybe(["a", "AB", "ABa", "", "it's", "é", "aé", "%", "a%", "🗺a", "sas"])
        }

        func value(_ name: String) -> AttributeValue {
            switch name.lowercased() {
            case "objectid": .integer(id)
            case "whole": whole.map { .integer($0) } ?? .null
            case "real": real.map { .real($0) } ?? .null
            default: word.map { .string($0) } ?? .null
            }
        }
    }
}
