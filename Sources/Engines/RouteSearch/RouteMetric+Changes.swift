// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Platform

/// A new cost of an edge or a turn.
public enum WeightChange: Hashable, Sendable {
    /// Of an edge: from 1 to ``RouteWeights/infinity``.
    case edge(UInt32, UInt32)
    /// Of the turn from one edge into another: from 0 to ``RouteWeights/infinity``.
    case turn(from: UInt32, to: UInt32, UInt32)
}

extension RouteMetric {
    /// Changes costs, of several changes of the same the last counts, and recomputes the arcs that
    /// they reach: the result is that of a full customization, number for number.
    ///
    /// Costs from some µs for a street to some ms for a motorway. Where more than a quarter of the
    /// arcs would be recomputed all are: so a change never costs more than about the full
    /// customization and a half.
    ///
    /// Throws `invalidParameter`, before anything is changed, for edges and turns that the network
    /// does not have, and costs out of range.
    public mutating func apply(_ changes: [WeightChange]) throws(Failure) {
        for change in changes { try check(change) }
        var reach = ChangedArcs(topology)
        for change in changes {
            switch change {
            case .edge(let edge, let cost):
                guard weights.edges[Int(edge)] != cost else { continue }
                weights.edges[Int(edge)] = cost
                for turn in topology.turns(Int(edge)) { reach.add(topology.turnArc(turn)) }
            case .turn(let from, let to, let cost):
                guard let turn = topology.turn(from: Int(from), to: Int(to)) else { continue }
                weights.turns[turn] = cost
                reach.add(topology.turnArc(turn))
            }
        }
        var budget = topology.arcCount / 4
        while let arc = reach.next() {
            budget -= 1
            guard budget >= 0 else { return customize() }
            recompute(arc, &reach)
        }
    }

    private func check(_ change: WeightChange) throws(Failure) {
        switch change {
        case .edge(let edge, let cost):
            guard edge < topology.edgeCount else {
                throw Failure(
                    .invalidParameter,
                    "route metric: edge \(edge); the network has \(topology.edgeCount)")
            }
            try Self.check(cost, edge: Int(edge))
        case .turn(let from, let to, let cost):
            guard from < topology.edgeCount,
                let turn = topology.turn(from: Int(from), to: Int(to))
            else {
                throw Failure(
                    .invalidParameter,
                    "route metric: there is no turn from edge \(from) into edge \(to)")
            }
            try Self.check(cost, turn: turn)
        }
    }

    /// Recomputes an arc whose lower sides are right, and adds the arcs above that depend on it.
    private mutating func recompute(_ arc: Int, _ reach: inout ChangedArcs) {
        let (low, high) = (reach.rank, Int(topology.heads[arc]))
        let old = (up: up[arc], down: down[arc])
        let (first, second) = (Int(topology.edges[low]), Int(topology.edges[high]))
        var new = (up: cost(from: first, to: second), down: cost(from: second, to: first))
        var triangles = LowerTriangles(topology, low, high)
        while let (toLow, toHigh) = triangles.next() {
            new.up = min(new.up, down[toLow] &+ up[toHigh])
            new.down = min(new.down, down[toHigh] &+ up[toLow])
        }
        guard new != old else { return }
        up[arc] = new.up
        down[arc] = new.down
        addDependents(of: arc, low, high, old, new, &reach)
    }

    /// Adds the third sides of the triangles whose lowest rank is that of a changed arc.
    private func addDependents(
        of arc: Int, _ low: Int, _ high: Int, _ old: (up: UInt32, down: UInt32),
        _ new: (up: UInt32, down: UInt32), _ reach: inout ChangedArcs
    ) {
        let heads = topology.heads
        let arcs = topology.arcs(up: low)
        // From `high` by `low` to a rank below it, and the way back.
        let places = topology.places(down: high)
        var place = places.lowerBound
        for other in arcs.lowerBound..<arc {
            place = topology.lows.first(from: heads[other], place..<places.upperBound)
            guard place < places.upperBound else { break }
            let above = topology.downArcs[place, from: Int(heads[other])]
            if Self.matters(down[above], old.down, new.down, up[other])
                || Self.matters(up[above], old.up, new.up, down[other])
            {
                reach.insert(above)
            }
        }
        // To a rank above it.
        var above = topology.arcs(up: high)
        for other in arc + 1..<arcs.upperBound {
            while let next = above.first, heads[next] < heads[other] { above = above.dropFirst() }
            guard let next = above.first else { break }
            if Self.matters(up[next], old.down, new.down, up[other])
                || Self.matters(down[next], old.up, new.up, down[other])
            {
                reach.insert(next)
            }
        }
    }

    /// Whether a side of a triangle that was `old` and is `new` can change the third side's cost:
    /// it gave the cost, or betters it.
    private static func matters(_ cost: UInt32, _ old: UInt32, _ new: UInt32, _ other: UInt32)
        -> Bool
    {
        new &+ other < cost || (old < new && old &+ other == cost)
    }
}

/// The arcs that are still to be recomputed, lowest first, each once.
///
/// A bit for each arc of the topology. What an arc adds is above it, so one scan upwards finds
/// them all.
private struct ChangedArcs {
    private var words: [UInt64]
    private var word = 0
    /// The lower rank of the last arc that was taken.
    private(set) var rank = 0
    private let starts: MappedNumbers

    init(_ topology: RouteTopology) {
        starts = topology.upStarts
        words = [UInt64](repeating: 0, count: topology.arcCount / 64 + 1)
    }

    /// Adds the arc of a turn.
    mutating func add(_ code: UInt32) {
        if code != RouteTopology.none { insert(Int(code / 2)) }
    }

    mutating func insert(_ arc: Int) { words[arc / 64] |= 1 << UInt64(arc % 64) }

    mutating func next() -> Int? {
        while word < words.count {
            if words[word] != 0 {
                let bit = words[word].trailingZeroBitCount
                words[word] &= words[word] - 1
                advance(to: word * 64 + bit)
                return word * 64 + bit
            }
            word += 1
        }
        return nil
    }

    /// Finds the rank of an arc at or above the last one, in steps that double.
    private mutating func advance(to arc: Int) {
        var step = 1
        while rank + step < starts.count, starts[rank + step] <= arc {
            rank += step
            step *= 2
        }
        while step > 0 {
            if rank + step < starts.count, starts[rank + step] <= arc { rank += step }
            step /= 2
        }
    }
}
