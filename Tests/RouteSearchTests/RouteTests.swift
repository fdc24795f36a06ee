// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnCore
import RouteSearch
import TestKit
import Testing

@Suite struct RouteTests {
    static let policies = [
        UTurns.allowed, UTurns.forbidden, UTurns(at: .deadEnds, cost: 10),
        UTurns(at: [.deadEnds, .intersections], cost: 5),
    ]

    @Test(arguments: 0..<10)
    func `routes cost what a plain search says, and can be driven`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let roads = try RandomRoads(
            columns: 14 + seed, rows: 16, missing: Double(seed) * 0.04,
            uTurns: Self.policies[seed % 4], using: &random)
        let topology = try RouteTopology(roads.graph)
        let metric = try RouteMetric(topology, roads.weights)
        let oracle = Oracle(graph: roads.graph, weights: roads.weights)
        var searcher = RouteSearcher(topology)
        var found = 0
        for _ in 0..<100 {
            let starts = roads.end(using: &random)
            let costs = oracle.costs(from: starts)
            for _ in 0..<10 {
                let ends = roads.end(using: &random)
                let expected = oracle.cost(from: starts, to: ends, costs)
                let path = try searcher.route(from: starts, to: ends, metric)
                #expect(path?.cost == expected, "\(starts) to \(ends)")
                #expect(try searcher.cost(from: starts, to: ends, metric) == expected)
                guard let path else { continue }
                found += 1
                #expect(oracle.walk(path, from: starts, to: ends) == expected)
            }
        }
        #expect(found > 300)
    }

    @Test func `after each of a thousand changes all is as if customized anew`() throws {
        var random = SeededGenerator(seed: 77)
        let roads = try RandomRoads(columns: 15, rows: 14, using: &random)
        let topology = try RouteTopology(roads.graph)
        let first = try RouteMetric(topology, roads.weights)
        var metric = first
        var oracle = Oracle(graph: roads.graph, weights: roads.weights)
        var searcher = RouteSearcher(topology)
        for _ in 0..<1_000 {
            let changes = (0...random.next() % 3).map { _ in roads.change(using: &random) }
            try metric.apply(changes)
            for change in changes { oracle.apply(change) }
            let anew = try RouteMetric(topology, oracle.weights)
            #expect(metric == anew)
            for _ in 0..<3 {
                let (starts, ends) = (roads.end(using: &random), roads.end(using: &random))
                let path = try searcher.route(from: starts, to: ends, metric)
                #expect(path?.cost == oracle.cost(from: starts, to: ends))
                #expect(
                    path.map { oracle.walk($0, from: starts, to: ends) == $0.cost } ?? true)
                #expect(try searcher.route(from: starts, to: ends, anew) == path)
            }
        }
        var undone: [WeightChange] = roads.weights.edges.enumerated().map {
            .edge(UInt32($0.offset), $0.element)
        }
        for edge in 0..<roads.graph.edgeCount {
            for turn in roads.graph.turnStarts[edge]..<roads.graph.turnStarts[edge + 1] {
                undone.append(
                    .turn(
                        from: UInt32(edge), to: roads.graph.turnTargets[Int(turn)],
                        roads.weights.turns[Int(turn)]))
            }
        }
        try metric.apply(undone)
        #expect(metric == first)
    }
}
