// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

extension RouteSearcher {
    /// The path of the present search by a rank that both sides have reached.
    func path(
        _ cost: UInt32, by rank: Int, _ first: [Seed], _ last: [Seed], _ starts: [RouteEnd],
        _ ends: [RouteEnd], _ metric: RouteMetric
    ) -> RoutePath? {
        var arcs: [UInt32] = []
        var low = rank
        while forwardArcs[low] != RouteTopology.none {
            arcs.append(forwardArcs[low] * 2)
            low = Int(topology.tails[Int(forwardArcs[low])])
        }
        arcs.reverse()
        guard let start = first.first(where: { $0.rank == low && $0.cost == forward[low] }) else {
            return nil
        }
        var edges = [starts[start.end].edge, topology.edges[low]]
        low = rank
        while backwardArcs[low] != RouteTopology.none {
            arcs.append(backwardArcs[low] * 2 + 1)
            low = Int(topology.tails[Int(backwardArcs[low])])
        }
        guard let end = last.first(where: { $0.rank == low && $0.cost == backward[low] }) else {
            return nil
        }
        metric.unpack(arcs, into: &edges)
        return RoutePath(
            edges: edges, startFraction: starts[start.end].fraction,
            endFraction: ends[end.end].fraction, cost: cost, start: start.end, end: end.end)
    }
}

extension RouteMetric {
    /// Appends the edges that a sequence of arcs leads to, numbered as in
    /// ``RouteTopology/turnArcs``, the first's own start excluded.
    ///
    /// An arc that is no cheaper than its turn is that turn; any other goes by the lowest rank that
    /// gives its cost. So the path depends on the costs alone.
    func unpack(_ arcs: [UInt32], into edges: inout [UInt32]) {
        var waiting = Array(arcs.reversed())
        while let code = waiting.popLast() {
            let arc = Int(code / 2)
            let (low, high) = (Int(topology.tails[arc]), Int(topology.heads[arc]))
            let (from, to) = code & 1 == 0 ? (low, high) : (high, low)
            let cost = code & 1 == 0 ? up[arc] : down[arc]
            let target = topology.edges[to]
            if self.cost(from: Int(topology.edges[from]), to: Int(target)) == cost {
                edges.append(target)
            } else if let (first, second) = triangle(from, to, cost) {
                waiting.append(UInt32(2 * second))
                waiting.append(UInt32(2 * first + 1))
            }
        }
    }

    /// The arcs down from one rank and up to another by the lowest rank with which they cost
    /// exactly that.
    private func triangle(_ from: Int, _ to: Int, _ cost: UInt32) -> (down: Int, up: Int)? {
        let (downArcs, tails) = (topology.downArcs, topology.tails)
        var (first, second) = (topology.places(down: from), topology.places(down: to))
        while let one = first.first, let other = second.first {
            let (down, up) = (Int(downArcs[one]), Int(downArcs[other]))
            let (lower, upper) = (tails[down], tails[up])
            if lower == upper, self.down[down] &+ self.up[up] == cost { return (down, up) }
            if lower <= upper { first = first.dropFirst() }
            if upper <= lower { second = second.dropFirst() }
        }
        return nil
    }
}
