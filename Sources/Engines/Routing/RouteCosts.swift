// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform
internal import RoadNetwork
internal import RouteSearch

/// What a travel mode's searches minimise on a network: the cost of each edge and turn.
struct RouteCosts: Hashable, Sendable {
    /// The mode's index in the network.
    var mode: Int
    /// What is minimised.
    var minimises: NetworkMode.Cost
    /// Where a route may turn back.
    var uTurns: UTurnPolicy
    /// Roads that are left out.
    var avoiding: Set<AvoidedRoads>

    /// Whether the policy allows a turn.
    func allows(_ kind: RoutableNetwork.TurnKind) -> Bool {
        switch kind {
        case .ahead: true
        case .backAtDeadEnd: uTurns != .nowhere
        case .backAtIntersection: uTurns == .everywhere || uTurns == .atDeadEndsAndIntersections
        case .backElsewhere: uTurns == .everywhere
        }
    }

    /// Whether the roads of an edge are left out.
    func avoids(_ edge: Int, of roads: RoadNetwork) -> Bool {
        guard !avoiding.isEmpty else { return false }
        let flags = roads.flags(of: edge)
        return avoiding.contains { kind in
            switch kind {
            case .toll: flags.contains(.toll)
            case .ferry: flags.contains(.ferry)
            case .tunnel: flags.contains(.tunnel)
            case .unpaved: flags.contains(.unpaved)
            case .motorway: roads.traits(of: edge).roadClass.hasPrefix("motorway")
            }
        }
    }
}

extension RoutableNetwork {
    /// Whole units of a distance metric for a metre.
    var unitsPerMetre: Double { usesCentimetres ? 100 : 1000 }

    /// Units of a cost for one second or metre.
    func units(_ cost: NetworkMode.Cost) -> Double { cost == .time ? 1000 : unitsPerMetre }

    /// Seconds of an edge from end to end, to a microsecond; nil where the mode may not use it or
    /// it is closed.
    func seconds(_ edge: Int, mode: Int, _ conditions: RoadConditions) -> Double? {
        guard access(of: edge, mode: mode, conditions) != .closed else { return nil }
        guard let condition = conditions.edges[edge] else {
            return roads.exactDuration(of: edge, mode: mode)
        }
        guard !condition.isClosed else { return nil }
        let own =
            condition.passage?.speed.map { roads.exactLength(of: edge) / ($0 / 3.6) }
            ?? roads.exactDuration(of: edge, mode: mode)
        let driven = condition.speed.map { roads.exactLength(of: edge) / ($0 / 3.6) } ?? own
        return driven * condition.factor + condition.delay
    }

    /// The cost of an edge from end to end in whole units, whatever its access but closed; infinity
    /// for none.
    func cost(
        ofEdge edge: Int, _ costs: RouteCosts, _ conditions: RoadConditions
    ) -> UInt32 {
        guard let seconds = seconds(edge, mode: costs.mode, conditions),
            !costs.avoids(edge, of: roads)
        else { return RouteWeights.infinity }
        let whole: Double
        switch costs.minimises {
        case .time:
            // The file's own rounding, where nothing is changed.
            whole =
                conditions.edges[edge] == nil
                ? Double(roads.duration(of: edge, mode: costs.mode)) : (seconds * 1000).rounded()
        case .distance:
            let millimetres = Double(roads.length(of: edge))
            let factor = conditions.edges[edge]?.factor ?? 1
            whole = (millimetres * factor * unitsPerMetre / 1000).rounded()
        }
        return UInt32(min(max(whole, 1), Double(RouteWeights.infinity)))
    }

    /// The cost of an arc in a metric: infinite where it may be used at the ends of a route only.
    func weight(
        ofEdge edge: Int, _ costs: RouteCosts, _ conditions: RoadConditions
    ) -> UInt32 {
        access(of: edge, mode: costs.mode, conditions) == .open
            ? cost(ofEdge: edge, costs, conditions) : RouteWeights.infinity
    }

    /// The cost of a turn from an arc.
    func cost(
        ofTurn turn: Int, from arc: Int, _ costs: RouteCosts, _ conditions: RoadConditions
    ) -> UInt32 {
        let own = roads.turnDuration(turn, mode: costs.mode)
        guard own < RouteWeights.infinity, costs.allows(turnKinds[turn]) else {
            return RouteWeights.infinity
        }
        if conditions.timedBans.contains(turn) { return RouteWeights.infinity }
        if !conditions.bannedTurns.isEmpty {
            let pair = RoadConditions.Turn(
                from: arcEdges[arc], to: arcEdges[Int(turnTargets[turn])])
            if conditions.bannedTurns.contains(pair) { return RouteWeights.infinity }
        }
        return costs.minimises == .time ? own : 0
    }

    /// The weights of the network without any change.
    func weights(_ costs: RouteCosts) -> RouteWeights {
        let durations = roads.durations(mode: costs.mode)
        let lengths = costs.minimises == .distance ? roads.lengths() : []
        let access = roads.access(mode: costs.mode)
        var edges = [UInt32](repeating: RouteWeights.infinity, count: durations.count)
        for edge in edges.indices where access[edge] == RoadAccess.open.rawValue {
            guard durations[edge] < RouteWeights.infinity, !costs.avoids(edge, of: roads) else {
                continue
            }
            edges[edge] =
                switch costs.minimises {
                case .time: max(1, durations[edge])
                case .distance:
                    usesCentimetres
                        ? max(1, UInt32((Double(lengths[edge]) / 10).rounded()))
                        : max(1, lengths[edge])
                }
        }
        var turns = roads.turnDurations(mode: costs.mode)
        for turn in turns.indices {
            if !costs.allows(turnKinds[turn]) {
                turns[turn] = RouteWeights.infinity
            } else if costs.minimises == .distance, turns[turn] < RouteWeights.infinity {
                turns[turn] = 0
            }
        }
        return RouteWeights(edges: arcEdges.map { edges[Int($0)] }, turns: turns)
    }

    /// The changes of weights between two conditions.
    func changes(
        _ costs: RouteCosts, from old: RoadConditions, to new: RoadConditions
    ) -> [WeightChange] {
        var changes: [WeightChange] = []
        let edges = Set(old.edges.keys).union(new.edges.keys)
        for edge in edges.sorted() where old.edges[edge] != new.edges[edge] {
            let weight = weight(ofEdge: edge, costs, new)
            for arc in arcs(of: edge) { changes.append(.edge(arc, weight)) }
        }
        for pair in old.bannedTurns.symmetricDifference(new.bannedTurns) {
            for arc in arcs(of: Int(pair.from)) {
                for turn in Int(turnStarts[Int(arc)])..<Int(turnStarts[Int(arc) + 1])
                where arcEdges[Int(turnTargets[turn])] == pair.to {
                    let cost = cost(ofTurn: turn, from: Int(arc), costs, new)
                    changes.append(.turn(from: arc, to: turnTargets[turn], cost))
                }
            }
        }
        for turn in old.timedBans.symmetricDifference(new.timedBans) {
            let arc = source(ofTurn: turn)
            let cost = cost(ofTurn: turn, from: arc, costs, new)
            changes.append(.turn(from: UInt32(arc), to: turnTargets[turn], cost))
        }
        return changes
    }
}
