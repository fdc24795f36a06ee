// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

extension ServiceFeatureTable {
    /// Asks the service, page after page; `definition` limits the features beside the parameters.
    func queryFeatures(
        _ values: QueryParameters.Values, _ definition: String
    ) async throws -> FeatureQueryResult {
        try await load()
        let description = described.current
        var found: [ArcGISFeature] = []
        var offset = values.resultOffset
        while true {
            var question = query(values.selection(definition) + values.output)
            let left = values.maxFeatures > 0 ? values.maxFeatures - found.count : Int.max
            if left < Int.max { question.set("resultRecordCount", String(left)) }
            if offset > 0 { question.set("resultOffset", String(offset)) }
            let json = try await Requester.json(question, hasShapes: true)
            let answered = Field.list(json["fields"])
            let isWhole = values.outFields.contains("*") && values.returnsGeometry
            let page = try self.features(
                json, description.attributes.adding(answered), isWhole: isWhole)
            let reference = SpatialReference(json.member("spatialReference"))
            // A service that passes over nothing would be asked for ever.
            if offset > values.resultOffset, let first = page.first,
                let id = first.attributes[description.objectIDField] as? Int64,
                let before = found.first?.attributes[description.objectIDField] as? Int64,
                id == before
            {
                throw TransportError(
                    .invalidAnswer,
                    "\(url.withoutQuery.absoluteString)/query: answers the same features again "
                        + "for the offset \(offset)")
            }
            found += page.count > left ? Array(page.prefix(left)) : page
            let isExceeded = json["exceededTransferLimit"]?.flag ?? false
            let isLast = !isExceeded || page.isEmpty || !description.supportsPaging
            if isLast || values.maxFeatures > 0 && found.count >= values.maxFeatures {
                return FeatureQueryResult(
                    all: found, fields: answered,
                    isTransferLimitExceeded: isExceeded, spatialReference: reference,
                    geometryType: description.geometryType)
            }
            offset += page.count
        }
    }

    private func features(
        _ json: JSON, _ reader: AttributeReader, isWhole: Bool
    ) throws -> [ArcGISFeature] {
        guard let list = json.member("features") else {
            throw TransportError(
                .invalidAnswer,
                "\(url.withoutQuery.absoluteString)/query: expected features in the answer")
        }
        let reference =
            SpatialReference(json.member("spatialReference"))
            ?? spatialReference
        return list.elements.map { element in
            let geometry = Geometry.make(element.member("geometry"), reference)
            let attributes = reader.attributes(element["attributes"])
            return isWhole
                ? ArcGISFeature(geometry: geometry, attributes: attributes, featureTable: self)
                : ArcGISFeature(partOf: self, geometry: geometry, attributes: attributes)
        }
    }

    /// How many features parameters find; throws ``ServiceError`` and others.
    public func queryFeatureCount(using parameters: QueryParameters) async throws -> Int {
        let values = parameters.values.current
        let question = query(
            values.selection(definitionExpression) + [("returnCountOnly", "true")])
        let json = try await Requester.json(question)
        guard let count = json["count"]?.int else {
            throw TransportError(
                .invalidAnswer, "\(url.withoutQuery.absoluteString)/query: expected a count")
        }
        return count
    }

    /// Around the features that parameters find; throws ``CairnError`` (`unsupported`) where the
    /// service gives none.
    public func queryExtent(using parameters: QueryParameters) async throws -> Envelope {
        let values = parameters.values.current
        var question = query(
            values.selection(definitionExpression) + [("returnExtentOnly", "true")])
        if let reference = values.outSpatialReference {
            question.set("outSR", reference.parameter)
        }
        let json = try await Requester.json(question)
        guard let extent = Geometry.make(json.member("extent"), nil) as? Envelope else {
            throw CairnError.unsupported("extent of a query's features", by: url)
        }
        return extent
    }

    /// The features that parameters find, with certain fields; throws ``ServiceError`` and others.
    public func queryFeatures(
        using parameters: QueryParameters, queryFeatureFields: QueryFeatureFields
    ) async throws -> FeatureQueryResult {
        var values = parameters.values.current
        switch queryFeatureFields {
        case .minimum: break
        case .loadAll: values.outFields = ["*"]
        case .idsOnly:
            try await load()
            values.outFields = [objectIDField]
        }
        return try await queryFeatures(values, definitionExpression)
    }

    /// Statistics of the features that parameters find, one record for each group.
    ///
    /// Throws ``CairnError`` (`invalidArgument`) without a definition, ``ServiceError`` and others.
    public func queryStatistics(
        using parameters: StatisticsQueryParameters
    ) async throws -> StatisticsQueryResult {
        let values = parameters.values.current
        guard !values.definitions.isEmpty else {
            throw CairnError(
                .invalidArgument, "statisticDefinitions: expected one or more, found none")
        }
        let question = query(values.query.selection(definitionExpression) + values.statistics)
        let json = try await Requester.json(question)
        guard let records = json.member("features") else {
            throw TransportError(
                .invalidAnswer,
                "\(url.withoutQuery.absoluteString)/query: expected features in the answer")
        }
        let reader = AttributeReader(Field.list(json["fields"]))
        let groups = Set(values.groups)
        return StatisticsQueryResult(
            records: records.elements.map { record in
                let all = reader.attributes(record["attributes"])
                return StatisticRecord(
                    group: all.filter { groups.contains($0.key) },
                    statistics: all.filter { !groups.contains($0.key) })
            })
    }

    /// Reads a feature anew.
    func read(_ feature: ArcGISFeature) async throws {
        try await load()
        guard let id = try? objectID(feature), id >= 0 else { return }
        var values = QueryParameters.Values()
        values.objectIDs = [id]
        values.outSpatialReference = feature.geometry?.spatialReference
        guard let found = try await queryFeatures(values, "").all.first else {
            throw CairnError(
                .invalidState,
                "\(url.withoutQuery.absoluteString) has no feature \(id) any more")
        }
        feature.take(found)
    }
}
