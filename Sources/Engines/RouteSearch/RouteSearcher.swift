// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Platform

/// Searches routes in metrics of one topology; holds what a search writes to, 20 bytes for each
/// edge of the network.
///
/// For one thread at a time; a search leaves no trace in it. Every answer is exact, and a function
/// of the metric and the request: neither the threads that customized it nor the changes that led
/// to it matter.
public struct RouteSearcher: Sendable {
    /// The topology.
    public let topology: RouteTopology
    /// Cost from the starts, by rank.
    var forward: [UInt32]
    /// Cost to the ends, by rank.
    var backward: [UInt32]
    /// The rank from which a rank was reached from the starts.
    var forwardLows: [UInt32]
    /// The rank by which the ends are reached from a rank.
    var backwardLows: [UInt32]
    /// The ranks of the present search, see ``collect(_:)``.
    var chain: [UInt32] = []
    private var isCollected: [Bool]

    /// A searcher of a topology's metrics.
    public init(_ topology: RouteTopology) {
        self.topology = topology
        forward = [UInt32](repeating: RouteWeights.infinity, count: topology.edgeCount)
        backward = forward
        forwardLows = [UInt32](repeating: RouteTopology.none, count: topology.edgeCount)
        backwardLows = forwardLows
        isCollected = [Bool](repeating: false, count: topology.edgeCount)
    }

    /// A rank where a search begins or ends, with the cost of the start of its edge.
    struct Seed {
        var rank: Int
        var cost: UInt32
        /// Place among the ends that were given.
        var end: Int
    }

    /// Where a search arrives from the starts: at the edges that follow theirs.
    ///
    /// Not at their own, so that a way round to a place behind a start is found as well.
    static func seeds(from starts: [RouteEnd], _ metric: RouteMetric) -> [Seed] {
        var seeds: [Seed] = []
        for (number, start) in starts.enumerated() {
            guard let rest = metric.cost(after: start) else { continue }
            let leaving = RouteWeights.sum(rest, start.cost)
            for turn in metric.topology.turns(Int(start.edge)) {
                let cost = RouteWeights.sum(leaving, metric.weights.turns[turn])
                guard cost < RouteWeights.infinity else { continue }
                let rank = metric.topology.ranks[Int(metric.topology.turnTargets[turn])]
                seeds.append(Seed(rank: Int(rank), cost: cost, end: number))
            }
        }
        return seeds
    }

    /// Where a search arrives from the ends, backwards.
    static func seeds(to ends: [RouteEnd], _ metric: RouteMetric) -> [Seed] {
        ends.enumerated().compactMap { number, end in
            guard let part = metric.cost(before: end) else { return nil }
            let cost = RouteWeights.sum(part, end.cost)
            let rank = Int(metric.topology.ranks[Int(end.edge)])
            return cost < RouteWeights.infinity
                ? Seed(rank: rank, cost: cost, end: number) : nil
        }
    }

    /// The ranks of the seeds and all above them in the elimination tree, each before those above
    /// it; into ``chain``.
    mutating func collect(_ seeds: [Seed]...) {
        var found: [UInt32] = []
        var starts: [Int] = []
        for seed in seeds.joined() {
            starts.append(found.count)
            var next: Int? = seed.rank
            while let rank = next, !isCollected[rank] {
                isCollected[rank] = true
                found.append(UInt32(rank))
                next = topology.parent(rank)
            }
        }
        // Each path ends where an earlier one goes on, so the later ones come first.
        chain.removeAll(keepingCapacity: true)
        var end = found.count
        for start in starts.reversed() {
            chain += found[start..<end]
            end = start
        }
        for rank in chain { isCollected[Int(rank)] = false }
    }

    /// Whether the chosen search is from the starts or to the ends.
    enum Direction {
        case forward, backward
    }

    /// Enters the seeds of a search.
    mutating func enter(_ seeds: [Seed], _ direction: Direction) {
        for seed in seeds {
            switch direction {
            case .forward: forward[seed.rank] = min(forward[seed.rank], seed.cost)
            case .backward: backward[seed.rank] = min(backward[seed.rank], seed.cost)
            }
        }
    }

    /// Removes every trace of a search.
    mutating func reset() {
        for rank in chain {
            forward[Int(rank)] = RouteWeights.infinity
            backward[Int(rank)] = RouteWeights.infinity
            forwardLows[Int(rank)] = RouteTopology.none
            backwardLows[Int(rank)] = RouteTopology.none
        }
    }

    /// The lowest cost of a way from the seeds of the one side to those of the other, and the
    /// highest rank on it; nil where none costs less than `bound`.
    ///
    /// One pass over ``chain``, upwards. A rank beyond the best cost so far cannot better it, so it
    /// is not followed.
    mutating func meet(_ metric: RouteMetric, below bound: UInt32) -> (cost: UInt32, rank: Int)? {
        var best = bound
        var meeting: Int?
        let (heads, starts) = (topology.heads, topology.upStarts)
        for rank in chain {
            let rank = Int(rank)
            let (there, back) = (forward[rank], backward[rank])
            if there &+ back < best {
                best = there &+ back
                meeting = rank
            }
            let arcs = Int(starts[rank])..<Int(starts[rank + 1])
            if there < best {
                for arc in arcs {
                    let (head, cost) = (Int(heads[arc]), there &+ metric.up[arc])
                    if cost < forward[head] {
                        forward[head] = cost
                        forwardLows[head] = UInt32(truncatingIfNeeded: rank)
                    }
                }
            }
            if back < best {
                for arc in arcs {
                    let (head, cost) = (Int(heads[arc]), back &+ metric.down[arc])
                    if cost < backward[head] {
                        backward[head] = cost
                        backwardLows[head] = UInt32(truncatingIfNeeded: rank)
                    }
                }
            }
        }
        return meeting.map { (best, $0) }
    }

    /// The cheapest route from one of the starts to one of the ends; nil where there is none.
    ///
    /// Throws `invalidParameter` for an edge or a metric of another network.
    public mutating func route(
        from starts: [RouteEnd], to ends: [RouteEnd], _ metric: RouteMetric
    ) throws(Failure) -> RoutePath? {
        try check(metric)
        try metric.check(starts)
        try metric.check(ends)
        var path = Self.direct(starts, ends, metric)
        let (first, last) = (Self.seeds(from: starts, metric), Self.seeds(to: ends, metric))
        guard !first.isEmpty, !last.isEmpty else { return path }
        collect(first, last)
        enter(first, .forward)
        enter(last, .backward)
        if let (cost, rank) = meet(metric, below: path?.cost ?? RouteWeights.infinity) {
            path = self.path(cost, by: rank, first, last, starts, ends, metric)
        }
        reset()
        return path
    }

    /// The cost of the cheapest route; nil where there is none.
    ///
    /// Spares the path.
    public mutating func cost(
        from starts: [RouteEnd], to ends: [RouteEnd], _ metric: RouteMetric
    ) throws(Failure) -> UInt32? {
        try check(metric)
        try metric.check(starts)
        try metric.check(ends)
        let direct = Self.direct(starts, ends, metric)?.cost
        let (first, last) = (Self.seeds(from: starts, metric), Self.seeds(to: ends, metric))
        collect(first, last)
        enter(first, .forward)
        enter(last, .backward)
        defer { reset() }
        return meet(metric, below: direct ?? RouteWeights.infinity)?.cost ?? direct
    }

    func check(_ metric: RouteMetric) throws(Failure) {
        guard metric.topology.isSame(as: topology) else {
            throw Failure(.invalidParameter, "route: the metric is of another network")
        }
    }

    /// The cheapest route that stays on one edge.
    static func direct(
        _ starts: [RouteEnd], _ ends: [RouteEnd], _ metric: RouteMetric
    ) -> RoutePath? {
        var best: RoutePath?
        for (first, start) in starts.enumerated() {
            for (last, end) in ends.enumerated() {
                guard let cost = metric.direct(start, end),
                    cost < best?.cost ?? RouteWeights.infinity
                else { continue }
                best = RoutePath(
                    edges: [start.edge], startFraction: start.fraction, endFraction: end.fraction,
                    cost: cost, start: first, end: last)
            }
        }
        return best
    }
}

extension RouteTopology {
    /// Whether both are the same topology of one mapped file.
    public func isSame(as other: RouteTopology) -> Bool {
        file === other.file && number == other.number
    }
}
