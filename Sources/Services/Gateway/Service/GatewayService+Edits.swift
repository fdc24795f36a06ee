// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Site

extension GatewayService {
    func addFeatures(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await edit(call, .add)
    }

    func updateFeatures(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await edit(call, .update)
    }

    func deleteFeatures(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await edit(call, .delete)
    }

    func applyEdits(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await edit(call, .apply)
    }

    private func edit(
        _ call: Call, _ operation: EditOperation
    ) async throws(Failure) -> GatewayResponse {
        let (text, layer) = (call.captures.name, call.captures.layer)
        let (parameters, caller) = (call.parameters, call.caller)
        let map = try Self.mapName(text)
        let limit = try parameters.timeout()
        let seesLayers = caller.may(.query, on: .map(text))
        var request = try EditResource.request(operation, map: map, layer: layer, parameters)
        if let deletion = request.deletion {
            do throws(Failure) {
                let found = try await answer(deletion, within: limit, parameters)
                request.edits.deletes = try EditResource.ids(ofAnswer: Array(found.body))
            } catch {
                throw seesLayers ? error : error.ofUnseenQuery(of: layer)
            }
        }
        let result: MapCommandResult
        do throws(Failure) {
            result = try await backend.command(
                .editFeatures(layer: layer, edits: request.edits), in: map, by: caller.actor,
                within: limit)
        } catch {
            throw seesLayers ? error : error.ofUnseenLayer
        }
        return GatewayResponse(
            body: EditResource.body(operation, try Self.results(result), to: request),
            sequence: result.sequence)
    }

    /// `FeatureServer/applyEdits`: one event for all layers.
    func applyEditsOfLayers(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (text, parameters, caller) = (call.captures.name, call.parameters, call.caller)
        let map = try Self.mapName(text)
        let limit = try parameters.timeout()
        let edits = try EditResource.requests(parameters)
        guard !edits.isEmpty else { return GatewayResponse(body: EditResource.body([])) }
        let result: MapCommandResult
        do throws(Failure) {
            result = try await backend.command(
                .editLayers(edits), in: map, by: caller.actor, within: limit)
        } catch {
            throw caller.may(.query, on: .map(text)) ? error : error.ofUnseenLayer
        }
        guard let results = result.layerEdits, results.count == edits.count else {
            throw Failure(.internal, "the map state returned no results of the edits")
        }
        return GatewayResponse(
            body: EditResource.body(Array(zip(edits.map(\.layer), results))),
            sequence: result.sequence)
    }

    /// `FeatureServer/undo`: puts features back to what they were before earlier edits.
    ///
    /// A caller without `history` undoes its own edits alone: others' would show it what they
    /// changed.
    func undoEdits(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (text, parameters, caller) = (call.captures.name, call.parameters, call.caller)
        let map = try Self.mapName(text)
        let limit = try parameters.timeout()
        var request = try UndoResource.request(parameters)
        if !caller.may(.history, on: .map(text)) {
            guard caller.user != nil else { throw .noHistory(.map(text)) }
            if let actor = request.actor, "user:" + actor != caller.actor, actor != caller.actor {
                throw .noHistory(.map(text))
            }
            // Undoing later edits too, or listing them, would be about those of others.
            guard request.policy != .also else { throw .noHistory(.map(text)) }
            request.actor = caller.actor
        }
        var result = try await backend.command(
            .undo(request), in: map, by: caller.actor, within: limit)
        if !caller.may(.history, on: .map(text)) { result.undo?.dependents = [] }
        return GatewayResponse(
            body: UndoResource.body(result, isDryRun: request.isDryRun), sequence: result.sequence)
    }

    private static func results(
        _ result: MapCommandResult
    ) throws(Failure) -> FeatureEditResults {
        guard let edits = result.edits else {
            throw Failure(.internal, "the map state returned no results of the edits")
        }
        return edits
    }
}

extension Failure {
    /// The failure of an edit for callers without `query`: without the layers' names and kinds.
    fileprivate var ofUnseenLayer: Failure {
        switch code {
        case .invalidParameter, .notFound, .conflict:
            Failure(.notFound, "the map has no layer of that number that takes these edits")
        case .unavailable: Failure(.unavailable, "the layer cannot be edited now")
        default: self
        }
    }

    /// The failure of a deletion by clause or place for callers without `query`: without the
    /// layer's fields.
    fileprivate func ofUnseenQuery(of layer: LayerID) -> Failure {
        switch code {
        case .invalidParameter, .notFound, .conflict, .unavailable:
            Failure(
                .invalidParameter,
                "parameters 'where' and 'geometry': layer \(layer) does not support this query")
        default: self
        }
    }
}
