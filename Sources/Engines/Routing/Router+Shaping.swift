// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import RoadNetwork
internal import RouteSearch

extension Router {
    /// Most changes whose cost is computed for one route.
    private static let shapingLimit = 50

    /// The changes of roads and barriers without which the best route would cost something else,
    /// each lifted alone.
    ///
    /// Looked for among those on the route, and on the route that would be best without any.
    func shaping(_ visits: [Visit], best: [RouteWay]) throws(Failure) -> [RouteShaping] {
        let cost = best.reduce(0) { $0 + UInt64($1.cost) }
        var edges = Set(best.flatMap(\.parts).map { Int(network.arcEdges[Int($0.arc)]) })
        let free = try network.metrics.metric(
            costs, .none, isPresent: false, of: network)
        if case .success(let ways) = try search(visits, alternatives: 0, free, .none) {
            for part in ways.first?.flatMap(\.parts) ?? [] {
                edges.insert(Int(network.arcEdges[Int(part.arc)]))
            }
        }
        var found: [RouteShaping] = []
        let mode = network.roads.modes[costs.mode].name
        for standing in moment.changes where found.count < Self.shapingLimit {
            let change = standing.change
            guard change.holds(mode: mode, at: time),
                change.edges.contains(where: {
                    network.roads.edge(named: $0).map(edges.contains) ?? false
                })
            else { continue }
            let others = moment.changes.filter { $0.number != standing.number }
            var lifted = network.conditions(others, mode: costs.mode, at: time)
            for barrier in barriers { lifted.add(barrier.barrier.effect, on: barrier.edges) }
            guard let without = try self.cost(visits, lifted), without.map({ $0 != cost }) ?? true
            else { continue }
            var shaping = RouteShaping(effect: change.effect)
            shaping.change = standing.number
            shaping.reason = change.reason
            shaping.costWithout = without.map(value(of:))
            found.append(shaping)
        }
        for (place, barrier) in barriers.enumerated() where found.count < Self.shapingLimit {
            guard barrier.edges.contains(where: edges.contains) else { continue }
            var lifted = standing
            for (other, effect) in barriers.enumerated() where other != place {
                lifted.add(effect.barrier.effect, on: effect.edges)
            }
            guard let without = try self.cost(visits, lifted), without.map({ $0 != cost }) ?? true
            else { continue }
            var shaping = RouteShaping(effect: barrier.barrier.effect)
            shaping.barrier = place
            shaping.reason = barrier.barrier.name
            shaping.costWithout = without.map(value(of:))
            found.append(shaping)
        }
        return found
    }

    private func value(of cost: UInt64) -> Double {
        Double(cost) / network.units(costs.minimises)
    }

    /// The cost of the best route under conditions, nil within for none.
    private func cost(
        _ visits: [Visit], _ conditions: RoadConditions
    ) throws(Failure) -> UInt64?? {
        let metric = try network.metrics.metric(
            costs, conditions, isPresent: false, of: network)
        switch try search(visits, alternatives: 0, metric, conditions) {
        case .failure: return .some(nil)
        case .success(let ways):
            return .some(ways.first.map { $0.reduce(0) { $0 + UInt64($1.cost) } })
        }
    }
}
