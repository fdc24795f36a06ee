// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// What is asked of a layer on another server.
public struct RemoteQuestion: Hashable, Sendable {
    /// The layer's source.
    public var source: LayerSource
    /// What loading it found out.
    public var properties: LayerProperties
    /// Of every coordinate and distance here.
    public var spatialReference: SpatialReference
    /// The query geometry.
    public var shape: Shape
    /// Its centroid.
    public var middle: Coordinate
    /// How far from the geometry a feature still counts, in pixels.
    public var tolerancePixels: Double
    /// The same in units of the spatial reference, or more where the screen has another.
    public var distance: Double
    /// The size of a pixel in units of the spatial reference, above 0.
    public var resolution: Double
    /// Dots per inch of the screen.
    public var dpi: Double
    /// Whether layers that are hidden there are asked too.
    public var asksHidden: Bool
    /// SQL that holds of every feature that counts; nil for none.
    ///
    /// What comes is put to the clauses themselves.
    public var clause: String?
    /// The most features wanted.
    public var limit: Int
    /// Whether the Z of coordinates are wanted, where there are any.
    public var returnZ = false
    /// Whether their M are wanted, where there are any.
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

/// What another server gave, which may be less than it should be.
public protocol RemoteOutcome: Sendable {
    /// Why something is missing, in one sentence; nil where nothing failed.
    var shortfall: Failure? { get set }
}

/// What another server answered.
public struct RemoteAnswer: Hashable, RemoteOutcome {
    /// One feature of it.
    public struct Feature: Hashable, Sendable {
        /// The layer there that it belongs to; nil where that is not said.
        public var group: String?
        /// Its number; nil where it has none.
        public var id: Int64?
        /// Its attributes, in the server's order.
        public var attributes: Attributes
        /// The field the server shows for it; nil where it does not say.
        public var displayField: String?
        /// Its shape; nil where it is not told.
        public var shape: Shape?
        /// The Z and M of its coordinates, as far as they were asked for.
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
    /// Whether the server says itself that it has no more.
    public var isSaidWhole = false
    /// Why features may be missing, as a page that failed, or count for nothing, as one that cannot
    /// be measured.
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

/// A layer that could not be asked, or not for all that it has, and why.
public struct LayerFailure: Hashable, Sendable, Codable {
    /// The layer.
    public var layerID: LayerID
    /// Its name.
    public var layerName: String
    /// Why, in one sentence.
    public var error: Failure

    /// Makes an entry.
    public init(layerID: LayerID, layerName: String, error: Failure) {
        self.layerID = layerID
        self.layerName = layerName
        self.error = error
    }
}

extension LayerFailure {
    /// Which layer failed, and nothing of what its server or its files said.
    public var outside: LayerFailure {
        LayerFailure(layerID: layerID, layerName: layerName, error: error.ofLayerOutside)
    }
}

extension Failure {
    fileprivate var ofLayerOutside: Failure {
        switch code {
        // What Identify and FeatureQuery say of a layer that has no place in an answer.
        case .unreadable where message.hasPrefix("its spatial reference"): self
        case .corrupt, .notFound: Failure(code, "the layer's data cannot be read")
        default: Failure(.unavailable, "the layer's server did not answer as it should")
        }
    }
}
