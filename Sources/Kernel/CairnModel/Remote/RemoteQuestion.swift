// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// A question to a layer on another server.
public struct RemoteQuestion: Hashable, Sendable {
    /// The layer's source.
    public var source: LayerSource
    /// The layer's properties from its load.
    public var properties: LayerProperties
    /// Spatial reference of every coordinate and distance here.
    public var spatialReference: SpatialReference
    /// The query geometry.
    public var shape: Shape
    /// Its centroid.
    public var middle: Coordinate
    /// Hit distance from the geometry in pixels.
    public var tolerancePixels: Double
    /// Hit distance in units of the spatial reference; larger where the screen has another.
    public var distance: Double
    /// The size of a pixel in units of the spatial reference, above 0.
    public var resolution: Double
    /// Dots per inch of the screen.
    public var dpi: Double
    /// Whether layers that are hidden there are included.
    public var asksHidden: Bool
    /// SQL condition that every matching feature satisfies; nil for none.
    ///
    /// The clauses themselves are evaluated on the answer.
    public var clause: String?
    /// Most features.
    public var limit: Int
    /// Whether Z is requested, where present.
    public var returnZ = false
    /// Whether M is requested, where present.
    public var returnM = false

    /// Makes a question.
    public init(
        source: LayerSource, properties: LayerProperties, spatialReference: SpatialReference,
        shape: Shape, middle: Coordinate, tolerancePixels: Double, distance: Double,
        resolution: Double, dpi: Double, asksHidden: Bool, clause: String? = nil, limit: Int
    ) {
        self.source = source
        self.properties = properties
        self.spatialReference = spatialReference
        self.shape = shape
        self.middle = middle
        self.tolerancePixels = tolerancePixels
        self.distance = distance
        self.resolution = resolution
        self.dpi = dpi
        self.asksHidden = asksHidden
        self.clause = clause
        self.limit = limit
    }
}

/// The outcome of another server, which may be incomplete.
public protocol RemoteOutcome: Sendable {
    /// The reason for missing content, in one sentence; nil when nothing failed.
    var shortfall: Failure? { get set }
}

/// The answer of another server.
public struct RemoteAnswer: Hashable, RemoteOutcome {
    /// One feature of the answer.
    public struct Feature: Hashable, Sendable {
        /// The layer of that server that it belongs to; nil when not stated.
        public var group: String?
        /// Its number; nil where it has none.
        public var id: Int64?
        /// Its attributes, in the server's order.
        public var attributes: Attributes
        /// The display field of the server; nil for none.
        public var displayField: String?
        /// Its shape; nil when not given.
        public var shape: Shape?
        /// The Z and M of its coordinates, as requested.
        public var ordinates: FurtherOrdinates
        /// The shape's spatial reference.
        public var spatialReference: SpatialReference

        /// Makes a feature.
        public init(
            group: String? = nil, id: Int64? = nil, attributes: Attributes,
            displayField: String? = nil, shape: Shape? = nil,
            ordinates: FurtherOrdinates = FurtherOrdinates(),
            spatialReference: SpatialReference = .wgs84
        ) {
            self.group = group
            self.id = id
            self.attributes = attributes
            self.displayField = displayField
            self.shape = shape
            self.ordinates = ordinates
            self.spatialReference = spatialReference
        }
    }

    /// The features, in the server's order.
    public var features: [Feature]
    /// Whether the server has, or may have, more.
    public var isCut: Bool
    /// Whether the server itself states that it is complete.
    public var isSaidWhole = false
    /// The reason why features may be missing (a failed page) or are useless (not measurable).
    public var shortfall: Failure?
    /// Whether a feature counts only where its shape is near enough, by our own measure.
    public var isSuperset: Bool

    /// Makes an answer.
    public init(
        features: [Feature], isCut: Bool, shortfall: Failure? = nil, isSuperset: Bool = false
    ) {
        self.features = features
        self.isCut = isCut
        self.shortfall = shortfall
        self.isSuperset = isSuperset
    }
}

/// A layer that failed, or answered in part, with the reason.
public struct LayerFailure: Hashable, Sendable, Codable {
    /// The layer.
    public var layerID: LayerID
    /// Its name.
    public var layerName: String
    /// The reason, in one sentence.
    public var error: Failure

    /// Makes an entry.
    public init(layerID: LayerID, layerName: String, error: Failure) {
        self.layerID = layerID
        self.layerName = layerName
        self.error = error
    }
}

extension LayerFailure {
    /// A copy without the messages of its server or its files.
    public var outside: LayerFailure {
        LayerFailure(layerID: layerID, layerName: layerName, error: error.ofLayerOutside)
    }
}

extension Failure {
    fileprivate var ofLayerOutside: Failure {
        switch code {
        // The messages of Identify and FeatureQuery for a layer that has no place in an answer.
        case .unreadable where message.hasPrefix("its spatial reference"): self
        case .corrupt, .notFound: Failure(code, "the layer's data cannot be read")
        default: Failure(.unavailable, "the layer's server did not answer as it should")
        }
    }
}
