// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// `MapServer/find`: converts Esri's parameters to a request.
enum FindResource {
    /// Esri's parameters that would change the answer and are not supported.
    static let refused = ["dynamicLayers"]
    /// Maximum number of layers and fields in a request.
    private static let nameLimit = 10_000

    /// Parses the parameters; throws `Failure` naming the offending one.
    static func request(map: MapName, _ parameters: Parameters) throws(Failure) -> FindRequest {
        for name in refused where parameters[name] != nil {
            throw Failure(.invalidParameter, "parameter '\(name)' is not supported")
        }
        // The raw value: a feature may be named like one of the words for nothing.
        guard let text = parameters.text(Known.searchText.name) else {
            throw Failure(.invalidParameter, "parameter 'searchText' is missing")
        }
        var request = FindRequest(map: map, text: text)
        request.contains = try parameters.flag(Known.contains)
        request.fields = parameters[Known.searchFields].map(QueryResource.names)
        request.layers = try layers(parameters)
        request.layerDefinitions = try LayerDefinitions.parse(parameters)
        request.outReference = try SpatialReference(parameters, Known.sr.name)
        request.returnGeometry = try parameters.flag(Known.returnGeometry)
        request.maxAllowableOffset = try parameters.maxAllowableOffset()
        request.geometryPrecision = try parameters.integer(Known.geometryPrecision)
        request.returnZ = try parameters.flag(Known.returnZ)
        request.returnM = try parameters.flag(Known.returnM)
        request.returnFieldName = try parameters.flag(Known.returnFieldName)
        request.returnUnformattedValues = try parameters.flag(Known.returnUnformattedValues)
        request.past = try parameters.past()
        request.minSequence = try parameters.minSequence()
        return request
    }

    private static func layers(_ parameters: Parameters) throws(Failure) -> [LayerID]? {
        guard let text = parameters[Known.findLayers] else { return nil }
        var ids: [LayerID] = []
        for item in text.split(separator: ",") {
            guard let id = Int(item.filter { $0 != " " }), 0...Int(Int32.max) ~= id,
                ids.count < nameLimit
            else { throw Parameters.unexpected("layers", text, "layer ids with commas") }
            ids.append(id)
        }
        return ids
    }
}
