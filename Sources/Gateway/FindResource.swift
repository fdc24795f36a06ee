// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// `MapServer/find`: Esri's parameters to a request.
enum FindResource {
    /// The most layers and fields a request names.
    private static let nameLimit = 10_000

    /// Reads the parameters; throws `Failure` naming the one at fault.
    static func request(map: MapName, _ parameters: Parameters) throws(Failure) -> FindRequest {
        if parameters["dynamicLayers"] != nil {
            throw Failure(.invalidParameter, "parameter 'dynamicLayers' is not supported")
        }
        // As it came: a feature may be called what stands for nothing elsewhere.
        guard let text = parameters.text("searchText") else {
            throw Failure(.invalidParameter, "parameter 'searchText' is missing")
        }
        var request = FindRequest(map: map, text: text)
        request.contains = try parameters.flag("contains", default: true)
        request.fields = parameters["searchFields"].map(QueryResource.names)
        request.layers = try layers(parameters)
        request.layerDefinitions = try LayerDefinitions.parse(parameters)
        request.outReference = try SpatialReference(parameters, "sr")
        request.returnGeometry = try parameters.flag("returnGeometry", default: true)
        request.maxAllowableOffset = try parameters.maxAllowableOffset()
        request.geometryPrecision = try parameters.integer("geometryPrecision", in: 0...15)
        request.returnZ = try parameters.flag("returnZ", default: false)
        request.returnM = try parameters.flag("returnM", default: false)
        request.returnFieldName = try parameters.flag("returnFieldName", default: false)
        request.returnUnformattedValues = try parameters.flag(
            "returnUnformattedValues", default: false)
        request.past = try parameters.past()
        request.minSequence = try parameters.integer("minSequence", in: 0...Int.max).map(Int64.init)
        return request
    }

    private static func layers(_ parameters: Parameters) throws(Failure) -> [LayerID]? {
        guard let text = parameters["layers"] else { return nil }
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
