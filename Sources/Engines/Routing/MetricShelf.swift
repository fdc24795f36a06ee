// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import RouteSearch
internal import Synchronization

/// The metrics of a network that are kept: for each kind of costs the one without changes, and the
/// one of the conditions that were asked for last.
///
/// At most ``capacity`` kinds, 16 bytes for each arc of the topology; the least recently used goes
/// first and is made again to the same numbers.
final class MetricShelf: Sendable {
    static let capacity = 6

    private struct Entry {
        let costs: RouteCosts
        let base: RouteMetric
        var conditions: RoadConditions
        var metric: RouteMetric
    }

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
        if known.conditions == conditions { return known.metric }
        if conditions == .none { return known.base }
        var metric = known.metric
        try metric.apply(network.changes(costs, from: known.conditions, to: conditions))
        if isPresent {
            entries.withLock { entries in
                guard let place = entries.firstIndex(where: { $0.costs == costs }) else { return }
                entries[place].conditions = conditions
                entries[place].metric = metric
            }
        }
        return metric
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
        let base = try RouteMetric(network.topology, network.weights(costs), threads: 2)
        let entry = Entry(costs: costs, base: base, conditions: .none, metric: base)
        entries.withLock { entries in
            // Another thread may have made it meanwhile; either will do.
            entries.removeAll { $0.costs == costs }
            entries.append(entry)
            if entries.count > Self.capacity { entries.removeFirst() }
        }
        return entry
    }
}
