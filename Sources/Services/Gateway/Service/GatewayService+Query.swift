// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import FoundationEssentials
internal import Site

extension GatewayService {
    /// `…/{id}/query` of either service of a map.
    func queryLayer(_ call: Call) async throws(Failure) -> GatewayResponse {
        let parameters = call.parameters
        var request = try QueryResource.request(
            map: try Self.mapName(call.captures.name), layer: call.captures.layer, parameters)
        let file = try QueryFile(parameters)
        if file != nil { request.form = .rows }
        let answer = try await self.answer(
            request, within: try parameters.timeout(), parameters)
        if let file { return try await response(of: file, answer, request, parameters) }
        let isGeoJSON = request.form == .geoJSON
        return GatewayResponse(
            contentType: (isGeoJSON ? "application/geo+json" : "application/json")
                + ";charset=UTF-8",
            body: answer.body, sequence: answer.sequence, isStale: answer.isStale)
    }

    private func response(
        of file: QueryFile, _ answer: QueryAnswer, _ request: QueryRequest,
        _ parameters: Parameters
    ) async throws(Failure) -> GatewayResponse {
        let map = try await backend.map(
            named: request.map, past: try parameters.past(), minSequence: request.minSequence)
        let name = map?.layer(request.layer)?.name
        let directory =
            backend.jobs?.blobs.stagingDirectory ?? FileManager.default.temporaryDirectory.path
        return try await OwnThread.run("query-file") { () throws(Failure) in
            try file.response(to: answer, of: request.layer, named: name, within: directory)
        }.get()
    }

    /// `…/{id}/{objectId}` of either service of a map.
    func feature(_ call: Call) async throws(Failure) -> GatewayResponse {
        let (layer, id, parameters) = (call.captures.layer, call.captures.objectID, call.parameters)
        let request = try QueryResource.request(
            map: try Self.mapName(call.captures.name), layer: layer, objectID: id, parameters)
        let answer = try await self.answer(
            request, within: try parameters.timeout(), parameters)
        guard let body = try FeatureResource.body(answer.body) else {
            throw Failure(.notFound, "layer \(layer) has no feature with the object id \(id)")
        }
        return GatewayResponse(body: body, sequence: answer.sequence, isStale: answer.isStale)
    }

    /// `FeatureServer/query`: queries the layers one after the other, all at the same sequence
    /// number of the map.
    func queryLayers(_ call: Call) async throws(Failure) -> GatewayResponse {
        let parameters = call.parameters
        let end = ContinuousClock.now + (try parameters.timeout())
        let map = try await featureMap(call)
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
    func find(_ call: Call) async throws(Failure) -> GatewayResponse {
        let parameters = call.parameters
        var request = try FindResource.request(
            map: try Self.mapName(call.captures.name), parameters)
        request.hidesInside = parameters.showsInside ? nil : true
        let answer = try await backend.ask(.find, whole: request, within: try parameters.timeout())
        return GatewayResponse(
            body: answer.body, sequence: answer.sequence, isStale: answer.isStale)
    }

    private func featureMap(_ call: Call) async throws(Failure) -> MapDescription {
        let (text, parameters) = (call.captures.name, call.parameters)
        let noMap = Failure(.notFound, "Service \(text.prefix(80))/FeatureServer not found")
        guard let name = MapName(rawValue: text) else { throw noMap }
        let map = try await backend.map(
            named: name, past: try parameters.past(),
            minSequence: try parameters.minSequence())
        guard let map else { throw noMap }
        return map
    }

    func featureService(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await describedFeatures(call, { _ in [] }) { resource in resource.featureRoot() }
    }

    func featureLayers(_ call: Call) async throws(Failure) -> GatewayResponse {
        try await describedFeatures(call, \.layers) { resource in resource.allFeatureLayers() }
    }

    func featureLayer(_ call: Call) async throws(Failure) -> GatewayResponse {
        let id = call.captures.layer
        return try await describedFeatures(call, { $0.layers.filter { $0.id == id } }) {
            resource throws(Failure) in try resource.featureLayer(id)
        }
    }

    private func describedFeatures(
        _ call: Call, _ layers: (MapDescription) -> [LayerDescription],
        _ body: (MapServiceResource) throws(Failure) -> [UInt8]
    ) async throws(Failure) -> GatewayResponse {
        let map = try await featureMap(call)
        let resource = try await resource(of: map, layers(map), call.parameters)
        return GatewayResponse(body: try body(resource), sequence: map.sequence)
    }
}
