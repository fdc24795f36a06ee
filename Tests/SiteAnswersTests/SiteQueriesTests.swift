// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Dataset
import FeatureQuery
import FedSite
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
    /// Answers on one thread without regard to time, unless it is given; `opening` is called before a dataset is opened.
    fileprivate func queries(
        pace: Pace = Pace(tryLimit: 1_000_000_000_000_000, averageLimit: .max),
        opening: @escaping @Sendable () -> Void = {}
    ) throws -> (at: SiteQueries, engine: QueryEngine) {
        let shelf = DatasetShelf(directory: site.datasetsDirectory)
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
        // A past map is at hand when it was asked while it was the present one.
        let past = try await queries.answerAtOnce(fed.query { $0.at = 4 })
        let expected = try engine.answer(fed.query(), in: before)
        #expect(past == expected && then == expected)
    }

    @Test func `what is not at hand is for workers`() async throws {
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

    @Test func `it is said whether more may have happened`() async throws {
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
        let (queries, _) = try fed.queries(pace: Pace(tryLimit: -1, averageLimit: 0))
        #expect(try await queries.answerAtOnce(fed.query()) == nil)
    }

    @Test func `who waits with many others asks a worker, who gives up is let go`() async throws {
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
                    // Sixteen wait: the thread goes on when all others have been turned away.
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
