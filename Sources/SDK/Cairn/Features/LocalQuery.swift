// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A query of features that are here.
struct LocalQuery {
    private let values: QueryParameters.Values
    private let condition: LocalCondition?
    private let idField: String
    private let table: FeatureTable

    /// The object id in a field; nil for none.
    static func objectID(_ feature: Feature, in field: String) -> Int64? {
        switch feature.attributes[field] {
        case let id as Int64: id
        case let id as Int: Int64(id)
        case let id as Int32: Int64(id)
        default: nil
        }
    }

    /// Throws ``CairnError``: `unsupported` for relationships and clauses that are not understood.
    init(_ values: QueryParameters.Values, _ idField: String, _ table: FeatureTable) throws {
        self.values = values
        self.idField = idField
        self.table = table
        condition = try LocalCondition(values.whereClause)
        guard [.intersects, .envelopeIntersects].contains(values.spatialRelationship) else {
            throw CairnError(
                .unsupported,
                "features that are kept are found by intersects and envelopeIntersects, not by "
                    + "\(values.spatialRelationship)")
        }
        guard values.timeExtent == nil else {
            throw CairnError(.unsupported, "features that are kept are not found by a time")
        }
    }

    func features(of all: [ArcGISFeature]) throws -> [ArcGISFeature] {
        let ids = Set(values.objectIDs)
        var found = all.filter { feature in
            if !ids.isEmpty, !(Self.objectID(feature, in: idField).map(ids.contains) ?? false) {
                return false
            }
            return condition?.holds(feature.attributes) ?? true
        }
        if let wanted = values.geometry {
            found = try found.filter { feature in
                guard let geometry = feature.geometry else { return false }
                let area =
                    if let reference = geometry.spatialReference, wanted.spatialReference != nil {
                        try GeometryEngine.projected(wanted, into: reference)
                    } else {
                        wanted
                    }
                return GeometryEngine.relation(
                    area, values.spatialRelationship == .intersects ? geometry : geometry.extent
                ).intersects
            }
        }
        for order in values.orderByFields.reversed() {
            found = Self.sorted(found, by: order)
        }
        let offset = min(max(values.resultOffset, 0), found.count)
        found = Array(found.dropFirst(offset))
        if values.maxFeatures > 0 { found = Array(found.prefix(values.maxFeatures)) }
        guard let reference = values.outSpatialReference else { return found }
        return try found.map { feature in
            guard let geometry = feature.geometry, geometry.spatialReference != nil,
                geometry.spatialReference != reference
            else { return feature }
            return ArcGISFeature(
                geometry: try GeometryEngine.projected(geometry, into: reference),
                attributes: feature.attributes, featureTable: table)
        }
    }

    /// Equal ones keep their order; nulls come first.
    private static func sorted(
        _ features: [ArcGISFeature], by order: OrderBy
    ) -> [ArcGISFeature] {
        let keyed = features.enumerated().map { number, feature in
            (number, LocalValue(feature.attributes[order.fieldName]), feature)
        }
        return keyed.sorted { left, right in
            if LocalValue.isLess(left.1, right.1) { return order.sortOrder == .ascending }
            if LocalValue.isLess(right.1, left.1) { return order.sortOrder == .descending }
            return left.0 < right.0
        }.map(\.2)
    }
}
