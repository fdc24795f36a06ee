// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Site

/// The changes of a network's roads.
extension GatewayService {
    /// `NAServer/roads`: the changes that stand.
    func roadChanges(_ call: Call) async throws(Failure) -> GatewayResponse {
        var request = try await roadsRequest(call)
        request.after = try call.parameters.integer(Known.afterChange).map(Int64.init)
        request.limit = try call.parameters.integer(Known.changeCount)
        let (answer, resource) = try await reported(request, call)
        return GatewayResponse(
            body: resource.list(answer), sequence: answer.sequence, isStale: answer.isStale)
    }

    /// `NAServer/roads/{change}`: one that stands.
    func roadChange(_ call: Call) async throws(Failure) -> GatewayResponse {
        var request = try await roadsRequest(call)
        request.number = call.captures.objectID
        let (answer, resource) = try await reported(request, call)
        guard let change = answer.changes.first else {
            throw Failure(.internal, "a router described no change")
        }
        return GatewayResponse(
            body: resource.change(change, answer), sequence: answer.sequence,
            isStale: answer.isStale)
    }

    private func roadsRequest(_ call: Call) async throws(Failure) -> RoadChangesRequest {
        let network = try await network(call)
        var request = RoadChangesRequest(network: network.name)
        request.at = try await position(call, of: network)
        request.minSequence = try call.parameters.minSequence()
        return request
    }

    private func reported(
        _ request: RoadChangesRequest, _ call: Call
    ) async throws(Failure) -> (RoadChangesAnswer, RoadResource) {
        var (request, resource) = (request, RoadResource())
        let caller = call.caller
        resource.mayRead = { caller.may(.query, on: .map($0.rawValue)) }
        if try call.parameters.flag(Known.returnLines) {
            request.wantsLines = true
            resource.reference = try PlaceReference(call.parameters)
        }
        let answer = try await backend.ask(
            .roadChanges, request, within: try call.parameters.timeout())
        return (answer, resource)
    }

    // MARK: Changes

    func closeRoads(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await changeRoads(call) { parameters throws(Failure) in
            try RoadOrder.change(.closed, parameters)
        }
    }

    func slowRoads(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await changeRoads(call) { parameters throws(Failure) in
            try RoadOrder.change(try RoadOrder.slower(parameters), parameters)
        }
    }

    func delayRoads(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await changeRoads(call) { parameters throws(Failure) in
            try RoadOrder.change(try RoadOrder.delay(parameters), parameters)
        }
    }

    func banTurns(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await changeRoads(call) { parameters throws(Failure) in
            try RoadOrder.ban(parameters)
        }
    }

    /// Takes `query` on the layer's map, too; afterwards the site itself reads the layer.
    func followLayer(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await changeRoads(call) { parameters throws(Failure) in
            let layer = try RoadOrder.layer(parameters)
            try call.caller.check(.service(.map(layer.map.rawValue), .query))
            return try RoadOrder.follow(parameters)
        }
    }

    func undoRoads(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await changeRoads(call) { parameters throws(Failure) in
            try RoadOrder.undo(parameters)
        }
    }

    /// The row asks for `edit`; the answer describes roads, which takes `query` as well.
    private func changeRoads(
        _ call: Call,
        _ action: (Parameters) throws(Failure) -> RoadChangeRequest.Action
    ) async throws(Failure) -> GatewayResponse {
        try call.caller.check(.service(.network(call.captures.name), .query))
        let network = try await network(call)
        let id = try call.parameters[Known.roadClientId].map { text throws(Failure) in
            do throws(Failure) {
                return try RoadChangeRequest.id(
                    clientID: text, of: call.caller.actor, on: network.name)
            } catch {
                throw Failure(
                    error.code, "parameter '\(Known.roadClientId.name)': \(error.message)")
            }
        }
        let answer = try await backend.ask(
            .changeRoads,
            RoadChangeRequest(
                id: id ?? .timeOrdered(), network: network.name, try action(call.parameters),
                actor: call.caller.actor), within: try call.parameters.timeout())
        return GatewayResponse(body: RoadResource.body(answer), sequence: answer.number)
    }
}
