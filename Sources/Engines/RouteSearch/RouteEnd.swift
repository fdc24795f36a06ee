// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Platform

/// A place on an edge where a route can begin or end.
///
/// A stop beside a road that is open both ways has two of them, one on each edge; a stop where
/// only one side or heading will do has one. Several roads near a stop give further ones, each with
/// its cost.
public struct RouteEnd: Hashable, Sendable {
    /// The edge.
    public var edge: UInt32
    /// Where on it, from 0 at its start to 1 at its end.
    public var fraction: Double
    /// What it costs to choose this one, from 0 to ``RouteWeights/infinity``.
    public var cost: UInt32
    /// A number that ends at the same point of the same road share: only between these may a route
    /// turn back, or go on, at a stop.
    public var place: Int

    /// A place on an edge; a fraction that is not within 0 to 1 is moved there.
    public init(_ edge: UInt32, at fraction: Double, cost: UInt32 = 0, place: Int = 0) {
        self.edge = edge
        self.fraction = fraction > 0 ? min(fraction, 1) : 0
        self.cost = min(cost, RouteWeights.infinity)
        self.place = place
    }
}

/// A way along edges, with its cost.
public struct RoutePath: Hashable, Sendable {
    /// The edges in order, the first and the last possibly in part.
    public var edges: [UInt32]
    /// Where the first edge is entered, 0…1.
    public var startFraction: Double
    /// Where the last edge is left, 0…1.
    public var endFraction: Double
    /// In the metric's unit, with the costs of both ends; below ``RouteWeights/infinity``.
    public var cost: UInt32
    /// Place of its start among the ends that were given.
    public var start: Int
    /// Place of its end among the ends that were given.
    public var end: Int
}

extension RouteMetric {
    /// What it costs to travel an edge up to a fraction of it, rounded to the unit; nil for a
    /// closed one.
    ///
    /// Never falls with the fraction, and adds up with ``cost(after:)`` to the edge's cost.
    func cost(before end: RouteEnd) -> UInt32? {
        let whole = weights.edges[Int(end.edge)]
        guard whole != RouteWeights.infinity else { return nil }
        return UInt32((Double(whole) * end.fraction).rounded())
    }

    /// What it costs to travel the rest of an edge; nil for a closed one.
    func cost(after end: RouteEnd) -> UInt32? {
        cost(before: end).map { weights.edges[Int(end.edge)] - $0 }
    }

    /// The cost of a route that stays on the edge of both ends; nil where that is not possible.
    func direct(_ start: RouteEnd, _ end: RouteEnd) -> UInt32? {
        guard start.edge == end.edge, start.fraction <= end.fraction,
            let first = self.cost(before: start), let last = self.cost(before: end)
        else { return nil }
        let cost = RouteWeights.sum(RouteWeights.sum(start.cost, end.cost), last - first)
        return cost < RouteWeights.infinity ? cost : nil
    }

    /// Throws `invalidParameter` for an edge that the network does not have.
    func check(_ ends: [RouteEnd]) throws(Failure) {
        for end in ends where end.edge >= topology.edgeCount {
            throw Failure(
                .invalidParameter,
                "route: edge \(end.edge) of an end; the network has \(topology.edgeCount)")
        }
    }
}
