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
        /// Parts of it, shares of its length from its tail, through which nothing passes: a route
        /// may begin or end before or after one.
        var blocks: [ClosedRange<Double>] = []
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

        /// Whether something stands between two shares of its length, either included.
        func isBlocked(from: Double, to: Double) -> Bool {
            blocks.contains { $0.overlaps(from...to) }
        }

        /// Whether more than single places of it are blocked.
        var isCovered: Bool { blocks.contains { $0.lowerBound < $0.upperBound } }
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

    /// Adds a barrier of a request.
    mutating func add(_ barrier: PlacedBarrier) {
        guard !barrier.parts.isEmpty else {
            return add(barrier.barrier.effect, on: barrier.edges)
        }
        for part in barrier.parts {
            if part.range == 0...1 {
                edges[part.edge, default: Edge()].add(.closed)
            } else {
                edges[part.edge, default: Edge()].blocks.append(part.range)
            }
        }
    }

    /// The closures and the forbidden turns alone.
    var closures: RoadConditions {
        var closures = self
        closures.edges = edges.mapValues {
            Edge(isClosed: $0.isClosed, blocks: $0.blocks, passage: $0.passage)
        }
        .filter { $0.value != Edge() }
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

    /// Whether a barrier stands between two shares of an edge's length, either included.
    func isBlocked(_ edge: Int, from: Double = 0, to: Double = 1) -> Bool {
        edges[edge]?.isBlocked(from: from, to: to) ?? false
    }
}
