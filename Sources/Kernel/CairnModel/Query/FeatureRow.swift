// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import FoundationEssentials

/// The columns and the kind of geometry of a layer's features, as a file of features states them.
public struct FeatureTable: Hashable, Sendable, Codable {
    /// The columns, the object id among them where it is asked for.
    public var fields: [FieldDescription]
    /// Nil for features without geometry.
    public var geometryType: GeometryType?
    /// Of the geometries.
    public var spatialReference: SpatialReference
    /// Whether coordinates have Z.
    public var hasZ: Bool
    /// Whether coordinates have M.
    public var hasM: Bool

    /// Describes features.
    public init(
        fields: [FieldDescription], geometryType: GeometryType?,
        spatialReference: SpatialReference, hasZ: Bool, hasM: Bool
    ) {
        self.fields = fields
        self.geometryType = geometryType
        self.spatialReference = spatialReference
        self.hasZ = hasZ
        self.hasM = hasM
    }
}

/// One feature, in the columns of a ``FeatureTable``.
public struct FeatureRow: Hashable, Sendable, Codable {
    /// The object id.
    public var objectID: Int64
    /// A value for each column.
    public var values: [AttributeValue]
    /// Little-endian ISO WKB, x before y: a point, or a multi-geometry of the table's type; nil for
    /// a feature without geometry.
    public var wkb: Data?
    /// Whether the feature has a geometry that has no place in the table's spatial reference.
    public var isOutside: Bool?

    /// Makes a row.
    public init(
        objectID: Int64, values: [AttributeValue], wkb: Data?, isOutside: Bool? = nil
    ) {
        self.objectID = objectID
        self.values = values
        self.wkb = wkb
        self.isOutside = isOutside
    }
}
