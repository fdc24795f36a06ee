// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import DeferredSQLite
internal import Foundation
internal import Platform

/// A table of a ``Geodatabase``, queried and edited in its file.
///
/// An edit is in the file when the call returns, and waits there for the next synchronisation. All
/// fields of a feature are returned, whatever a query's `outFields` say, so that a later
/// ``update(_:)-(Feature)`` writes nothing that it does not know. WHERE clauses are SQLite's, with
/// the `date '…'` and `timestamp '…'` of the REST.
public final class GeodatabaseFeatureTable: FeatureTable, @unchecked Sendable {
    let name: String
    struct Found: Sendable {
        var description: GeoPackage.Table
        var store: GeoPackage
    }
    private struct WeakGeodatabase: Sendable { weak var geodatabase: Geodatabase? }
    private let found: Guarded<Found?>
    private let owner: WeakGeodatabase
    /// Of a table that is not one of the geodatabase's own list.
    private let held: Geodatabase?

    init(_ description: GeoPackage.Table, store: GeoPackage, geodatabase: Geodatabase) {
        name = description.name
        found = Guarded(Found(description: description, store: store))
        owner = WeakGeodatabase(geodatabase: geodatabase)
        held = nil
    }

    /// A table of a geodatabase that is not loaded yet: loading the table loads it.
    init(named name: String, of geodatabase: Geodatabase) {
        self.name = name
        found = Guarded(nil)
        owner = WeakGeodatabase(geodatabase: geodatabase)
        held = geodatabase
    }

    /// The geodatabase that it is of; nil once that has gone.
    public var geodatabase: Geodatabase? { owner.geodatabase }

    override func performLoad() async throws {
        if found.current == nil, let geodatabase = held {
            let store = try await geodatabase.loadedStore()
            guard let description = try store.tables().first(where: { $0.name == name }) else {
                throw CairnError(
                    .invalidDocument,
                    "'\(geodatabase.fileURL.path(percentEncoded: false))' has no table '\(name)'")
            }
            found.current = Found(description: description, store: store)
        }
        try found.current?.store.checkOpen()
    }

    private var description: GeoPackage.Table? { found.current?.description }

    /// The table in its file; nil before it is loaded.
    var opened: Found? { found.current }

    func open() async throws -> Found {
        try await load()
        guard let found = found.current else {
            throw CairnError(.invalidState, "the table '\(name)' is not loaded")
        }
        return found
    }

    /// Its name.
    public override var tableName: String { name }
    /// The title in the file; its name where there is none.
    public override var displayName: String { description?.title ?? name }
    /// Its fields, typed by the file's column types.
    public override var fields: [Field] { description?.fields ?? [] }
    /// The kind of geometry, as `Point.self`; nil for a table without.
    public override var geometryType: Geometry.Type? { description?.geometryType }
    /// The reference of its geometries.
    public override var spatialReference: SpatialReference? { description?.spatialReference }
    /// Around all features, as the file states it; nil where it does not.
    public override var extent: Envelope? {
        found.current.flatMap { try? $0.store.extent(of: $0.description) }
    }
    /// The field of object ids.
    public var objectIDField: String { description?.key ?? "" }
    /// How many features it has; 0 where the file cannot be read.
    public var numberOfFeatures: Int {
        found.current.flatMap {
            try? $0.store.count(QueryParameters.Values(), of: $0.description)
        } ?? 0
    }
    /// Whether edits wait for a synchronisation.
    public var hasLocalEdits: Bool {
        (try? found.current?.store.hasEdits(of: name)) ?? false
    }
    /// Whether features can be added, changed and deleted: whether the file may be written.
    public var isEditable: Bool { found.current?.store.isWritable ?? false }

    // MARK: Queries

    /// The features that parameters find, in the order that they ask for, else of object ids.
    ///
    /// Spatial relationships are `intersects`, `contains`, `within` and `envelopeIntersects`.
    /// Throws ``CairnError``: `invalidArgument` for a clause or a field that is not understood,
    /// `unsupported` for another relationship, a time, and a reference that cannot be had without
    /// a server; `CancellationError`.
    public override func queryFeatures(
        using parameters: QueryParameters
    ) async throws -> FeatureQueryResult {
        let table = try await open()
        let values = parameters.values.current
        let found = try table.store.features(values, of: table.description)
        return FeatureQueryResult(
            all: found.map {
                ArcGISFeature(
                    geometry: $0.geometry, attributes: $0.attributes, featureTable: self)
            }, fields: fields, isTransferLimitExceeded: false,
            spatialReference: values.outSpatialReference ?? spatialReference,
            geometryType: geometryType)
    }

    /// How many features parameters find; throws as ``queryFeatures(using:)``.
    public func queryFeatureCount(using parameters: QueryParameters) async throws -> Int {
        let table = try await open()
        return try table.store.count(parameters.values.current, of: table.description)
    }

    /// Around the features that parameters find, in the reference that they ask for; of none an
    /// envelope of no size at 0,0.
    ///
    /// Throws as ``queryFeatures(using:)``.
    public func queryExtent(using parameters: QueryParameters) async throws -> Envelope {
        let table = try await open()
        var values = parameters.values.current
        values.returnsGeometry = true
        let extents = try table.store.features(values, of: table.description)
            .compactMap { $0.geometry?.extent }
        let reference = values.outSpatialReference ?? spatialReference
        return extents.dropFirst().reduce(extents.first) { $0?.union($1) }
            ?? Envelope(xMin: 0, yMin: 0, xMax: 0, yMax: 0, spatialReference: reference)
    }

    // MARK: Edits

    /// Adds a feature; it has its object id afterwards.
    ///
    /// Throws ``CairnError``: `invalidArgument` for an attribute that is no field, a value that is
    /// not of its type, and another kind of geometry; `file` where the file cannot be written.
    public override func add(_ feature: Feature) async throws {
        let table = try await open()
        var attributes = feature.attributes
        attributes[objectIDField] = nil
        if let field = table.description.globalIDField, attributes[field] == nil {
            let id = UUID()
            attributes[field] = id
            feature.setAttributeValue(id, forKey: field)
        }
        let id = try table.store.insert(attributes, feature.geometry, into: table.description)
        feature.setAttributeValue(id, forKey: objectIDField)
    }

    /// Changes a feature: every field becomes what the feature has, null where it has none; a
    /// geometry of nil leaves the stored one.
    ///
    /// Throws as ``add(_:)-(Feature)``, and
    /// `invalidArgument` for one that is not in the table.
    public override func update(_ feature: Feature) async throws {
        let table = try await open()
        try table.store.update(
            feature.attributes, feature.geometry, objectID(feature, table), in: table.description)
    }

    /// Deletes a feature; throws as ``update(_:)-(Feature)``.
    public override func delete(_ feature: Feature) async throws {
        let table = try await open()
        try table.store.delete(objectID(feature, table), of: table.description)
    }

    /// Whether features can be added.
    public override var canAddFeature: Bool { isEditable }
    /// Whether a feature can be changed: one of this table.
    public override func canUpdate(_ feature: Feature) -> Bool {
        isEditable && feature.featureTable === self
    }
    /// Whether a feature can be deleted: one of this table.
    public override func canDelete(_ feature: Feature) -> Bool { canUpdate(feature) }

    /// The row of a feature: of its global id where it has one, for a synchronisation may have
    /// given it another object id.
    func objectID(_ feature: Feature, _ table: Found) throws -> Int64 {
        if let field = table.description.globalIDField,
            let id = feature.attributes[field] as? UUID
        {
            guard let row = try table.store.row(of: id, in: table.description) else {
                throw CairnError(
                    .invalidArgument, "'\(name)' has no feature \(id.globalIDText)")
            }
            return row
        }
        guard let id = feature.attributes[objectIDField],
            case .integer(let id) = JSON(attribute: id)
        else {
            throw CairnError(
                .invalidArgument, "the feature has no object id in '\(objectIDField)'")
        }
        return id
    }
}
