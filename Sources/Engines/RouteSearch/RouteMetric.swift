// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Platform

/// A topology with costs: for each of its arcs the cost of the best way between its ends over lower
/// ranks, in both directions.
///
/// The cost of a turn's arc is that of the edge before it and of the turn, so a way from one rank
/// to another costs from the start of the one edge to the start of the other. Costs stop at
/// ``RouteWeights/infinity``: a route that costs as much is none.
///
/// A value: a copy that is changed for one request changes nothing in the original. 8 bytes per
/// arc; a changed copy has the pages of its own in which it differs.
public struct RouteMetric: Equatable, Sendable {
    /// The topology it belongs to.
    public let topology: RouteTopology
    /// The costs it was made of.
    public internal(set) var weights: RouteWeights
    /// From the lower rank of each arc to the higher.
    var up: ForkedNumbers
    /// From the higher rank of each arc to the lower.
    var down: ForkedNumbers

    /// Customizes the topology.
    ///
    /// Takes about 80 ns per arc of a road network; with `threads` above 1 the subtrees of the
    /// elimination tree are done on so many threads. The result is the same. Throws
    /// `invalidParameter` for weights that are not those of the topology's graph, or out of range.
    public init(
        _ topology: RouteTopology, _ weights: RouteWeights, threads: Int = 1
    ) throws(Failure) {
        guard weights.edges.count == topology.edgeCount, weights.turns.count == topology.turnCount
        else {
            throw Failure(
                .invalidParameter,
                "route metric: costs of \(weights.edges.count) edges and \(weights.turns.count) "
                    + "turns; the network has \(topology.edgeCount) and \(topology.turnCount)")
        }
        for (edge, cost) in weights.edges.enumerated() { try Self.check(cost, edge: edge) }
        for (turn, cost) in weights.turns.enumerated() { try Self.check(cost, turn: turn) }
        self.topology = topology
        self.weights = weights
        (up, down) = Customization(topology, weights, threads: threads).numbers
    }

    static func check(_ cost: UInt32, edge: Int) throws(Failure) {
        guard 1...RouteWeights.infinity ~= cost else {
            throw Failure(
                .invalidParameter,
                "route metric: edge \(edge) costs \(cost); expected 1 to \(RouteWeights.infinity)")
        }
    }

    static func check(_ cost: UInt32, turn: Int) throws(Failure) {
        guard cost <= RouteWeights.infinity else {
            throw Failure(
                .invalidParameter,
                "route metric: turn \(turn) costs \(cost); expected 0 to \(RouteWeights.infinity)")
        }
    }

    /// The cost of the arc of a turn out of an edge.
    @inline(__always)
    func cost(_ edge: Int, _ turn: Int) -> UInt32 {
        RouteWeights.sum(weights.edges[edge], weights.turns[turn])
    }

    /// The cost of following one edge by another directly.
    func cost(from edge: Int, to target: Int) -> UInt32 {
        topology.turn(from: edge, to: target).map { cost(edge, $0) } ?? RouteWeights.infinity
    }

    /// Recomputes the cost of every arc.
    mutating func customize() {
        (up, down) = Customization(topology, weights, threads: 1).numbers
    }

    /// Two metrics are equal when their costs are; of the same topology.
    public static func == (one: Self, other: Self) -> Bool {
        one.weights == other.weights && one.up == other.up && one.down == other.down
    }
}
