// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import RoadNetwork

/// The cheapest route by Dijkstra's algorithm on the turns of a network, as slow and plain as
/// possible: the oracle of faster searches.
struct ReferenceSearch {
    let network: RoadNetwork
    let mode: Int
    let cost: NetworkMode.Cost
    /// Where nothing passes.
    var barriers: [Place] = []

    /// A place on an edge: its number, and millimetres from its tail.
    struct Place: Hashable {
        var edge: Int
        var offset: UInt32
    }

    struct Route: Hashable {
        /// Millimetres or milliseconds.
        var cost: Int
        /// The edges from the first to the last.
        var edges: [Int]
        /// Metres or seconds without turns, from the exact values of the edges.
        var exact: Double
    }

    /// Where a route is: an arc, and whether it has passed an open edge, and then an ends-only one.
    private struct State: Hashable {
        var arc: Int
        /// 0 on ends-only edges of the start, 1 on open ones, 2 on ends-only edges of the end.
        var phase: Int
    }

    /// The cheapest route from any of some places to any of others; nil when there is none.
    ///
    /// Costs of a part of an edge are its share by length, rounded.
    func route(from starts: [Place], to ends: [Place]) -> Route? {
        var best: [State: Int] = [:]
        var before: [State: State] = [:]
        var queue = Heap()
        var found: (cost: Int, state: State?, start: Place?, end: Place)?
        var origins: [State: Place] = [:]

        func offer(_ cost: Int, _ state: State?, _ start: Place?, _ end: Place) {
            if found.map({ cost < $0.cost }) ?? true { found = (cost, state, start, end) }
        }
        for start in starts {
            guard let phase = phase(after: nil, onto: start.edge) else { continue }
            for end in ends
            where end.edge == start.edge && end.offset >= start.offset
                && !isBlocked(start.edge, start.offset...end.offset)
            {
                offer(part(end) - part(start), nil, start, end)
            }
            let state = State(arc: start.edge, phase: phase)
            guard !isBlocked(start.edge, start.offset...) else { continue }
            if push(whole(start.edge) - part(start), state, nil) { origins[state] = start }
        }
        @discardableResult
        func push(_ cost: Int, _ state: State, _ last: State?) -> Bool {
            if let known = best[state], known <= cost { return false }
            best[state] = cost
            before[state] = last
            queue.push(cost, state.arc * 3 + state.phase)
            return true
        }
        while let (cost, number) = queue.pop() {
            let state = State(arc: number / 3, phase: number % 3)
            guard best[state] == cost else { continue }
            if let found, found.cost <= cost { break }
            for turn in network.turns(fromArc: state.arc) {
                let duration = network.turnDuration(turn.number, mode: mode)
                let edge = network.edge(ofArc: turn.target)
                guard duration != RoadNetwork.unreachable,
                    let phase = phase(after: state.phase, onto: edge)
                else { continue }
                let turned = cost + (self.cost == .time ? Int(duration) : 0)
                for end in ends where end.edge == edge && !isBlocked(edge, ...end.offset) {
                    offer(turned + part(end), state, nil, end)
                }
                guard !isBlocked(edge, 0...) else { continue }
                push(turned + whole(edge), State(arc: turn.target, phase: phase), state)
            }
        }
        guard let found else { return nil }
        var edges = [found.end.edge]
        var (state, start) = (found.state, found.start)
        while let known = state {
            edges.append(network.edge(ofArc: known.arc))
            state = before[known]
            if state == nil { start = origins[known] }
        }
        let first = start ?? found.end
        let exact =
            edges.dropFirst().reduce(0) { $0 + exactWhole($1) }
            + share(found.end) * exactWhole(found.end.edge)
            - share(first) * exactWhole(first.edge)
        return Route(
            cost: found.cost, edges: edges.reversed(), exact: exact)
    }

    /// The phase on an edge; nil where it may not be entered.
    private func phase(after phase: Int?, onto edge: Int) -> Int? {
        switch (network.access(of: edge, mode: mode), phase) {
        case (.closed, _): nil
        case (.open, 2): nil
        case (.open, _): 1
        case (.endsOnly, nil), (.endsOnly, 0): 0
        case (.endsOnly, _): 2
        }
    }

    private func isBlocked(_ edge: Int, _ range: some RangeExpression<UInt32>) -> Bool {
        barriers.contains { $0.edge == edge && range.contains($0.offset) }
    }

    private func whole(_ edge: Int) -> Int {
        Int(
            cost == .time
                ? network.duration(of: edge, mode: mode) : network.length(of: edge))
    }

    private func exactWhole(_ edge: Int) -> Double {
        cost == .time
            ? network.exactDuration(of: edge, mode: mode) : network.exactLength(of: edge)
    }

    /// The share of its edge before a place.
    private func share(_ place: Place) -> Double {
        let length = Double(network.length(of: place.edge))
        return length > 0 ? Double(place.offset) / length : 0
    }

    private func part(_ place: Place) -> Int {
        Int((Double(whole(place.edge)) * share(place)).rounded())
    }

    /// A binary heap of costs with numbers, least first.
    private struct Heap {
        private var items: [(cost: Int, number: Int)] = []

        mutating func push(_ cost: Int, _ number: Int) {
            items.append((cost, number))
            var child = items.count - 1
            while child > 0, items[child] < items[(child - 1) / 2] {
                items.swapAt(child, (child - 1) / 2)
                child = (child - 1) / 2
            }
        }

        mutating func pop() -> (cost: Int, number: Int)? {
            guard let first = items.first else { return nil }
            let last = items.removeLast()
            guard !items.isEmpty else { return first }
            items[0] = last
            var parent = 0
            while true {
                var least = parent
                for child in [2 * parent + 1, 2 * parent + 2]
                where child < items.count && items[child] < items[least] { least = child }
                guard least != parent else { return first }
                items.swapAt(parent, least)
                parent = least
            }
        }
    }
}
