// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
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

/// The answer of a query in the form ``QueryForm/rows``: JSON Lines, the table, the rows, and
/// whether there are more.
public struct FeatureRows: Hashable, Sendable {
    private struct End: Codable {
        var isCut: Bool
    }

    /// What the rows are.
    public var table: FeatureTable
    /// The rows, in their order.
    public var rows: [FeatureRow]
    /// Whether rows were cut off.
    public var isCut: Bool

    /// Reads an answer; throws `Failure` for any other text.
    public init(body: [UInt8]) throws(Failure) {
        var lines = body.split(separator: UInt8(ascii: "\n"))[...]
        guard let first = lines.popFirst(), let last = lines.popLast() else {
            throw Failure(.internal, "the answer has no table of rows")
        }
        table = try CairnJSON.decode(FeatureTable.self, from: Data(first))
        isCut = try CairnJSON.decode(End.self, from: Data(last)).isCut
        rows = []
        rows.reserveCapacity(lines.count)
        for line in lines { rows.append(try CairnJSON.decode(FeatureRow.self, from: Data(line))) }
    }

    /// The first line of an answer.
    public static func line(_ table: FeatureTable) throws(Failure) -> Data {
        try CairnJSON.encode(table) + [UInt8(ascii: "\n")]
    }

    /// The line of a row.
    public static func line(_ row: FeatureRow) throws(Failure) -> Data {
        try CairnJSON.encode(row) + [UInt8(ascii: "\n")]
    }

    /// The last line of an answer.
    public static func end(isCut: Bool) -> String { #"{"isCut":\#(isCut)}"# + "\n" }
}
