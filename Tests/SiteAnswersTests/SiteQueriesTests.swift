// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Dataset
import FeatureQuery
import FedSite
import Foundation
import Geometry
import Identify
import MapState
import Platform
import Site
import Synchronization
import TestKit
import Testing

@testable import SiteAnswers

extension FedSite {
    /// Answers on one thread, without a time limit by default; `opening` is called before a dataset
    /// is opened.
    fileprivate func queries(
        pace: LatencyGate = LatencyGate(tryLimit: 1_000_000_000_000_000, averageLimit: .max),
        opening: @escaping @Sendable () -> Void = {}
    ) throws -> (at: SiteQueries, engine: QueryEngine) {
        let shelf = DatasetCache(directory: site.datasetsDirectory)
        let maps = try SiteIdentify(
            engine: IdentifyEngine { id throws(Failure) in try shelf.dataset(id) },
            follower: follower, isStale: { [self] in isStale.load(ordering: .relaxed) },
            rehearses: false)
        let engine = QueryEngine { id throws(Failure) in
            opening()
            return try shelf.dataset(id)
        }
        return (
            try SiteQueries(engine: engine, maps: maps, threadCount: 1, pace: pace), engine
        )
    }

    fileprivate func query(_ change: (inout QueryRequest) -> Void = { _ in }) -> QueryRequest {
        var request = QueryRequest(map: map.name, layer: 0)
        request.outFields = ["*"]
        change(&request)
        return request
    }
}

private final class Count: Sendable {
    let value = Atomic<Int>(0)
}

@Suite(.timeLimit(.minutes(5))) struct SiteQueriesTests {
    private let fed: FedSite

    init() throws {
        fed = try FedSite()
        try fed.addSquare("square 0", as: 0)
    }

    @Test func `an answer at once is the engine's, of the map as it is and was`() async throws {
        let (queries, engine) = try fed.queries()
        let before = try #require(fed.follower.current.map(named: fed.map.name))
        let forms: [(inout QueryRequest) -> Void] = [
            { _ in }, { $0.form = .geoJSON }, { $0.result = .count }, { $0.result = .extent },
            { $0.clause = "1 = 2" },
            { $0.spatialFilter = QuerySpatialFilter(geometry: .point(Coordinate(x: 5, y: 5))) },
        ]
        for form in forms {
            let expected = try engine.answer(fed.query(form), in: before)
            #expect(try await queries.answerAtOnce(fed.query(form)) == expected)
        }
        let then = try await queries.answerAtOnce(fed.query { $0.at = 4 })
        try fed.addSquare("square 1", as: 1)
        let after = try #require(fed.follower.current.map(named: fed.map.name))
        let upper = fed.query { $0.layer = 1 }
        #expect(try await queries.answerAtOnce(upper) == engine.answer(upper, in: after))
        // A past map is cached when it was requested as the present one.
        let past = try await queries.answerAtOnce(fed.query { $0.at = 4 })
        let expected = try engine.answer(fed.query(), in: before)
        #expect(past == expected && then == expected)
    }

    @Test func `a query of data that is not at hand is left to workers`() async throws {
        let (queries, _) = try fed.queries()
        let elsewhere = try MapName(parsing: "Elsewhere")
        #expect(try await queries.answerAtOnce(fed.query { $0.map = elsewhere }) == nil)
        #expect(try await queries.answerAtOnce(fed.query { $0.minSequence = 5 }) == nil)
        #expect(try await queries.answerAtOnce(fed.query { $0.at = 9 }) == nil)
        #expect(try await queries.answerAtOnce(fed.query { $0.layer = 7 }) == nil)
        let point = Shape.point(Coordinate(x: 5, y: 5))
        for relation in QuerySpatialFilter.Relation.allCases {
            let request = fed.query {
                $0.spatialFilter = QuerySpatialFilter(geometry: point, relation: relation)
            }
            let isPlain = "\(relation)".lowercased().contains("intersects")
            #expect(try await (queries.answerAtOnce(request) != nil) == isPlain, "\(relation)")
        }
        let near = fed.query {
            $0.spatialFilter = QuerySpatialFilter(geometry: point, distanceMeters: 10)
        }
        #expect(try await queries.answerAtOnce(near) == nil)
        #expect(
            try await queries.answerAtOnce(
                fed.query { $0.part = QueryPart(row: 0, byteCount: 0, totalByteCount: 0) }) == nil)
    }

    @Test func `an answer says whether more may have happened`() async throws {
        let (queries, _) = try fed.queries()
        #expect(try await queries.answerAtOnce(fed.query())?.isStale == false)
        fed.isStale.store(true, ordering: .relaxed)
        #expect(try await queries.answerAtOnce(fed.query())?.isStale == true)
        #expect(try await queries.answerAtOnce(fed.query { $0.at = 4 })?.isStale == false)
    }

    @Test func `a query that cannot be answered is refused in the engine's words`() async throws {
        let (queries, engine) = try fed.queries()
        let map = try #require(fed.follower.current.map(named: fed.map.name))
        let wrong: [(inout QueryRequest) -> Void] = [
            { $0.clause = "height > 3" }, { $0.outFields = ["height"] },
            { $0.offset = -1 }, { $0.objectIDs = Array(repeating: 1, count: 100_001) },
        ]
        for wrong in wrong {
            let expected = #expect(throws: Failure.self) {
                try engine.answer(fed.query(wrong), in: map)
            }
            let failure = await #expect(throws: Failure.self) {
                try await queries.answerAtOnce(fed.query(wrong))
            }
            #expect(failure != nil && failure == expected)
        }
    }

    /// Clauses that a parser or an arithmetic could stumble over.
    private static let hostileClauses = [
        String(repeating: "(", count: 900), String(repeating: "NOT ", count: 250) + "1 = 1",
        String(repeating: "-", count: 500) + "1 = 1",
        "1" + String(repeating: "+1", count: 400) + "= 1",
        "9223372036854775807 + OBJECTID > 0", "-9223372036854775808 / -OBJECTID = 0",
        "OBJECTID * 9223372036854775807 * 2 = 1", "OBJECTID / 0 = 1", "OBJECTID / 0.0 = 1",
        "1e999 > OBJECTID", "99999999999999999999999 = OBJECTID",
        "- -9223372036854775808 = OBJECTID",
        "name LIKE '" + String(repeating: "%_", count: 300) + "x'", "name LIKE name",
        "name LIKE 'a' ESCAPE ''", "name LIKE '!' ESCAPE '!'", "'", "\"", "name = 'x", "\u{0} = 1",
        "name IN ()", "name IN (" + String(repeating: "NULL,", count: 150) + "1)",
        "name BETWEEN 1 AND",
        "DATE '0000-00-00' = OBJECTID", "TIMESTAMP '999999999-01-01 00:00:00' > OBJECTID",
        "UPPER(" + String(repeating: "LOWER(", count: 140) + "name",
        "name = '\u{1F468}\u{200D}\u{301}'",
        "OBJECTID % 0 = 1", "MOD(-9223372036854775808, -OBJECTID) = 0", "CURRENT_DATE > OBJECTID",
        "ABS(-9223372036854775808) > ROUND(OBJECTID * 1e300, -22)",
        "CAST(1e300 * OBJECTID AS INTEGER) IS NULL", "CAST(name AS DATE) IS NULL",
        "CAST(-9223372036854775808 AS DATE) IS NULL",
        "EXTRACT(YEAR FROM CAST(-9223372036854775808 AS TIMESTAMP)) < 0",
        "CAST(CAST(9223372036854775807 AS TIMESTAMP) AS VARCHAR) > name",
        "CAST(9223372036854775807 AS TIMESTAMP) + 1e10 IS NULL",
        "CAST(OBJECTID AS TIMESTAMP) - INTERVAL '999999999' DAY < DATE '0001-01-01'",
        "SUBSTRING(name, -9223372036854775808, 9223372036854775807) = ''",
        "SUBSTRING(name, 9223372036854775807, 9223372036854775807) = ''",
        "POSITION(name IN name || name) = 1", "TRIM(BOTH name FROM name) = ''",
        "CHAR_LENGTH(" + String(repeating: "name || ", count: 110) + "name) > 0",
        String(repeating: "NULLIF(", count: 60) + "OBJECTID" + String(repeating: ", 0)", count: 60)
            + " > 0",
        "NULL IS NOT NULL OR NOT NULL", "name IS NULL AND OBJECTID > NULL", "1 = 1; DROP TABLE x",
    ]

    private static func hostileShapes(_ number: inout SeededGenerator) -> [Shape] {
        let odd: [Double] =
            Bool.random(using: &number)
            ? [.nan, .infinity, -.infinity, 1e308, -1e308, 2e12, 5]
            : [1e12, -1e12, 180, -180, 90.5, 0, -0.0, .leastNonzeroMagnitude, 4, 5, 6]
        func place() -> Coordinate {
            Coordinate(
                x: odd.randomElement(using: &number) ?? 0, y: odd.randomElement(using: &number) ?? 0
            )
        }
        func places(_ count: Int) -> [Coordinate] { (0..<count).map { _ in place() } }
        let (low, high) = (place(), place())
        return [
            .point(place()), .multipoint([]), .multipoint(places(3)), .polyline(paths: []),
            .polyline(paths: [[], places(1), places(4)]), .polygon(rings: []),
            .polygon(rings: [[], places(1), places(2), places(5)]),
            .polygon(rings: [[low, high, low, high, low]]), .polygon(rings: [places(1_990)]),
            .envelope(Envelope(minX: low.x, minY: low.y, maxX: high.x, maxY: high.y)),
        ]
    }

    /// Every request ends here: in the engine's answer or failure, or with a worker.
    @Test(.slow) func `no request, however hostile, ends the process or gets another answer`()
        async throws
    {
        let (queries, engine) = try fed.queries()
        let map = try #require(fed.follower.current.map(named: fed.map.name))
        var random = SeededGenerator(seed: 135)
        let extremes = [Int.min, -1, 0, 1, 2_000, Int.max]
        let wholes: [Int64] = [.min, -1, 0, 1, .max]
        let sizes: [Double] = [.nan, -.infinity, -1, 0, 1e-308, 1, 1e308, .infinity]
        let wkids = [Int.min, -1, 0, 1, 4326, 3857, 102_100, 2_154, 32_661, Int.max]
        var (answered, refused) = (0, 0)
        for round in 0..<1_500 {
            let shapes = Self.hostileShapes(&random)
            let request = fed.query { request in
                func once(_ change: () -> Void) { if Bool.random(using: &random) { change() } }
                if round.isMultiple(of: 2) {
                    request.clause = Self.hostileClauses[round / 2 % Self.hostileClauses.count]
                } else if let shape = shapes.randomElement(using: &random) {
                    request.spatialFilter = QuerySpatialFilter(
                        geometry: shape,
                        spatialReference: wkids.randomElement(using: &random).map {
                            SpatialReference(wkid: $0)
                        })
                }
                if round.isMultiple(of: 3) {
                    once { request.objectIDs = wholes + wholes }
                    once { request.offset = extremes.randomElement(using: &random) ?? 0 }
                    once { request.limit = extremes.randomElement(using: &random) }
                    once { request.geometryPrecision = extremes.randomElement(using: &random) }
                    once { request.maxAllowableOffset = sizes.randomElement(using: &random) }
                    once {
                        request.time = TimeExtent(
                            from: wholes.randomElement(using: &random),
                            to: wholes.randomElement(using: &random))
                    }
                    once {
                        request.outReference = SpatialReference(
                            wkid: wkids.randomElement(using: &random) ?? 0)
                    }
                    once {
                        request.statistics = QueryStatistic.Kind.allCases.map {
                            QueryStatistic(kind: $0, field: "OBJECTID", name: "s\u{0}\"")
                        }
                    }
                    once { request.groupFields = ["name", "OBJECTID", "name"] }
                    once { request.order = [QueryOrder(field: "name", isDescending: true)] }
                    once { request.returnDistinctValues = true }
                    once { request.returnCentroid = true }
                    once { request.form = .ogcFeatures }
                    once { request.result = [.objectIDs, .count, .extent][round % 3] }
                }
            }
            var expected: (answer: QueryAnswer?, failure: Failure?)
            do { expected.answer = try engine.answer(request, in: map) } catch {
                expected.failure = error
            }
            do {
                guard let answer = try await queries.answerAtOnce(request) else { continue }
                #expect(answer == expected.answer, "\(round)")
                answered += 1
            } catch {
                #expect(error == expected.failure, "\(round)")
                refused += 1
            }
        }
        #expect(answered > 300 && refused > 300, "\(answered) \(refused)")
    }

    @Test(.slow)
    func `the cost of one feature is bounded: long clauses, large geometries and features`()
        async throws
    {
        let ring = (0..<80_000).map { step in
            let angle = -2 * Double.pi * Double(step % 79_999) / 79_999
            return "[\(5 + cos(angle)),\(5 + sin(angle))]"
        }
        let path = fed.site.path + "/round.geojson"
        try
            #"{"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":[[\#(ring.joined(separator: ","))]]}}"#
            .write(toFile: path, atomically: true, encoding: .utf8)
        let layer = try DatasetBuilder.importFile(path: path, into: fed.site.datasetsDirectory)[0]
        try fed.map.add(LayerSource(dataset: layer.dataset), layer.properties, as: 1)
        let (queries, _) = try fed.queries()
        func isAnswered(_ change: (inout QueryRequest) -> Void) async throws -> Bool {
            try await queries.answerAtOnce(fed.query(change)) != nil
        }

        // Its rectangle decides no clause, and reading it is too much here.
        #expect(try await !isAnswered { $0.layer = 1 })
        #expect(try await isAnswered { ($0.layer, $0.result) = (1, .count) })
        for (count, isAtHand) in [(1_010, true), (1_030, false)] {
            let clause = "1 = 1" + String(repeating: " ", count: count - 5)
            #expect(try await isAnswered { $0.clause = clause } == isAtHand)
        }
        for (count, isAtHand) in [(2_000, true), (2_001, false)] {
            let places = Array(repeating: Coordinate(x: 5, y: 5), count: count)
            #expect(
                try await isAnswered {
                    $0.spatialFilter = QuerySpatialFilter(geometry: .multipoint(places))
                } == isAtHand)
        }
        let past = ContinuousClock.now - .seconds(1)
        #expect(try await queries.answerAtOnce(fed.query(), until: past) == nil)
    }

    @Test func `a dataset that is not here is for workers to complain of`() async throws {
        let missing = try #require(ContentID(rawValue: String(repeating: "a", count: 64)))
        try fed.map.add(
            LayerSource(dataset: missing),
            LayerProperties(
                extent: nil, spatialReference: .wgs84, geometryType: .point, fields: [],
                featureCount: 0), as: 1)
        let (queries, _) = try fed.queries()
        #expect(try await queries.answerAtOnce(fed.query { $0.layer = 1 }) == nil)
    }

    @Test func `a map whose queries take long is left to workers for a while`() async throws {
        let (queries, _) = try fed.queries(pace: LatencyGate(tryLimit: -1, averageLimit: 0))
        #expect(try await queries.answerAtOnce(fed.query()) == nil)
    }

    @Test func `a query that waits with many others goes to a worker, one that gives up is let go`()
        async throws
    {
        let gate = BlockingQueue<Void>(capacity: 1)
        let began = BlockingQueue<Void>(capacity: 1_000)
        let (queries, engine) = try fed.queries {
            _ = began.tryPush(())
            _ = gate.pop()
        }
        let fed = fed
        // The one thread is held where it opens the dataset.
        let held = Task { try await queries.answerAtOnce(fed.query()) }
        _ = try await OwnThread.run("waits") { began.pop() }.get()
        let turnedAway = Count()
        let answers = try await withThrowingTaskGroup(of: QueryAnswer?.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    let answer = try await queries.answerAtOnce(fed.query())
                    // Sixteen wait: the thread continues when all others have been turned away.
                    if answer == nil, turnedAway.value.add(1, ordering: .relaxed).newValue == 24 {
                        held.cancel()
                        gate.close()
                    }
                    return answer
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        await #expect { try await held.value } throws: { ($0 as? Failure)?.code == .cancelled }
        let map = try #require(fed.follower.current.map(named: fed.map.name))
        let expected = try engine.answer(fed.query(), in: map)
        #expect(answers.count { $0 == nil } == 24)
        #expect(answers.count { $0 == expected } == 16)
    }
}
