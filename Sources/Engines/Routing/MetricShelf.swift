// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform
internal import RouteSearch
internal import Synchronization

/// The metrics of a network that are kept: for each kind of costs the one without changes, and
/// those of the conditions that were asked for last: of the present, and of a time that is stated.
///
/// At most ``capacity`` kinds, 8 bytes for each arc of the topology and the pages in which those of
/// conditions differ; the least recently used goes first and is made again to the same numbers.
final class MetricShelf: Sendable {
    static let capacity = 6

    private struct Entry {
        let costs: RouteCosts
        let base: RouteMetric
        /// The one that was asked for last is the last.
        var kept: [Kept]
    }

    private struct Kept {
        var conditions: RoadConditions
        var metric: RouteMetric
    }

    private static let keptCount = 2

    /// The most recently used last.
    private let entries = Mutex<[Entry]>([])

    /// The metric of some costs under conditions.
    ///
    /// - Parameter isPresent: Whether the conditions are those of the site now, whose metric is
    ///   kept; others are made from it for one request.
    func metric(
        _ costs: RouteCosts, _ conditions: RoadConditions, isPresent: Bool,
        of network: RoutableNetwork
    ) throws(Failure) -> RouteMetric {
        let known = try entry(costs, of: network)
        if conditions == .none { return known.base }
        if let same = known.kept.last(where: { $0.conditions == conditions }) {
            return same.metric
        }
        let nearest = known.kept.last ?? Kept(conditions: .none, metric: known.base)
        var metric = nearest.metric
        try metric.apply(network.changes(costs, from: nearest.conditions, to: conditions))
        if isPresent {
            entries.withLock { entries in
                guard let place = entries.firstIndex(where: { $0.costs == costs }) else { return }
                entries[place].kept.append(Kept(conditions: conditions, metric: metric))
                if entries[place].kept.count > Self.keptCount {
                    entries[place].kept.removeFirst()
                }
            }
        }
        return metric
    }

    /// Whether the metric of some costs under conditions is kept.
    func isKept(_ costs: RouteCosts, _ conditions: RoadConditions) -> Bool {
        entries.withLock { entries in
            entries.contains { entry in
                entry.costs == costs
                    && (conditions == .none
                        || entry.kept.contains { $0.conditions == conditions })
            }
        }
    }

    /// The kinds of costs whose metrics are kept.
    var kept: [RouteCosts] { entries.withLock { $0.map(\.costs) } }

    private func entry(
        _ costs: RouteCosts, of network: RoutableNetwork
    ) throws(Failure) -> Entry {
        let known = entries.withLock { entries -> Entry? in
            guard let place = entries.firstIndex(where: { $0.costs == costs }) else { return nil }
            entries.append(entries.remove(at: place))
            return entries.last
        }
        if let known { return known }
        let base = try RouteMetric(
            network.topologies[costs.mode], network.weights(costs), threads: 2)
        // What opening the network and this took was several times of what is kept.
        ProcessLimits.releaseFreeMemory()
        let entry = Entry(costs: costs, base: base, kept: [])
        entries.withLock { entries in
            // Another thread may have made it meanwhile; either will do.
            entries.removeAll { $0.costs == costs }
            entries.append(entry)
            if entries.count > Self.capacity { entries.removeFirst() }
        }
        return entry
    }
}
