// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// One of the questions that a query puts to a layer of features on another server.
public struct RemoteFeatureQuestion: Hashable, Sendable {
    /// What of the features is wanted.
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
    /// What loading it found out.
    public var properties: LayerProperties
    /// What is wanted.
    public var wanted: Wanted
    /// SQL that must hold; nil for all.
    public var clause: String?
    /// Only features that meet this rectangle, in the layer's own spatial reference; nil for all.
    public var extent: Envelope?
    /// Whether it is the rectangles around features that must meet `extent`.
    public var comparesEnvelopes: Bool
    /// The names of the fields whose values are wanted, the object id's first.
    public var fields: [String]
    /// Whether geometries are wanted.
    public var returnGeometry: Bool
    /// Whether their Z are wanted; a layer without has none.
    public var returnZ = false
    /// Whether their M are wanted; a layer without has none.
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

/// What another server answered to such a question, with values as its layer's fields hold them.
public enum RemoteFeatureAnswer: Hashable, Sendable {
    /// A feature: its object id, its shape in the layer's own spatial reference, and the values of
    /// all fields of the layer, the object id's first; null where they were not asked for.
    public struct Feature: Hashable, Sendable {
        /// The object id, any whole number of 64 bits.
        public var id: Int64
        /// Of the type of the layer, or a point among multipoints; nil where there is none.
        public var shape: Shape?
        /// The Z and M of its coordinates, as far as they were asked for.
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

    /// Features, in the order in which they came; whether there are more, nil where the server does
    /// not say.
    case features([Feature], hasMore: Bool?)
    /// Object ids, in the order in which they came; whether there are more, nil where the server
    /// does not say.
    case objectIDs([Int64], hasMore: Bool?)
    /// A number of features, 0 or more.
    case count(Int)
}
