// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import RoadNetwork
import RouteSearch
import TestKit
import Testing

@testable import Routing

/// Recorded positions, and the roads on which they were travelled.
@Suite struct TraceTests {
    private static let metresPerDegree = 6_371_008.8 * Double.pi / 180

    /// A number of a normal distribution, in metres.
    private func scatter(_ deviation: Double, _ random: inout SeededGenerator) -> Double {
        let (first, second) = (
            Double.random(in: 1e-12...1, using: &random),
            Double.random(in: 0..<1, using: &random)
        )
        return deviation * (-2 * log(first)).squareRoot() * cos(2 * .pi * second)
    }

    /// Positions along a line every so many metres, its ends included.
    private func positions(
        _ line: [Coordinate], every step: Double, scatter deviation: Double = 0,
        _ random: inout SeededGenerator
    ) -> [TracePoint] {
        var shares: [Double] = []
        let length = zip(line, line.dropFirst()).reduce(0) { sum, pair in
            let (x, y) = (pair.1.x - pair.0.x, pair.1.y - pair.0.y)
            return sum + (x * x + y * y).squareRoot() * Self.metresPerDegree
        }
        let count = max(1, Int(length / step))
        for number in 0...count { shares.append(Double(number) / Double(count)) }
        return shares.map { share in
            var place = LineCut(line).part(share, share)[0]
            place.x += scatter(deviation, &random) / Self.metresPerDegree
            place.y += scatter(deviation, &random) / Self.metresPerDegree
            return TracePoint(place)
        }
    }

    private func match(
        _ made: MadeNetwork, _ points: [TracePoint], _ changes: [StandingRoadChange] = [],
        _ adjust: (inout TraceRequest) -> Void = { _ in }
    ) throws -> TraceAnswer {
        var request = TraceRequest(RouteTerms(network: "Grid"), points: points)
        adjust(&request)
        return try made.router(changes).match(request)
    }

    @Test(arguments: 1...3)
    func `the edges of random routes are found again from scattered positions`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let made = try MadeNetwork(side: 7, random: seed)
        let (network, roads) = (made.network, made.roads)
        let metric = try made.router([]).metric
        var count = 0
        while count < 25 {
            let (start, end) = (
                Int(random.next() % UInt64(roads.edgeCount)),
                Int(random.next() % UInt64(roads.edgeCount))
            )
            guard roads.access(of: start, mode: 0) == .open,
                roads.access(of: end, mode: 0) == .open, start != end
            else { continue }
            let path = try network.search(in: metric) { searcher throws(Failure) in
                try searcher.route(
                    from: [RouteEnd(UInt32(start), at: 0.5)],
                    to: [RouteEnd(UInt32(end), at: 0.5)], metric)
            }
            guard let path else { continue }
            count += 1
            var line: [Coordinate] = []
            for (place, edge) in path.edges.enumerated() {
                let shape = roads.shape(of: Int(edge))
                line += LineCut(shape).part(
                    place == 0 ? 0.5 : 0, place == path.edges.count - 1 ? 0.5 : 1)
            }
            let points = positions(line, every: 25, scatter: 4, &random)
            let answer = try match(made, points)
            #expect(answer.matchings.count == 1)
            let matching = try #require(answer.matchings.first)
            #expect(
                matching.edges == path.edges.map { roads.name(of: Int($0)) },
                "seed \(seed), route \(count)")
            #expect(answer.points.compactMap(\.number) == Array(points.indices))
            #expect(matching.route.legs.count == points.count - 1)
            #expect(matching.confidence > 0.8 && matching.confidence <= 1)
            // The parts add up to the whole, and the way is about as long as it was.
            let sum = matching.route.legs.reduce(0) { $0 + $1.length }
            #expect(abs(sum - matching.route.length) < 0.001)
        }
    }

    @Test func `the best sequence and its probabilities are those of all sequences`() throws {
        var random = SeededGenerator(seed: 5)
        let made = try MadeNetwork(side: 4, random: 3)
        let search = try TraceSearch(made.router([]))
        for _ in 0..<20 {
            var points: [TracePoint] = []
            for _ in 0..<3 {
                var point = TracePoint(
                    MadeNetwork.place(
                        Double.random(in: 0.8...2.2, using: &random),
                        Double.random(in: 0.8...2.2, using: &random)))
                point.precision = 6
                points.append(point)
            }
            let located = try points.enumerated().map { try search.candidates(of: $1, $0) }
            var chain = TraceChain(0, located[0])
            for number in 1..<3 {
                let transitions = try search.transitions(
                    located[number - 1], points[number - 1], located[number], points[number])
                let isJoined = chain.join(number, located[number], transitions)
                #expect(isJoined)
            }
            var sequences: [[Int]] = [[]]
            for candidates in located {
                sequences = sequences.flatMap { known in candidates.indices.map { known + [$0] } }
            }
            let scores = sequences.map { sequence in
                sequence.indices.reduce(0.0) { sum, number in
                    let way =
                        number == 0
                        ? 0
                        : chain.steps[number].transitions[sequence[number - 1]][sequence[number]]
                    return sum + way + located[number][sequence[number]].emission
                }
            }
            let best = try #require(scores.max())
            let found = chain.best
            let place = try #require(sequences.firstIndex(of: found))
            #expect(abs(scores[place] - best) < 1e-9)
            let whole = scores.reduce(0) { $0 + exp($1 - best) }
            for (number, probabilities) in chain.probabilities.enumerated() {
                for (candidate, probability) in probabilities.enumerated() {
                    let share = zip(sequences, scores).reduce(0) { sum, pair in
                        pair.0[number] == candidate ? sum + exp(pair.1 - best) : sum
                    }
                    #expect(abs(probability - share / whole) < 1e-9)
                }
            }
        }
    }

    private let row = [MadeNetwork.place(0.2, 1), MadeNetwork.place(5.8, 1)]

    @Test func `a position without a road is left out, and the matching goes on`() throws {
        var random = SeededGenerator(seed: 1)
        let made = try MadeNetwork(side: 7)
        var points = positions(row, every: 50, &random)
        points[4].location = MadeNetwork.place(2.5, 2.5)
        let answer = try match(made, points)
        #expect(answer.matchings.count == 1 && answer.points[4] == TraceAnswer.Point())
        #expect(answer.points.compactMap(\.number) == Array(0..<points.count - 1))
        #expect(answer.matchings[0].edges.allSatisfy { $0.way == 2 && !$0.isBackward })
        #expect(answer.matchings[0].edges.count == 6)
        #expect(answer.points[0].place.street == "Row 1")
    }

    @Test func `a long pause ends a matching unless it is to be bridged`() throws {
        var random = SeededGenerator(seed: 1)
        let made = try MadeNetwork(side: 7)
        var points = positions(row, every: 50, &random)
        for number in points.indices {
            let pause = number < 6 ? 0 : 3_600
            points[number].time = Timestamp(microseconds: Int64(number * 5 + pause) * 1_000_000)
        }
        let split = try match(made, points)
        #expect(split.matchings.count == 2)
        #expect(split.points.map(\.matching) == points.indices.map { $0 < 6 ? 0 : 1 })
        #expect(split.points[6].number == 0)
        #expect(try match(made, points, []) { $0.bridgesPauses = true }.matchings.count == 1)
    }

    @Test(arguments: [2, 3, 8])
    func `positions that cannot be reached begin a matching`(count: Int) throws {
        var random = SeededGenerator(seed: 1)
        let made = try MadeNetwork(side: 7)
        // No column is open between rows 2 and 4.
        var changes: [RoadChange] = []
        for column in 0..<7 {
            for segment: UInt32 in [2, 3] {
                changes.append(
                    try made.change(
                        .closed, .pieces([RoadPiece(way: Int64(101 + column), segment: segment)])))
            }
        }
        let south = positions(row, every: 100, &random)
        let north = positions(
            [MadeNetwork.place(5.8, 5), MadeNetwork.place(3.2, 5)], every: 30, &random
        ).prefix(count)
        let answer = try match(made, south + north, made.standing(changes))
        #expect(
            answer.points.map(\.matching) == south.map { _ in 0 } + north.map { _ in 1 })
        #expect(answer.matchings.last?.edges.allSatisfy { $0.way == 6 && $0.isBackward } == true)
    }

    @Test func `a vehicle that stands does not turn`() throws {
        let made = try MadeNetwork(side: 5)
        let points = [1.2, 1.4, 1.5, 1.45, 1.52, 1.48, 1.5, 1.7, 1.9].map {
            TracePoint(MadeNetwork.place($0, 2.01))
        }
        let answer = try match(made, points)
        #expect(
            answer.matchings.map(\.edges) == [[RoadEdge(way: 3, segment: 1, isBackward: false)]])
        let tidy = try match(made, points) { $0.tidies = true }
        #expect(tidy.points.map { $0.matching == nil }.filter { $0 }.count == 4)
        #expect(tidy.matchings.map(\.edges) == answer.matchings.map(\.edges))
        let still = try match(made, [points[0], points[0]]) {
            $0.directions = RouteRequest.Directions(areSteps: true)
        }
        #expect(still.matchings.first?.route.length == 0)
    }

    @Test func `what cannot be a trace is refused`() throws {
        let made = try MadeNetwork(side: 3)
        let place = TracePoint(MadeNetwork.place(1, 1))
        func code(_ points: [TracePoint]) -> Failure.Code? {
            do {
                _ = try match(made, points)
                return nil
            } catch { return (error as? Failure)?.code }
        }
        #expect(code([place]) == .invalidParameter)
        #expect(
            code(Array(repeating: place, count: TraceRequest.largestPointCount + 1)) == .tooLarge)
        for precision in [0, -1, 101, Double.nan] {
            var other = place
            other.precision = precision
            #expect(code([place, other]) == .invalidParameter)
        }
        for location in [Coordinate(x: .nan, y: 0), Coordinate(x: 181, y: 0)] {
            #expect(code([place, TracePoint(location)]) == .invalidParameter)
        }
        var (first, second) = (place, place)
        first.time = Timestamp(microseconds: 2)
        second.time = Timestamp(microseconds: 1)
        #expect(code([first, second]) == .invalidParameter)
        #expect(throws: Failure.self) {
            try made.router([]).match(
                TraceRequest(RouteTerms(network: "Grid"), points: [place, place]),
                isCancelled: { true })
        }
        let sea = TracePoint(MadeNetwork.place(50, 50))
        #expect(try match(made, [sea, sea]).matchings.isEmpty)
    }
}
