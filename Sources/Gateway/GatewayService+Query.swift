// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

extension GatewayService {
    /// `…/{id}/query` of either service of a map.
    func query(
        _ text: String, _ layer: LayerID, _ parameters: Parameters
    ) async throws(Failure) -> GatewayResponse {
        let request = try QueryResource.request(
            map: try Self.mapName(text), layer: layer, parameters)
        let answer = try await backend.query(request, within: try parameters.timeout())
        let isGeoJSON = request.form == .geoJSON
        return GatewayResponse(
            contentType: (isGeoJSON ? "application/geo+json" : "application/json")
                + ";charset=UTF-8",
            body: Array(answer.body), sequence: answer.sequence, isStale: answer.isStale)
    }

    /// `…/find`.
    func find(_ text: String, _ parameters: Parameters) async throws(Failure) -> GatewayResponse {
        let request = try FindResource.request(map: try Self.mapName(text), parameters)
        let answer = try await backend.find(request, within: try parameters.timeout())
        return GatewayResponse(
            body: Array(answer.body), sequence: answer.sequence, isStale: answer.isStale)
    }

    /// `FeatureServer` and what of it describes.
    func describe(
        _ text: String, _ part: Resource.FeaturePart, _ parameters: Parameters
    ) async throws(Failure) -> GatewayResponse {
        let noMap = Failure(.notFound, "Service \(text.prefix(80))/FeatureServer not found")
        guard let name = MapName(rawValue: text) else { throw noMap }
        let map = try await backend.map(
            named: name, at: try parameters.asOf(),
            minSequence: try parameters.integer("minSequence", in: 0...Int.max).map(Int64.init))
        guard let map else { throw noMap }
        let resource = MapServiceResource(map)
        let body: [UInt8]
        switch part {
        case .root, .query, .edit, .editAll: body = resource.featureRoot()
        case .layers: body = resource.allFeatureLayers()
        case .layer(let id): body = try resource.featureLayer(id)
        }
        return GatewayResponse(body: body, sequence: map.sequence)
    }
}
