// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

extension RouteSearcher {
    /// The path of the present search by a rank that both sides have reached.
    func path(
        _ cost: UInt32, by rank: Int, _ first: [Seed], _ last: [Seed], _ starts: [RouteEnd],
        _ ends: [RouteEnd], _ metric: RouteMetric
    ) -> RoutePath? {
        var ranks = [rank]
        while let low = ranks.last, forwardLows[low] != RouteTopology.none {
            ranks.append(Int(forwardLows[low]))
        }
        ranks.reverse()
        while let low = ranks.last, backwardLows[low] != RouteTopology.none {
            ranks.append(Int(backwardLows[low]))
        }
        guard let low = ranks.first, let high = ranks.last,
            let start = first.first(where: { $0.rank == low && $0.cost == forward[low] }),
            let end = last.first(where: { $0.rank == high && $0.cost == backward[high] })
        else { return nil }
        let edges = [starts[start.end].edge] + metric.unpack(ranks)
        return RoutePath(
            edges: edges, startFraction: starts[start.end].fraction,
            endFraction: ends[end.end].fraction, cost: cost, start: start.end, end: end.end)
    }
}

extension RouteMetric {
    /// The edges of a way over ranks of which each is joined to the next.
    ///
    /// An arc that is no cheaper than its turn is that turn; any other goes by the lowest rank that
    /// gives its cost. So the path depends on the costs alone.
    func unpack(_ ranks: [Int]) -> [UInt32] {
        guard let first = ranks.first else { return [] }
        var edges = [topology.edges[first]]
        var waiting = Array(zip(ranks, ranks.dropFirst()).reversed())
        while let (from, to) = waiting.popLast() {
            guard let arc = topology.arc(min(from, to), max(from, to)) else { continue }
            let cost = from < to ? up[arc] : down[arc]
            let target = topology.edges[to]
            if self.cost(from: Int(topology.edges[from]), to: Int(target)) == cost {
                edges.append(target)
            } else if let low = lowest(from, to, cost) {
                waiting.append((low, to))
                waiting.append((from, low))
            }
        }
        return edges
    }

    /// The lowest rank by which one rank is reached from another at exactly that cost.
    private func lowest(_ from: Int, _ to: Int, _ cost: UInt32) -> Int? {
        var triangles = LowerTriangles(topology, from, to)
        while let (toFrom, toTo) = triangles.next() {
            if down[toFrom] &+ up[toTo] == cost { return triangles.low }
        }
        return nil
    }
}
