// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import RoadNetwork
internal import RouteSearch

extension Router {
    /// Most changes whose cost is computed for one route.
    private static let shapingLimit = 50
    /// Most changes that hold, and barriers, that are all looked at.
    private static let wholeLimit = 20

    /// The changes of roads and barriers without which the best route would cost something else,
    /// each lifted alone.
    ///
    /// Of more than ``wholeLimit`` they are looked for among those on the route, and on the route
    /// that would be best without any.
    func shaping(_ visits: [Visit], best: [RouteWay]) throws(Failure) -> [RouteShaping] {
        let cost = best.reduce(0) { $0 + UInt64($1.cost) }
        var edges = Set(best.flatMap(\.parts).map { Int(network.arcEdges[Int($0.arc)]) })
        for part in try ways(visits, timed)?.first?.flatMap(\.parts) ?? [] {
            edges.insert(Int(network.arcEdges[Int(part.arc)]))
        }
        var found: [RouteShaping] = []
        let name = network.roads.modes[costs.mode].name
        let all = network.standing.roads(of: moment.changes, in: network)
        let holding = zip(moment.changes, all).filter { standing, roads in
            standing.change.span(
                at: time, mode: name, roads, longitude: network.middleLongitude
            ).holds
        }
        let looksAtAll = holding.count + barriers.count <= Self.wholeLimit
        for (standing, roads) in holding where found.count < Self.shapingLimit {
            let change = standing.change
            guard looksAtAll || roads.edges.contains(where: edges.contains) else { continue }
            var lifted = timed
            for (other, roads) in holding where other.number != standing.number {
                lifted.add(other.change.effect, on: roads)
            }
            for barrier in barriers { lifted.add(barrier) }
            guard let without = try self.cost(visits, lifted), without.map({ $0 != cost }) ?? true
            else { continue }
            var shaping = RouteShaping(effect: change.effect)
            shaping.change = standing.number
            shaping.reason = change.reason
            shaping.followed = change.followed
            shaping.costWithout = without.map(value(of:))
            found.append(shaping)
        }
        for (place, barrier) in barriers.enumerated() where found.count < Self.shapingLimit {
            guard looksAtAll || barrier.edges.contains(where: edges.contains) else { continue }
            var lifted = standing
            for (other, barrier) in barriers.enumerated() where other != place {
                lifted.add(barrier)
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

    /// The cost of the best route under other conditions, nil within for none.
    private func cost(
        _ visits: [Visit], _ conditions: RoadConditions
    ) throws(Failure) -> UInt64?? {
        guard let ways = try ways(visits, conditions) else { return .some(nil) }
        return .some(ways.first.map { $0.reduce(0) { $0 + UInt64($1.cost) } })
    }

    /// The ways between the visits under other conditions; nil where one is not near any road.
    ///
    /// The stops are placed anew: a road that is closed now may be nearer to them.
    private func ways(
        _ visits: [Visit], _ conditions: RoadConditions
    ) throws(Failure) -> [[RouteWay]]? {
        var other = self
        other.conditions = conditions
        other.metric = try network.metrics.metric(
            costs, conditions, isPresent: false, of: network)
        var placed: [Visit] = []
        for var visit in visits {
            guard let snaps = try network.candidates(visit.place, costs, conditions) else {
                return nil
            }
            visit.snaps = snaps
            placed.append(visit)
        }
        let count = (visits.map(\.number).max() ?? 0) + 1
        var answer = RouteAnswer(
            context: context,
            stops: [LocatedPlace](repeating: LocatedPlace(status: .notLocated), count: count))
        return try other.ways(over: &placed, alternatives: 0, &answer)
    }
}
