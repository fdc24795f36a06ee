// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import RoadNetwork

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
        /// What the map says of it at the time; nil where that is what it always says.
        var passage: Passage?

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

    /// How a mode may use an edge at a time.
    struct Passage: Hashable, Sendable {
        var access: RoadAccess
        /// Kilometres per hour; nil for the usual speed.
        var speed: Double?
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
    /// The turns that restrictions of the map forbid at the time, by number.
    private(set) var timedBans: Set<Int> = []

    /// None.
    static let none = RoadConditions()

    /// Adds an effect on the roads of a change.
    mutating func add(_ effect: RoadChange.Effect, on roads: StandingRoads) {
        if effect == .bannedTurn {
            bannedTurns.formUnion(roads.turns)
        } else {
            add(effect, on: roads.edges)
        }
    }

    /// Adds an effect on some edges.
    mutating func add(_ effect: RoadChange.Effect, on some: some Sequence<Int>) {
        for edge in some { edges[edge, default: Edge()].add(effect) }
    }

    /// The closures and the forbidden turns alone.
    var closures: RoadConditions {
        var closures = self
        closures.edges = edges.filter { $0.value.isClosed || $0.value.passage != nil }
            .mapValues { Edge(isClosed: $0.isClosed, passage: $0.passage) }
        return closures
    }

    /// States what the map says of an edge at the time.
    mutating func set(_ passage: Passage, on edge: Int) {
        edges[edge, default: Edge()].passage = passage
    }

    /// Forbids turns at the time.
    mutating func ban(turns: [Int]) { timedBans.formUnion(turns) }

    /// Whether no route may pass an edge.
    func isClosed(_ edge: Int) -> Bool { edges[edge]?.isClosed ?? false }
}
