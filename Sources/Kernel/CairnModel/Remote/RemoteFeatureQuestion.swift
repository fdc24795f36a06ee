// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// One of the questions that a query puts to a layer of features on another server.
public struct RemoteFeatureQuestion: Hashable, Sendable {
    /// The requested kind of result.
    public enum Wanted: Hashable, Sendable {
        /// Some of them by rising, or falling, object id, after those that are passed over.
        case page(offset: Int, limit: Int, isDescending: Bool)
        /// Those with these object ids.
        case features([Int64])
        /// The object ids of all.
        case objectIDs
        /// Their number.
        case count
    }

    /// The layer's source.
    public var source: LayerSource
    /// The layer's properties from its load.
    public var properties: LayerProperties
    /// The requested kind of result.
    public var wanted: Wanted
    /// SQL that must hold; nil for all.
    public var clause: String?
    /// Filter by rectangle, in the layer's own spatial reference; nil for all.
    public var extent: Envelope?
    /// Whether it is the rectangles around features that must meet `extent`.
    public var comparesEnvelopes: Bool
    /// The names of the requested fields, the object id's first.
    public var fields: [String]
    /// Whether geometries are requested.
    public var returnGeometry: Bool
    /// Whether Z is requested; layers without Z have none.
    public var returnZ = false
    /// Whether M is requested; layers without M have none.
    public var returnM = false

    /// Makes a question.
    public init(
        source: LayerSource, properties: LayerProperties, wanted: Wanted, clause: String?,
        extent: Envelope?, comparesEnvelopes: Bool = false, fields: [String], returnGeometry: Bool
    ) {
        self.source = source
        self.properties = properties
        self.wanted = wanted
        self.clause = clause
        self.extent = extent
        self.comparesEnvelopes = comparesEnvelopes
        self.fields = fields
        self.returnGeometry = returnGeometry
    }
}

/// The answer of another server to such a question, with values of the field types.
public enum RemoteFeatureAnswer: Hashable, Sendable {
    /// A feature: its object id, its shape in the layer's own spatial reference, and the values of
    /// all fields of the layer, the object id's first; null for fields not requested.
    public struct Feature: Hashable, Sendable {
        /// The object id, any whole number of 64 bits.
        public var id: Int64
        /// A shape of the layer's type, or a point in a multipoint layer; nil for none.
        public var shape: Shape?
        /// The Z and M of its coordinates, as requested.
        public var ordinates: FurtherOrdinates
        /// In the order of the layer's fields.
        public var values: [AttributeValue]

        /// States it.
        public init(
            id: Int64, shape: Shape?, ordinates: FurtherOrdinates = FurtherOrdinates(),
            values: [AttributeValue]
        ) {
            self.id = id
            self.shape = shape
            self.ordinates = ordinates
            self.values = values
        }

        /// About how many bytes of memory it takes.
        public var byteCount: Int {
            let texts = values.reduce(0) { sum, value in
                if case .string(let text) = value { sum + text.utf8.count } else { sum }
            }
            let further = (ordinates.z?.count ?? 0) + (ordinates.m?.count ?? 0)
            return 64 + 16 * ((shape?.coordinateCount ?? 0) + further) + 16 * values.count + texts
        }
    }

    /// Features, in the server's order; whether there are more, nil without a statement of the
    /// server.
    case features([Feature], hasMore: Bool?)
    /// Object ids, in the server's order; whether there are more, nil without a statement of the
    /// server.
    case objectIDs([Int64], hasMore: Bool?)
    /// A number of features, 0 or more.
    case count(Int)
}
