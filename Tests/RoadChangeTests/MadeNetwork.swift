// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import RoadNetwork
import RouteSearch
import TestKit

@testable import Routing

/// A network of streets in a grid, 0.001° apart, opened from files of its own that end with it.
///
/// The way of row r is 1 + r, called "Row r", that of column c 101 + c, called "Column c" with the
/// numbers `K c;L c`; node 100 × row + column. Ways may be numbered from elsewhere. Random streets
/// have other speeds, and some are open one way only.
final class MadeNetwork {
    let directory: String
    let network: RoutableNetwork
    var roads: RoadNetwork { network.roads }

    static let now = Timestamp(microseconds: 1_796_000_000_000_000)

    private static func mode(_ name: String, _ travelMode: String) -> NetworkMode {
        NetworkMode(
            name: name, kind: name == "car" ? .automobile : .walk,
            travelModes: [
                NetworkMode.TravelMode(name: travelMode, minimises: .time)
            ],
            turns: TurnCosts(
                obeysRestrictions: true, right: [[0, 0], [180, 4]], left: [[0, 0], [180, 6]],
                back: 20))
    }

    /// `footway` is the row that cars may not use.
    init(
        side: Int, firstWay: Int = 1, random seed: UInt64? = nil, footway: Int? = nil
    ) throws {
        var random = SeededGenerator(seed: seed ?? 0)
        let modes = [Self.mode("car", "Driving Time"), Self.mode("foot", "Walking Time")]
        var draft = RoadDraft(modes: modes)
        for row in 0..<side {
            for column in 0..<side {
                draft.nodes.append(
                    RoadDraft.Node(
                        id: Int64(100 * row + column), x: Int32(10_000 * column),
                        y: Int32(10_000 * row)))
            }
        }
        func add(_ id: Int, _ name: String, _ ref: String, _ nodes: [Int]) {
            var traits = RoadDraft.WayTraits()
            traits.roadClass = "residential"
            traits.name = name
            traits.ref = ref
            let speed = seed == nil ? 36 : Double(20 + random.next() % 60)
            traits.forward = [
                RoadDraft.Passage(access: .open, speed: speed),
                RoadDraft.Passage(access: .open, speed: 5),
            ]
            traits.backward = traits.forward
            if seed != nil, random.next() % 4 == 0 { traits.backward[0] = .closed }
            if let footway, id == firstWay + footway {
                (traits.forward[0], traits.backward[0]) = (.closed, .closed)
            }
            draft.ways.append(
                RoadDraft.Way(
                    id: Int64(id), traits: UInt32(draft.traits.count),
                    first: draft.wayNodes.count, count: nodes.count))
            draft.traits.append(traits)
            draft.wayNodes += nodes.map(UInt32.init)
        }
        for row in 0..<side {
            add(firstWay + row, "Row \(row)", "", (0..<side).map { side * row + $0 })
        }
        for column in 0..<side {
            add(
                firstWay + 100 + column, "Column \(column)", "K \(column);L \(column)",
                (0..<side).map { side * $0 + column })
        }
        directory = NSTemporaryDirectory() + "/road-changes-" + UUID().uuidString
        let built = try NetworkBuilder.build(draft, into: directory)
        let roads = try RoadNetwork(
            path: "\(directory)/\(built.id.rawValue)/\(NetworkBuilder.fileName)", id: built.id)
        let topology = try RoutableNetwork.writeTopology(of: roads, in: directory)
        network = try RoutableNetwork(
            NetworkPublished(
                name: "Grid", network: built.id, topology: topology, modes: modes,
                edgeCount: built.edgeCount, extent: roads.extent), in: directory)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    /// The position of a junction, moved by parts of a street's length.
    static func place(_ column: Double, _ row: Double) -> Coordinate {
        Coordinate(x: 0.001 * column, y: 0.001 * row)
    }

    func change(
        _ effect: RoadChange.Effect, _ target: RoadTarget,
        _ adjust: (inout RoadChangeOrder) -> Void = { _ in }
    ) throws -> RoadChange {
        var order = RoadChangeOrder(effect, target)
        adjust(&order)
        guard case .changed(let event) = try network.decide(.change(order), standing: []) else {
            throw Failure(.internal, "no change was made")
        }
        return event.change
    }

    func standing(_ changes: [RoadChange]) -> [StandingRoadChange] {
        changes.enumerated().map {
            StandingRoadChange(number: Int64($0 + 1), change: $1, recordedAt: Self.now)
        }
    }

    func router(
        _ changes: [StandingRoadChange], sequence: Int64 = 1, isPresent: Bool = true,
        mode: String? = nil, departure: Timestamp? = nil
    ) throws -> Router {
        var terms = RouteTerms(network: "Grid")
        terms.travelMode = mode
        terms.departure = departure
        return try Router(
            network, terms,
            at: RouteMoment(
                changes: changes, sequence: sequence, isPresent: isPresent, now: Self.now))
    }

    /// The answer for a route between two places.
    func route(
        _ changes: [StandingRoadChange], _ from: Coordinate, _ to: Coordinate,
        sequence: Int64 = 1, isPresent: Bool = true, explain: Bool = false,
        departure: Timestamp? = nil
    ) throws -> RouteAnswer {
        let router = try router(
            changes, sequence: sequence, isPresent: isPresent, departure: departure)
        var terms = RouteTerms(network: "Grid")
        terms.departure = departure
        var request = RouteRequest(terms, stops: [RoutePlace(from), RoutePlace(to)])
        request.explain = explain ? true : nil
        return try router.route(request)
    }
}

/// A plain search on the arcs of a network, with the conditions of changes computed in a way of its
/// own, for these tests alone.
struct PlainSearch {
    let network: RoutableNetwork
    private(set) var weights: RouteWeights

    init(_ network: RoutableNetwork, _ changes: [RoadChange], mode: Int) {
        self.network = network
        let roads = network.roads
        let holding = changes.filter { $0.modes?.contains(roads.modes[mode].name) ?? true }
        func cost(_ edge: Int) -> UInt32 {
            guard roads.access(of: edge, mode: mode) == .open else { return RouteWeights.infinity }
            let own = holding.filter { $0.edges.contains(roads.name(of: edge)) }
                .map(\.effect).filter { $0 != .bannedTurn }
            guard !own.isEmpty else { return max(1, roads.duration(of: edge, mode: mode)) }
            var (seconds, factor, delay) = (roads.exactDuration(of: edge, mode: mode), 1.0, 0.0)
            for effect in own {
                switch effect {
                case .closed: return RouteWeights.infinity
                case .speed(let speed): seconds = roads.exactLength(of: edge) * 3.6 / speed
                case .factor(let more): factor *= more
                case .delay(let more): delay += more
                case .bannedTurn: break
                }
            }
            return UInt32(max(1, ((seconds * factor + delay) * 1000).rounded()))
        }
        let banned = Set(
            holding.filter { $0.effect == .bannedTurn }.flatMap { $0.turns ?? [] })
        var turns = roads.turnDurations(mode: mode)
        let (edges, starts, targets) = (
            roads.arcEdges(), roads.turnStarts(), roads.turnTargets()
        )
        for arc in edges.indices {
            for turn in Int(starts[arc])..<Int(starts[arc + 1]) {
                let pair = RoadChange.Turn(
                    from: roads.name(of: Int(edges[arc])),
                    to: roads.name(of: Int(edges[Int(targets[turn])])))
                if banned.contains(pair) { turns[turn] = RouteWeights.infinity }
            }
        }
        weights = RouteWeights(edges: edges.map { cost(Int($0)) }, turns: turns)
    }

    /// The cost of a route from the start of one edge to the end of another; nil for none.
    func cost(from start: Int, to end: Int) -> UInt32? {
        let (starts, targets) = (network.roads.turnStarts(), network.roads.turnTargets())
        var costs = [UInt64](repeating: .max, count: weights.edges.count)
        var isDone = [Bool](repeating: false, count: costs.count)
        costs[start] = UInt64(weights.edges[start])
        while true {
            let next = costs.indices.filter { !isDone[$0] && costs[$0] < UInt64.max }
                .min { costs[$0] < costs[$1] }
            guard let arc = next, costs[arc] < UInt64(RouteWeights.infinity) else { return nil }
            if arc == end { return UInt32(costs[arc]) }
            isDone[arc] = true
            for turn in Int(starts[arc])..<Int(starts[arc + 1])
            where weights.turns[turn] < RouteWeights.infinity {
                let target = Int(targets[turn])
                guard weights.edges[target] < RouteWeights.infinity else { continue }
                costs[target] = min(
                    costs[target],
                    costs[arc] + UInt64(weights.turns[turn]) + UInt64(weights.edges[target]))
            }
        }
    }
}
