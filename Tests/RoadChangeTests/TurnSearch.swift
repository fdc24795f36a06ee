// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import RoadNetwork
import RouteSearch

/// Dijkstra's algorithm on weights of arcs and turns.
struct TurnSearch {
    let starts: [UInt32]
    let targets: [UInt32]
    private var costs: [UInt32]
    private var touched: [Int] = []
    /// A binary heap of costs and arcs.
    private var heap: [UInt64] = []

    init(_ roads: RoadNetwork) {
        (starts, targets) = (roads.turnStarts(), roads.turnTargets())
        costs = [UInt32](repeating: .max, count: roads.arcCount)
    }

    private mutating func push(_ item: UInt64) {
        heap.append(item)
        var child = heap.count - 1
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func pop() -> UInt64? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child] < heap[least] { least = child }
            guard least != parent else { return first }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    /// Finds the costs from the start of an edge to the ends of all arcs.
    mutating func run(from start: Int, _ weights: RouteWeights) {
        for arc in touched { costs[arc] = .max }
        touched = [start]
        costs[start] = weights.edges[start]
        push(UInt64(weights.edges[start]) << 32 | UInt64(start))
        while let item = pop() {
            let (arc, cost) = (Int(item & 0xFFFF_FFFF), UInt32(item >> 32))
            guard costs[arc] == cost else { continue }
            for turn in Int(starts[arc])..<Int(starts[arc + 1])
            where weights.turns[turn] < RouteWeights.infinity {
                let target = Int(targets[turn])
                guard weights.edges[target] < RouteWeights.infinity else { continue }
                let next = cost + weights.turns[turn] + weights.edges[target]
                guard next < costs[target] else { continue }
                if costs[target] == .max { touched.append(target) }
                costs[target] = next
                push(UInt64(next) << 32 | UInt64(target))
            }
        }
    }

    /// The least cost to one of some arcs; nil for none.
    func cost(to ends: [UInt32]) -> UInt32? {
        ends.map { costs[Int($0)] }.filter { $0 != .max }.min()
    }
}
