// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// "Which features?", with the parameters of Esri's query operation on one layer.
public struct QueryRequest: PastRequest, Hashable, Sendable, Codable {
    /// The most features of one answer.
    public static let recordBound = 2_000

    /// The map that is asked.
    public var map: MapName
    /// The layer that is asked.
    public var layer: LayerID
    /// A WHERE clause, ANDed with the layer's own definition expression; nil for all.
    public var clause: String?
    /// Only features whose ``LayerDescription/shownField`` has this text somewhere, letter case
    /// included; nil for all.
    public var text: String?
    /// Only features with these object ids; nil for all.
    public var objectIDs: [Int64]?
    /// Only features in this relation to a geometry; nil for all.
    public var spatialFilter: QuerySpatialFilter?
    /// Only features of that time; nil for any.
    ///
    /// Layers without a ``LayerDescription/timeInfo`` are not limited by it.
    public var time: TimeExtent?
    /// Whether the ends of `time` belong to it.
    public var timeRelation = TimeRelation.overlaps
    /// Whether a feature without geometry meets any `spatialFilter`, and one without any time any
    /// `time`, as OGC API – Features has it; nil: neither meets any.
    ///
    /// Layers on other servers: of time only.
    public var matchesMissing: Bool?
    /// What is asked of the features.
    public var result = QueryResult.features
    /// Whether an extent comes with the number of features.
    public var returnCount = false
    /// How features are written.
    public var form = QueryForm.esri
    /// The names of the fields that features carry, `*` for all; nil for the object id and the
    /// field that is shown.
    public var outFields: [String]?
    /// Whether features carry their geometry.
    public var returnGeometry = true
    /// Whether polygons carry their centroid.
    public var returnCentroid = false
    /// Of the output; nil: WGS 84 for GeoJSON, else the one in which the layer's extent is told.
    public var outReference: SpatialReference?
    /// Generalises output geometry by at most this distance, in output units; nil: not at all.
    public var maxAllowableOffset: Double?
    /// Decimals kept in output coordinates; nil: all.
    public var geometryPrecision: Int?
    /// The grid on which coordinates are told, in Esri's JSON without Z and M; nil for none.
    public var quantization: QueryQuantization?
    /// Whether coordinates carry their Z, where the layer has Z.
    public var returnZ = false
    /// Whether coordinates carry their M, where the layer has M.
    public var returnM = false
    /// Whether rows with equal values in `outFields` are one row, without geometry.
    public var returnDistinctValues = false
    /// The order of the rows; equal rows, and all where it is empty, are in that of object ids.
    public var order: [QueryOrder] = []
    /// The fields whose values make a group of `statistics`.
    public var groupFields: [String] = []
    /// What is computed of each group; empty for features.
    public var statistics: [QueryStatistic] = []
    /// A HAVING clause that the rows of `statistics` must fulfil; nil for all.
    public var having: String?
    /// How many rows are passed over.
    public var offset = 0
    /// The most rows; nil, and anything above ``recordBound``, is that bound.
    public var limit: Int?
    /// Asks the map as it was at this sequence number; nil: now.
    public var at: Int64?
    /// Asks the map as it was at this moment; at most one of `at` and `atTime` may be given.
    public var atTime: Timestamp?
    /// With `at` or `atTime`, leaves out what was removed, hidden or deleted by this sequence
    /// number; nil: nothing.
    public var seenFrom: Int64?
    /// The answer must know at least this sequence number (read your own writes).
    public var minSequence: Int64?
    /// Which part of the answer is asked for; nil for the first.
    public var part: QueryPart?
    /// Whether it is asked for the sake of another query of the same client, which alone is
    /// recorded; nil: no.
    public var isAuxiliary: Bool?
    /// Whether failures leave out what other servers and files said, for callers without `admin`;
    /// nil: no.
    public var hidesInside: Bool?

    /// Asks for all features of a layer.
    public init(map: MapName, layer: LayerID) {
        self.map = map
        self.layer = layer
    }
}

/// What a query asks of the features it finds.
public enum QueryResult: String, Hashable, Sendable, Codable {
    /// Themselves, or rows made of them.
    case features
    /// Their object ids, however many.
    case objectIDs
    /// Their number, or that of the rows made of them.
    case count
    /// The rectangle around them.
    case extent
}

/// How the features of an answer are written.
public enum QueryForm: String, Hashable, Sendable, Codable {
    /// Esri's JSON.
    case esri
    /// GeoJSON (RFC 7946).
    case geoJSON
    /// GeoJSON as OGC API – Features has it: positions have the axes in the order of the authority
    /// of the reference that is asked for, and longitude first where none is; moments are ISO 8601;
    /// the last member is `numberReturned`.
    case ogcFeatures
}

/// A geometry that features are compared with.
public struct QuerySpatialFilter: Hashable, Sendable, Codable {
    /// How a feature must lie to the geometry; raw values are Esri's without `esriSpatialRel`, read
    /// as "geometry … feature".
    public enum Relation: String, Hashable, Sendable, Codable, CaseIterable {
        /// They share a position.
        case intersects = "Intersects"
        /// The feature lies in the geometry.
        case contains = "Contains"
        /// The geometry lies in the feature.
        case within = "Within"
        /// Their insides meet in something of a lower dimension than the higher of theirs.
        case crosses = "Crosses"
        /// Their insides meet in something of their own dimension, and neither holds the other.
        case overlaps = "Overlaps"
        /// They share positions, none of them inside both.
        case touches = "Touches"
        /// The rectangles around them share a position.
        case envelopeIntersects = "EnvelopeIntersects"
        /// The same.
        case indexIntersects = "IndexIntersects"
        /// Their insides, borders and outsides meet as the pattern says.
        case pattern = "Relation"
    }

    /// The geometry, in `spatialReference`.
    public var geometry: Shape
    /// The geometry's; nil: the one in which the layer's extent is told.
    public var spatialReference: SpatialReference?
    /// How features must lie to it.
    public var relation: Relation
    /// With ``Relation/pattern`` only, where it is needed: a pattern of nine letters of the
    /// dimensionally extended nine-intersection model (OGC 06-103r4, 6.1.15.2), the geometry's
    /// inside, border and outside by the feature's: `T` and `F` for something and nothing in
    /// common, `0`, `1`, `2` for its dimension, `*` for anything.
    public var pattern: String?
    /// The relation is one to all that is so near to the geometry on the ground, 0 or more metres;
    /// nil for 0.
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
    /// Whether what is first otherwise comes last.
    public var isDescending: Bool

    /// States it.
    public init(field: String, isDescending: Bool = false) {
        self.field = field
        self.isDescending = isDescending
    }
}

/// A number or value that is computed of the features of a group; nulls are passed over.
public struct QueryStatistic: Hashable, Sendable, Codable {
    /// What is computed; raw values are Esri's `statisticType`.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// How many values there are.
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

    /// What is computed.
    public var kind: Kind
    /// Of which field; `*` counts features.
    public var field: String
    /// What the column is called.
    public var name: String

    /// States it.
    public init(kind: Kind, field: String, name: String) {
        self.kind = kind
        self.field = field
        self.name = name
    }
}

/// Where a part of an answer begins.
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
    /// How many bytes of that row earlier parts have.
    public var byteCount: Int
    /// How many bytes earlier parts have in all.
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
