// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A table of features.
public class FeatureTable: LoadableBase, @unchecked Sendable {
    /// Its name; empty before it is loaded.
    public var tableName: String { "" }
    /// The name that an app shows.
    public var displayName: String { tableName }
    /// Its fields; empty before it is loaded.
    public var fields: [Field] { [] }
    /// The kind of geometry, as `Point.self`; nil for a table without, and before it is loaded.
    public var geometryType: Geometry.Type? { nil }
    /// Whether it has geometries.
    public var hasGeometry: Bool { geometryType != nil }
    /// Around all features; nil before it is loaded.
    public var extent: Envelope? { nil }
    /// The reference of its geometries; nil before it is loaded.
    public var spatialReference: SpatialReference? { nil }
    /// The layer that shows it; nil for none.
    public internal(set) weak var layer: Layer? {
        get { shown.withLock { $0.layer } }
        set { shown.withLock { $0.layer = newValue } }
    }
    private struct WeakLayer: Sendable { weak var layer: Layer? }
    private let shown = Guarded(WeakLayer())

    /// The field of a name; nil where there is none.
    public func field(named name: String) -> Field? { fields.first { $0.name == name } }

    /// The features that parameters find; throws ``ServiceError`` and others.
    public func queryFeatures(using parameters: QueryParameters) async throws -> FeatureQueryResult
    {
        throw CairnError.unsupported("query", by: nil)
    }

    /// A feature for ``add(_:)-(Feature)``.
    public func makeFeature(
        attributes: [String: any Sendable] = [:], geometry: Geometry? = nil
    ) -> Feature {
        ArcGISFeature(geometry: geometry, attributes: attributes, featureTable: self)
    }

    /// Adds a feature; throws ``CairnError`` (`unsupported`) for a table that is not edited.
    public func add(_ feature: Feature) async throws {
        throw CairnError.unsupported("editing", by: nil)
    }
    /// Changes a feature; throws ``CairnError`` (`unsupported`) for a table that is not edited.
    public func update(_ feature: Feature) async throws {
        throw CairnError.unsupported("editing", by: nil)
    }
    /// Deletes a feature; throws ``CairnError`` (`unsupported`) for a table that is not edited.
    public func delete(_ feature: Feature) async throws {
        throw CairnError.unsupported("editing", by: nil)
    }
    /// Adds features, in order, up to the first that cannot be.
    public func add(_ features: some Sequence<some Feature> & Sendable) async throws {
        for feature in features { try await add(feature) }
    }
    /// Changes features, in order, up to the first that cannot be.
    public func update(_ features: some Sequence<some Feature> & Sendable) async throws {
        for feature in features { try await update(feature) }
    }
    /// Deletes features, in order, up to the first that cannot be.
    public func delete(_ features: some Sequence<some Feature> & Sendable) async throws {
        for feature in features { try await delete(feature) }
    }
    /// Whether features can be added.
    public var canAddFeature: Bool { false }
    /// Whether a feature can be changed.
    public func canUpdate(_ feature: Feature) -> Bool { false }
    /// Whether a feature can be deleted.
    public func canDelete(_ feature: Feature) -> Bool { false }
}
