// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnCore
import RouteSearch
import TestKit
import Testing

@Suite struct TableTests {
    let roads: RandomRoads
    let metric: RouteMetric
    let oracle: Oracle
    var random = SeededGenerator(seed: 5)

    init() throws {
        roads = try RandomRoads(
            columns: 18, rows: 15, missing: 0.25, uTurns: UTurns(at: .deadEnds), using: &random)
        metric = try RouteMetric(RouteTopology(roads.graph), roads.weights)
        oracle = Oracle(graph: roads.graph, weights: roads.weights)
    }

    @Test mutating func `a table says what its routes cost`() throws {
        let origins = (0..<21).map { _ in roads.end(using: &random) }
        let destinations = (0..<30).map { _ in roads.end(using: &random) }
        var searcher = RouteSearcher(metric.topology)
        let table = try searcher.table(from: origins, to: destinations, metric)
        for (row, starts) in origins.enumerated() {
            let costs = oracle.costs(from: starts)
            for (column, ends) in destinations.enumerated() {
                #expect(table[row, column] == oracle.cost(from: starts, to: ends, costs))
                #expect(
                    try searcher.cost(from: starts, to: ends, metric) == table[row, column])
            }
        }
        #expect(try searcher.table(from: [], to: destinations, metric).costs == [])
        #expect(try searcher.table(from: origins, to: [], metric).costs == [])
    }

    @Test mutating func `the closest are the first of all, both ways`() throws {
        var searcher = RouteSearcher(metric.topology)
        for _ in 0..<20 {
            let origin = roads.end(using: &random)
            let places = (0..<12).map { _ in roads.end(using: &random) }
            for isTo in [false, true] {
                let costs = places.enumerated().compactMap { place, ends in
                    (isTo
                        ? oracle.cost(from: ends, to: origin)
                        : oracle.cost(from: origin, to: ends)).map { (cost: $0, place: place) }
                }
                let expected = costs.sorted(by: <).filter { $0.cost <= 400 }.prefix(3)
                let found =
                    isTo
                    ? try searcher.closest(3, of: places, to: origin, within: 400, metric)
                        .map { (cost: $0.cost, place: $0.origin) }
                    : try searcher.closest(3, of: places, from: origin, within: 400, metric)
                        .map { (cost: $0.cost, place: $0.destination) }
                #expect(found.map(\.place) == expected.map(\.place))
                #expect(found.map(\.cost) == expected.map(\.cost))
            }
        }
    }

    @Test mutating func `what is reached is what a route reaches within the bound`() throws {
        var searcher = RouteSearcher(metric.topology)
        for bound: UInt32 in [0, 60, 250, 700, .max] {
            let starts = roads.end(using: &random)
            let costs = oracle.costs(from: starts)
            let parts = Dictionary(
                grouping: try searcher.reach(from: starts, within: bound, metric), by: \.edge)
            for edge in 0..<UInt32(roads.graph.edgeCount) {
                for fraction in [0, 0.3, 1] {
                    let end = RouteEnd(edge, at: fraction)
                    let cost = oracle.cost(from: starts, to: [end], costs)
                    let isReached = (parts[edge] ?? []).contains {
                        $0.from <= fraction && fraction <= $0.to
                    }
                    // An interior place is rounded to the unit.
                    let isClose = cost.map { max($0, bound) - min($0, bound) <= 1 } ?? false
                    #expect(
                        isReached == (cost.map { $0 <= bound } ?? false)
                            || (isClose && fraction == 0.3),
                        "\(edge) at \(fraction), \(String(describing: cost)) within \(bound)")
                }
                for part in parts[edge] ?? [] {
                    #expect(part.from <= part.to && part.costAtFrom <= part.costAtTo)
                    #expect(part.costAtTo <= bound)
                }
            }
        }
    }

    @Test mutating func `what reaches is what a route leads from within the bound`() throws {
        var searcher = RouteSearcher(metric.topology)
        for bound: UInt32 in [0, 90, 400] {
            let ends = roads.end(using: &random)
            let parts = Dictionary(
                grouping: try searcher.reach(to: ends, within: bound, metric), by: \.edge)
            for edge in stride(from: 0, to: UInt32(roads.graph.edgeCount), by: 7) {
                for fraction in [0, 0.6, 1] {
                    let start = RouteEnd(edge, at: fraction)
                    let cost = oracle.cost(from: [start], to: ends)
                    let isReached = (parts[edge] ?? []).contains {
                        $0.from <= fraction && fraction <= $0.to
                    }
                    let isClose = cost.map { max($0, bound) - min($0, bound) <= 1 } ?? false
                    #expect(
                        isReached == (cost.map { $0 <= bound } ?? false)
                            || (isClose && fraction == 0.6),
                        "\(edge) at \(fraction), \(String(describing: cost)) within \(bound)")
                }
            }
        }
    }

    @Test mutating func `an alternative can be driven, differs, and is no detour`() throws {
        let roads = try RandomRoads(columns: 30, rows: 30, missing: 0.1, using: &random)
        let metric = try RouteMetric(RouteTopology(roads.graph), roads.weights)
        let oracle = Oracle(graph: roads.graph, weights: roads.weights)
        var searcher = RouteSearcher(metric.topology)
        let rules = AlternativeRules()
        var found = 0
        for _ in 0..<60 {
            let (starts, ends) = (roads.end(using: &random), roads.end(using: &random))
            let paths = try searcher.routes(from: starts, to: ends, rules, metric)
            #expect(try paths.first == searcher.route(from: starts, to: ends, metric))
            guard let best = paths.first else { continue }
            found += paths.count - 1
            #expect(paths.count <= 3)
            for (number, path) in paths.enumerated() {
                #expect(oracle.walk(path, from: starts, to: ends) == path.cost)
                #expect(Double(path.cost) <= 1.25 * Double(best.cost))
                #expect(Set(path.edges).count == path.edges.count)
                let others = Set(paths[..<number].flatMap(\.edges))
                let shared = path.edges.filter(others.contains).reduce(0) {
                    $0 + Double(roads.weights.edges[Int($1)])
                }
                #expect(shared <= 0.75 * Double(best.cost))
            }
        }
        #expect(found > 20)
    }
}
