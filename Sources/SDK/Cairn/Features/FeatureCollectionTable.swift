// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A table in memory, as of a ``FeatureCollection``: an input of a task, or a layer's features.
///
/// A ``FeatureLayer`` over it is drawn and identified without a server.
public final class FeatureCollectionTable: FeatureTable, FeatureSet, @unchecked Sendable {
    private struct State: Sendable {
        var features: [Feature] = []
        var nextID: Int64 = 1
    }

    private let state = Guarded(State())
    private let described: (fields: [Field], type: Geometry.Type?, reference: SpatialReference?)
    private let title = Guarded("")

    /// An empty table.
    ///
    /// A field of object ids, `ObjectID`, is added where there is none.
    public init(
        fields: [Field], geometryType: Geometry.Type? = nil,
        spatialReference: SpatialReference? = nil
    ) {
        let hasID = fields.contains { $0.type == .oid }
        let id = Field(
            type: .oid, name: "ObjectID", alias: "ObjectID", isEditable: false, isNullable: false)
        described = ((hasID ? [] : [id]) + fields, geometryType, spatialReference)
    }

    /// A table of copies of graphics or features; kind and reference are those of the first
    /// geometry.
    public convenience init(geoElements: [any GeoElement], fields: [Field]) {
        let first = geoElements.lazy.compactMap(\.geometry).first
        self.init(
            fields: fields, geometryType: first.map { type(of: $0) },
            spatialReference: first?.spatialReference)
        for element in geoElements {
            insert(makeFeature(attributes: element.attributes, geometry: element.geometry))
        }
    }

    /// Its name; empty unless set.
    public override var tableName: String { title.current }
    /// Sets its name.
    public func setTableName(_ name: String) { title.current = name }
    /// Its fields.
    public override var fields: [Field] { described.fields }
    /// The kind of geometry, as `Point.self`; nil for none.
    public override var geometryType: Geometry.Type? { described.type }
    /// The reference of its geometries; nil where none was given.
    public override var spatialReference: SpatialReference? { described.reference }
    /// Around all features; nil for none with a geometry.
    public override var extent: Envelope? {
        GeometryEngine.combineExtents(of: elements.compactMap(\.geometry))
    }
    /// The features, in the order in which they were added.
    public var elements: [Feature] { state.current.features }
    /// The field of object ids.
    public var objectIDField: String { fields.first { $0.type == .oid }?.name ?? "ObjectID" }
    /// How many features it has.
    public var numberOfFeatures: Int { state.withLock { $0.features.count } }

    /// Copies of the features that parameters find, in the order that they ask for, else in that
    /// in which they were added.
    ///
    /// Relationships and WHERE clauses are those of ``ServiceFeatureTable/queryFeatures(using:)``
    /// in manual cache mode; for others, and for a time, ``CairnError`` (`unsupported`) is thrown.
    public override func queryFeatures(
        using parameters: QueryParameters
    ) async throws -> FeatureQueryResult {
        let values = parameters.values.current
        let copies = elements.map {
            ArcGISFeature(
                geometry: $0.geometry, attributes: $0.attributes, featureTable: self)
        }
        let found = try LocalQuery(values, objectIDField, self).features(of: copies)
        if !values.returnsGeometry { for feature in found { feature.geometry = nil } }
        return FeatureQueryResult(
            all: found, fields: fields, isTransferLimitExceeded: false,
            spatialReference: values.outSpatialReference ?? spatialReference,
            geometryType: geometryType)
    }

    private func insert(_ feature: Feature) {
        let id = state.withLock { state in
            guard !state.features.contains(where: { $0 === feature }) else { return nil as Int64? }
            state.features.append(feature)
            defer { state.nextID += 1 }
            return state.nextID
        }
        if let id { feature.setAttributeValue(id, forKey: objectIDField) }
    }

    /// Adds a feature; it has its object id afterwards.
    public override func add(_ feature: Feature) async throws { insert(feature) }

    /// Changes the feature of the same object id; throws ``CairnError`` (`invalidArgument`) where
    /// there is none.
    public override func update(_ feature: Feature) async throws {
        try state.withLock { state in
            state.features[try place(of: feature, in: state.features)] = feature
        }
    }

    /// Removes the feature of the same object id; throws ``CairnError`` (`invalidArgument`) where
    /// there is none.
    public override func delete(_ feature: Feature) async throws {
        try state.withLock { state in
            _ = state.features.remove(at: try place(of: feature, in: state.features))
        }
    }

    private func place(of feature: Feature, in features: [Feature]) throws -> Int {
        let id = feature.attributes[objectIDField] as? Int64
        let place = features.firstIndex { other in
            other === feature || id != nil && other.attributes[objectIDField] as? Int64 == id
        }
        guard let place else {
            throw CairnError(.invalidArgument, "the feature is none of the table")
        }
        return place
    }

    /// True.
    public override var canAddFeature: Bool { true }
    /// Whether a feature can be changed: one of this table.
    public override func canUpdate(_ feature: Feature) -> Bool { feature.featureTable === self }
    /// Whether a feature can be deleted: one of this table.
    public override func canDelete(_ feature: Feature) -> Bool { canUpdate(feature) }
}

/// Tables in memory.
public final class FeatureCollection: LoadableBase, @unchecked Sendable {
    private let list: Guarded<[FeatureCollectionTable]>

    /// Some tables.
    public init(featureCollectionTables: [FeatureCollectionTable] = []) {
        list = Guarded(featureCollectionTables)
    }

    /// Its tables.
    public var tables: [FeatureCollectionTable] { list.current }
    /// Adds a table.
    public func addTable(_ table: FeatureCollectionTable) { list.withLock { $0.append(table) } }
    /// Removes a table.
    public func removeTable(_ table: FeatureCollectionTable) {
        list.withLock { $0.removeAll { $0 === table } }
    }
}
