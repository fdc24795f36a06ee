// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// "Which features?", with the parameters of Esri's query operation on one layer.
public struct QueryRequest: PastRequest, Hashable, Sendable, Codable {
    /// The most features of one answer.
    public static let recordBound = 2_000

    /// The map to query.
    public var map: MapName
    /// The layer to query.
    public var layer: LayerID
    /// A WHERE clause, ANDed with the layer's own definition expression; nil for all.
    public var clause: String?
    /// Filter by a text anywhere in ``LayerDescription/shownField``, case-sensitive; nil for all.
    public var text: String?
    /// Filter by object ids; nil for all.
    public var objectIDs: [Int64]?
    /// Filter by a relation to a geometry; nil for all.
    public var spatialFilter: QuerySpatialFilter?
    /// Filter by time; nil for any.
    ///
    /// Layers without a ``LayerDescription/timeInfo`` are not filtered.
    public var time: TimeExtent?
    /// Whether the ends of `time` belong to it.
    public var timeRelation = TimeRelation.overlaps
    /// Whether a feature without geometry meets any `spatialFilter`, and one without any time any
    /// `time`, as OGC API – Features has it; nil: neither meets any.
    ///
    /// Layers on other servers: of time only.
    public var matchesMissing: Bool?
    /// The kind of result.
    public var result = QueryResult.features
    /// Whether an extent comes with the number of features.
    public var returnCount = false
    /// The format of features.
    public var form = QueryForm.esri
    /// The names of the fields that features carry, `*` for all; nil for the object id and the
    /// field that is shown.
    public var outFields: [String]?
    /// Whether features carry their geometry.
    public var returnGeometry = true
    /// Whether polygons carry their centroid.
    public var returnCentroid = false
    /// Spatial reference of the output; nil for WGS 84 in GeoJSON, else that of the layer's extent.
    public var outReference: SpatialReference?
    /// Generalises output geometry by at most this distance, in output units; nil: not at all.
    public var maxAllowableOffset: Double?
    /// Decimals kept in output coordinates; nil: all.
    public var geometryPrecision: Int?
    /// The grid of coordinates, in Esri's JSON without Z and M; nil for none.
    public var quantization: QueryQuantization?
    /// Whether coordinates carry their Z, where the layer has Z.
    public var returnZ = false
    /// Whether coordinates carry their M, where the layer has M.
    public var returnM = false
    /// Whether rows with equal values in `outFields` are one row, without geometry.
    public var returnDistinctValues = false
    /// The order of the rows; equal rows, and all where it is empty, are in that of object ids.
    public var order: [QueryOrder] = []
    /// The fields that group the `statistics`.
    public var groupFields: [String] = []
    /// The statistics of each group; empty for features.
    public var statistics: [QueryStatistic] = []
    /// A HAVING clause that the rows of `statistics` must fulfil; nil for all.
    public var having: String?
    /// Number of rows to skip.
    public var offset = 0
    /// The most rows; nil, and anything above ``recordBound``, is that bound.
    public var limit: Int?
    /// The sequence number as of which the map is read; nil for now.
    public var at: Int64?
    /// The moment as of which the map is read; at most one of `at` and `atTime` may be given.
    public var atTime: Timestamp?
    /// With `at` or `atTime`, excludes features removed, hidden or deleted by this sequence number;
    /// nil for none.
    public var seenFrom: Int64?
    /// Least sequence number the answer must include (read your own writes).
    public var minSequence: Int64?
    /// The requested part of the answer; nil for the first.
    public var part: QueryPart?
    /// Whether it serves another query of the same client, which alone is recorded; nil for no.
    public var isAuxiliary: Bool?
    /// Whether failures omit the messages of other servers and files, for callers without `admin`;
    /// nil for no.
    public var hidesInside: Bool?

    /// A query for all features of a layer.
    public init(map: MapName, layer: LayerID) {
        self.map = map
        self.layer = layer
    }
}

/// The kind of result of a query.
public enum QueryResult: String, Hashable, Sendable, Codable {
    /// Themselves, or rows made of them.
    case features
    /// All object ids, without a limit.
    case objectIDs
    /// Their number, or that of the rows made of them.
    case count
    /// The rectangle around them.
    case extent
}

/// The format of an answer's features.
public enum QueryForm: String, Hashable, Sendable, Codable {
    /// Esri's JSON.
    case esri
    /// GeoJSON (RFC 7946).
    case geoJSON
    /// GeoJSON as OGC API – Features has it.
    ///
    /// Positions have the axis order of the requested reference's authority, and longitude first by
    /// default; moments are ISO 8601; the last member is `numberReturned`.
    case ogcFeatures
    /// Typed values and WKB, for files: the lines of ``FeatureRows``.
    case rows
}

/// A geometry that features are compared with.
public struct QuerySpatialFilter: Hashable, Sendable, Codable {
    /// A relation between geometry and feature; raw values are Esri's without `esriSpatialRel`,
    /// read as "geometry … feature".
    public enum Relation: String, Hashable, Sendable, Codable, CaseIterable {
        /// They share a position.
        case intersects = "Intersects"
        /// The feature is inside the geometry.
        case contains = "Contains"
        /// The geometry is inside the feature.
        case within = "Within"
        /// Their insides meet in something of a lower dimension than the higher of theirs.
        case crosses = "Crosses"
        /// Their insides meet in something of their own dimension, and neither holds the other.
        case overlaps = "Overlaps"
        /// They share positions, but no interior ones.
        case touches = "Touches"
        /// The rectangles around them share a position.
        case envelopeIntersects = "EnvelopeIntersects"
        /// Equivalent to `intersects`.
        case indexIntersects = "IndexIntersects"
        /// The DE-9IM pattern holds between their interiors, boundaries and exteriors.
        case pattern = "Relation"
    }

    /// The geometry, in `spatialReference`.
    public var geometry: Shape
    /// Spatial reference of the geometry; nil for that of the layer's extent.
    public var spatialReference: SpatialReference?
    /// The required relation.
    public var relation: Relation
    /// The DE-9IM pattern, with ``Relation/pattern`` only (OGC 06-103r4, 6.1.15.2).
    ///
    /// Nine letters, the geometry's interior, boundary and exterior by the feature's: `T` and `F`
    /// for a non-empty and an empty intersection, `0`, `1`, `2` for its dimension, `*` for any.
    public var pattern: String?
    /// Distance in metres on the ground by which the geometry is extended, ≥ 0; nil for 0.
    public var distanceMeters: Double?

    /// States it.
    public init(
        geometry: Shape, spatialReference: SpatialReference? = nil,
        relation: Relation = .intersects, pattern: String? = nil, distanceMeters: Double? = nil
    ) {
        self.geometry = geometry
        self.spatialReference = spatialReference
        self.relation = relation
        self.pattern = pattern
        self.distanceMeters = distanceMeters
    }
}

/// A column by which rows are put in order: null first, numbers and moments by size, text by code
/// points.
public struct QueryOrder: Hashable, Sendable, Codable {
    /// The column's name, in any letter case.
    public var field: String
    /// Whether the order is reversed.
    public var isDescending: Bool

    /// States it.
    public init(field: String, isDescending: Bool = false) {
        self.field = field
        self.isDescending = isDescending
    }
}

/// A number or value that is computed of the features of a group; nulls are passed over.
public struct QueryStatistic: Hashable, Sendable, Codable {
    /// A statistic; raw values are Esri's `statisticType`.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// Number of values.
        case count
        /// The sum of numbers.
        case sum
        /// The least value.
        case min
        /// The greatest value.
        case max
        /// The arithmetic mean of numbers.
        case avg
        /// The sample standard deviation of numbers; null for fewer than two.
        case stddev
        /// The sample variance of numbers; null for fewer than two.
        case variance = "var"
    }

    /// The statistic.
    public var kind: Kind
    /// The field; `*` counts features.
    public var field: String
    /// Name of the column.
    public var name: String

    /// States it.
    public init(kind: Kind, field: String, name: String) {
        self.kind = kind
        self.field = field
        self.name = name
    }
}

/// The start of a part of an answer: a continuation token.
public struct QueryPart: Hashable, Sendable, Codable {
    /// A feature of a map.
    public struct Place: Hashable, Sendable, Codable {
        /// Its layer.
        public var layer: LayerID
        /// Its object id.
        public var objectID: Int64

        /// States it.
        public init(layer: LayerID, objectID: Int64) {
            self.layer = layer
            self.objectID = objectID
        }
    }

    /// The row, from 0.
    public var row: Int
    /// Bytes of that row in earlier parts.
    public var byteCount: Int
    /// Bytes of all earlier parts.
    public var totalByteCount: Int
    /// The feature in that row, where an answer is of several layers (find); else nil.
    public var place: Place?

    /// States it.
    public init(row: Int, byteCount: Int, totalByteCount: Int, place: Place? = nil) {
        self.row = row
        self.byteCount = byteCount
        self.totalByteCount = totalByteCount
        self.place = place
    }
}
