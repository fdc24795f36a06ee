// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Platform

/// Which routes beside the cheapest are worth showing: those of Abraham, Delling, Goldberg,
/// Werneck: Alternative Routes in Road Networks, ACM JEA 18, 2013.
public struct AlternativeRules: Hashable, Sendable {
    /// The most of them.
    public var count: Int
    /// The highest cost, as a multiple of the cheapest route's.
    public var stretch: Double
    /// The most that one has in common with those before it, of the cheapest route's cost.
    public var sharing: Double
    /// The way around the place that makes it differ, of this part of the cheapest route's cost, is
    /// a cheapest way itself.
    public var locality: Double

    /// Rules.
    public init(
        count: Int = 2, stretch: Double = 1.25, sharing: Double = 0.75, locality: Double = 0.25
    ) {
        self.count = count
        self.stretch = stretch
        self.sharing = sharing
        self.locality = locality
    }
}

extension RouteSearcher {
    /// The most routes that are looked at.
    private static let mostCandidates = 40

    /// The cheapest route, and alternatives in the order of their costs; empty where there is no
    /// route.
    ///
    /// Candidates lead over the ranks that both sides of one search have reached. No alternative
    /// may exist, and not all that do are found. Throws as ``route(from:to:_:)`` does.
    public mutating func routes(
        from starts: [RouteEnd], to ends: [RouteEnd], _ rules: AlternativeRules,
        _ metric: RouteMetric
    ) throws(Failure) -> [RoutePath] {
        guard let best = try route(from: starts, to: ends, metric) else { return [] }
        guard best.edges.count > 1, rules.count > 0 else { return [best] }
        let candidates = candidates(best, starts, ends, rules, metric)
        var chosen = [best]
        for candidate in candidates where chosen.count <= rules.count {
            guard metric.shared(candidate.path, chosen) <= rules.sharing * Double(best.cost),
                try isLocallyCheapest(
                    candidate, starts, ends, rules.locality * Double(best.cost), metric)
            else { continue }
            chosen.append(candidate.path)
        }
        return chosen
    }

    private struct Candidate {
        var path: RoutePath
        /// The edge that it leads over.
        var via: UInt32
    }

    private mutating func candidates(
        _ best: RoutePath, _ starts: [RouteEnd], _ ends: [RouteEnd], _ rules: AlternativeRules,
        _ metric: RouteMetric
    ) -> [Candidate] {
        let bound = UInt32(
            min(max(1, rules.stretch) * Double(best.cost), Double(RouteWeights.infinity - 1)))
        let (first, last) = (Self.seeds(from: starts, metric), Self.seeds(to: ends, metric))
        collect(first, last)
        enter(first, .forward)
        enter(last, .backward)
        spread(metric, within: bound)
        let ranks = chain.filter { forward[Int($0)] &+ backward[Int($0)] <= bound }
            .map { (cost: forward[Int($0)] + backward[Int($0)], rank: $0) }.sorted(by: <)
        var seen = Set(best.edges)
        var result: [Candidate] = []
        for (cost, rank) in ranks where result.count < Self.mostCandidates {
            let via = topology.edges[Int(rank)]
            guard seen.insert(via).inserted,
                let path = path(cost, by: Int(rank), first, last, starts, ends, metric)
            else { continue }
            seen.formUnion(path.edges)
            guard Set(path.edges).count == path.edges.count else { continue }
            result.append(Candidate(path: path, via: via))
        }
        reset()
        return result
    }

    /// Searches from both sides over the whole of ``chain``, as far as a bound.
    private mutating func spread(_ metric: RouteMetric, within bound: UInt32) {
        for rank in chain {
            let rank = Int(rank)
            let (there, back) = (forward[rank], backward[rank])
            guard min(there, back) <= bound else { continue }
            for arc in topology.arcs(up: rank) {
                let head = Int(topology.heads[arc])
                if there <= bound, there &+ metric.up[arc] < forward[head] {
                    forward[head] = there &+ metric.up[arc]
                    forwardLows[head] = UInt32(rank)
                }
                if back <= bound, back &+ metric.down[arc] < backward[head] {
                    backward[head] = back &+ metric.down[arc]
                    backwardLows[head] = UInt32(rank)
                }
            }
        }
    }

    /// Whether the way from `length` before the edge to as much behind is as cheap as any.
    private mutating func isLocallyCheapest(
        _ candidate: Candidate, _ starts: [RouteEnd], _ ends: [RouteEnd], _ length: Double,
        _ metric: RouteMetric
    ) throws(Failure) -> Bool {
        let path = candidate.path
        guard let middle = path.edges.firstIndex(of: candidate.via) else { return false }
        let steps = zip(path.edges, path.edges.dropFirst()).map {
            UInt64(metric.cost(from: Int($0), to: Int($1)))
        }
        var (low, high, before, behind) = (middle, middle, UInt64(0), UInt64(0))
        while low > 1, Double(before) < length {
            low -= 1
            before += steps[low]
        }
        while high < path.edges.count - 1, Double(behind) < length {
            behind += steps[high]
            high += 1
        }
        guard low < high else { return true }
        let cheapest = try cost(
            from: [RouteEnd(path.edges[low], at: 0)], to: [RouteEnd(path.edges[high], at: 0)],
            metric)
        return cheapest.map(UInt64.init) == before + behind
    }
}

extension RouteMetric {
    /// The cost of the edges of a path that are on one of some others.
    fileprivate func shared(_ path: RoutePath, _ others: [RoutePath]) -> Double {
        let edges = others.reduce(into: Set<UInt32>()) { $0.formUnion($1.edges) }
        return path.edges.reduce(0) {
            $0 + (edges.contains($1) ? Double(weights.edges[Int($1)]) : 0)
        }
    }
}
