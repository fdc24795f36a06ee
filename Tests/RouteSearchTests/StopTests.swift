// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnCore
import RouteSearch
import TestKit
import Testing

@Suite struct StopTests {
    /// The cheapest tour by trying every end of every stop.
    private func cheapest(_ stops: [RouteStop], _ oracle: Oracle) -> UInt64? {
        var known: [[RouteEnd]: UInt32?] = [:]
        func leg(_ start: RouteEnd, _ end: RouteEnd) -> UInt32? {
            if let cost = known[[start, end]] { return cost }
            let cost = oracle.cost(from: [start], to: [end])
            known[[start, end]] = cost
            return cost
        }
        func best(_ number: Int, _ arrival: Int?) -> UInt64? {
            if number == stops.count - 1 { return 0 }
            let stop = stops[number]
            return stop.ends.indices.compactMap { end -> UInt64? in
                var start = stop.ends[end]
                if let arrival {
                    let isThere = stop.ends[arrival].place == start.place
                    guard end == arrival || stop.allowsTurning && isThere else { return nil }
                    start.cost = 0
                }
                return stops[number + 1].ends.enumerated().compactMap { next, end in
                    guard let cost = leg(start, end), let rest = best(number + 1, next) else {
                        return nil
                    }
                    return UInt64(cost) + rest
                }.min()
            }.min()
        }
        return best(0, nil)
    }

    @Test(arguments: 0..<6)
    func `a route over stops is the cheapest of all`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(300 + seed))
        let roads = try RandomRoads(
            columns: 11, rows: 9, uTurns: UTurns(at: .deadEnds, cost: 3), using: &random)
        let metric = try RouteMetric(RouteTopology(roads.graph), roads.weights)
        let oracle = Oracle(graph: roads.graph, weights: roads.weights)
        var searcher = RouteSearcher(metric.topology)
        var reached = 0
        for _ in 0..<12 {
            let stops = (0..<Int(2 + random.next() % 3)).map { _ in
                RouteStop(roads.end(using: &random), allowsTurning: random.next() % 2 == 0)
            }
            let result = try searcher.route(over: stops, metric)
            let tour = try? result.get()
            #expect(tour?.cost == cheapest(stops, oracle))
            guard let tour else { continue }
            reached += 1
            #expect(tour.legs.count == stops.count - 1)
            #expect(tour.legs.reduce(0) { $0 + UInt64($1.cost) } == tour.cost)
            for (number, leg) in tour.legs.enumerated() {
                var starts = stops[number].ends
                if number > 0 {
                    for end in starts.indices { starts[end].cost = 0 }
                    let arrival = tour.legs[number - 1].end
                    #expect(
                        arrival == leg.start
                            || stops[number].allowsTurning
                                && starts[arrival].place == starts[leg.start].place
                    )
                }
                #expect(oracle.walk(leg, from: starts, to: stops[number + 1].ends) == leg.cost)
            }
        }
        #expect(reached > 3)
    }

    @Test func `the stop that cannot be reached is named`() throws {
        // 0 → 1 → 2, one way.
        let graph = try RoadGraph(nodeCount: 3, tails: [0, 1], heads: [1, 2])
        let metric = try RouteMetric(
            RouteTopology(graph), RouteWeights(graph, edges: [5, 7]))
        var searcher = RouteSearcher(metric.topology)
        let (first, last) = (RouteStop([RouteEnd(0, at: 0)]), RouteStop([RouteEnd(1, at: 1)]))
        #expect(try searcher.route(over: [first, last], metric).get().cost == 12)
        let unreached = try searcher.route(over: [first, last, first], metric)
        #expect(throws: UnreachedStop.self) { try unreached.get() }
        if case .failure(let failure) = unreached { #expect(failure.stop == 2) }
        #expect(throws: Failure.self) { try searcher.route(over: [first], metric) }
    }

    private func table(_ count: Int, using random: inout SeededGenerator) throws -> RouteTable {
        let roads = try RandomRoads(columns: 10, rows: 10, missing: 0.05, using: &random)
        let metric = try RouteMetric(RouteTopology(roads.graph), roads.weights)
        var searcher = RouteSearcher(metric.topology)
        let places = (0..<count).map { _ in roads.end(using: &random) }
        return try searcher.table(from: places, to: places, metric)
    }

    private func cost(_ order: [Int], _ table: RouteTable, isRound: Bool) -> UInt64? {
        var sum: UInt64 = 0
        let next = order.dropFirst() + (isRound ? order.prefix(1) : [])
        for (from, to) in zip(order, next) where from != to {
            guard let cost = table[from, to] else { return nil }
            sum += UInt64(cost)
        }
        return sum
    }

    private func orders(_ stops: [Int]) -> [[Int]] {
        guard stops.count > 1 else { return [stops] }
        return stops.indices.flatMap { place in
            var rest = stops
            let stop = rest.remove(at: place)
            return orders(rest).map { [stop] + $0 }
        }
    }

    @Test(arguments: 1...6)
    func `a small sequence is the cheapest of all orders`(count: Int) throws {
        var random = SeededGenerator(seed: UInt64(count))
        let table = try table(count, using: &random)
        let all = orders(Array(0..<count))
        for terminals in [
            StopSequence.Terminals.round, .kept(first: true, last: true),
            .kept(first: true, last: false), .kept(first: false, last: true),
            .kept(first: false, last: false),
        ] {
            let expected = all.filter { order in
                switch terminals {
                case .round: order.first == 0
                case .kept(let first, let last):
                    (!first || order.first == 0) && (!last || order.last == count - 1)
                }
            }.compactMap { cost($0, table, isRound: terminals == .round) }.min()
            let sequence = try StopSequence(table, terminals)
            #expect(sequence?.cost == expected)
            guard let sequence else { continue }
            #expect(sequence.isExact)
            #expect(all.contains(sequence.order))
            #expect(
                cost(sequence.order, table, isRound: terminals == .round) == sequence.cost)
        }
    }

    @Test func `a long sequence visits all, and says that it is not exact`() throws {
        var random = SeededGenerator(seed: 9)
        let table = try table(40, using: &random)
        let sequence = try #require(try StopSequence(table, .kept(first: true, last: true)))
        #expect(!sequence.isExact)
        #expect(sequence.order.sorted() == Array(0..<40))
        #expect(sequence.order.first == 0 && sequence.order.last == 39)
        #expect(cost(sequence.order, table, isRound: false) == sequence.cost)
        let given = try #require(cost(Array(0..<40), table, isRound: false))
        #expect(sequence.cost * 2 < given)
    }
}
