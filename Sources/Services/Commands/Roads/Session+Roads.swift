// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import MapState
internal import Routing
internal import Site
internal import Terminal

extension Session {
    /// Makes or ends changes of roads: by the routers of a site that is up, else on its files.
    func changeRoads(
        of name: String, _ action: RoadChangeRequest.Action
    ) async throws -> RoadChangeAnswer {
        let request = RoadChangeRequest(
            id: .timeOrdered(), network: name, action, actor: Self.actor)
        var isOfLayer = false
        if case .change(let order) = action, case .layer = order.target { isOfLayer = true }
        if isOfLayer, !isUp, supervisor == nil {
            // A router alone reads layers, and it is what follows them later.
            return try await withProcesses([.log, .supervisor, .worker(.router)]) {
                try await client().ask(.changeRoads, request, actor: Self.actor)
            }
        }
        guard !isUp, supervisor == nil else {
            return try await client().ask(.changeRoads, request, actor: Self.actor)
        }
        return try await withProcesses([.log]) {
            let known = try await self.network(named: name)
            let opened = try RoutableNetwork(known.published, in: site.networksDirectory)
            var decision: RoadDecision?
            let number = try await record(onNetwork: known.published.name) { state in
                guard let now = state.network(named: name), now.published == known.published else {
                    throw Failure(.conflict, "network '\(name)' was replaced meanwhile: try again")
                }
                let made = try opened.decide(action, standing: now.changes)
                decision = made
                return made.payload
            }
            guard let decision else { throw Failure(.internal, "nothing was decided") }
            return opened.answer(decision, number: number)
        }
    }

    /// A network, past or present.
    func network(named name: String, at moment: AsOf? = nil) async throws -> NetworksState.Network {
        let state = try await networks(at: moment)
        guard let network = state.network(named: name) else {
            throw Failure.noNetwork(name, among: state.names)
        }
        return network
    }
}

/// Changes of roads for people.
enum RoadChangeText {
    /// Most streets that are listed.
    private static let streetLimit = 20

    static func lines(_ answer: RoadChangeAnswer) -> [String] {
        if let restored = answer.restored {
            let what =
                restored.count == 1 ? "change \(restored[0])" : "\(restored.count) changes"
            return ["\(what) ended, sequence \(answer.number)"]
        }
        let effect = answer.effect?.displayText ?? ""
        let turns = answer.turnCount.map { ", \(count($0, "turn"))" } ?? ""
        return [
            "change \(answer.number): \(effect), \(count(answer.edgeCount, "edge"))\(turns), "
                + RouteText.length(answer.length)
        ] + (answer.followed.map { ["  \($0.displayText)"] } ?? [])
            + streets(answer.roads).prefix(streetLimit).map { "  " + $0 }
    }

    /// The streets of edges in the order of their first, with the number of edges and lengths.
    static func streets(_ roads: [ChangedRoad]) -> [String] {
        var order: [String] = []
        var sums: [String: (count: Int, length: Double)] = [:]
        for road in roads {
            if sums[road.street] == nil { order.append(road.street) }
            sums[road.street, default: (0, 0)].count += 1
            sums[road.street, default: (0, 0)].length += road.length
        }
        return order.map { street in
            let sum = sums[street] ?? (0, 0)
            return "\(street.isEmpty ? "unnamed road" : street): \(count(sum.count, "edge")), "
                + RouteText.length(sum.length)
        }
    }

    static func count(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}
