// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Geometry
internal import RoadNetwork
internal import Synchronization

/// What a standing change is about in the network as it is now.
public struct StandingRoads: Sendable {
    /// The edges, ascending; of a banned turn those of its turns.
    public var edges: [Int]
    /// Number of the edges, or of a ban the turns, that the network does not have any more.
    public var missingCount = 0
    /// Whether roads were found again by the shape of the change in place of those missing.
    public var isFoundAgain = false
    var turns: [RoadConditions.Turn] = []
    var hours: WeeklyHours?
    /// Whether the hours are of a form that this build does not know: the change then never holds.
    var hasUnknownHours = false

    /// Whether roads are missing, and none were found again.
    public var isUnresolved: Bool { missingCount > 0 && !isFoundAgain }
}

extension RoutableNetwork {
    /// What a standing change is about: the edges that it names, and where the network was built
    /// anew without some of them, those that its shape finds.
    public func roads(of change: RoadChange) -> StandingRoads {
        var found = StandingRoads(edges: [])
        if let hours = change.hours {
            found.hours = try? WeeklyHours(hours)
            found.hasUnknownHours = found.hours == nil
        }
        let usable = change.modes.map { $0.compactMap(roads.mode(named:)) }
        let modes = usable ?? Array(roads.modes.indices)
        if change.effect == .bannedTurn {
            findTurns(of: change, modes, &found)
        } else {
            findEdges(of: change, modes, &found)
        }
        return found
    }

    private func findEdges(
        of change: RoadChange, _ modes: [Int], _ found: inout StandingRoads
    ) {
        var edges = Set(change.edges.compactMap(roads.edge(named:)))
        found.missingCount = change.edges.count - edges.count
        if found.missingCount > 0, let shape = change.shape,
            let others = try? self.edges(touching: shape, modes: modes)
        {
            let wanted = others.filter { edge in
                change.direction.map {
                    roads.link(of: edge).isBackward == ($0 == .backward)
                } ?? true
            }
            if !Set(wanted).subtracting(edges).isEmpty {
                edges.formUnion(wanted)
                found.isFoundAgain = true
            }
        }
        found.edges = edges.sorted()
    }

    private func findTurns(
        of change: RoadChange, _ modes: [Int], _ found: inout StandingRoads
    ) {
        let named = change.turns ?? []
        var points: [Coordinate] = []
        if case .multipoint(let positions)? = change.shape { points = positions }
        var turns: Set<RoadConditions.Turn> = []
        for (number, turn) in named.enumerated() {
            if let from = roads.edge(named: turn.from), let to = roads.edge(named: turn.to),
                roads.head(of: from) == roads.tail(of: to)
            {
                turns.insert(RoadConditions.Turn(from: UInt32(from), to: UInt32(to)))
                continue
            }
            found.missingCount += 1
            guard points.count == 2 * named.count,
                let sources = try? edges(nearest: points[2 * number], modes),
                let targets = try? edges(nearest: points[2 * number + 1], modes),
                let others = try? self.turns(from: sources, onto: targets, via: nil)
            else { continue }
            found.isFoundAgain = true
            turns.formUnion(others)
        }
        found.turns = turns.sorted { ($0.from, $0.to) < ($1.from, $1.to) }
        found.edges = Set(turns.flatMap { [Int($0.from), Int($0.to)] }).sorted()
    }

    /// The longitude whose local mean time the hours of changes are in: the middle of the network.
    var middleLongitude: Double { (published.extent.minX + published.extent.maxX) / 2 }

    /// What standing changes, and what the map says of the time where that is regarded, make of the
    /// network for a mode at a moment; the latest ones are kept.
    func conditions(
        _ changes: [StandingRoadChange], mode: Int, at moment: Timestamp,
        regardsTimes: Bool = false
    ) -> RoadConditions {
        let regardsTimes = regardsTimes && !timed.isEmpty
        guard !changes.isEmpty || regardsTimes else { return .none }
        return standing.conditions(
            changes, mode: mode, at: moment, regardsTimes: regardsTimes, of: self)
    }

    /// Brings the metrics that are kept up to the standing changes, so that the next request does
    /// not do it.
    ///
    /// - Parameters:
    ///   - changes: All that stand.
    ///   - moment: The present.
    /// - Throws: What the customization of a metric throws.
    public func prepare(
        for changes: [StandingRoadChange], at moment: Timestamp
    ) throws(Failure) {
        for costs in metrics.kept {
            _ = try metrics.metric(
                costs, conditions(changes, mode: costs.mode, at: moment), isPresent: true, of: self)
        }
    }
}

/// What standing changes are about in one network, and what they make of it.
///
/// Holds what was found for each change, at most ``capacity``, and the conditions that were asked
/// for last; all is found again to the same values.
final class StandingShelf: Sendable {
    static let capacity = 2 * RoadChange.largestStandingCount
    private static let conditionCapacity = 8

    private struct Kept {
        var change: RoadChange
        var roads: StandingRoads
    }

    private struct Conditions {
        var changes: [StandingRoadChange]
        var mode: Int
        var regardsTimes: Bool
        /// From when until when the same changes hold.
        var since: Timestamp
        var until: Timestamp
        var conditions: RoadConditions
    }

    private struct State {
        var kept: [Int64: Kept] = [:]
        /// The most recently used last.
        var conditions: [Conditions] = []
    }

    private let state = Mutex(State())

    /// What some changes are about, in their order.
    func roads(
        of changes: [StandingRoadChange], in network: RoutableNetwork
    ) -> [StandingRoads] {
        let kept = state.withLock { $0.kept }
        var new: [Int64: Kept] = [:]
        let found = changes.map { standing in
            if let known = kept[standing.number], known.change == standing.change {
                return known.roads
            }
            let roads = network.roads(of: standing.change)
            new[standing.number] = Kept(change: standing.change, roads: roads)
            return roads
        }
        if !new.isEmpty {
            state.withLock { state in
                if state.kept.count + new.count > Self.capacity { state.kept = [:] }
                state.kept.merge(new) { $1 }
            }
        }
        return found
    }

    /// What changes make of a network, where that is kept.
    func known(
        _ changes: [StandingRoadChange], mode: Int, at moment: Timestamp, regardsTimes: Bool
    ) -> RoadConditions? {
        state.withLock { state in
            let place = state.conditions.lastIndex {
                $0.mode == mode && $0.since <= moment && moment < $0.until
                    && $0.regardsTimes == regardsTimes && $0.changes == changes
            }
            guard let place else { return nil }
            if place < state.conditions.count - 1 {
                state.conditions.append(state.conditions.remove(at: place))
            }
            return state.conditions.last?.conditions
        }
    }

    /// What changes make of a network.
    func conditions(
        _ changes: [StandingRoadChange], mode: Int, at moment: Timestamp, regardsTimes: Bool,
        of network: RoutableNetwork
    ) -> RoadConditions {
        let known = known(changes, mode: mode, at: moment, regardsTimes: regardsTimes)
        if let known { return known }
        let found = fold(
            changes, mode: mode, at: moment, regardsTimes: regardsTimes, of: network)
        state.withLock { state in
            state.conditions.append(found)
            if state.conditions.count > Self.conditionCapacity { state.conditions.removeFirst() }
        }
        return found.conditions
    }

    private func fold(
        _ changes: [StandingRoadChange], mode: Int, at moment: Timestamp, regardsTimes: Bool,
        of network: RoutableNetwork
    ) -> Conditions {
        var found = Conditions(
            changes: changes, mode: mode, regardsTimes: regardsTimes,
            since: Timestamp(microseconds: .min),
            until: Timestamp(microseconds: .max), conditions: .none)
        if regardsTimes {
            (found.since, found.until) = network.timed.add(
                to: &found.conditions, mode: mode, at: moment,
                longitude: network.middleLongitude)
        }
        let name = network.roads.modes[mode].name
        for (standing, roads) in zip(changes, roads(of: changes, in: network)) {
            let span = standing.change.span(
                at: moment, mode: name, roads, longitude: network.middleLongitude)
            found.since = max(found.since, span.since)
            found.until = min(found.until, span.until)
            if span.holds { found.conditions.add(standing.change.effect, on: roads) }
        }
        return found
    }
}

extension RoadChange {
    /// Whether the change is about a mode at a moment, and a span of time around it in which that
    /// is so: from `since` until before `until`.
    func span(
        at moment: Timestamp, mode: String, _ roads: StandingRoads, longitude: Double
    ) -> (holds: Bool, since: Timestamp, until: Timestamp) {
        let (first, last) = (Timestamp(microseconds: .min), Timestamp(microseconds: .max))
        if let modes, !modes.contains(mode) { return (false, first, last) }
        if roads.hasUnknownHours { return (false, first, last) }
        if let from, moment < from { return (false, first, from) }
        if let until, until <= moment { return (false, until, last) }
        let (since, end) = (from ?? first, until ?? last)
        guard let hours = roads.hours else { return (true, since, end) }
        let span = hours.state(at: moment, longitude: longitude)
        return (span.holds, max(since, span.since), min(end, span.until))
    }
}
