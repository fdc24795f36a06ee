// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Geometry

/// `MapServer/{id}/query` and `FeatureServer/{id}/query`: converts Esri's parameters to a request.
enum QueryResource {
    /// Esri's parameters that would change the answer and are not supported.
    static let refused = [
        "rangeValues", "parameterValues", "fullText", "uniqueIds", "aggregateIds",
    ]

    /// Parses the parameters; throws `Failure` naming the offending one.
    static func request(
        map: MapName, layer: LayerID, _ parameters: Parameters
    ) throws(Failure) -> QueryRequest {
        for name in refused where parameters[name] != nil {
            throw Failure(.invalidParameter, "parameter '\(name)' is not supported")
        }
        for (name, words) in [
            ("resultType", ["none", "standard", "tile"]),
            ("sqlFormat", ["none", "standard", "native"]),
        ] {
            guard let text = parameters[name] else { continue }
            guard words.contains(text.lowercased()) else {
                throw Parameters.unexpected(name, text, words.joined(separator: ", "))
            }
        }
        var request = QueryRequest(map: map, layer: layer)
        request.clause = parameters.clause(Known.where.name)
        request.text = parameters[Known.text]
        request.objectIDs = try objectIDs(parameters)
        request.spatialFilter = try spatialFilter(parameters)
        request.time = try parameters.time()
        request.timeRelation = try parameters.timeRelation()
        request.past = try parameters.past()
        request.minSequence = try parameters.minSequence()
        try readOutput(parameters, &request)
        request.quantization = try QueryQuantization(parameters)
        try readRows(parameters, &request)
        return request
    }

    /// Parses the parameters of a single feature: its output form and its moment.
    ///
    /// All fields are included unless `outFields` names some.
    static func request(
        map: MapName, layer: LayerID, objectID: Int64, _ parameters: Parameters
    ) throws(Failure) -> QueryRequest {
        var request = QueryRequest(map: map, layer: layer)
        request.past = try parameters.past()
        request.minSequence = try parameters.minSequence()
        try readOutput(parameters, &request)
        request.objectIDs = [objectID]
        request.outFields = request.outFields ?? ["*"]
        (request.result, request.returnCount, request.form) = (.features, false, .esri)
        return request
    }

    private static func readOutput(
        _ parameters: Parameters, _ request: inout QueryRequest
    ) throws(Failure) {
        if parameters[Known.f]?.lowercased() == "geojson" { request.form = .geoJSON }
        request.outFields = parameters[Known.outFields].map(names)
        request.returnGeometry = try parameters.flag(Known.returnGeometry)
        request.returnCentroid = try parameters.flag(Known.returnCentroid)
        request.outReference = try SpatialReference(parameters, Known.outSR.name)
        request.maxAllowableOffset = try parameters.maxAllowableOffset()
        request.geometryPrecision = try parameters.integer(Known.geometryPrecision)
        request.returnZ = try parameters.flag(Known.returnZ)
        request.returnM = try parameters.flag(Known.returnM)
        let (ids, count, extent) = (
            try parameters.flag(Known.returnIdsOnly),
            try parameters.flag(Known.returnCountOnly),
            try parameters.flag(Known.returnExtentOnly)
        )
        request.returnCount = count
        request.result = extent ? .extent : count ? .count : ids ? .objectIDs : .features
    }

    private static func readRows(
        _ parameters: Parameters, _ request: inout QueryRequest
    ) throws(Failure) {
        request.returnDistinctValues = try parameters.flag(Known.returnDistinctValues)
        request.order = order(parameters)
        request.groupFields = (parameters[Known.groupByFieldsForStatistics].map(terms) ?? []).map {
            parameters.asked($0)
        }
        request.statistics = try statistics(parameters)
        request.having = parameters.clause(Known.having.name)
        request.offset = try parameters.integer(Known.resultOffset)
        request.limit = try parameters.integer(Known.resultRecordCount)
    }

    /// Comma-separated names, quoted or not.
    static func names(_ text: String) -> [String] {
        text.split(separator: ",").map { name($0) }.filter { !$0.isEmpty }
    }

    private static func name(_ text: Substring) -> String {
        let text = text.drop(while: \.isWhitespace)
        let end = text.lastIndex { !$0.isWhitespace }
        let trimmed = end.map { text[...$0] } ?? ""
        let inner = trimmed.dropFirst().dropLast()
        guard trimmed.count >= 2, trimmed.first == "\"", trimmed.last == "\"",
            !inner.contains("\"")
        else { return String(trimmed) }
        return String(inner)
    }

    /// Comma-separated fields and expressions; commas in parentheses and quotes do not separate.
    private static func terms(_ text: String) -> [String] {
        var items = [""]
        var depth = 0
        var quote: Character?
        for character in text {
            switch character {
            case "'", "\"":
                if quote == nil { quote = character } else if quote == character { quote = nil }
            case "(" where quote == nil: depth += 1
            case ")" where quote == nil: depth -= 1
            case "," where quote == nil && depth <= 0:
                items.append("")
                continue
            default: break
            }
            items[items.count - 1].append(character)
        }
        return items.map { name($0[...]) }.filter { !$0.isEmpty }
    }

    private static func objectIDs(_ parameters: Parameters) throws(Failure) -> [Int64]? {
        guard let text = parameters[Known.objectIds] else { return nil }
        var ids: [Int64] = []
        for item in text.split(separator: ",") {
            let item = item.filter { $0 != " " }
            if item.isEmpty { continue }
            guard let id = Int64(item) else {
                throw Parameters.unexpected("objectIds", text, "whole numbers with commas")
            }
            ids.append(id)
        }
        return ids
    }

    private static func order(_ parameters: Parameters) -> [QueryOrder] {
        (parameters[Known.orderByFields].map(terms) ?? []).map { item in
            var field = item[...]
            var isDescending = false
            if let space = item.lastIndex(where: \.isWhitespace),
                ["ASC", "DESC"].contains(item[item.index(after: space)...].uppercased())
            {
                isDescending = item[item.index(after: space)...].uppercased() == "DESC"
                field = item[..<space]
            }
            return QueryOrder(
                field: parameters.asked(name(field)), isDescending: isDescending)
        }
    }

    private static func statistics(_ parameters: Parameters) throws(Failure) -> [QueryStatistic] {
        guard let text = parameters[Known.outStatistics] else { return [] }
        let expected =
            #"[{"statisticType":"max","onStatisticField":"POP","outStatisticFieldName":"most"}]"#
        let json: RelaxedValue
        do {
            json = try RelaxedJSON.parse(text)
        } catch {
            throw Failure(error.code, "parameter 'outStatistics': \(error.message)")
        }
        guard case .array(let elements) = json else {
            throw Parameters.unexpected("outStatistics", text, expected)
        }
        var statistics: [QueryStatistic] = []
        for element in elements {
            guard case .string(let type)? = element["statisticType"],
                case .string(let field)? = element["onStatisticField"]
            else { throw Parameters.unexpected("outStatistics", text, expected) }
            guard let kind = QueryStatistic.Kind(rawValue: type.lowercased()) else {
                throw Failure(
                    .invalidParameter,
                    "parameter 'outStatistics': statisticType '\(type.prefix(60))': expected "
                        + QueryStatistic.Kind.allCases.map(\.rawValue).joined(separator: ", "))
            }
            var name = "\(kind.rawValue.uppercased())_\(field)"
            if case .string(let given)? = element["outStatisticFieldName"], !given.isEmpty {
                name = given
            }
            statistics.append(
                QueryStatistic(kind: kind, field: parameters.asked(field), name: name))
        }
        return statistics
    }

    // MARK: Place

    private static func spatialFilter(
        _ parameters: Parameters
    ) throws(Failure) -> QuerySpatialFilter? {
        let relation = try relation(parameters)
        let meters = try distance(parameters)
        let kind = try GeometryParameter.Kind(parameters[Known.geometryType])
        guard let text = parameters[Known.geometry] else { return nil }
        let geometry = try GeometryParameter(text, kind: kind)
        let inReference = try SpatialReference(parameters, Known.inSR.name)
        return QuerySpatialFilter(
            geometry: geometry.shape,
            spatialReference: geometry.spatialReference ?? inReference,
            relation: relation, pattern: parameters[Known.relationParam]?.uppercased(),
            distanceMeters: meters)
    }

    private static func relation(
        _ parameters: Parameters
    ) throws(Failure) -> QuerySpatialFilter.Relation {
        guard let text = parameters[Known.spatialRel] else { return .intersects }
        let known = QuerySpatialFilter.Relation.allCases
        for relation in known where text.isEqualIgnoringCase("esriSpatialRel" + relation.rawValue) {
            return relation
        }
        throw Parameters.unexpected(
            "spatialRel", text,
            known.map { "esriSpatialRel" + $0.rawValue }.joined(separator: ", "))
    }

    /// Esri's units of `distance`, in metres.
    private static let units = [
        ("esriSRUnit_Meter", 1.0), ("esriSRUnit_Kilometer", 1000), ("esriSRUnit_Foot", 0.3048),
        ("esriSRUnit_StatuteMile", 1609.344), ("esriSRUnit_NauticalMile", 1852),
        ("esriSRUnit_USNauticalMile", 1853.248),
    ]

    private static func distance(_ parameters: Parameters) throws(Failure) -> Double? {
        var unit = 1.0
        if let text = parameters[Known.units] {
            guard let known = units.first(where: { $0.0.isEqualIgnoringCase(text) }) else {
                throw Parameters.unexpected(
                    "units", text, units.map(\.0).joined(separator: ", "))
            }
            unit = known.1
        }
        guard let distance = try parameters.number(Known.distance) else { return nil }
        guard distance >= 0 else {
            throw Parameters.unexpected("distance", "\(distance)", "0 or more")
        }
        return distance * unit
    }
}
