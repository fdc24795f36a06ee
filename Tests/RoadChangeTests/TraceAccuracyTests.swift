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

/// How many of the roads of seeded drives are found again: positions every so many seconds, with
/// errors of a normal distribution in both directions, and no precision stated.
@Suite struct TraceAccuracyTests {
    private static let metresPerDegree = 6_371_008.8 * Double.pi / 180

    struct Drives {
        var count: Int
        /// Seconds between positions.
        var interval: Double
        /// Standard deviation of a position in each direction, in metres.
        var scatter: Double
    }

    /// Shares by length.
    struct Accuracy {
        /// Of the roads that were travelled, those that were found.
        var found: Double
        /// Of the roads that were found, those that were not travelled.
        var wrong: Double
    }

    /// A number of a normal distribution.
    private func scatter(_ deviation: Double, _ random: inout SeededGenerator) -> Double {
        let (first, second) = (
            Double.random(in: 1e-12...1, using: &random),
            Double.random(in: 0..<1, using: &random)
        )
        return deviation * (-2 * log(first)).squareRoot() * cos(2 * .pi * second)
    }

    /// Positions of a vehicle that takes each edge and turn of a path in its time.
    private func positions(
        _ path: RoutePath, _ roads: RoadNetwork, _ weights: RouteWeights, _ drives: Drives,
        _ random: inout SeededGenerator
    ) -> [TracePoint] {
        var points: [TracePoint] = []
        var (began, next) = (0.0, 0.0)
        for (place, arc) in path.edges.enumerated() {
            let edge = roads.edge(ofArc: Int(arc))
            let line = LineCut(roads.shape(of: edge))
            let taken = Double(weights.edges[Int(arc)]) / 1000
            let isLast = place + 1 == path.edges.count
            while next <= began + taken || isLast && next < began + taken + drives.interval {
                let share = min(1, max(0, (next - began) / taken))
                var position = line.part(share, share)[0]
                let shrink = cos(position.y * .pi / 180)
                position.x += scatter(drives.scatter, &random) / Self.metresPerDegree / shrink
                position.y += scatter(drives.scatter, &random) / Self.metresPerDegree
                points.append(
                    TracePoint(position, time: Timestamp(microseconds: Int64(next * 1e6))))
                next += drives.interval
            }
            began += taken
            guard !isLast else { break }
            let turns = roads.turns(fromArc: Int(arc)).filter {
                $0.target == Int(path.edges[place + 1])
            }
            // A vehicle that waits at a junction is at the start of the next edge.
            began += Double(turns.map { weights.turns[$0.number] }.min() ?? 0) / 1000
        }
        return points
    }

    private func accuracy(
        of drives: Drives, on network: RoutableNetwork, seed: UInt64
    ) throws -> Accuracy {
        var random = SeededGenerator(seed: seed)
        let roads = network.roads
        let router = try Router(
            network, RouteTerms(network: network.published.name),
            at: RouteMoment(changes: [], sequence: 1, now: Timestamp(microseconds: 0)))
        let open = (0..<roads.edgeCount).filter { roads.component(of: $0, mode: 0) == 0 }
            .filter { roads.access(of: $0, mode: 0) == .open }
        var (travelled, found, wrong, matched, count) = (0.0, 0.0, 0.0, 0.0, 0)
        while count < drives.count {
            let (start, end) = (
                open[Int(random.next() % UInt64(open.count))],
                open[Int(random.next() % UInt64(open.count))]
            )
            let path = try network.search(in: router.metric) { searcher throws(Failure) in
                try searcher.route(
                    from: [RouteEnd(UInt32(start), at: 0)],
                    to: network.arcs(of: end).map { RouteEnd($0, at: 1) }, router.metric)
            }
            guard start != end, let path, path.cost > 120_000 else { continue }
            count += 1
            let points = positions(path, roads, router.metric.weights, drives, &random)
            let answer = try router.match(
                TraceRequest(RouteTerms(network: network.published.name), points: points))
            let travelledEdges = Set(path.edges.map { roads.edge(ofArc: Int($0)) })
            let named = Set(answer.matchings.flatMap(\.edges).compactMap(roads.edge(named:)))
            func length(_ edges: Set<Int>) -> Double {
                edges.reduce(0) { $0 + roads.exactLength(of: $1) }
            }
            travelled += length(travelledEdges)
            found += length(travelledEdges.intersection(named))
            matched += length(named)
            wrong += length(named.subtracting(travelledEdges))
        }
        return Accuracy(found: found / travelled, wrong: wrong / matched)
    }

    @Test func `of drives over a made town nearly all roads are found`() throws {
        let made = try MadeNetwork(side: 20, random: 4)
        for (interval, scatter) in [(5.0, 5.0), (10, 10)] {
            let drives = Drives(count: 40, interval: interval, scatter: scatter)
            let accuracy = try accuracy(of: drives, on: made.network, seed: 8)
            #expect(accuracy.found > 0.97 && accuracy.wrong < 0.08, "\(accuracy)")
        }
    }

    @Test func `of drives over a city nearly all roads are found`() throws {
        guard let path = SharedData.path("osm/baltimore.osm.pbf") else { return }
        let network = try ExtractNetwork(path).network
        for (interval, scatter) in [(5.0, 5.0), (5, 8), (10, 5), (10, 10)] {
            let drives = Drives(count: 40, interval: interval, scatter: scatter)
            let accuracy = try accuracy(of: drives, on: network, seed: 8)
            #expect(accuracy.found > 0.97 && accuracy.wrong < 0.08, "\(accuracy)")
        }
    }
}
