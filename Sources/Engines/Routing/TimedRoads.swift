// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform
internal import RoadNetwork
internal import RouteSearch

/// What the map says of a network's roads for certain times only: tags with conditions, and
/// restrictions of turns.
struct TimedRoads: Sendable {
    /// The times that are understood, each once.
    private var hours: [MapHours] = []
    private var edges: [Edge] = []
    private var bans: [Ban] = []
    /// Of each turn that a restriction forbids at times, the number of one.
    private var restrictionOfTurn: [Int: Int] = [:]

    private struct Edge: Sendable {
        var edge: Int
        /// Of each of its times the place in ``hours``.
        var hours: [Int]
        var passages: TimedPassages
    }

    private struct Ban: Sendable {
        var hours: Int
        var modes: [Int]
        var turns: [Int]
    }

    /// Reads them from a network.
    init(_ roads: RoadNetwork) {
        var numbers: [MapHours: Int] = [:]
        var places: [String: Int?] = [:]
        func place(_ text: String, _ hours: inout [MapHours]) -> Int? {
            if let known = places[text] { return known }
            var found: Int?
            if let read = MapHours(text) {
                found = numbers[read] ?? hours.count
                if numbers[read] == nil { hours.append(read) }
                numbers[read] = found
            }
            places[text] = .some(found)
            return found
        }
        for (edge, passages) in roads.timedEdges() {
            let own = passages.times.compactMap { place($0, &hours) }
            // The builder keeps times alone that are understood.
            guard own.count == passages.times.count else { continue }
            edges.append(Edge(edge: edge, hours: own, passages: passages))
        }
        for number in 0..<roads.restrictionCount {
            let restriction = roads.restriction(number)
            guard !restriction.condition.isEmpty else { continue }
            for turn in restriction.turns { restrictionOfTurn[turn] = number }
            guard let own = place(restriction.condition, &hours) else { continue }
            bans.append(Ban(hours: own, modes: restriction.modes, turns: restriction.turns))
        }
    }

    /// Whether nothing depends on the time.
    var isEmpty: Bool { edges.isEmpty && bans.isEmpty }

    /// The restriction that forbids a turn at times; nil for none.
    func restriction(ofTurn turn: Int) -> Int? { restrictionOfTurn[turn] }

    /// Adds what holds at a moment; returns the span of time around it in which that is so.
    func add(
        to conditions: inout RoadConditions, mode: Int, at moment: Timestamp, longitude: Double
    ) -> (since: Timestamp, until: Timestamp) {
        var (since, until) = (Timestamp(microseconds: .min), Timestamp(microseconds: .max))
        let holding = hours.map { hours in
            let state = hours.state(at: moment, longitude: longitude)
            (since, until) = (max(since, state.since), min(until, state.until))
            return state.holds
        }
        for edge in edges {
            var times = 0
            for (bit, place) in edge.hours.enumerated() where holding[place] { times |= 1 << bit }
            guard times != 0 else { continue }
            let usual = edge.passages.passage(mode: mode, holding: 0)
            let own = edge.passages.passage(mode: mode, holding: times)
            guard own != usual else { continue }
            conditions.set(
                RoadConditions.Passage(
                    access: own.access, speed: own.speed == usual.speed ? nil : own.speed),
                on: edge.edge)
        }
        for ban in bans where holding[ban.hours] && ban.modes.contains(mode) {
            conditions.ban(turns: ban.turns)
        }
        return (since, until)
    }
}

extension RoutableNetwork {
    /// Whether a mode may use an edge under conditions: one on which a barrier stands is open to
    /// the ends of a route only.
    func access(of edge: Int, mode: Int, _ conditions: RoadConditions) -> RoadAccess {
        let own = accessWithoutBarriers(of: edge, mode: mode, conditions)
        return own == .open && conditions.isBlocked(edge) ? .endsOnly : own
    }

    /// Whether a mode may use an edge at the time, whatever stands on it.
    func accessWithoutBarriers(
        of edge: Int, mode: Int, _ conditions: RoadConditions
    ) -> RoadAccess {
        conditions.edges[edge]?.passage?.access ?? roads.access(of: edge, mode: mode)
    }

    /// The arc that a turn leaves.
    func source(ofTurn turn: Int) -> Int {
        var range = 0..<turnStarts.count - 1
        while range.count > 1 {
            let middle = range.lowerBound + range.count / 2
            range =
                Int(turnStarts[middle]) <= turn
                ? middle..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}

extension Router {
    /// Most messages about one route's roads.
    private static let messageLimit = 20

    /// What of a way holds at times only and was not regarded: all where no departure is stated,
    /// else that whose times are not understood.
    func conditionalMessages(_ ways: [RouteWay]) -> [RouteMessage] {
        var texts: [String] = []
        func add(_ text: String) {
            if texts.count < Self.messageLimit, !texts.contains(text) { texts.append(text) }
        }
        var last: UInt32?
        for part in ways.flatMap(\.parts) {
            let edge = Int(network.arcEdges[Int(part.arc)])
            for tag in network.roads.conditions(of: edge) where !isRegarded(tag) {
                let name = network.roads.name(of: edge)
                add("\(tag.prefix(200)) of way \(name.way) was not regarded.")
            }
            if let last, let number = restriction(from: last, to: part.arc) {
                let restriction = network.roads.restriction(number)
                if !regardsTimes || MapHours(restriction.condition) == nil {
                    add(
                        "Restriction \(restriction.id), which holds at "
                            + "\(restriction.condition.prefix(200)), was not regarded.")
                }
            }
            last = part.arc
        }
        return texts.map { RouteMessage(.conditional, $0) }
    }

    /// Whether each time of a tag `key=value @ times; value @ times` is regarded.
    private func isRegarded(_ tag: String) -> Bool {
        guard regardsTimes else { return false }
        return TimedClauses.list(tag).allSatisfy { MapHours($0.condition) != nil }
    }

    private func restriction(from arc: UInt32, to target: UInt32) -> Int? {
        let turns = Int(network.turnStarts[Int(arc)])..<Int(network.turnStarts[Int(arc) + 1])
        return turns.lazy.filter { network.turnTargets[$0] == target }
            .compactMap { network.timed.restriction(ofTurn: $0) }.first
    }
}
