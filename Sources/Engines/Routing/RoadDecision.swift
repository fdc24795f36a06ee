// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Geometry
internal import RoadNetwork

/// The event that a command about roads makes.
public enum RoadDecision: Sendable {
    /// A change is made.
    case changed(RoadsChanged)
    /// Changes end.
    case restored(RoadsRestored)

    /// The payload for the log.
    public var payload: any EventPayload {
        switch self {
        case .changed(let event): event
        case .restored(let event): event
        }
    }
}

extension RoutableNetwork {
    /// Decides a command on the network: finds the roads of a new change, or the changes that end.
    ///
    /// A function of the network's files and the arguments.
    ///
    /// - Parameters:
    ///   - action: The command.
    ///   - standing: The changes that stand.
    ///   - layers: Finds the roads that the features of a layer touch; nil where layers are not
    ///     read.
    /// - Throws: `Failure`: `notFound` where there is no such road, turn or change,
    ///   `invalidParameter` for numbers out of range, unknown modes and hours that are not
    ///   understood, `tooLarge` for too many roads, and where the most changes stand.
    public func decide(
        _ action: RoadChangeRequest.Action, standing: [StandingRoadChange],
        layers: LayerSearch? = nil
    ) throws(Failure) -> RoadDecision {
        switch action {
        case .change(let order):
            guard standing.count < RoadChange.largestStandingCount else {
                throw Failure(
                    .tooLarge,
                    "\(standing.count) changes stand on network '\(published.name)', which is the "
                        + "most: end some before others are made")
            }
            return .changed(
                RoadsChanged(name: published.name, change: try change(order, layers)))
        case .restore(let numbers):
            guard !numbers.isEmpty else {
                throw Failure(.invalidParameter, "no change is named: expected its number")
            }
            guard numbers.count <= Self.restoredLimit else {
                throw Failure(
                    .tooLarge, "\(numbers.count) changes: expected at most \(Self.restoredLimit)")
            }
            let known = Set(standing.map(\.number))
            if let missing = numbers.first(where: { !known.contains($0) }) {
                throw Failure(
                    .notFound, "no change \(missing) stands on network '\(published.name)'")
            }
            return .restored(
                RoadsRestored(name: published.name, changes: Set(numbers).sorted()))
        case .restoreAll:
            guard !standing.isEmpty else {
                throw Failure(.notFound, "no change stands on network '\(published.name)'")
            }
            guard standing.count <= Self.restoredLimit else {
                throw Failure(
                    .tooLarge, "\(standing.count) changes: expected at most \(Self.restoredLimit)")
            }
            return .restored(
                RoadsRestored(name: published.name, changes: standing.map(\.number)))
        }
    }

    /// Whether a command finds the roads and turns of an event that was made on this very network.
    ///
    /// True for commands that name no roads, and those that follow a layer, whose roads may be
    /// others by now.
    public func finds(
        _ action: RoadChangeRequest.Action, of event: NetworkEvent
    ) -> Bool {
        guard case .change(let order) = action, case .roadsChanged(let made) = event else {
            return true
        }
        if case .layer = order.target { return true }
        guard let wanted = try? change(order, nil) else { return false }
        return wanted.edges == made.change.edges && wanted.turns == made.change.turns
    }

    /// Finds the roads that the features of a layer touch, for modes by name, nil for all; throws
    /// `Failure` where there is no such layer or too many roads.
    public typealias LayerSearch =
        (RoadLayer, _ modes: [String]?) throws(Failure) -> FollowedRoads

    /// The most changes that end with one event, so that it fits into the log.
    private static var restoredLimit: Int { RoadChange.largestStandingCount }

    private func change(
        _ order: RoadChangeOrder, _ layers: LayerSearch?
    ) throws(Failure) -> RoadChange {
        if let problem = order.effect.problem { throw Failure(.invalidParameter, problem) }
        if let hours = order.hours { _ = try WeeklyHours(hours) }
        if let from = order.from, let until = order.until, until <= from {
            throw Failure(.invalidParameter, "the change ends before it begins")
        }
        if let reason = order.reason, reason.utf8.count > 1_000 {
            throw Failure(
                .invalidParameter, "a reason of \(reason.utf8.count) bytes: expected at most 1000")
        }
        let modes = try modes(order.modes)
        var change: RoadChange
        if case .layer(let layer) = order.target {
            guard order.effect != .bannedTurn, order.onto == nil, order.via == nil,
                order.direction == nil
            else {
                throw Failure(
                    .invalidParameter,
                    "a change that follows a layer closes, slows or delays both directions of "
                        + "roads: expected neither a banned turn nor a direction")
            }
            guard let layers else {
                throw Failure(
                    .unavailable,
                    "layer '\(layer.layer.prefix(64))' of map '\(layer.map)' cannot be read here: "
                        + "a router follows layers")
            }
            let found = try layers(layer, order.modes)
            change = RoadChange(order.effect, edges: names(of: found.edges))
            change.followed = found.layer
        } else if order.effect == .bannedTurn {
            change = try ban(order, modes)
        } else {
            guard order.onto == nil, order.via == nil else {
                throw Failure(
                    .invalidParameter, "roads to enter are stated for a banned turn alone")
            }
            let edges = try edges(of: order.target, order.direction, modes: modes)
            change = RoadChange(order.effect, edges: edges.map(roads.name(of:)).sorted())
            if case .shape(let shape) = order.target {
                change.shape = shape
            } else {
                var links: Set<Int> = []
                change.shape = .multipoint(
                    edges.filter { links.insert(roads.link(of: $0).link).inserted }
                        .map(middle(of:)))
            }
            change.direction = order.direction
        }
        change.modes = order.modes
        change.from = order.from
        change.until = order.until
        change.hours = order.hours
        change.reason = order.reason
        return change
    }

    private func ban(_ order: RoadChangeOrder, _ modes: [Int]) throws(Failure) -> RoadChange {
        guard let onto = order.onto else {
            throw Failure(
                .invalidParameter, "a banned turn: expected the roads that are entered, too")
        }
        let from = try edges(of: order.target, order.direction, modes: modes)
        let to =
            onto == order.target && order.direction == nil
            ? from : try edges(of: onto, nil, modes: modes)
        let turns = try turns(from: from, onto: to, via: order.via)
        let edges = Set(turns.flatMap { [Int($0.from), Int($0.to)] })
        let named = turns.map {
            RoadChange.Turn(
                from: roads.name(of: Int($0.from)), to: roads.name(of: Int($0.to)))
        }
        var change = RoadChange(
            order.effect, edges: edges.map(roads.name(of:)).sorted(), turns: named)
        change.shape = .multipoint(
            turns.flatMap { [middle(of: Int($0.from)), middle(of: Int($0.to))] })
        return change
    }

    /// The indices of modes, all for nil.
    private func modes(_ names: [String]?) throws(Failure) -> [Int] {
        guard let names else { return Array(roads.modes.indices) }
        guard !names.isEmpty else {
            throw Failure(.invalidParameter, "an empty list of modes: expected a mode or no list")
        }
        var found: [Int] = []
        for name in names {
            guard let mode = roads.mode(named: name) else {
                throw Failure(
                    .invalidParameter,
                    "network '\(published.name)' has no mode '\(name.prefix(64))'; expected one of "
                        + roads.modes.map { "'\($0.name)'" }.joined(separator: ", "))
            }
            found.append(mode)
        }
        return found
    }

    /// The answer to a command whose event has been recorded with a number.
    public func answer(_ decision: RoadDecision, number: Int64) -> RoadChangeAnswer {
        switch decision {
        case .restored(let event):
            return RoadChangeAnswer(
                number: number, network: published.name, restored: event.changes)
        case .changed(let event):
            let edges = event.change.edges.compactMap(roads.edge(named:))
            var answer = RoadChangeAnswer(
                number: number, network: published.name, effect: event.change.effect,
                edgeCount: event.change.edges.count, turnCount: event.change.turns?.count,
                length: edges.reduce(0) { $0 + roads.exactLength(of: $1) }.toMillimetres,
                roads: edges.prefix(RoadChangeAnswer.largestRoadCount).map(changed(road:)))
            answer.followed = event.change.followed
            return answer
        }
    }

    /// An edge as answers about changes have it.
    public func changed(road edge: Int) -> ChangedRoad {
        let traits = roads.traits(of: edge)
        return ChangedRoad(
            edge: roads.name(of: edge), street: traits.name.isEmpty ? traits.ref : traits.name,
            length: roads.exactLength(of: edge).toMillimetres)
    }
}

extension Double {
    fileprivate var toMillimetres: Double { (self * 1000).rounded() / 1000 }
}
