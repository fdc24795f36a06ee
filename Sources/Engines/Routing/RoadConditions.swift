// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import RoadNetwork
internal import RouteSearch

/// What changes of roads and barriers have made of a network for one mode at one moment.
struct RoadConditions: Hashable, Sendable {
    /// What is so on an edge.
    struct Edge: Hashable, Sendable {
        var isClosed = false
        /// Kilometres per hour instead of the edge's own speed.
        var speed: Double?
        var factor = 1.0
        /// Seconds.
        var delay = 0.0

        /// Adds an effect; of several speeds the later counts.
        mutating func add(_ effect: RoadChange.Effect) {
            switch effect {
            case .closed: isClosed = true
            case .speed(let speed): self.speed = speed
            case .factor(let factor): self.factor *= factor
            case .delay(let seconds): delay += seconds
            case .bannedTurn: break
            }
        }
    }

    /// A turn between edges.
    struct Turn: Hashable, Sendable {
        var from: UInt32
        var to: UInt32
    }

    /// The edges on which something is so.
    private(set) var edges: [Int: Edge] = [:]
    /// The turns that are forbidden.
    private(set) var bannedTurns: Set<Turn> = []

    /// None.
    static let none = RoadConditions()

    /// Adds a change; edges that the network does not have are passed over.
    mutating func add(_ change: RoadChange, on roads: RoadNetwork) {
        if change.effect == .bannedTurn {
            for turn in change.turns ?? [] {
                guard let from = roads.edge(named: turn.from), let to = roads.edge(named: turn.to)
                else { continue }
                bannedTurns.insert(Turn(from: UInt32(from), to: UInt32(to)))
            }
            return
        }
        for name in change.edges {
            if let edge = roads.edge(named: name) {
                edges[edge, default: Edge()].add(change.effect)
            }
        }
    }

    /// Adds an effect on some edges.
    mutating func add(_ effect: RoadChange.Effect, on some: some Sequence<Int>) {
        for edge in some { edges[edge, default: Edge()].add(effect) }
    }

    /// Whether no route may pass an edge.
    func isClosed(_ edge: Int) -> Bool { edges[edge]?.isClosed ?? false }
}

extension RoadChange {
    /// Whether the change is about a mode at a moment.
    func holds(mode: String, at moment: Timestamp) -> Bool {
        if let modes, !modes.contains(mode) { return false }
        if let from, moment < from { return false }
        if let until, until <= moment { return false }
        return true
    }
}

extension RoutableNetwork {
    /// What standing changes make of the network for a mode at a moment.
    func conditions(
        _ changes: [StandingRoadChange], mode: Int, at moment: Timestamp
    ) -> RoadConditions {
        var conditions = RoadConditions()
        let name = roads.modes[mode].name
        for standing in changes where standing.change.holds(mode: name, at: moment) {
            conditions.add(standing.change, on: roads)
        }
        return conditions
    }
}
