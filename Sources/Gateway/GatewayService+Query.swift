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
        let answer = try await self.answer(
            request, within: try parameters.timeout(), parameters)
        let isGeoJSON = request.form == .geoJSON
        return GatewayResponse(
            contentType: (isGeoJSON ? "application/geo+json" : "application/json")
                + ";charset=UTF-8",
            body: answer.body, sequence: answer.sequence, isStale: answer.isStale)
    }

    /// `…/{id}/{objectId}` of either service of a map.
    func feature(
        _ text: String, _ layer: LayerID, _ id: Int64, _ parameters: Parameters
    ) async throws(Failure) -> GatewayResponse {
        let request = try QueryResource.request(
            map: try Self.mapName(text), layer: layer, objectID: id, parameters)
        let answer = try await self.answer(
            request, within: try parameters.timeout(), parameters)
        guard let body = try FeatureResource.body(answer.body) else {
            throw Failure(.notFound, "layer \(layer) has no feature with the object id \(id)")
        }
        return GatewayResponse(body: body, sequence: answer.sequence, isStale: answer.isStale)
    }

    /// `FeatureServer/query`: the layers one after the other, all of the map at the same sequence number.
    func query(_ text: String, _ parameters: Parameters) async throws(Failure) -> GatewayResponse {
        let end = ContinuousClock.now + (try parameters.timeout())
        let map = try await featureMap(text, parameters)
        var body = ServiceQuery.Body()
        var (sequence, isStale): (Int64?, Bool) = (nil, false)
        for var request in try ServiceQuery(map, parameters).requests {
            if let sequence { request.asOf = .sequence(sequence) }
            let answer: QueryAnswer
            do throws(Failure) {
                answer = try await self.answer(
                    request, within: max(end - .now, .milliseconds(1)), parameters)
            } catch {
                guard error.code == .invalidParameter || error.code == .tooLarge else {
                    throw error
                }
                throw Failure(
                    error.code, "layer \(request.layer): \(error.message)", details: error.details)
            }
            try body.add(answer.body, of: request.layer)
            sequence = sequence ?? answer.sequence
            isStale = isStale || answer.isStale
        }
        return GatewayResponse(
            body: body.whole, sequence: sequence ?? map.sequence, isStale: isStale)
    }

    /// `…/find`.
    func find(_ text: String, _ parameters: Parameters) async throws(Failure) -> GatewayResponse {
        var request = try FindResource.request(map: try Self.mapName(text), parameters)
        request.hidesInside = parameters.showsInside ? nil : true
        let answer = try await backend.ask(.find, whole: request, within: try parameters.timeout())
        return GatewayResponse(
            body: answer.body, sequence: answer.sequence, isStale: answer.isStale)
    }

    private func featureMap(
        _ text: String, _ parameters: Parameters
    ) async throws(Failure) -> MapDescription {
        let noMap = Failure(.notFound, "Service \(text.prefix(80))/FeatureServer not found")
        guard let name = MapName(rawValue: text) else { throw noMap }
        let map = try await backend.map(
            named: name, past: try parameters.past(),
            minSequence: try parameters.integer("minSequence", in: 0...Int.max).map(Int64.init))
        guard let map else { throw noMap }
        return map
    }

    /// `FeatureServer` and what of it describes.
    func describe(
        _ text: String, _ part: Resource.FeaturePart, _ parameters: Parameters
    ) async throws(Failure) -> GatewayResponse {
        let map = try await featureMap(text, parameters)
        let resource = try await resource(of: map, part.describedLayers(of: map), parameters)
        let body: [UInt8]
        switch part {
        case .root, .query, .queryAll, .feature, .edit, .editAll: body = resource.featureRoot()
        case .layers: body = resource.allFeatureLayers()
        case .layer(let id): body = try resource.featureLayer(id)
        }
        return GatewayResponse(body: body, sequence: map.sequence)
    }
}
