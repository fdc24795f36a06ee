// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Platform

/// The part of an edge that can be reached within a bound.
public struct ReachedPart: Hashable, Sendable {
    /// The edge.
    public var edge: UInt32
    /// Where the part begins, 0…1.
    public var from: Double
    /// Where it ends, 0…1.
    public var to: Double
    /// What it costs to come from the starts to its beginning, or from there to the ends.
    public var costAtFrom: UInt32
    /// The same of its end; neither is above the bound.
    public var costAtTo: UInt32
}

extension RouteSearcher {
    /// The parts of all edges that are reached from the starts at no more than a bound, by edge.
    ///
    /// An edge with a start has a part from there on, and perhaps another one, where a way round
    /// leads to its beginning. One pass over all arcs (PHAST: Delling, Goldberg, Nowatzyk, Werneck,
    /// IPDPS 2011), whatever the bound. Throws as ``route(from:to:_:)`` does.
    public mutating func reach(
        from starts: [RouteEnd], within bound: UInt32, _ metric: RouteMetric
    ) throws(Failure) -> [ReachedPart] {
        try check(metric)
        try metric.check(starts)
        let bound = min(bound, RouteWeights.infinity - 1)
        climb(Self.seeds(from: starts, metric), metric)
        Self.sweep(topology, &forward, metric.down)
        var parts: [ReachedPart] = []
        for edge in 0..<UInt32(topology.edgeCount) {
            for start in starts where start.edge == edge {
                if let part = metric.part(from: start, start.cost, within: bound) {
                    parts.append(part)
                }
            }
            let cost = forward[Int(topology.ranks[Int(edge)])]
            let start = RouteEnd(edge, at: 0)
            if let part = metric.part(from: start, cost, within: bound) { parts.append(part) }
        }
        forget()
        return parts
    }

    /// The parts of all edges from which one of the ends is reached at no more than a bound, by
    /// edge.
    public mutating func reach(
        to ends: [RouteEnd], within bound: UInt32, _ metric: RouteMetric
    ) throws(Failure) -> [ReachedPart] {
        try check(metric)
        try metric.check(ends)
        let bound = min(bound, RouteWeights.infinity - 1)
        let seeds = Self.seeds(to: ends, metric)
        collect(seeds)
        enter(seeds, .backward)
        for rank in chain {
            let cost = backward[Int(rank)]
            for arc in topology.arcs(up: Int(rank)) {
                let head = Int(topology.heads[arc])
                backward[head] = min(backward[head], cost &+ metric.down[arc])
            }
        }
        Self.sweep(topology, &backward, metric.up)
        var parts: [ReachedPart] = []
        for edge in 0..<UInt32(topology.edgeCount) {
            for end in ends where end.edge == edge {
                if let part = metric.part(to: end, end.cost, within: bound) { parts.append(part) }
            }
            // From the edge's end on: by the cheapest of its turns.
            var cost = RouteWeights.infinity
            for turn in topology.turns(Int(edge)) {
                let next = backward[Int(topology.ranks[Int(topology.turnTargets[turn])])]
                cost = min(cost, RouteWeights.sum(metric.weights.turns[turn], next))
            }
            let end = RouteEnd(edge, at: 1)
            if let part = metric.part(to: end, cost, within: bound) { parts.append(part) }
        }
        forget()
        return parts
    }

    /// Brings the costs of the highest ranks down to all.
    private static func sweep(
        _ topology: RouteTopology, _ costs: inout [UInt32], _ weights: ForkedNumbers
    ) {
        let heads = topology.heads
        for rank in (0..<topology.edgeCount).reversed() {
            var cost = costs[rank]
            for arc in topology.arcs(up: rank) {
                cost = min(cost, costs[Int(heads[arc])] &+ weights[arc])
            }
            costs[rank] = cost
        }
    }

    /// Removes the trace of a search that reached all ranks.
    private mutating func forget() {
        reset()
        for rank in forward.indices {
            forward[rank] = RouteWeights.infinity
            backward[rank] = RouteWeights.infinity
        }
    }
}

extension RouteMetric {
    /// The part of an edge from a place on, which costs something to come to.
    fileprivate func part(
        from start: RouteEnd, _ cost: UInt32, within bound: UInt32
    ) -> ReachedPart? {
        guard cost <= bound, let rest = self.cost(after: start) else { return nil }
        let whole = Double(weights.edges[Int(start.edge)])
        let isWhole = rest <= bound - cost
        return ReachedPart(
            edge: start.edge, from: start.fraction,
            to: isWhole ? 1 : min(1, start.fraction + Double(bound - cost) / whole),
            costAtFrom: cost, costAtTo: isWhole ? cost + rest : bound)
    }

    /// The part of an edge up to a place, from which it costs something to come to the ends.
    fileprivate func part(
        to end: RouteEnd, _ cost: UInt32, within bound: UInt32
    ) -> ReachedPart? {
        guard cost <= bound, let part = self.cost(before: end) else { return nil }
        let whole = Double(weights.edges[Int(end.edge)])
        let isWhole = part <= bound - cost
        return ReachedPart(
            edge: end.edge,
            from: isWhole ? 0 : max(0, end.fraction - Double(bound - cost) / whole),
            to: end.fraction, costAtFrom: isWhole ? cost + part : bound, costAtTo: cost)
    }
}
