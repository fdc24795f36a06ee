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
            ("name || ' (' || pop || ')' = 'O''Fallon_50% (30000)'", true),
            ("CONCAT(NAME, '!', NOTE) IS NULL", true),
            ("CHAR_LENGTH(NAME) = 12 AND char_length('né') = 2", true),
            ("SUBSTRING(NAME, 3, 6) = 'Fallon'", true),
            ("SUBSTRING(NAME, 10) = '50%'", true),
            ("SUBSTRING(NAME, 0, 2) = 'O' AND SUBSTRING('abc', -5, 3) = ''", true),
            ("SUBSTRING('abc', 9223372036854775807, 9223372036854775807) = ''", true),
            ("SUBSTRING('abc', 2, -1) IS NULL", true),
            ("SUBSTRING('abc' FROM 2) = 'bc' AND SUBSTRING('abc' FROM 2 FOR 1) = 'b'", true),
            ("LOG(0) IS NULL AND POWER(0, -1) IS NULL AND POWER(10, 400) IS NULL", true),
            ("SIGN(-2.5) = -1 AND SIGN(0) = 0 AND SIGN(NULL) IS NULL", true),
            ("POSITION('Fallon', NAME) = 3 AND POSITION('é' IN 'né') = 2", true),
            ("POSITION('aab', 'aaab') = 2 AND POSITION('x', 'a') = 0", true),
            ("TRIM('  a b ') = 'a b' AND TRIM(LEADING FROM ' a ') = 'a '", true),
            ("TRIM(BOTH 'xy' FROM 'xyzyx') = 'z' AND TRIM(TRAILING 'x' FROM 'xx') = ''", true),
            ("TRIM('x' FROM 'xax') = 'a'", true),
            ("ROUND(2.5) = 3 AND ROUND(-2.5) = -3 AND ROUND(1234.5678, 2) = 1234.57", true),
            ("ROUND(1250, -2) = 1300 AND TRUNCATE(1299, -2) = 1200", true),
            ("ROUND(9223372036854775807) = 9223372036854775807", true),
            ("ROUND(1, 23) IS NULL AND ROUND(NULL) IS NULL AND ROUND(1e300, 22) = 1e300", true),
            ("TRUNCATE(-2.7) = -2 AND FLOOR(-2.5) = -3 AND CEILING(-2.5) = -2", true),
            ("ABS(-9223372036854775808) = 9223372036854775808 AND ABS(-2.5) = 2.5", true),
            ("MOD(-7, 3) = -1 AND -7 % 3 = -1 AND MOD(7.5, 2) = 1.5 AND 7 % 0 IS NULL", true),
            ("MOD(-9223372036854775808, -1) = 0", true),
            ("COALESCE(NOTE, NAME) = NAME AND NULLIF(POP, 30000) IS NULL", true),
            ("CAST(\"AREA km2\" AS INTEGER) = 12 AND CAST('12' AS INT) / 5 = 2", true),
            ("CAST(7 AS FLOAT) / 2 = 3.5 AND CAST('x' AS FLOAT) IS NULL", true),
            ("CAST(1e300 AS BIGINT) IS NULL", true),
            ("CAST(POP AS VARCHAR) = '30000' AND CAST(POP AS VARCHAR(2)) = '30'", true),
            ("CAST(Built AS VARCHAR) = '2000-02-29T00:00:00Z'", true),
            ("CAST(TIMESTAMP '2000-02-29 13:00:00' AS DATE) = Built", true),
            ("CAST('2000-02-29 13:00' AS TIMESTAMP) > Built", true),
            ("EXTRACT(YEAR FROM Built) = 2000 AND extract(month from built) = 2", true),
            ("EXTRACT(DAY FROM DATE '1969-12-31') = 31", true),
            ("EXTRACT(HOUR FROM TIMESTAMP '1969-12-31 23:58:59.5') = 23", true),
            ("EXTRACT(MINUTE FROM TIMESTAMP '1969-12-31 23:58:59.5') = 58", true),
            ("EXTRACT(SECOND FROM TIMESTAMP '1969-12-31 23:58:59.5') = 59.5", true),
            ("Built + 1 = DATE '2000-03-01' AND 1 + Built - 2 = DATE '2000-02-28'", true),
            ("Built - 0.5 = TIMESTAMP '2000-02-28 12:00:00'", true),
            ("Built - DATE '2000-02-28' = 1 AND DATE '2000-02-29' - Built = 0", true),
            ("Built - INTERVAL '3' DAY = DATE '2000-02-26'", true),
            ("Built + INTERVAL '1 02:03:04.5' DAY TO SECOND = '2000-03-01 02:03:04.5'", true),
            ("Built - INTERVAL '90:30' MINUTE TO SECOND = '2000-02-28T22:29:30'", true),
            ("Built + INTERVAL '-36' HOUR = '2000-02-27 12:00'", true),
            ("DATE '2000-02-29' + 1e300 IS NULL AND Built + NULL IS NULL", true),
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
        ("POP > CURRENT_DATE", 7, "CURRENT_DATE is the moment of a request"),
        ("Built > DATE '2000-01-01' - INTERVAL '3' MONTH", 42, "expected DAY, HOUR, MINUTE"),
        ("Built > Built - INTERVAL '3' HOUR TO DAY", 38, "expected HOUR, MINUTE, SECOND"),
        ("Built > Built - INTERVAL '3 24' DAY TO HOUR", 26, "another form"),
        ("Built > Built - INTERVAL '3x' SECOND", 26, "another form"),
        ("Built > INTERVAL '3' DAY", 9, "stands after a date"),
        ("POP > POP - INTERVAL '3' DAY", 7, "added to a date"),
        ("NAME = NAME - Built", 8, "arithmetic needs numbers"),
        ("Built * 2 = 5", 1, "arithmetic needs numbers"),
        ("EXTRACT(WEEK FROM Built) = 1", 9, "YEAR, MONTH, DAY"),
        ("EXTRACT(YEAR FROM POP) = 1", 19, "needs a date"),
        ("CAST(POP AS BLOB) = 1", 13, "INTEGER, FLOAT, VARCHAR"),
        ("CAST(POP AS VARCHAR(0)) = '1'", 21, "how many characters"),
        ("CAST(Built AS INTEGER) = 1", 6, "VARCHAR, DATE or TIMESTAMP"),
        ("ROUND(1, 2, 3) = 1", 1, "expected 1 or 2"),
        ("NULLIF(POP) = 1", 1, "expected 2"),
        ("COALESCE(POP, NAME) = 1", 15, "a number and text"),
        ("SUBSTRING(NAME, NAME) = 'x'", 17, "needs numbers"),
        ("CHAR_LENGTH(Built) = 4", 13, "needs text"),
        ("ABS(NAME) = 4", 5, "ABS needs numbers"),
        ("TRIM(BOTH 'x', NAME) = 'x'", 14, "expected FROM"),
        ("POSITION('x') = 1", 13, "the text to look in"),
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

    @Test(arguments: ["(", "NOT ", "-", "+", "UPPER(", "COALESCE(1, ", "TRIM('x' FROM ", "CAST("])
    func `nesting beyond the limit is refused, not followed`(piece: String) throws {
        let deep = String(repeating: piece, count: 60_000 / piece.utf8.count)

        let message = try #require(refusal(of: deep)).message

        #expect(message.contains("nested deeper than 200 levels"))
        #expect(try #require(refusal(of: "POP = " + deep)).code == .invalidParameter)
    }

    /// Twice the time for each level would be more than there is.
    @Test(.timeLimit(.minutes(1)))
    func `deep clauses are checked and evaluated level by level`() throws {
        for (open, close) in [
            ("NULLIF(", ", 0)"), ("(1 + ", ")"), ("COALESCE(", ", 1)"), ("-(", ")"),
        ] {
            let deep =
                String(repeating: open, count: 90) + "POP" + String(repeating: close, count: 90)
            let clause = try WhereClause(parsing: deep + " IS NOT NULL")

            try clause.validate(against: fields)
            #expect(clause.evaluate(town) == true)
        }
    }

    @Test func `a text that is put together has a bound`() throws {
        let text = String(repeating: "x", count: 1 << 12)
        let value = Attributes([.init(name: "NAME", value: .string(text))])
        func clause(_ count: Int) throws -> WhereClause {
            let names = repeatElement("NAME", count: count).joined(separator: ", ")
            return try WhereClause(parsing: "CHAR_LENGTH(CONCAT(\(names))) = \(count << 12)")
        }

        #expect(try clause(16).evaluate(value) == true)
        #expect(try clause(17).evaluate(value) == nil)
    }

    @Test(
        arguments: [
            ("Built > CURRENT_DATE", "Built > DATE '2026-11-24'"),
            (
                "current_timestamp - 3 < Built OR CURRENT_TIMESTAMP=Built",
                "TIMESTAMP '2026-11-24 17:04:29.123' - 3 < Built OR TIMESTAMP '2026-11-24 17:04:29.123'=Built"
            ),
            ("NAME = 'CURRENT_DATE' OR \"CURRENT_DATE\" = 'é'", nil),
            ("CURRENT_DATES = 1", nil), ("POP = 1", nil), ("'CURRENT_DATE", nil), ("", nil),
        ] as [(String, String?)])
    func `a clause is asked at a moment`(text: String, expected: String?) throws {
        let moment = try #require(Timestamp(iso: "2026-11-24T17:04:29.123999Z"))

        #expect(WhereClause.dated(text, at: moment) == expected ?? text)
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
