// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import RoadNetwork
import RouteSearch
import TestKit
import Testing

@testable import Routing

/// Random histories of changes of roads.
@Suite struct RoadHistoryTests {
    private let side = 7

    private func place(_ random: inout SeededGenerator) -> Coordinate {
        MadeNetwork.place(
            Double.random(in: 0...Double(side - 1), using: &random),
            Double.random(in: 0...Double(side - 1), using: &random))
    }

    private func order(_ random: inout SeededGenerator) -> RoadChangeOrder {
        let target: RoadTarget =
            switch random.next() % 5 {
            case 0: .pieces([RoadPiece(way: Int64(1 + random.next() % UInt64(side)))])
            case 1:
                .street(
                    "column \(random.next() % UInt64(side))",
                    within: .envelope(
                        Envelope(minX: -1, minY: 0.0005, maxX: 1, maxY: 0.0025)))
            case 2: .shape(.polyline(paths: [[place(&random), place(&random)]]))
            default: .shape(.point(place(&random)))
            }
        let effect: RoadChange.Effect =
            switch random.next() % 4 {
            case 0: .closed
            case 1: .speed(Double(5 + random.next() % 90))
            case 2: .factor(Double(1 + random.next() % 40) / 10)
            default: .delay(Double(random.next() % 100))
            }
        var order = RoadChangeOrder(effect, target)
        if random.next() % 5 == 0 {
            order.effect = .bannedTurn
            order.target = .street("Row \(random.next() % UInt64(side))", within: nil)
            order.onto = .street("Column \(random.next() % UInt64(side))", within: nil)
        } else if random.next() % 3 == 0 {
            order.direction = random.next() % 2 == 0 ? .forward : .backward
        }
        switch random.next() % 6 {
        case 0: order.modes = ["foot"]
        case 1: order.modes = ["car"]
        default: break
        }
        return order
    }

    @Test(arguments: 1...2)
    func `after each of two hundred events routes cost what a plain search says`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let made = try MadeNetwork(side: side, random: seed)
        let network = made.network
        let first = try made.router([]).metric
        var standing: [StandingRoadChange] = []
        var (found, unreached, restored) = (0, 0, 0)
        for number in Int64(1)...200 {
            if random.next() % 3 == 0, let ended = standing.randomElement(using: &random) {
                let decision = try network.decide(.restore([ended.number]), standing: standing)
                guard case .restored(let event) = decision else { continue }
                standing.removeAll { event.changes.contains($0.number) }
                restored += 1
            } else {
                do {
                    let decision = try network.decide(
                        .change(order(&random)), standing: standing)
                    guard case .changed(let event) = decision else { continue }
                    standing.append(
                        StandingRoadChange(
                            number: number, change: event.change, recordedAt: MadeNetwork.now))
                } catch {
                    // A line may lie between the streets, a street may be open one way only.
                    #expect(error.code == .notFound)
                    continue
                }
            }
            let router = try made.router(standing)
            let plain = PlainSearch(network, standing.map(\.change), mode: 0)
            #expect(router.metric.weights == plain.weights)
            // The partial update equals the full one.
            #expect(router.metric == (try RouteMetric(network.topologies[0], plain.weights)))
            for _ in 0..<10 {
                let start = Int(random.next() % UInt64(made.roads.edgeCount))
                let end = Int(random.next() % UInt64(made.roads.edgeCount))
                guard plain.weights.edges[start] < RouteWeights.infinity, start != end else {
                    continue
                }
                let expected = plain.cost(from: start, to: end)
                let cost = try network.search(in: router.metric) { searcher throws(Failure) in
                    try searcher.cost(
                        from: [RouteEnd(UInt32(start), at: 0)],
                        to: [RouteEnd(UInt32(end), at: 1)], router.metric)
                }
                #expect(cost == expected, "event \(number), edge \(start) to \(end)")
                if expected == nil { unreached += 1 } else { found += 1 }
            }
        }
        #expect(found > 500 && unreached > 0 && restored > 20)

        let decision = try network.decide(.restoreAll, standing: standing)
        guard case .restored(let event) = decision else { return }
        #expect(event.changes == standing.map(\.number))
        // The numbers of the metric, made back by changes, are those of the beginning.
        var metric = try made.router(standing).metric
        try metric.apply(
            network.changes(
                made.router(standing).costs,
                from: network.conditions(standing, mode: 0, at: MadeNetwork.now), to: .none))
        #expect(metric == first)
        #expect(try made.router([]).metric == first)
    }

    @Test func `an answer about the past has the bytes that it had then`() throws {
        var random = SeededGenerator(seed: 9)
        let made = try MadeNetwork(side: side, random: 4)
        var states: [(standing: [StandingRoadChange], from: Coordinate, to: Coordinate)] = []
        var answers: [String] = []
        var standing: [StandingRoadChange] = []
        for number in Int64(1)...60 {
            if random.next() % 4 == 0, !standing.isEmpty {
                standing.remove(at: Int(random.next() % UInt64(standing.count)))
            } else if case .changed(let event)? = try? made.network.decide(
                .change(order(&random)), standing: standing)
            {
                standing.append(
                    StandingRoadChange(
                        number: number, change: event.change, recordedAt: MadeNetwork.now))
            }
            let (from, to) = (place(&random), place(&random))
            states.append((standing, from, to))
            let answer = try made.route(standing, from, to, sequence: number, explain: true)
            answers.append(String(decoding: try CairnJSON.encode(answer), as: UTF8.self))
        }
        // On the same network after other questions, and on one that was opened for this alone.
        for (number, state) in states.enumerated().reversed() {
            let sequence = Int64(number + 1)
            let again = try made.route(
                state.standing, state.from, state.to, sequence: sequence, isPresent: false,
                explain: true)
            #expect(
                String(decoding: try CairnJSON.encode(again), as: UTF8.self) == answers[number])
        }
        let other = try MadeNetwork(side: side, random: 4)
        let state = states[40]
        let again = try other.route(
            state.standing, state.from, state.to, sequence: 41, isPresent: false, explain: true)
        #expect(String(decoding: try CairnJSON.encode(again), as: UTF8.self) == answers[40])
        #expect(Set(answers).count > 50)
    }

    @Test func `a listed change that is lifted alone gives the stated cost`() throws {
        var random = SeededGenerator(seed: 21)
        let made = try MadeNetwork(side: side, random: 21)
        var listed = 0
        for _ in 0..<150 {
            var changes: [RoadChange] = []
            for _ in 0..<6 {
                if case .changed(let event)? = try? made.network.decide(
                    .change(order(&random)), standing: [])
                {
                    changes.append(event.change)
                }
            }
            let standing = made.standing(changes)
            let (from, to) = (place(&random), place(&random))
            let answer = try made.route(standing, from, to, explain: true)
            for shaping in answer.shapedBy ?? [] {
                listed += 1
                let number = try #require(shaping.change)
                let others = standing.filter { $0.number != number }
                let without = try made.route(others, from, to)
                let lifted = try #require(without.routes.first)
                let cost = try #require(shaping.costWithout)
                // A route's seconds are summed exactly, its cost in whole milliseconds an edge.
                #expect(abs(lifted.duration - cost) < 0.05, "change \(number)")
                // Nothing is listed that makes no difference.
                let best = try #require(answer.routes.first)
                #expect(abs(best.duration - cost) > 0.0005 || best.duration == cost)
            }
        }
        #expect(listed > 50)
    }
}
