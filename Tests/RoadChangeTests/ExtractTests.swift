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
/// The short form takes a small extract; `CAIRN_ROADS=long` the one with the most roads, with 10,000 pairs and
/// 1,000 changes, each followed by 10 pairs.
@Suite struct ExtractTests {
    private struct Form {
        var extract: String
        var pairs: Int
        var changes: Int
        var pairsAfterChange: Int

        static var wanted: Form {
            ProcessInfo.processInfo.environment["CAIRN_ROADS"] == "long"
                ? Form(
                    extract: "osm/columbus_oh_sorted.osm.pbf", pairs: 10_000, changes: 1_000,
                    pairsAfterChange: 10)
                : Form(
                    extract: "osm/baltimore.osm.pbf", pairs: 30, changes: 5, pairsAfterChange: 3)
        }
    }

    /// Dijkstra's algorithm on weights of arcs and turns.
    private struct Search {
        let starts: [UInt32]
        let targets: [UInt32]
        private var costs: [UInt32]
        private var touched: [Int] = []
        /// A binary heap of costs and arcs.
        private var heap: [UInt64] = []

        init(_ roads: RoadNetwork) {
            (starts, targets) = (roads.turnStarts(), roads.turnTargets())
            costs = [UInt32](repeating: .max, count: roads.arcCount)
        }

        private mutating func push(_ item: UInt64) {
            heap.append(item)
            var child = heap.count - 1
            while child > 0, heap[child] < heap[(child - 1) / 2] {
                heap.swapAt(child, (child - 1) / 2)
                child = (child - 1) / 2
            }
        }

        private mutating func pop() -> UInt64? {
            guard let first = heap.first, let last = heap.popLast() else { return nil }
            guard !heap.isEmpty else { return first }
            heap[0] = last
            var parent = 0
            while true {
                var least = parent
                for child in [2 * parent + 1, 2 * parent + 2]
                where child < heap.count && heap[child] < heap[least] { least = child }
                guard least != parent else { return first }
                heap.swapAt(parent, least)
                parent = least
            }
        }

        /// Finds the costs from the start of an edge to the ends of all arcs.
        mutating func run(from start: Int, _ weights: RouteWeights) {
            for arc in touched { costs[arc] = .max }
            touched = [start]
            costs[start] = weights.edges[start]
            push(UInt64(weights.edges[start]) << 32 | UInt64(start))
            while let item = pop() {
                let (arc, cost) = (Int(item & 0xFFFF_FFFF), UInt32(item >> 32))
                guard costs[arc] == cost else { continue }
                for turn in Int(starts[arc])..<Int(starts[arc + 1])
                where weights.turns[turn] < RouteWeights.infinity {
                    let target = Int(targets[turn])
                    guard weights.edges[target] < RouteWeights.infinity else { continue }
                    let next = cost + weights.turns[turn] + weights.edges[target]
                    guard next < costs[target] else { continue }
                    if costs[target] == .max { touched.append(target) }
                    costs[target] = next
                    push(UInt64(next) << 32 | UInt64(target))
                }
            }
        }

        /// The least cost to one of some arcs; nil for none.
        func cost(to ends: [UInt32]) -> UInt32? {
            ends.map { costs[Int($0)] }.filter { $0 != .max }.min()
        }
    }

    /// The cost of a path by its own turns and edges; nil where a part of it is forbidden.
    private func cost(
        of path: RoutePath, _ weights: RouteWeights, _ search: Search
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

    @Test func `routes cost what a plain search says, after each change too`() throws {
        let form = Form.wanted
        guard let path = SharedData.path(form.extract) else { return }
        let directory = NSTemporaryDirectory() + "/extract-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (draft, _) = try RoadSources.read(
            [path], profiles: [try RoadProfile.named("car")], expandingIn: NSTemporaryDirectory())
        let built = try NetworkBuilder.build(draft, into: directory)
        let roads = try RoadNetwork(
            path: "\(directory)/\(built.id.rawValue)/\(NetworkBuilder.fileName)", id: built.id)
        let network = try RoutableNetwork(
            NetworkPublished(
                name: "Extract", network: built.id,
                topology: try RoutableNetwork.writeTopology(of: roads, in: directory),
                modes: draft.modes, edgeCount: built.edgeCount, extent: roads.extent),
            in: directory)
        var random = SeededGenerator(seed: 17)
        var search = Search(roads)
        let open = (0..<roads.edgeCount).filter { roads.access(of: $0, mode: 0) == .open }
        var (found, unreached) = (0, 0)

        /// Groups of ten pairs have their start in common.
        func compare(_ metric: RouteMetric, _ count: Int) throws {
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
                let path = try network.search { searcher throws(Failure) in
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
                found += 1
            }
        }
        func router(_ standing: [StandingRoadChange]) throws -> Router {
            try Router(
                network, RouteTerms(network: "Extract"),
                at: RouteMoment(
                    changes: standing, sequence: 1, now: Timestamp(microseconds: 0)))
        }
        let first = try router([]).metric
        try compare(first, form.pairs)
        var standing: [StandingRoadChange] = []
        for number in 1...form.changes {
            if number % 4 == 0, let ended = standing.indices.randomElement(using: &random) {
                standing.remove(at: ended)
            } else {
                let edges = (0..<Int(1 + random.next() % 8)).map { _ in
                    roads.name(of: open[Int(random.next() % UInt64(open.count))])
                }
                let effect: RoadChange.Effect =
                    switch random.next() % 4 {
                    case 0: .closed
                    case 1: .speed(Double(5 + random.next() % 90))
                    case 2: .factor(Double(1 + random.next() % 40) / 10)
                    default: .delay(Double(random.next() % 100))
                    }
                standing.append(
                    StandingRoadChange(
                        number: Int64(number), change: RoadChange(effect, edges: edges),
                        recordedAt: Timestamp(microseconds: 0)))
            }
            try compare(try router(standing).metric, form.pairsAfterChange)
        }
        // After the end of all changes the numbers of the metric are those of the beginning.
        #expect(try router([]).metric == first)
        #expect(found > form.pairs / 2, "\(found) routes, \(unreached) pairs without one")
    }
}
