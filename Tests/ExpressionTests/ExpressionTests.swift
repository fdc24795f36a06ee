// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Expression
import Testing

private let fields = [
    FieldDescription(name: "OBJECTID", type: .objectID),
    FieldDescription(name: "NAME", type: .string),
    FieldDescription(name: "POP", type: .integer),
    FieldDescription(name: "AREA km2", type: .double),
    FieldDescription(name: "Built", type: .date),
    FieldDescription(name: "NOTE", type: .string),
]

private let town = Attributes([
    .init(name: "OBJECTID", value: .integer(7)),
    .init(name: "NAME", value: .string("O'Fallon_50%")),
    .init(name: "POP", value: .integer(30_000)),
    .init(name: "AREA km2", value: .real(12.5)),
    .init(name: "Built", value: .date(951_782_400_000)),
    .init(name: "NOTE", value: .null),
])

private func refusal(of text: String) -> Failure? {
    do throws(Failure) {
        try WhereClause(parsing: text).validate(against: fields)
        return nil
    } catch { return error }
}

@Suite struct WhereClauseTests {
    @Test(
        arguments: [
            ("1=1", true),
            ("1 = 2", false),
            ("NULL = NULL", nil),
            ("NULL IS NULL", true),
            ("name = 'O''Fallon_50%'", true),
            ("NAME <> 'x'", true),
            ("NAME != 'x'", true),
            ("NAME = 'o''fallon_50%'", false),
            ("UPPER(name) = 'O''FALLON_50%'", true),
            ("lower(NAME) LIKE 'o''%'", true),
            ("NAME LIKE '%\\_50\\%' ESCAPE '\\'", true),
            ("NAME LIKE 'O_Fallon%'", true),
            ("NAME LIKE '%'", true),
            ("NAME LIKE ''", false),
            ("NAME NOT LIKE '%x%'", true),
            ("NOTE LIKE '%'", nil),
            ("NOT NOTE LIKE '%'", nil),
            ("POP > 29999.5", true),
            ("POP >= 30000", true),
            ("POP < 3e4", false),
            ("POP = '30000'", true),
            ("POP IN (1, 2, 30000)", true),
            ("POP NOT IN (1, NULL)", nil),
            ("POP IN (NULL, 30000)", true),
            ("POP BETWEEN 1 AND 30000", true),
            ("POP NOT BETWEEN 1 AND 2", true),
            ("POP BETWEEN NULL AND 2", false),
            ("POP BETWEEN 1 AND NULL", nil),
            ("\"AREA km2\" * 2 = 25", true),
            ("POP / 0 = 1", nil),
            ("7 / 2 = 3", true),
            ("-7 / 2 = -3", true),
            ("1 - - 1 = 2", true),
            ("2 + 3 * 4 = 14", true),
            ("(2 + 3) * 4 = 20", true),
            ("NOTE IS NULL", true),
            ("NOTE IS NOT NULL", false),
            ("NOTE = 'x' OR 1 = 1", true),
            ("NOTE = 'x' AND 1 = 2", false),
            ("NOTE = 'x' OR 1 = 2", nil),
            ("NOTE = 'x' AND 1 = 1", nil),
            ("NOT 1 = 2 AND 1 = 1", true),
            ("1 = 2 AND 1 = 2 OR 1 = 1", true),
            ("1 = 2 AND (1 = 2 OR 1 = 1)", false),
            ("Built = DATE '2000-02-29'", true), ("Built = date '2000-02-29 00:00:00'", true),
            ("Built = DATE '2000-02-29 00:00:01'", false),
            ("BUILT < TIMESTAMP '2000-02-29 00:00:00.001'", true),
            ("built BETWEEN '2000-02-28' AND '2000-03-01T12:00'", true),
            ("Built = 951782400000", true),
            ("N'ü' = 'ü'", true),
            ("9223372036854775807 < 9223372036854775808", true),
            ("9007199254740993 > 9007199254740992.0", true),
            ("-9223372036854775808 < 0", true),
            ("- -9223372036854775808 > 0", true),
            ("9223372036854775807 + 1 > 0", true),
        ] as [(String, Bool?)])
    func `a clause is true, false or unknown as SQL has it`(text: String, expected: Bool?) throws {
        let clause = try WhereClause(parsing: text)

        #expect(clause.evaluate(town) == expected)

        let bound = try clause.bound(to: fields)
        #expect(bound.evaluate { town.entries[$0].value } == expected)
    }

    @Test(arguments: [
        ("", 1, "the end of the clause"),
        ("   ", 4, "the end of the clause"),
        ("NAME", 1, "condition"),
        ("NAME =", 7, "expected a field or a value"),
        ("NAME = 'x", 8, "not closed"),
        ("NAME = 'x' 1", 12, "AND, OR or the end"),
        ("(NAME = 'x'", 12, "expected ')'"),
        ("NAME LIKE 5 ESCAPE 'xx'", 20, "one character"),
        ("NAME LIKE 'a\\' ESCAPE '\\'", 11, "escape"),
        ("NAME ; DROP", 6, "unexpected ';'"),
        ("POP NOT 5", 9, "IN, BETWEEN or LIKE"),
        ("POP BETWEEN 1 OR 2", 15, "expected AND"),
        ("POP IN ()", 9, "a field or a value"),
        ("POP IN 5", 8, "'('"),
        ("SUBSTR(NAME) = 'x'", 1, "unknown function"),
        ("POP = 5x", 8, "operator"),
        ("1 = 1 = 1", 7, "AND, OR"),
        ("(1=1) + 1 = 2", 1, "begins a condition"),
        ("NOT POP", 5, "begins a value"),
        ("POP IS 5", 8, "expected NULL"),
        ("Built = DATE '2023-02-29'", 14, "a date such as"),
        ("TOWN = 'x'", 1, "no field 'TOWN'"),
        ("1=1 AND NAME = 5", 9, "text is compared with a number"),
        ("POP = 'many'", 1, "text is compared"),
        ("NAME + 1 = 2", 1, "arithmetic needs numbers"),
        ("Built LIKE '2%'", 1, "LIKE needs text"),
        ("POP = 1e999", 7, "too large"),
    ])
    func `a faulty clause names the place and what was expected`(
        text: String, position: Int, words: String
    ) throws {
        let failure = try #require(refusal(of: text))

        #expect(failure.code == .invalidParameter)
        #expect(failure.message.hasPrefix("WHERE clause, character \(position): "), "\(failure)")
        #expect(failure.message.contains(words), "\(failure)")
    }

    @Test func `field names are listed once, as first written`() throws {
        let clause = try WhereClause(
            parsing: "pop > 1 AND \"POP\" < 9 OR Name = 'x' AND \"a b\" = 1")

        #expect(clause.fieldNames == ["pop", "Name", "a b"])
    }

    @Test(arguments: ["(", "NOT ", "-", "+", "UPPER("])
    func `nesting beyond the limit is refused, not followed`(piece: String) throws {
        let deep = String(repeating: piece, count: 60_000 / piece.utf8.count)

        let message = try #require(refusal(of: deep)).message

        #expect(message.contains("nested deeper than 200 levels"))
        #expect(try #require(refusal(of: "POP = " + deep)).code == .invalidParameter)
    }

    @Test func `a sum of more terms than the depth limit is refused`() throws {
        let sum = "1" + String(repeating: "+1", count: 199)
        let clause = try WhereClause(parsing: sum + " = 200")

        #expect(clause.evaluate(town) == true)
        #expect(refusal(of: sum + "+1+1 = 202") != nil)
    }

    @Test func `a long list and a long chain are not deep`() throws {
        let list = (0..<9000).map(String.init).joined(separator: ",")
        let chain = (0..<5000).map { "POP=\($0)" }.joined(separator: " OR ")

        #expect(try WhereClause(parsing: "POP IN (\(list))").evaluate(town) == false)
        #expect(try WhereClause(parsing: chain).evaluate(town) == false)
        #expect(refusal(of: "POP = " + String(repeating: " ", count: 65_536))?.code == .tooLarge)
    }

    @Test func `a hostile LIKE pattern ends in time`() throws {
        let pattern = String(repeating: "%a", count: 2000)
        let text = String(repeating: "a", count: 1999) + "b"

        #expect(try WhereClause(parsing: "'\(text)' LIKE '\(pattern)'").evaluate(town) == false)
    }
}
