// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Features with their fields: what a query found, a table in memory, a result of a task.
public protocol FeatureSet: Sendable {
    /// The fields; empty where none are stated.
    var fields: [Field] { get }
    /// The kind of geometry; nil for none.
    var geometryType: Geometry.Type? { get }
    /// The reference of the geometries; nil where it is not known.
    var spatialReference: SpatialReference? { get }
    /// The features, in order.
    var elements: [Feature] { get }
}

extension FeatureSet {
    /// The features, in order.
    public func features() -> QueryElements<Feature> { QueryElements(all: elements) }
}

extension FeatureQueryResult: FeatureSet {
    /// The features, in order.
    public var elements: [Feature] { all }
}

/// Features of no table.
struct FeatureList: FeatureSet {
    var elements: [Feature]
    var fields: [Field]
    var spatialReference: SpatialReference?
    var geometryType: Geometry.Type?
}
