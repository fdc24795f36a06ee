// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import RoadNetwork
import RoadSources
import RouteSearch
import TestKit
import Testing

@testable import Routing

/// Random pairs on an extract of the shared data beside a plain search over its turns, and again
/// after each of many changes of roads.
///
/// Every path is followed on the ways of the source; after each change the metric is that of a full
/// customization of costs that are computed anew.
///
/// The short form takes a small extract; `CAIRN_ROADS=long`, as `deploy/test --roads` sets it, the
/// one with the most turns and the one with the most restrictions, each with 10,000 pairs and 1,000
/// changes, each followed by 10 pairs.
@Suite struct ExtractTests {
    struct Form {
        var extract: String
        var pairs: Int
        var changes: Int
        var pairsAfterChange: Int

        static var wanted: [Form] {
            guard ProcessInfo.processInfo.environment["CAIRN_ROADS"] == "long" else {
                return [
                    Form(
                        extract: "osm/baltimore.osm.pbf", pairs: 30, changes: 5,
                        pairsAfterChange: 3)
                ]
            }
            return ["osm/columbus_oh_sorted.osm.pbf", "osm/andorra-2025.osm.pbf"].map {
                Form(extract: $0, pairs: 10_000, changes: 1_000, pairsAfterChange: 10)
            }
        }
    }

    /// The cost of a path by its own turns and edges; nil where a part of it is forbidden.
    private func cost(
        of path: RoutePath, _ weights: RouteWeights, _ search: TurnSearch
    ) -> UInt32? {
        var sum: UInt32 = 0
        for (place, arc) in path.edges.enumerated() {
            guard weights.edges[Int(arc)] < RouteWeights.infinity else { return nil }
            sum += weights.edges[Int(arc)]
            guard place + 1 < path.edges.count else { break }
            let turns = Int(search.starts[Int(arc)])..<Int(search.starts[Int(arc) + 1])
            let cost = turns.filter { search.targets[$0] == path.edges[place + 1] }
                .map { weights.turns[$0] }.min()
            guard let cost, cost < RouteWeights.infinity else { return nil }
            sum += cost
        }
        return sum
    }

    @Test(arguments: Form.wanted)
    func `routes cost what a plain search says, after each change too`(form: Form) throws {
        guard let path = SharedData.path(form.extract) else { return }
        let extract = try ExtractNetwork(path)
        let (roads, network) = (extract.roads, extract.network)
        var random = SeededGenerator(seed: 17)
        var search = TurnSearch(roads)
        let walker = RoadWalker(extract.draft, roads, mode: 0)
        let open = (0..<roads.edgeCount).filter { roads.access(of: $0, mode: 0) == .open }
        var (found, unreached) = (0, 0)

        /// Groups of ten pairs have their start in common.
        func compare(
            _ metric: RouteMetric, _ count: Int, _ standing: [StandingRoadChange] = []
        ) throws {
            let closures = standing.map(\.change).filter { $0.effect == .closed }
            let closed = Set(closures.flatMap(\.edges))
            let banned = Set(standing.flatMap { $0.change.turns ?? [] })
            let usable = open.filter { metric.weights.edges[$0] < RouteWeights.infinity }
            var start = 0
            for number in 0..<count {
                if number.isMultiple(of: 10) {
                    start = usable[Int(random.next() % UInt64(usable.count))]
                    search.run(from: start, metric.weights)
                }
                let end = open[Int(random.next() % UInt64(open.count))]
                guard start != end else { continue }
                let ends = network.arcs(of: end)
                let path = try network.search(in: metric) { searcher throws(Failure) in
                    try searcher.route(
                        from: [RouteEnd(UInt32(start), at: 0)],
                        to: ends.map { RouteEnd($0, at: 1) }, metric)
                }
                #expect(path?.cost == search.cost(to: ends), "edge \(start) to \(end)")
                guard let path else {
                    unreached += 1
                    continue
                }
                #expect(cost(of: path, metric.weights, search) == path.cost)
                let edges = path.edges.map { roads.edge(ofArc: Int($0)) }
                let fault = walker.fault(edges, closed: closed, banned: banned)
                #expect(fault == nil, "edge \(start) to \(end)")
                // The walker sees what is wrong.
                let closure = [roads.name(of: end)]
                #expect(walker.fault(edges, closed: closed.union(closure)) != nil)
                #expect(edges.count < 3 || walker.fault(edges.reversed()) != nil)
                found += 1
            }
        }
        func router(_ standing: [StandingRoadChange]) throws -> Router {
            try Router(
                network, RouteTerms(network: "Extract"),
                at: RouteMoment(
                    changes: standing, sequence: 1, now: Timestamp(microseconds: 0)))
        }
        /// The metric of costs of which each is computed by itself, customized as a whole.
        func metricAnew(_ router: Router) throws -> RouteMetric {
            let (costs, conditions) = (router.costs, router.conditions)
            let edges = (0..<roads.arcCount).map {
                network.weight(ofEdge: roads.edge(ofArc: $0), costs, conditions)
            }
            let turns = (0..<roads.arcCount).flatMap { arc in
                (Int(search.starts[arc])..<Int(search.starts[arc + 1])).map {
                    network.cost(ofTurn: $0, from: arc, costs, conditions)
                }
            }
            return try RouteMetric(
                network.topologies[costs.mode], RouteWeights(edges: edges, turns: turns))
        }
        /// A change of some random roads.
        func change() -> RoadChange {
            let first = open[Int(random.next() % UInt64(open.count))]
            if random.next() % 5 == 0 {
                let from = roads.name(of: first)
                let turns = roads.turns(fromArc: first).prefix(2).map {
                    RoadChange.Turn(from: from, to: roads.name(of: roads.edge(ofArc: $0.target)))
                }
                let edges = Set(turns.flatMap { [$0.from, $0.to] })
                return RoadChange(.bannedTurn, edges: edges.sorted(), turns: turns)
            }
            let edges = (0..<Int(random.next() % 8)).map { _ in
                open[Int(random.next() % UInt64(open.count))]
            }
            let effect: RoadChange.Effect =
                switch random.next() % 4 {
                case 0: .closed
                case 1: .speed(Double(5 + random.next() % 90))
                case 2: .factor(Double(1 + random.next() % 40) / 10)
                default: .delay(Double(random.next() % 100))
                }
            return RoadChange(effect, edges: Set([first] + edges).map(roads.name).sorted())
        }
        let first = try router([]).metric
        #expect(try metricAnew(try router([])) == first)
        try compare(first, form.pairs)
        var standing: [StandingRoadChange] = []
        for number in 1...form.changes {
            if number % 4 == 0, let ended = standing.indices.randomElement(using: &random) {
                standing.remove(at: ended)
            } else {
                standing.append(
                    StandingRoadChange(
                        number: Int64(number), change: change(),
                        recordedAt: Timestamp(microseconds: 0)))
            }
            let changed = try router(standing)
            #expect(try metricAnew(changed) == changed.metric, "change \(number)")
            try compare(changed.metric, form.pairsAfterChange, standing)
        }
        // Undone one by one, as far as the costs of the beginning: number for number.
        while let last = standing.indices.randomElement(using: &random) {
            standing.remove(at: last)
            if standing.count == 1 {
                let router = try router(standing)
                var metric = router.metric
                try metric.apply(
                    network.changes(router.costs, from: router.conditions, to: .none))
                #expect(metric == first)
            }
        }
        #expect(try router([]).metric == first)
        #expect(found > form.pairs / 2, "\(found) routes, \(unreached) pairs without one")
        let counts = walker.restrictionCounts
        #expect(counts.ways > 0 && counts.sequences > 0, "\(counts)")
        for number in 0..<roads.restrictionCount {
            let restriction = roads.restriction(number)
            guard restriction.modes.contains(0), restriction.condition.isEmpty else { continue }
            for sequence in restriction.sequences { #expect(walker.fault(sequence) != nil) }
        }
        print(
            "\(form.extract): \(roads.arcCount) arcs, \(roads.turnCount) turns;",
            "\(found) routes, \(unreached) pairs without one;",
            "\(counts.ways) restrictions checked on ways, \(counts.sequences) by their edges")
    }
}
