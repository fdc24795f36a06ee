// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

extension GatewayService {
    /// `FeatureServer/{id}/addFeatures`, `updateFeatures`, `deleteFeatures` or `applyEdits`.
    func edit(
        _ text: String, _ layer: LayerID, _ operation: Resource.EditOperation,
        _ parameters: Parameters
    ) async throws(Failure) -> GatewayResponse {
        let map = try Self.mapName(text)
        let limit = try parameters.timeout()
        var request = try EditResource.request(operation, map: map, layer: layer, parameters)
        if let deletion = request.deletion {
            let found = try await answer(deletion, within: limit, parameters)
            request.edits.deletes = try EditResource.ids(ofAnswer: Array(found.body))
        }
        let result = try await backend.edit(request.edits, layer: layer, in: map, within: limit)
        return GatewayResponse(
            body: EditResource.body(operation, try Self.results(result), to: request),
            sequence: result.sequence)
    }

    /// `FeatureServer/applyEdits`: one event for all layers.
    func edit(_ text: String, _ parameters: Parameters) async throws(Failure) -> GatewayResponse {
        let map = try Self.mapName(text)
        let limit = try parameters.timeout()
        let edits = try EditResource.requests(parameters)
        guard !edits.isEmpty else { return GatewayResponse(body: EditResource.body([])) }
        let result = try await backend.edit(edits, in: map, within: limit)
        guard let results = result.layerEdits, results.count == edits.count else {
            throw Failure(.internal, "the map state did not say what came of the edits")
        }
        return GatewayResponse(
            body: EditResource.body(Array(zip(edits.map(\.layer), results))),
            sequence: result.sequence)
    }

    private static func results(
        _ result: MapCommandResult
    ) throws(Failure) -> FeatureEditResults {
        guard let edits = result.edits else {
            throw Failure(.internal, "the map state did not say what came of the edits")
        }
        return edits
    }
}
