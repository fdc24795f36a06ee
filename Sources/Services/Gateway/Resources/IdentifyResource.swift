// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import FoundationEssentials
internal import Geometry
internal import Platform

/// `MapServer/identify`: converts Esri's parameters to a request, an answer to Esri's body.
enum IdentifyResource {
    /// Esri's parameters that would change the answer and are not supported.
    static let refused = [
        "dynamicLayers", "mapRangeValues", "layerRangeValues", "layerParameterValues",
    ]

    /// Parses the parameters; throws `Failure` naming the offending one.
    ///
    /// `layer` is asked instead of the parameter's layers.
    static func request(
        map: MapName, layer: LayerID? = nil, _ parameters: Parameters
    ) throws(Failure) -> IdentifyRequest {
        for name in refused where parameters[name] != nil {
            throw Failure(.invalidParameter, "parameter '\(name)' is not supported")
        }
        let geometry = try GeometryParameter(
            try parameters.required(Known.geometry),
            kind: try GeometryParameter.Kind(parameters[Known.geometryType]))
        let toleranceText = try parameters.required(Known.tolerance)
        guard let tolerance = try parameters.number(Known.tolerance), tolerance >= 0 else {
            throw Parameters.unexpected("tolerance", toleranceText, "pixels, 0 or more")
        }
        let extent = try GeometryParameter(
            try parameters.required(Known.mapExtent), kind: .envelope, name: "mapExtent")
        let reference = try SpatialReference(parameters, Known.sr.name) ?? extent.spatialReference
        let layers =
            if let layer { LayerSelection(.all, ids: [layer]) } else {
                try LayerSelection(parsing: parameters[Known.identifyLayers] ?? "top")
            }
        var request = IdentifyRequest(
            map: map, geometry: geometry.shape,
            geometrySpatialReference: geometry.spatialReference,
            layers: layers,
            tolerance: tolerance, mapExtent: try mapExtent(extent, in: reference),
            imageDisplay: try imageDisplay(parameters),
            spatialReference: reference,
            returnGeometry: try parameters.flag(Known.returnGeometry),
            maxAllowableOffset: try parameters.maxAllowableOffset(),
            geometryPrecision: try parameters.integer(Known.geometryPrecision),
            layerDefinitions: try LayerDefinitions.parse(parameters),
            time: try parameters.time(), timeRelation: try parameters.timeRelation(),
            layerTimeOptions: try parameters.layerTimeOptions(),
            returnZ: try parameters.flag(Known.returnZ),
            returnM: try parameters.flag(Known.returnM),
            returnFieldName: try parameters.flag(Known.returnFieldName),
            maximumResultsPerLayer: try parameters.integer(Known.maximumResultsPerLayer),
            returnPopupsOnly: try parameters.flag(Known.returnPopupsOnly),
            explain: try parameters.flag(Known.explain),
            minSequence: try parameters.minSequence())
        request.past = try parameters.past()
        return request
    }

    /// Refuses an extent whose spatial reference differs from `sr`, in which it is interpreted.
    private static func mapExtent(
        _ extent: GeometryParameter, in reference: SpatialReference?
    ) throws(Failure) -> Envelope {
        if let own = extent.spatialReference, reference?.isEquivalent(to: own) == false {
            throw Failure(
                .invalidParameter,
                "parameter 'mapExtent' has a spatialReference of its own: expected that of "
                    + "parameter 'sr'")
        }
        return extent.shape.envelope
    }

    private static func imageDisplay(_ parameters: Parameters) throws(Failure) -> ImageDisplay {
        _ = try parameters.required(Known.imageDisplay)
        guard let values = try parameters.numbers(Known.imageDisplay),
            values.allSatisfy({ $0 >= 0 })
        else {
            throw Parameters.unexpected(
                "imageDisplay", parameters[Known.imageDisplay] ?? "", "'width,height,dpi'")
        }
        let dpi = values.count == 3 && values[2] > 0 ? values[2] : 96
        return ImageDisplay(width: values[0], height: values[1], dpi: dpi)
    }

    /// Writes `{"results":[…]}`, top layer first; failures of layers and explanations are under
    /// names that Esri does not use.
    ///
    /// `isTyped` writes numbers as numbers (`returnUnformattedValues`), else every value is text.
    static func body(
        _ answer: IdentifyAnswer, returnGeometry: Bool, isTyped: Bool
    ) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.key("results")
            json.array { json in
                answer.forEachResult { result in
                    json.object { json in
                        write(
                            result, in: answer.spatialReference, returnGeometry, isTyped, to: &json)
                        guard answer.explanation != nil else { return }
                        json.member("objectId", Int(result.objectID))
                        json.member("distance", result.distance)
                    }
                }
            }
            if answer.transferLimitExceeded { json.member("exceededTransferLimit", true) }
            if let failures = answer.failures {
                json.member("layerFailures", failures)
            }
            guard let explanation = answer.explanation else { return }
            json.member("layerResults", array: answer.layers) { write($1, to: &$0) }
            if let text = try? CairnJSON.encode(explanation) {
                json.key("explanation")
                json.json(text)
            }
        }
        return json.bytes
    }

    /// A layer's node in the tree, with counts; its results are in the flat list.
    private static func write(_ layer: IdentifyLayerResult, to json: inout JSONWriter) {
        json.object { json in
            json.member("layerId", layer.layerID)
            json.member("layerName", layer.layerName)
            json.member("hitCount", layer.hitCount)
            json.member("resultCount", layer.results.count)
            json.member("exceededTransferLimit", layer.transferLimitExceeded)
            json.member("totalHitCount", layer.totalHitCount)
            json.member("totalResultCount", layer.totalResultCount)
            json.member("objectIds", array: layer.results) { $0.integer($1.objectID) }
            json.member("subLayerResults", array: layer.sublayerResults) { write($1, to: &$0) }
        }
    }

    private static func write(
        _ result: IdentifyResult, in reference: SpatialReference, _ returnGeometry: Bool,
        _ isTyped: Bool, to json: inout JSONWriter
    ) {
        json.member("layerId", result.layerID)
        json.member("layerName", result.layerName)
        json.member("displayFieldName", result.displayFieldName)
        json.key("value")
        json.attribute(result.value, isTyped: isTyped)
        json.member("attributes") { json in
            for entry in result.attributes.entries {
                json.key(entry.name)
                json.attribute(entry.value, isTyped: isTyped)
            }
        }
        guard returnGeometry else { return }
        json.member("geometryType", "esriGeometry" + result.geometryType.rawValue)
        guard let shape = result.geometry else { return }
        if result.zValues == nil && result.mValues == nil {
            json.geometry(shape, in: reference)
        } else {
            json.geometry(shape, z: result.zValues, m: result.mValues, in: reference)
        }
    }
}

extension LayerSelection {
    /// Parses Esri's `layers`: `top`, `visible` or `all`, alone or before `:id,id`; bare ids, and
    /// any other word, mean `top`.
    init(parsing text: String) throws(Failure) {
        if let option = Option(rawValue: text) {
            self.init(option)
            return
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let word = parts[0].filter { $0 != " " }.lowercased()
        let isBare = parts.count == 1 && word.utf8.first.map { $0 < 0x3A } == true
        let list = isBare ? String(parts[0]) : parts.count == 2 ? String(parts[1]) : ""
        var ids: [LayerID] = []
        for item in list.split(separator: ",") {
            let item = item.filter { $0 != " " }
            guard !item.isEmpty else { continue }
            // Clients that hide all layers send layer -1.
            guard let id = Int(item), -1...Int(Int32.max) ~= id, ids.count < 10_000 else {
                throw Parameters.unexpected(
                    "layers", text, "top, visible or all, and after ':' layer ids with commas")
            }
            ids.append(id)
        }
        self.init(Option(rawValue: word) ?? .top, ids: ids.isEmpty ? nil : ids)
    }
}

/// Esri's `layerDefs` in both syntaxes.
enum LayerDefinitions {
    /// The clauses of `layerDefs` with the request's time substituted.
    static func parse(_ parameters: Parameters) throws(Failure) -> [LayerID: String] {
        try named(parameters[Known.layerDefs]).filter { !$0.value.isEmpty }
            .mapValues(parameters.asked)
    }

    /// Parses `{"1":"POP>0"}` or `1:POP>0;2:X=1` (split at `;` outside quotes); a layer without a
    /// clause gets an empty one.
    static func named(_ text: String?) throws(Failure) -> [LayerID: String] {
        guard let text, text.lowercased() != "false" else { return [:] }
        var definitions: [LayerID: String] = [:]
        if text.drop(while: \.isWhitespace).first == "{" {
            guard case .object(let members)? = try? RelaxedJSON.parse(text) else {
                throw fault(text)
            }
            for (key, value) in members {
                guard let layer = Int(key), case .string(let clause) = value else {
                    throw fault(text)
                }
                definitions[layer] = clause
            }
            return definitions
        }
        for part in split(text) {
            guard let colon = part.firstIndex(of: ":"),
                let layer = Int(part[..<colon].filter { $0 != " " })
            else { throw fault(text) }
            definitions[layer] = String(part[part.index(after: colon)...])
        }
        return definitions
    }

    private static func split(_ text: String) -> [Substring] {
        var isQuoted = false
        return text.split { character in
            if character == "'" { isQuoted.toggle() }
            return character == ";" && !isQuoted
        }
    }

    private static func fault(_ text: String) -> Failure {
        Parameters.unexpected("layerDefs", text, "'1:CLAUSE;2:CLAUSE' or {\"1\":\"CLAUSE\"}")
    }
}
