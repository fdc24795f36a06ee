// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import RouteSearch
import TestKit

/// A random network that looks like a plane's: a grid with roads missing, oneways, forbidden and
/// costly turns, some long roads, some roads twice, some round.
struct RandomRoads {
    var graph: RoadGraph
    var opposites: [UInt32]
    var weights: RouteWeights

    init(
        columns: Int, rows: Int, missing: Double = 0.2, oneway: Double = 0.15,
        uTurns: UTurns = .allowed, using random: inout SeededGenerator
    ) throws {
        var tails: [UInt32] = []
        var heads: [UInt32] = []
        var opposites: [UInt32] = []
        var costs: [UInt32] = []
        func add(_ from: Int, _ to: Int, isOneway: Bool, cost: UInt32) {
            let edge = UInt32(tails.count)
            tails += [UInt32(from)]
            heads += [UInt32(to)]
            costs.append(cost)
            opposites.append(isOneway ? .max : edge + 1)
            if isOneway { return }
            tails += [UInt32(to)]
            heads += [UInt32(from)]
            costs.append(random.next() % 4 == 0 ? cost + UInt32(random.next() % 20) : cost)
            opposites.append(edge)
        }
        for row in 0..<rows {
            for column in 0..<columns {
                let node = row * columns + column
                for (isInside, other) in [
                    (column + 1 < columns, node + 1), (row + 1 < rows, node + columns),
                ] where isInside && Double.random(in: 0..<1, using: &random) >= missing {
                    let isOneway = Double.random(in: 0..<1, using: &random) < oneway
                    let isReversed = random.next() % 2 == 0
                    add(
                        isReversed ? other : node, isReversed ? node : other, isOneway: isOneway,
                        cost: UInt32(random.next() % 100) + 1)
                }
                switch random.next() % 60 {
                case 0: add(node, node, isOneway: true, cost: 20)
                case 1:
                    add(
                        node, Int(random.next() % UInt64(rows * columns)), isOneway: false,
                        cost: UInt32(random.next() % 400) + 1)
                default: break
                }
            }
        }
        self.opposites = opposites
        graph = try RoadGraph(nodeCount: columns * rows, tails: tails, heads: heads)
        var turns: [TurnCost] = []
        for edge in 0..<graph.edgeCount {
            for turn in graph.turnStarts[edge]..<graph.turnStarts[edge + 1] {
                let target = graph.turnTargets[Int(turn)]
                switch random.next() % 12 {
                case 0: turns.append(TurnCost(from: UInt32(edge), to: target))
                case 1...4:
                    turns.append(
                        TurnCost(
                            from: UInt32(edge), to: target, cost: UInt32(random.next() % 30)))
                default: break
                }
            }
        }
        for edge in costs.indices where random.next() % 50 == 0 {
            costs[edge] = RouteWeights.infinity
        }
        weights = try RouteWeights(
            graph, edges: costs, costs: turns, uTurns: uTurns, opposites: opposites)
    }

    /// A place for a route's end: on one edge or on both of a road.
    func end(using random: inout SeededGenerator) -> [RouteEnd] {
        let edge = Int(random.next() % UInt64(graph.edgeCount))
        let fraction = Double(random.next() % 5) / 4
        var ends = [RouteEnd(UInt32(edge), at: fraction)]
        if opposites[edge] != .max, random.next() % 4 != 0 {
            ends.append(RouteEnd(opposites[edge], at: 1 - fraction))
        }
        if random.next() % 8 == 0 {
            ends.append(
                RouteEnd(
                    UInt32(random.next() % UInt64(graph.edgeCount)), at: 0.5,
                    cost: UInt32(random.next() % 50), place: 1))
        }
        return ends
    }

    /// A change of an edge or a turn: a closure, another cost, a ban, or one lifted.
    func change(using random: inout SeededGenerator) -> WeightChange {
        let edge = UInt32(random.next() % UInt64(graph.edgeCount))
        let turns = graph.turnStarts[Int(edge)]..<graph.turnStarts[Int(edge) + 1]
        if random.next() % 2 == 0, let turn = turns.randomElement(using: &random) {
            let cost =
                random.next() % 2 == 0 ? RouteWeights.infinity : UInt32(random.next() % 40)
            return .turn(from: edge, to: graph.turnTargets[Int(turn)], cost)
        }
        let cost =
            random.next() % 3 == 0 ? RouteWeights.infinity : UInt32(random.next() % 150) + 1
        return .edge(edge, cost)
    }
}
