// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FeatureQuery
import Foundation
import Geometry
import SQLite
import TestKit
import Testing

@Suite struct RowTests {
    private static let orders: [(sql: String, fields: [QueryOrder])] = [
        ("OBJECTID", []), ("OBJECTID", [QueryOrder(field: "objectid")]),
        ("OBJECTID DESC", [QueryOrder(field: "OBJECTID", isDescending: true)]),
        ("pop, OBJECTID", [QueryOrder(field: "pop")]),
        ("pop DESC, OBJECTID", [QueryOrder(field: "POP", isDescending: true)]),
        (
            "kind, area DESC, OBJECTID",
            [QueryOrder(field: "kind"), QueryOrder(field: "area", isDescending: true)]
        ),
    ]

    @Test func `a text is looked for in the field that is shown, letter by letter`() throws {
        let names = ["Ab 100%", "ab_1", "aB", "100 ab", "It's \\ \"so\"", "a!b", "é", ""]
        let site = try QueriedSite(
            names.enumerated().map { index, name in
                let text = try #require(String(data: JSONEncoder().encode(name), encoding: .utf8))
                return #"{"type":"Feature","id":\#(index + 1),"properties":{"n":\#(index),"#
                    + #""na\"me":\#(text),"other":"ab"},"#
                    + #""geometry":{"type":"Point","coordinates":[1,2]}}"#
            })
        // Its name needs quotes of its own.
        for wanted in ["ab", "b", "100%", "_", "'", "\\", "\"", "!", "é", "B", "x", " "] {
            let found = try site.ids {
                $0.result = .objectIDs
                $0.text = wanted
            }.ids

            let expected = names.indices.filter { names[$0].contains(wanted) }.map { $0 + 1 }
            #expect(found == expected, "\(wanted)")
        }
        // With a clause both must hold.
        let both = try site.ids {
            $0.result = .objectIDs
            $0.text = "ab"
            $0.clause = "n > 1"
        }.ids
        #expect(both == [4])
    }

    @Test func `a text is refused where no field with text is shown, or it is too long`() throws {
        let site = try QueriedSite([
            #"{"type":"Feature","properties":{"n":1},"geometry":{"type":"Point","coordinates":[1,2]}}"#
        ])
        func failure(_ text: String) -> Failure? {
            do throws(Failure) {
                _ = try site.engine.answer(site.request { $0.text = text }, in: site.map)
                return nil
            } catch {
                return error
            }
        }

        #expect(failure("a")?.message.hasPrefix("text: layer 0 'features' shows the field") == true)
        #expect(failure(String(repeating: "é", count: 513))?.code == .tooLarge)
    }

    @Test(.slow, arguments: [1, 2, 3] as [UInt64])
    func `pages joined are the rows that SQLite selects, in its order`(seed: UInt64) throws {
        var rows = try RandomRows(300, seed: seed)
        for round in 0..<40 {
            let clause = rows.clause()
            let order = rows.pick(Self.orders)
            let box = round.isMultiple(of: 2) ? nil : rows.box()
            let page = Int.random(in: 1...90, using: &rows.random)
            let label: Comment = "seed \(seed) round \(round): \(clause) by \(order.sql)"
            let inside = box.map { rows.ids(in: $0) }
            let expected = try rows.column(
                "SELECT OBJECTID FROM t WHERE \(clause) ORDER BY \(order.sql)"
            ).filter { inside?.contains($0) ?? true }
            func ask(_ change: (inout QueryRequest) -> Void) throws -> (ids: [Int], isCut: Bool) {
                try rows.site.ids { request in
                    request.clause = clause
                    request.order = order.fields
                    request.spatialFilter = box.map { QuerySpatialFilter(geometry: .envelope($0)) }
                    change(&request)
                }
            }

            var joined: [Int] = []
            var isCut = true
            while isCut {
                let (ids, more) = try ask {
                    $0.offset = joined.count
                    $0.limit = page
                }
                #expect(more == (joined.count + ids.count < expected.count), label)
                #expect(ids.count == min(page, expected.count - joined.count), label)
                joined += ids
                isCut = more && !ids.isEmpty
            }

            #expect(joined == expected, label)
            #expect(try ask { $0.result = .objectIDs }.ids == expected, label)
            let count = try rows.site.json { request in
                request.clause = clause
                request.spatialFilter = box.map { QuerySpatialFilter(geometry: .envelope($0)) }
                request.result = .count
                request.limit = 1
            }
            #expect(count["count"] as? Int == expected.count, label)
            #expect(try ask { $0.offset = expected.count }.ids == [], label)
            #expect(try ask { $0.offset = .max }.ids == [], label)
        }
    }

    private static let expressions = [
        "LOWER(kind)", "ABS(pop)", "pop % 7", "COALESCE(area, pop)", "kind || ',' || pop",
        "-pop / 3", "(area - 0.5) * pop", "SUBSTRING(kind, 1, 1)", "\"pop\" * \"pop\"",
        "NULLIF(pop, OBJECTID)",
    ]

    @Test(.slow, arguments: [21, 22, 23] as [UInt64])
    func `rows in the order of expressions are in that of SQLite`(seed: UInt64) throws {
        var rows = try RandomRows(300, seed: seed)
        for round in 0..<60 {
            let clause = rows.clause()
            let order = [rows.pick(Self.expressions), rows.pick(Self.expressions + ["kind"])].map {
                QueryOrder(field: $0, isDescending: rows.pick([true, false]))
            }
            let sql = order.map { $0.field + ($0.isDescending ? " DESC" : " ASC") }
            let label: Comment = "seed \(seed) round \(round): \(clause) by \(sql)"
            let expected = try rows.column(
                "SELECT OBJECTID FROM t WHERE \(clause) ORDER BY "
                    + (sql + ["OBJECTID"]).joined(separator: ", "))

            for result in [QueryResult.features, .objectIDs] {
                let found = try rows.site.ids {
                    $0.clause = clause
                    $0.order = order
                    $0.result = result
                }
                #expect(found.ids == expected, label)
            }
        }
    }

    @Test(arguments: [24, 25] as [UInt64])
    func `groups and statistics of expressions are those of SQLite`(seed: UInt64) throws {
        var rows = try RandomRows(300, seed: seed)
        for round in 0..<40 {
            let clause = rows.clause()
            let group = [
                rows.pick(Self.expressions), rows.pick(["kind", "pop % 3", "OBJECTID % 2"]),
            ]
            let value = rows.pick(["area * 2 + pop", "ABS(pop)", "CHAR_LENGTH(kind)", "pop / 2"])
            let isFalling = rows.pick([true, false])
            let label: Comment = "seed \(seed) round \(round): \(clause) by \(group) of \(value)"
            let measured = value.replacing("CHAR_LENGTH", with: "length")
            var statement = try rows.table.prepare(
                "SELECT json_array(\(group[0]), \(group[1]), count(\(measured)), sum(\(measured)), "
                    + "min(\(measured)), max(\(measured)), avg(\(measured))) FROM t WHERE \(clause) "
                    + "GROUP BY \(group[0]), \(group[1]) ORDER BY \(group[1])"
                    + (isFalling ? " DESC" : "") + ", \(group[0])")

            let found = try rows.site.rows { request in
                request.clause = clause
                request.groupFields = group
                request.order = [QueryOrder(field: group[1], isDescending: isFalling)]
                for (index, kind) in [
                    QueryStatistic.Kind.count, .sum, .min, .max, .avg,
                ].enumerated() {
                    request.statistics.append(
                        QueryStatistic(kind: kind, field: value, name: "s\(index)"))
                }
            }

            let names =
                ["EXPR_1", group[1] == "kind" ? "kind" : "EXPR_2"] + (0...4).map { "s\($0)" }
            var number = 0
            while try statement.step() {
                let expected = try #require(
                    try JSONSerialization.jsonObject(with: Data(statement.text(0).utf8)) as? [Any])
                guard number < found.count else { break }
                for (index, name) in names.enumerated() {
                    #expect(
                        Self.isEqual(found[number][name], expected[index]),
                        "\(label), row \(number), \(name): \(found[number]) \(expected)")
                }
                number += 1
            }
            #expect(number == found.count, label)
        }
    }

    @Test func `rows of statistics are put in the order of expressions over their columns`() throws
    {
        let rows = try RandomRows(200, seed: 26)
        let expected = try rows.column(
            "SELECT n FROM (SELECT kind, count(*) AS n, max(pop) AS most FROM t GROUP BY kind) "
                + "ORDER BY most % 5 DESC, n * -1")
        let found = try rows.site.rows {
            $0.groupFields = ["kind"]
            $0.statistics = [
                QueryStatistic(kind: .count, field: "*", name: "n"),
                QueryStatistic(kind: .max, field: "pop", name: "most"),
            ]
            $0.order = [
                QueryOrder(field: "most % 5", isDescending: true), QueryOrder(field: "n * -1"),
            ]
        }
        #expect(found.map { $0["n"] as? Int } == expected)
    }

    @Test func `a column that is computed has a name and a type`() throws {
        let site = try QueriedSite([
            #"{"type":"Feature","properties":{"day":"2020-05-06T07:08:09Z"},"geometry":{"type":"Point","coordinates":[1,2]}}"#
        ])
        let json = try site.json {
            $0.groupFields = [
                "EXTRACT(MONTH FROM day)", "CAST(day AS VARCHAR)", "day + 1", "OBJECTID * 1.5",
            ]
            $0.statistics = [QueryStatistic(kind: .min, field: "EXTRACT(YEAR FROM day)", name: "y")]
        }
        let fields = try #require(json["fields"] as? [[String: Any]])
        #expect(
            fields.map { $0["name"] as? String } == ["EXPR_1", "EXPR_2", "EXPR_3", "EXPR_4", "y"])
        #expect(
            fields.map { $0["type"] as? String }
                == [
                    "Integer", "String", "Date", "Double", "Integer",
                ].map { "esriFieldType" + $0 })
        let features = try #require(json["features"] as? [[String: Any]])
        let row = try #require(features.first?["attributes"] as? [String: Any])
        #expect(row["EXPR_1"] as? Int == 5 && row["y"] as? Int == 2020)
    }

    @Test func `object ids are looked up, in their order, each once`() throws {
        var rows = try RandomRows(50, seed: 9)
        _ = rows.pick([1])

        let found = try rows.site.ids { $0.objectIDs = [50, 3, 3, 51, -1, .max, 7] }

        #expect(found.ids == [3, 7, 50] && !found.isCut)
        let some = try rows.site.ids {
            $0.objectIDs = [50, 3, 7]
            $0.clause = "OBJECTID > 5"
        }
        #expect(some.ids == [7, 50])
        #expect(try rows.site.ids { $0.objectIDs = [] }.ids == [])
    }

    @Test(arguments: [4, 5] as [UInt64])
    func `statistics of groups are those of SQLite`(seed: UInt64) throws {
        var rows = try RandomRows(300, seed: seed)
        for round in 0..<20 {
            let clause = rows.clause()
            let group = rows.pick([[], ["kind"], ["pop"], ["kind", "pop"]])
            let field = rows.pick(["area", "pop"])
            let label: Comment = "seed \(seed) round \(round): \(clause) by \(group)"
            let keys = group.isEmpty ? "" : group.joined(separator: ", ") + ", "
            let sql =
                "SELECT json_array(\(keys)count(*), count(\(field)), sum(\(field)), min(\(field)), "
                + "max(\(field)), avg(\(field)), (sum(\(field) * \(field)) - sum(\(field)) * "
                + "sum(\(field)) * 1.0 / count(\(field))) / (count(\(field)) - 1)) FROM t WHERE "
                + clause
                + (group.isEmpty
                    ? ""
                    : " GROUP BY \(group.joined(separator: ", ")) ORDER BY "
                        + group.joined(separator: ", "))

            let found = try rows.site.rows { request in
                request.clause = clause
                request.groupFields = group
                request.statistics = [QueryStatistic(kind: .count, field: "*", name: "s0")]
                for (index, kind) in [
                    QueryStatistic.Kind.count, .sum, .min, .max, .avg, .variance,
                ].enumerated() {
                    request.statistics.append(
                        QueryStatistic(kind: kind, field: field, name: "s\(index + 1)"))
                }
                request.statistics.append(
                    QueryStatistic(kind: .stddev, field: field, name: "deviation"))
            }

            var statement = try rows.table.prepare(sql)
            var number = 0
            while try statement.step() {
                let object = try JSONSerialization.jsonObject(
                    with: Data(statement.text(0).utf8))
                let expected = try #require(object as? [Any])
                guard number < found.count else { break }
                let row = found[number]
                for (index, name) in (group + (0...6).map { "s\($0)" }).enumerated() {
                    #expect(
                        Self.isEqual(row[name], expected[index]),
                        "\(label), row \(number), \(name): \(row) \(expected)")
                }
                if let variance = row["s6"] as? Double {
                    let deviation = try #require(row["deviation"] as? Double)
                    #expect(abs(deviation * deviation - variance) <= 1e-9 * max(1, variance), label)
                }
                number += 1
            }
            #expect(number == found.count, label)
        }
    }

    @Test(arguments: [14, 15] as [UInt64])
    func `groups that a HAVING clause leaves are those of SQLite`(seed: UInt64) throws {
        var rows = try RandomRows(300, seed: seed)
        for round in 0..<40 {
            let clause = rows.clause()
            let group = rows.pick(["kind", "pop"])
            let field = rows.pick(["area", "pop"])
            let bound = rows.pick([-1, 0, 1, 2, 3, 5, 20])
            let having = rows.pick([
                "COUNT(*) > \(bound)", "count(\(field)) <= \(bound)",
                "Max(\"\(field)\") >= \(bound) AND MIN(\(field)) < \(bound)",
                "1.0 * SUM(\(field)) / COUNT(\(field)) > \(bound) OR \(group) IS NULL",
                "AVG(\(field)) BETWEEN \(bound) AND \(bound + 9)",
                "NOT (n > \(bound)) AND \(group) IS NOT NULL",
            ])
            let label: Comment = "seed \(seed) round \(round): \(clause) HAVING \(having)"
            // One column is computed, but not returned.
            let expected = try rows.column(
                "SELECT n FROM (SELECT \(group), count(*) AS n FROM t WHERE \(clause) GROUP BY "
                    + "\(group) HAVING \(having) ORDER BY \(group))")

            let found = try rows.site.rows { request in
                request.clause = clause
                request.groupFields = [group]
                request.statistics = [QueryStatistic(kind: .count, field: "*", name: "n")]
                request.having = having
            }
            #expect(found.map { $0["n"] as? Int } == expected, label)
            #expect(found.allSatisfy { Set($0.keys) == [group, "n"] }, label)
            let count = try rows.site.json { request in
                request.clause = clause
                request.groupFields = [group]
                request.statistics = [QueryStatistic(kind: .count, field: "*", name: "n")]
                request.having = having
                request.result = .count
            }
            #expect(count["count"] as? Int == expected.count, label)
        }
    }

    @Test func `a HAVING clause that cannot be is refused by a sentence`() throws {
        let rows = try RandomRows(10, seed: 8)
        func message(_ having: String, statistics: Bool = true) -> String {
            rows.site.failure { request in
                if statistics {
                    request.statistics = [QueryStatistic(kind: .count, field: "*", name: "n")]
                }
                request.having = having
            }?.message ?? "answered"
        }
        #expect(message("COUNT(*) > 1", statistics: false) == "having requires outStatistics")
        #expect(message("n > 1") == "answered" && message(" ") == "answered")
        for (having, word) in [
            ("area > 1", "no field 'area'"), ("SUM(kind) > 1", "needs numbers"),
            ("SUM(*) > 1", "expected a field"), ("MEDIAN(pop) > 1", "unknown function 'MEDIAN'"),
            ("SUM(nope) > 1", "nope"), ("COUNT(pop", "expected ')'"), ("COUNT(*)", "condition"),
            ("MAX(kind) > 1", "'having'"),
        ] {
            let found = message(having)
            #expect(
                found.contains(word) && found.hasPrefix("parameter 'having': "),
                "\(having): \(found)")
            #expect(!found.contains("WHERE"), "\(having): \(found)")
        }
        #expect(message("n > ").hasPrefix("parameter 'having': HAVING clause, character 5: "))
        #expect(message("nope > 1").contains("HAVING clause, character 1: "))
        // Elsewhere they are no functions.
        let failure = rows.site.failure { $0.clause = "COUNT(*) > 1" }
        #expect(
            failure?.message.contains("WHERE clause, character 1: unknown function 'COUNT'") == true
        )
    }

    private static func isEqual(_ found: Any?, _ expected: Any) -> Bool {
        switch (found, expected) {
        case (let found as Double, let expected as Double):
            abs(found - expected) <= 1e-9 * max(1, abs(expected))
        case (let found as String, let expected as String): found == expected
        case (is NSNull, is NSNull): true
        default: false
        }
    }

    @Test func `distinct rows are each there once, and may be paged and counted`() throws {
        var rows = try RandomRows(300, seed: 6)
        _ = rows.pick([1])
        func ask(_ change: (inout QueryRequest) -> Void = { _ in }) throws -> [[String: Any]] {
            try rows.site.rows {
                $0.returnDistinctValues = true
                $0.outFields = ["kind", "pop"]
                change(&$0)
            }
        }
        func text(_ row: [String: Any]) -> String { "\(row["kind"] ?? 0) \(row["pop"] ?? 0)" }

        let whole = try ask().map(text)
        let expected = try rows.column("SELECT count(*) FROM (SELECT DISTINCT kind, pop FROM t)")

        #expect(Set(whole).count == whole.count && [whole.count] == expected)
        let first = try ask { $0.limit = 7 }.map(text)
        let second = try ask { $0.offset = 7 }.map(text)
        #expect(first + second == whole && first.count == 7)
        let count = try rows.site.json {
            $0.returnDistinctValues = true
            $0.outFields = ["kind", "pop"]
            $0.result = .count
        }
        #expect(count["count"] as? Int == whole.count)
        let ordered = try ask { $0.order = [QueryOrder(field: "pop", isDescending: true)] }
        let pops = ordered.map { $0["pop"] as? Int ?? .min }
        #expect(pops == pops.sorted(by: >))
    }

    @Test func `a query that makes no sense is refused by a sentence`() throws {
        let rows = try RandomRows(10, seed: 7)
        func message(_ change: (inout QueryRequest) -> Void) -> String {
            rows.site.failure(change)?.message ?? "answered"
        }
        #expect(message { $0.clause = "pop >" }.contains("where of layer 0"))
        #expect(message { $0.clause = "nope = 1" }.contains("no field 'nope'"))
        #expect(message { $0.clause = "pop = 1; DROP TABLE t" }.contains("unexpected"))
        #expect(message { $0.outFields = ["x"] }.contains("'outFields'"))
        #expect(message { $0.order = [QueryOrder(field: "x")] }.contains("'orderByFields'"))
        for (text, sentence) in [
            ("UPPER(nope)", "no field 'nope'"), ("UPPER(kind", "expected"),
            ("1 + 1", "names no field"),
            ("kind * 2", "arithmetic needs numbers"), ("ABS(pop) = 1", "expected an operator"),
            ("a b", "no field 'a b'"),
        ] {
            for message in [
                message { $0.order = [QueryOrder(field: text)] },
                message {
                    $0.groupFields = [text]
                    $0.statistics = [QueryStatistic(kind: .count, field: "*", name: "n")]
                },
                message { $0.statistics = [QueryStatistic(kind: .max, field: text, name: "n")] },
            ] {
                #expect(
                    message.contains(sentence) && message.hasPrefix("parameter '"), "\(message)")
            }
        }
        #expect(message { $0.layer = 9 }.contains("layerId: 9"))
        #expect(message { $0.groupFields = ["pop"] }.contains("outStatistics"))
        #expect(
            message { $0.statistics = [QueryStatistic(kind: .sum, field: "kind", name: "a")] }
                .contains("needs numbers"))
        #expect(
            message {
                $0.statistics = [
                    QueryStatistic(kind: .sum, field: "pop", name: "a"),
                    QueryStatistic(kind: .max, field: "pop", name: "A"),
                ]
            }.contains("two columns 'A'"))
        #expect(message { $0.offset = -1 }.contains("resultOffset"))
        #expect(
            message { $0.objectIDs = Array(repeating: 1, count: 100_001) }.contains("100000"))
        #expect(
            message { $0.spatialFilter = QuerySpatialFilter(geometry: .multipoint([])) }
                .contains("0 coordinates"))
        for ordinate in [Double.nan, .infinity, 1e300] {
            #expect(
                message {
                    $0.spatialFilter = QuerySpatialFilter(
                        geometry: .multipoint([
                            Coordinate(x: 0, y: 0), Coordinate(x: ordinate, y: 0),
                        ]))
                }.contains("geometry"))
        }
        for meters in [-1, 20_000_001, Double.nan] {
            #expect(
                message {
                    $0.spatialFilter = QuerySpatialFilter(
                        geometry: .point(Coordinate(x: 0, y: 0)), relation: .contains,
                        distanceMeters: meters)
                }.contains("distance"))
        }
        #expect(message { $0.outReference = SpatialReference(wkid: 99_999) }.contains("99999"))
    }

    @Test func `a layer is asked as its map has it`() throws {
        let rows = try RandomRows(100, seed: 8)
        let site = rows.site

        site.map.layers[0].definitionExpression = "OBJECTID > 90"
        site.map.layers[0].isVisible = false
        #expect(try site.ids { $0.clause = "OBJECTID < 95" }.ids == [91, 92, 93, 94])

        site.map.layers[0].isQueryable = false
        #expect(site.failure { _ in }?.message.contains("may not be queried") == true)
        // Only the extent of a drawing is available.
        for result in [QueryResult.extent, .count, .objectIDs, .features] {
            let failure = site.failure {
                ($0.result, $0.isAuxiliary) = (result, true)
            }
            #expect((failure == nil) == (result == .extent))
        }
        #expect(site.failure { $0.result = .extent } != nil)
        site.map.layers[0].isQueryable = true
        site.map.layers[0].loadStatus = .failedToLoad
        site.map.layers[0].loadError = Failure(.notFound, "it is gone")
        #expect(site.failure { _ in }?.message.contains("is not loaded: it is gone") == true)
        let outside = site.failure { $0.hidesInside = true }?.message
        #expect(outside?.contains("is not loaded") == true && outside?.contains("gone") == false)
        site.map.layers[0].kind = .group
        #expect(site.failure { _ in }?.message.contains("is a group") == true)
        site.map.layers[0].kind = .layer(source: .wms(WMSSource(url: "http://x", layers: ["a"])))
        #expect(
            site.failure { _ in }?.message.contains("no features to query")
                == true)
    }

    @Test func `a query that nobody waits for any more stops`() throws {
        let rows = try RandomRows(600, seed: 11)
        var questions = 0

        let failure = #expect(throws: Failure.self) {
            _ = try rows.site.engine.answer(
                rows.site.request { $0.clause = "pop > 100" }, in: rows.site.map
            ) {
                questions += 1
                return questions > 2
            }
        }

        #expect(failure?.code == .cancelled)
    }
}
