// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials

/// `FeatureServer/query`: converts Esri's parameters to a request for each layer, and merges the
/// answers.
struct ServiceQuery: Sendable {
    /// Maximum number of layers in a request.
    static let layerLimit = 100
    /// Maximum total size of the answers in bytes.
    static let byteLimit = 64 << 20
    /// Parameters of a layer's query that Esri's operation on the service does not support.
    static let refused = [
        "where", "text", "objectIds", "outStatistics", "groupByFieldsForStatistics", "having",
        "orderByFields",
        "returnDistinctValues", "returnExtentOnly", "resultOffset", "resultRecordCount",
    ]

    /// In ascending order of layer ids.
    let requests: [QueryRequest]

    /// The query of one layer.
    private struct Definition {
        var layer: LayerID
        var clause: String?
        var outFields: String?
    }

    /// Parses the parameters; throws `Failure` naming the offending one, or the missing layer.
    init(_ map: MapDescription, _ parameters: Parameters) throws(Failure) {
        for name in Self.refused where parameters[name] != nil {
            throw Failure(
                .invalidParameter,
                "parameter '\(name)' is not supported by the query of a service: ask its layers, "
                    + "or use layerDefs")
        }
        let all = map.layers.filter(\.isFeatureLayer)
        let known = Set(all.map(\.id))
        let definitions =
            try Self.definitions(parameters[Known.layerDefs])
            ?? all.filter { $0.isQueryable && $0.loadStatus == .loaded }.map { .init(layer: $0.id) }
        guard definitions.count <= Self.layerLimit else {
            throw Failure(
                .tooLarge,
                "\(definitions.count) layers are asked for at once, the most is "
                    + "\(Self.layerLimit): "
                    + "name fewer in layerDefs")
        }
        var requests: [QueryRequest] = []
        for definition in definitions.sorted(by: { $0.layer < $1.layer }) {
            guard known.contains(definition.layer) else {
                throw .unknownLayer(definition.layer)
            }
            var request = try QueryResource.request(
                map: map.name, layer: definition.layer, parameters)
            request.clause = definition.clause.map(parameters.asked)
            request.outFields =
                definition.outFields.map(QueryResource.names) ?? request.outFields ?? ["*"]
            requests.append(request)
        }
        self.requests = requests
    }

    /// Nil if no layer is named: all of them are queried.
    private static func definitions(_ text: String?) throws(Failure) -> [Definition]? {
        guard let text else { return nil }
        guard text.drop(while: \.isWhitespace).first == "[" else {
            let named = try LayerDefinitions.named(text)
            return named.isEmpty
                ? nil : named.map { Definition(layer: $0, clause: $1.isEmpty ? nil : $1) }
        }
        let expected = #"[{"layerId":0,"where":"POP>0","outFields":"NAME"}]"#
        let json: RelaxedValue
        do {
            json = try RelaxedJSON.parse(text)
        } catch {
            throw Failure(error.code, "parameter 'layerDefs': \(error.message)")
        }
        guard case .array(let elements) = json else {
            throw Parameters.unexpected("layerDefs", text, expected)
        }
        var definitions: [Definition] = []
        for element in elements {
            guard case .object(let members) = element,
                let layer = members["layerId"]?.number.flatMap({ LayerID(exactly: $0) })
            else { throw Parameters.unexpected("layerDefs", text, expected) }
            var definition = Definition(layer: layer)
            for (name, value) in members {
                guard case .string(let text) = value, !text.isEmpty else { continue }
                switch name.lowercased() {
                case "where": definition.clause = text
                case "outfields": definition.outFields = text
                default: break
                }
            }
            guard !definitions.contains(where: { $0.layer == layer }) else {
                throw Failure(
                    .invalidParameter, "parameter 'layerDefs' names layer \(layer) twice")
            }
            definitions.append(definition)
        }
        return definitions
    }

    /// The answers of layers, each a JSON object, as members of one.
    struct Body {
        private var bytes = Array(#"{"layers":["#.utf8)
        private var isEmpty = true

        /// Adds the answer of a layer; throws `tooLarge`.
        mutating func add(_ answer: [UInt8], of layer: LayerID) throws(Failure) {
            guard bytes.count + answer.count <= byteLimit else {
                throw Failure(
                    .tooLarge,
                    "the answers of the layers together have more than \(byteLimit >> 20) MiB: ask "
                        + "for fewer layers, or only for ids")
            }
            if !isEmpty { bytes.append(UInt8(ascii: ",")) }
            isEmpty = false
            bytes += Array(#"{"id":\#(layer)"#.utf8)
            let members = answer.dropFirst()
            if members.first != UInt8(ascii: "}") { bytes.append(UInt8(ascii: ",")) }
            bytes += members
        }

        var whole: [UInt8] { bytes + Array("]}".utf8) }
    }
}
