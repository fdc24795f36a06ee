// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import RouteSearch

/// Plain searches over edges and turns, written for these tests alone: Dijkstra with a sorted
/// frontier, whose state is the start of an edge.
struct Oracle {
    let graph: RoadGraph
    var weights: RouteWeights

    private static let infinity = UInt64(RouteWeights.infinity)

    private func edge(_ edge: UInt32) -> UInt64 { UInt64(weights.edges[Int(edge)]) }

    private func part(_ end: RouteEnd) -> UInt64 {
        UInt64((Double(weights.edges[Int(end.edge)]) * end.fraction).rounded())
    }

    private func isOpen(_ edge: UInt32) -> Bool {
        weights.edges[Int(edge)] != RouteWeights.infinity
    }

    /// The cost of the start of every edge from the starts.
    func costs(from starts: [RouteEnd]) -> [UInt64?] {
        var frontier = Frontier()
        for start in starts where isOpen(start.edge) {
            leave(start.edge, at: UInt64(start.cost) + edge(start.edge) - part(start), &frontier)
        }
        var costs = [UInt64?](repeating: nil, count: graph.edgeCount)
        while let (cost, edge) = frontier.next() {
            guard costs[Int(edge)] == nil else { continue }
            costs[Int(edge)] = cost
            if isOpen(edge) { leave(edge, at: cost + self.edge(edge), &frontier) }
        }
        return costs
    }

    private func leave(_ edge: UInt32, at cost: UInt64, _ frontier: inout Frontier) {
        for turn in graph.turnStarts[Int(edge)]..<graph.turnStarts[Int(edge) + 1]
        where weights.turns[Int(turn)] != RouteWeights.infinity {
            frontier.add(
                cost + UInt64(weights.turns[Int(turn)]), graph.turnTargets[Int(turn)])
        }
    }

    /// The cost of the cheapest route; nil for none.
    func cost(
        from starts: [RouteEnd], to ends: [RouteEnd], _ costs: [UInt64?]? = nil
    ) -> UInt32? {
        let costs = costs ?? self.costs(from: starts)
        var best = Self.infinity
        for end in ends where isOpen(end.edge) {
            if let cost = costs[Int(end.edge)] {
                best = min(best, cost + part(end) + UInt64(end.cost))
            }
            for start in starts where start.edge == end.edge && start.fraction <= end.fraction {
                best = min(
                    best, UInt64(start.cost) + UInt64(end.cost) + part(end) - part(start))
            }
        }
        return best < Self.infinity ? UInt32(best) : nil
    }

    /// Walks a path: its cost, or nil where it leaves the network, uses what is closed, or is not
    /// one of the starts to one of the ends.
    func walk(_ path: RoutePath, from starts: [RouteEnd], to ends: [RouteEnd]) -> UInt32? {
        let (start, end) = (starts[path.start], ends[path.end])
        guard path.edges.first == start.edge, path.edges.last == end.edge,
            path.startFraction == start.fraction, path.endFraction == end.fraction,
            path.edges.allSatisfy(isOpen)
        else { return nil }
        var cost = UInt64(start.cost) + UInt64(end.cost)
        for (from, to) in zip(path.edges, path.edges.dropFirst()) {
            guard graph.heads[Int(from)] == graph.tails[Int(to)],
                let turn = graph.turn(from: Int(from), to: Int(to)),
                weights.turns[turn] != RouteWeights.infinity
            else { return nil }
            cost += edge(from) + UInt64(weights.turns[turn])
        }
        guard cost + part(end) >= part(start) else { return nil }
        return UInt32(cost + part(end) - part(start))
    }

    mutating func apply(_ change: WeightChange) {
        switch change {
        case .edge(let edge, let cost): weights.edges[Int(edge)] = cost
        case .turn(let from, let to, let cost):
            if let turn = graph.turn(from: Int(from), to: Int(to)) { weights.turns[turn] = cost }
        }
    }
}

/// A binary heap of costs and edges.
private struct Frontier {
    private var heap: [(cost: UInt64, edge: UInt32)] = []

    mutating func add(_ cost: UInt64, _ edge: UInt32) {
        heap.append((cost, edge))
        var place = heap.count - 1
        while place > 0, heap[place].cost < heap[(place - 1) / 2].cost {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func next() -> (UInt64, UInt32)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var place = 0
        while 2 * place + 1 < heap.count {
            var child = 2 * place + 1
            if child + 1 < heap.count, heap[child + 1].cost < heap[child].cost { child += 1 }
            guard heap[child].cost < heap[place].cost else { break }
            heap.swapAt(place, child)
            place = child
        }
        return first
    }
}
