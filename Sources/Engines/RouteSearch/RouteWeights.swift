// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The cost of every edge and turn, in one unit of the caller's choice (milliseconds,
/// centimetres).
public struct RouteWeights: Hashable, Sendable {
    /// Cost of each edge from end to end: from 1, or ``infinity`` for a closed one.
    public var edges: [UInt32]
    /// Cost of each turn of the graph, from 0; ``infinity`` for a forbidden one.
    public var turns: [UInt32]

    /// The cost of what cannot be travelled, and the bound of a route's: 2^31 - 1.
    public static let infinity: UInt32 = 1 << 31 - 1

    /// Costs as they are; checked where a metric is made of them.
    public init(edges: [UInt32], turns: [UInt32]) {
        self.edges = edges
        self.turns = turns
    }

    /// Costs of a graph whose turns cost nothing but for those listed, and for turning back.
    ///
    /// - Parameters:
    ///   - costs: Added up where a turn occurs several times.
    ///   - opposites: For each edge the edge back along the same road, or `UInt32.max`; empty for
    ///     none at all.
    /// - Throws: `invalidParameter` for a turn that the graph does not have.
    public init(
        _ graph: RoadGraph, edges: [UInt32], costs: [TurnCost] = [], uTurns: UTurns = .allowed,
        opposites: [UInt32] = []
    ) throws(Failure) {
        self.edges = edges
        turns = [UInt32](repeating: 0, count: graph.turnCount)
        for cost in costs {
            guard let turn = graph.turn(from: Int(cost.from), to: Int(cost.to)) else {
                throw Failure(
                    .invalidParameter,
                    "turn costs: there is no turn from edge \(cost.from) into edge \(cost.to)")
            }
            turns[turn] = Self.sum(turns[turn], cost.cost)
        }
        guard !opposites.isEmpty else { return }
        guard opposites.count == graph.edgeCount else {
            throw Failure(
                .invalidParameter,
                "turn costs: \(opposites.count) opposites of \(graph.edgeCount) edges")
        }
        let roads = uTurns.isEverywhere ? [] : Self.roadCounts(graph, opposites)
        for edge in opposites.indices where opposites[edge] != .max {
            guard let turn = graph.turn(from: edge, to: Int(opposites[edge])) else { continue }
            let isAllowed =
                uTurns.isEverywhere || uTurns.allows(roads: roads[Int(graph.heads[edge])])
            turns[turn] = isAllowed ? Self.sum(turns[turn], uTurns.cost) : Self.infinity
        }
    }

    /// Number of roads at each node; a road open both ways counts once.
    private static func roadCounts(_ graph: RoadGraph, _ opposites: [UInt32]) -> [Int] {
        var counts = [Int](repeating: 0, count: graph.nodeCount)
        for edge in opposites.indices where opposites[edge] == .max || edge < opposites[edge] {
            counts[Int(graph.tails[edge])] += 1
            counts[Int(graph.heads[edge])] += 1
        }
        return counts
    }

    /// The sum of two costs, neither above ``infinity``; no more than that.
    @inline(__always)
    public static func sum(_ first: UInt32, _ second: UInt32) -> UInt32 {
        min(infinity, min(first, infinity) + min(second, infinity))
    }
}

/// The cost of turning from one edge into another; infinite for a forbidden turn.
public struct TurnCost: Hashable, Sendable {
    /// The edge that is left.
    public var from: UInt32
    /// The edge that is entered.
    public var to: UInt32
    /// In the unit of the edges' costs.
    public var cost: UInt32

    /// A cost from 0 to ``RouteWeights/infinity``.
    public init(from: UInt32, to: UInt32, cost: UInt32 = RouteWeights.infinity) {
        self.from = from
        self.to = to
        self.cost = cost
    }
}

/// Where a route may turn back along the road it came on, at a node, and what that costs.
public struct UTurns: Hashable, Sendable {
    /// A kind of node.
    public struct Places: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8
        /// Some kinds of nodes by their bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Nodes of one road.
        public static let deadEnds = Places(rawValue: 1)
        /// Nodes of three roads or more.
        public static let intersections = Places(rawValue: 2)
        /// Nodes of two roads.
        public static let passages = Places(rawValue: 4)
    }

    /// The nodes where it may.
    public var places: Places
    /// What it costs there.
    public var cost: UInt32

    /// A policy.
    public init(at places: Places, cost: UInt32 = 0) {
        self.places = places
        self.cost = cost
    }

    /// Everywhere, at no cost.
    public static let allowed = UTurns(at: [.deadEnds, .intersections, .passages])
    /// Nowhere.
    public static let forbidden = UTurns(at: [])

    var isEverywhere: Bool { places == Self.allowed.places }

    func allows(roads: Int) -> Bool {
        switch roads {
        case ...1: places.contains(.deadEnds)
        case 2: places.contains(.passages)
        default: places.contains(.intersections)
        }
    }
}
