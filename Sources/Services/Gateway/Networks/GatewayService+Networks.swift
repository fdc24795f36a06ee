// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import NetworkSolve
internal import Platform
internal import Site

/// The resources of a `NAServer`.
extension GatewayService {
    /// The network of a call; throws `notFound`.
    func network(_ call: Call) async throws(Failure) -> NetworkPublished {
        let name = call.captures.name
        let networks = try await backend.networks(minSequence: try call.parameters.minSequence())
        guard let network = networks.first(where: { $0.name.isEqualIgnoringCase(name) }) else {
            throw Failure(.notFound, "Service \(name.prefix(80))/NAServer not found")
        }
        return network
    }

    /// The sequence number that a request about a network is as of; nil for the present.
    ///
    /// Throws `forbidden` without the operation `history` on the network.
    func position(_ call: Call, of network: NetworkPublished) async throws(Failure) -> Int64? {
        guard call.parameters.asksPast else { return nil }
        guard call.caller.may(.history, on: .network(network.name)) else {
            throw .noHistory(.network(network.name))
        }
        var parameters = call.parameters
        parameters.sight = .whole
        guard let past = try parameters.past() else { return nil }
        return try await backend.position(of: past.moment, within: try parameters.timeout())
    }

    func networkRoot(_ call: Call) async throws(Failure) -> GatewayResponse {
        GatewayResponse(body: NetworkResource(network: try await network(call)).root())
    }

    func networkLayer(_ call: Call) async throws(Failure) -> GatewayResponse {
        let analysis = try NetworkAnalysis(named: call.captures.task)
        return GatewayResponse(
            body: NetworkResource(network: try await network(call)).layer(analysis))
    }

    func travelModes(_ call: Call) async throws(Failure) -> GatewayResponse {
        _ = try NetworkAnalysis(named: call.captures.task)
        return GatewayResponse(
            body: NetworkResource(network: try await network(call)).travelModes())
    }

    /// The network of a call to an operation of one analysis.
    private func network(
        _ call: Call, of analysis: NetworkAnalysis
    ) async throws(Failure) -> NetworkPublished {
        guard try NetworkAnalysis(named: call.captures.task) == analysis else {
            throw Failure(
                .invalidParameter, SolveFailure.title,
                details: [
                    "Layer \(call.captures.task.prefix(80)) has another operation: this one is "
                        + "that of \(analysis.rawValue)."
                ])
        }
        return try await network(call)
    }

    private static func response(_ body: [UInt8], _ context: RouteContext?) -> GatewayResponse {
        GatewayResponse(
            body: body, sequence: context?.sequence, isStale: context?.isStale ?? false)
    }

    func solve(_ call: Call) async throws(Failure) -> GatewayResponse {
        let call = try await withPlacesByURL(call)
        let network = try await network(call, of: .route)
        let position = try await position(call, of: network)
        var solve = try SolveFailure.reading { () throws(Failure) in
            try RouteSolve(network, CallForm(call), at: position)
        }
        let limit = try call.parameters.timeout()
        for index in solve.groups.indices {
            guard let request = try solve.request(index) else { continue }
            solve.take(try await backend.ask(.route, request, within: limit), for: index)
        }
        let body = try solve.body { solve.writeShaping(for: call.caller, to: &$0) }
        return Self.response(body, solve.context)
    }

    /// `Route/solve/changes`: what `solve` answers, now and whenever the best route has changed.
    func followSolve(_ call: Call) async throws(Failure) -> GatewayResponse {
        let network = try await network(call, of: .route)
        guard !call.parameters.asksPast else {
            throw Failure(.invalidParameter, "parameter 'at': a route of the past does not change")
        }
        var solve = try SolveFailure.reading { () throws(Failure) in
            try RouteSolve(network, CallForm(call), at: nil)
        }
        guard solve.groups.count == 1 else {
            throw SolveFailure.unable([
                "\(solve.groups.count) routes: one is followed, so stops have one RouteName."
            ])
        }
        guard let request = try solve.request(0) else {
            solve.isEmptyAllowed = false
            return GatewayResponse(body: try solve.body())
        }
        return GatewayResponse(
            contentType: "text/event-stream", body: [],
            changes: try await backend.follow(
                request, known: call.request.lastEventID
            ) { answer throws(Failure) in
                var solve = try RouteSolve(network, CallForm(call), at: nil)
                solve.isEmptyAllowed = true
                _ = try solve.request(0)
                solve.take(answer, for: 0)
                return try solve.body { solve.writeShaping(for: call.caller, to: &$0) }
            })
    }

    func solveClosestFacility(_ call: Call) async throws(Failure) -> GatewayResponse {
        let call = try await withPlacesByURL(call)
        let network = try await network(call, of: .closestFacility)
        let position = try await position(call, of: network)
        var solve = try SolveFailure.reading { () throws(Failure) in
            try FacilitySolve(network, CallForm(call), at: position)
        }
        let limit = try call.parameters.timeout()
        if let request = solve.table {
            try solve.take(try await backend.ask(.routeTable, request, within: limit))
            for index in solve.pairs.indices {
                let answer = try await backend.ask(.route, solve.route(index), within: limit)
                try solve.take(answer, for: index)
            }
        }
        return Self.response(try solve.body(), solve.context)
    }

    func solveServiceArea(_ call: Call) async throws(Failure) -> GatewayResponse {
        let call = try await withPlacesByURL(call)
        let network = try await network(call, of: .serviceArea)
        let position = try await position(call, of: network)
        var solve = try SolveFailure.reading { () throws(Failure) in
            try AreaSolve(network, CallForm(call), at: position)
        }
        if let request = solve.request {
            solve.answer = try await backend.ask(
                .reach, request, within: try call.parameters.timeout())
        }
        return Self.response(try solve.body(), solve.answer?.context)
    }

    func solveCostMatrix(_ call: Call) async throws(Failure) -> GatewayResponse {
        let call = try await withPlacesByURL(call)
        let network = try await network(call, of: .costMatrix)
        let position = try await position(call, of: network)
        var solve = try SolveFailure.reading { () throws(Failure) in
            try MatrixSolve(network, CallForm(call), at: position)
        }
        if let request = solve.request {
            solve.answer = try await backend.ask(
                .routeTable, request, within: try call.parameters.timeout())
        }
        return Self.response(try solve.body(), solve.answer?.context)
    }
}
