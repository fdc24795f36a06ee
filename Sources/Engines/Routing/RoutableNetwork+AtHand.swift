// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import RoadNetwork
internal import RouteSearch

extension RoutableNetwork {
    /// Whether a ``Router`` for a request's terms only has to look things up: the changes of roads
    /// are folded, and the metric is made.
    ///
    /// False for unknown travel modes, for barriers and for a departure that is stated.
    public func isAtHand(_ terms: RouteTerms, at moment: RouteMoment) -> Bool {
        guard moment.isPresent, terms.departure == nil, terms.regardsTimes != true,
            terms.barriers?.isEmpty ?? true,
            let (mode, travelMode) = try? published.travelMode(named: terms.travelMode)
        else { return false }
        let costs = RouteCosts(
            mode: mode, minimises: travelMode.minimises, uTurns: terms.uTurns ?? .everywhere,
            avoiding: Set(terms.avoiding ?? []))
        guard !moment.changes.isEmpty else { return metrics.isKept(costs, .none) }
        return standing.known(moment.changes, mode: mode, at: moment.now, regardsTimes: false)
            .map { metrics.isKept(costs, $0) } ?? false
    }
}
