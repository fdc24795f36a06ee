// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// "What is here?", with the parameters of Esri's identify operation.
public struct IdentifyRequest: Hashable, Sendable, Codable {
    /// The map that is asked.
    public var map: MapName
    /// What is touched, in `geometrySpatialReference`.
    public var geometry: Shape
    /// The geometry's own spatial reference; nil: `spatialReference`, then the map's.
    public var geometrySpatialReference: SpatialReference?
    /// Which layers are searched.
    public var layers: LayerSelection
    /// How far from the geometry a feature still counts, in screen pixels, ≥ 0.
    public var tolerance: Double
    /// What the caller's screen shows, in `spatialReference` (else the map's).
    ///
    /// It gives the size of a pixel and the scale; it never limits the search.
    public var mapExtent: Envelope
    /// The size of that screen.
    public var imageDisplay: ImageDisplay
    /// Esri's `sr`: of `mapExtent`, of the geometry unless it has its own, and of the output; nil: the
    /// map's.
    public var spatialReference: SpatialReference?
    /// Whether results carry their geometry.
    public var returnGeometry: Bool
    /// Generalises output geometry by at most this distance, in output units; nil: not at all.
    public var maxAllowableOffset: Double?
    /// Decimals kept in output coordinates; nil: all.
    public var geometryPrecision: Int?
    /// Further WHERE clauses by layer, each ANDed with the layer's own definition expression.
    public var layerDefinitions: [LayerID: String]
    /// Asks the map as it was at this sequence number; nil: now.
    public var at: Int64?
    /// The answer must know at least this sequence number (read your own writes).
    public var minSequence: Int64?

    /// Makes a request; the defaults are those of Esri's REST API.
    public init(
        map: MapName, geometry: Shape, geometrySpatialReference: SpatialReference? = nil,
        layers: LayerSelection = LayerSelection(), tolerance: Double, mapExtent: Envelope,
        imageDisplay: ImageDisplay, spatialReference: SpatialReference? = nil,
        returnGeometry: Bool = true, maxAllowableOffset: Double? = nil,
        geometryPrecision: Int? = nil, layerDefinitions: [LayerID: String] = [:],
        at: Int64? = nil, minSequence: Int64? = nil
    ) {
        self.map = map
        self.geometry = geometry
        self.geometrySpatialReference = geometrySpatialReference
        self.layers = layers
        self.tolerance = tolerance
        self.mapExtent = mapExtent
        self.imageDisplay = imageDisplay
        self.spatialReference = spatialReference
        self.returnGeometry = returnGeometry
        self.maxAllowableOffset = maxAllowableOffset
        self.geometryPrecision = geometryPrecision
        self.layerDefinitions = layerDefinitions
        self.at = at
        self.minSequence = minSequence
    }
}

/// Esri's `layers` parameter.
public struct LayerSelection: Hashable, Sendable, Codable {
    /// Which of the candidates are searched.
    public enum Option: String, Hashable, Sendable, Codable {
        /// Visible and in scale; only the top-most layer that has a hit answers.
        case top
        /// Visible and in scale.
        case visible
        /// Every layer, visibility and scale ignored.
        case all
    }

    /// Which of the candidates are searched.
    public var option: Option
    /// The candidates: layers, and groups for all they hold; nil for every layer.
    public var ids: [LayerID]?

    /// Makes a selection.
    public init(_ option: Option = .top, ids: [LayerID]? = nil) {
        self.option = option
        self.ids = ids
    }
}

/// The size of the picture the caller looks at.
public struct ImageDisplay: Hashable, Sendable, Codable {
    /// Pixels across; 0 when unknown.
    public var width: Double
    /// Pixels down; 0 when unknown.
    public var height: Double
    /// Dots per inch; 96 unless stated.
    public var dpi: Double

    /// Makes a size.
    public init(width: Double, height: Double, dpi: Double = 96) {
        self.width = width
        self.height = height
        self.dpi = dpi
    }
}

/// One feature that was hit.
public struct IdentifyResult: Hashable, Sendable, Codable {
    /// The layer it belongs to.
    public var layerID: LayerID
    /// That layer's name.
    public var layerName: String
    /// Its object id.
    public var objectID: Int64
    /// The field shown for it.
    public var displayFieldName: String
    /// That field's value.
    public var value: AttributeValue
    /// All attributes, in field order, the object id among them.
    public var attributes: Attributes
    /// What the feature is.
    public var geometryType: GeometryType
    /// Its geometry in the output spatial reference, when asked for.
    public var geometry: Shape?
    /// The distance from the query geometry in map units; 0 when they touch.
    public var distance: Double

    /// Makes a result.
    public init(
        layerID: LayerID, layerName: String, objectID: Int64, displayFieldName: String,
        value: AttributeValue, attributes: Attributes, geometryType: GeometryType,
        geometry: Shape?, distance: Double
    ) {
        self.layerID = layerID
        self.layerName = layerName
        self.objectID = objectID
        self.displayFieldName = displayFieldName
        self.value = value
        self.attributes = attributes
        self.geometryType = geometryType
        self.geometry = geometry
        self.distance = distance
    }
}

/// The results of one layer, with those of the layers inside it: the SDK's `IdentifyLayerResult`.
public struct IdentifyLayerResult: Hashable, Sendable, Codable {
    /// The layer or group.
    public var layerID: LayerID
    /// Its name.
    public var layerName: String
    /// The features hit in this very layer, nearest first; empty for a group.
    public var results: [IdentifyResult]
    /// The layers inside it that have a hit, top first.
    public var sublayerResults: [IdentifyLayerResult]
    /// Whether further features were hit that are not in `results`.
    public var transferLimitExceeded: Bool

    /// Makes a layer's results.
    public init(
        layerID: LayerID, layerName: String, results: [IdentifyResult],
        sublayerResults: [IdentifyLayerResult], transferLimitExceeded: Bool
    ) {
        self.layerID = layerID
        self.layerName = layerName
        self.results = results
        self.sublayerResults = sublayerResults
        self.transferLimitExceeded = transferLimitExceeded
    }

    /// This layer's results, then its sublayers', depth first: Esri's flat list.
    public var flattened: [IdentifyResult] {
        results + sublayerResults.flatMap(\.flattened)
    }
}

/// The answer to an identify request.
public struct IdentifyAnswer: Hashable, Sendable, Codable {
    /// Top layer first; only layers with a hit.
    public var layers: [IdentifyLayerResult]
    /// The spatial reference of the geometries.
    public var spatialReference: SpatialReference
    /// The sequence number of the map state that answered.
    public var sequence: Int64
    /// Whether the log was out of reach, so the map may have changed since.
    public var isStale: Bool

    /// Makes an answer.
    public init(
        layers: [IdentifyLayerResult], spatialReference: SpatialReference, sequence: Int64,
        isStale: Bool
    ) {
        self.layers = layers
        self.spatialReference = spatialReference
        self.sequence = sequence
        self.isStale = isStale
    }

    /// Every result, top layer first.
    public var results: [IdentifyResult] { layers.flatMap(\.flattened) }
}
