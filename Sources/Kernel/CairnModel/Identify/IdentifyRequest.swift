// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// An identify request, with the parameters of Esri's identify operation.
public struct IdentifyRequest: Hashable, Sendable, Codable {
    /// The service's bound on the results of one layer.
    public static let resultsPerLayerBound = 1000

    /// The map to search.
    public var map: MapName
    /// The search geometry, in `geometrySpatialReference`.
    public var geometry: Shape
    /// The geometry's own spatial reference; nil: `spatialReference`, then the map's.
    public var geometrySpatialReference: SpatialReference?
    /// The layers to search.
    public var layers: LayerSelection
    /// Hit distance from the geometry in screen pixels, ≥ 0.
    public var tolerance: Double
    /// The extent of the caller's screen, in `spatialReference` (else the map's).
    ///
    /// It gives the size of a pixel and the scale; it never limits the search.
    public var mapExtent: Envelope
    /// The size of that screen.
    public var imageDisplay: ImageDisplay
    /// Esri's `sr`: of `mapExtent`, of the geometry unless it has its own, and of the output; nil:
    /// the map's.
    public var spatialReference: SpatialReference?
    /// Whether results carry their geometry.
    public var returnGeometry: Bool
    /// Generalises output geometry by at most this distance, in output units; nil: not at all.
    public var maxAllowableOffset: Double?
    /// Decimals kept in output coordinates; nil: all.
    public var geometryPrecision: Int?
    /// Further WHERE clauses by layer, each ANDed with the layer's own definition expression.
    public var layerDefinitions: [LayerID: String]
    /// Esri's `time`: only features of that time; nil: of any.
    ///
    /// Layers without a ``LayerDescription/timeInfo`` are not limited by it.
    public var time: TimeExtent?
    /// Whether the ends of `time` belong to it.
    public var timeRelation: TimeRelation
    /// Time options of single layers.
    public var layerTimeOptions: [LayerID: LayerTimeOptions]
    /// Whether results carry the Z of every coordinate, where the layer has Z.
    public var returnZ: Bool
    /// Whether results carry the M of every coordinate, where the layer has M.
    public var returnM: Bool
    /// Whether attributes are named by field; else by the field's alias, which defaults to the
    /// name.
    public var returnFieldName: Bool
    /// Whether attributes are typed values; else all but null are text, as people read it. (Esri's
    /// REST API has false for its default.)
    public var returnUnformattedValues: Bool
    /// The most results of one layer, 0 or more, 0 for counts alone; nil, and anything above the
    /// service's bound, is the bound.
    public var maximumResultsPerLayer: Int?
    /// Whether layers with popups off are excluded.
    public var returnPopupsOnly: Bool
    /// Whether the answer explains the outcome for every layer.
    public var explain: Bool
    /// The sequence number as of which the map is read; nil for now.
    public var at: Int64?
    /// The moment as of which the map is read; at most one of `at` and `atTime` may be given.
    public var atTime: Timestamp?
    /// With `at` or `atTime`, excludes features removed, hidden or deleted by this sequence number;
    /// nil for none.
    public var seenFrom: Int64?
    /// Least sequence number the answer must include (read your own writes).
    public var minSequence: Int64?

    /// Creates a request; the defaults are those of Esri's REST API, typed attributes apart.
    public init(
        map: MapName, geometry: Shape, geometrySpatialReference: SpatialReference? = nil,
        layers: LayerSelection = LayerSelection(), tolerance: Double, mapExtent: Envelope,
        imageDisplay: ImageDisplay, spatialReference: SpatialReference? = nil,
        returnGeometry: Bool = true, maxAllowableOffset: Double? = nil,
        geometryPrecision: Int? = nil, layerDefinitions: [LayerID: String] = [:],
        time: TimeExtent? = nil, timeRelation: TimeRelation = .overlaps,
        layerTimeOptions: [LayerID: LayerTimeOptions] = [:], returnZ: Bool = false,
        returnM: Bool = false, returnFieldName: Bool = false,
        returnUnformattedValues: Bool = true, maximumResultsPerLayer: Int? = nil,
        returnPopupsOnly: Bool = false, explain: Bool = false, at: Int64? = nil,
        atTime: Timestamp? = nil, seenFrom: Int64? = nil, minSequence: Int64? = nil
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
        self.time = time
        self.timeRelation = timeRelation
        self.layerTimeOptions = layerTimeOptions
        self.returnZ = returnZ
        self.returnM = returnM
        self.returnFieldName = returnFieldName
        self.returnUnformattedValues = returnUnformattedValues
        self.maximumResultsPerLayer = maximumResultsPerLayer
        self.returnPopupsOnly = returnPopupsOnly
        self.explain = explain
        self.at = at
        self.atTime = atTime
        self.seenFrom = seenFrom
        self.minSequence = minSequence
    }
}

extension IdentifyRequest {
    /// Reads every member; those with a default may be absent.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func read<Value: Decodable>(_ key: CodingKeys, _ standard: Value) throws -> Value {
            try members.decodeIfPresent(Value.self, forKey: key) ?? standard
        }
        func read<Value: Decodable>(_ key: CodingKeys) throws -> Value? {
            try members.decodeIfPresent(Value.self, forKey: key)
        }
        self.init(
            map: try members.decode(MapName.self, forKey: .map),
            geometry: try members.decode(Shape.self, forKey: .geometry),
            geometrySpatialReference: try read(.geometrySpatialReference),
            layers: try read(.layers, LayerSelection()),
            tolerance: try members.decode(Double.self, forKey: .tolerance),
            mapExtent: try members.decode(Envelope.self, forKey: .mapExtent),
            imageDisplay: try members.decode(ImageDisplay.self, forKey: .imageDisplay),
            spatialReference: try read(.spatialReference),
            returnGeometry: try read(.returnGeometry, true),
            maxAllowableOffset: try read(.maxAllowableOffset),
            geometryPrecision: try read(.geometryPrecision),
            layerDefinitions: try read(.layerDefinitions, [:]), time: try read(.time),
            timeRelation: try read(.timeRelation, .overlaps),
            layerTimeOptions: try read(.layerTimeOptions, [:]),
            returnZ: try read(.returnZ, false), returnM: try read(.returnM, false),
            returnFieldName: try read(.returnFieldName, false),
            returnUnformattedValues: try read(.returnUnformattedValues, true),
            maximumResultsPerLayer: try read(.maximumResultsPerLayer),
            returnPopupsOnly: try read(.returnPopupsOnly, false),
            explain: try read(.explain, false), at: try read(.at), atTime: try read(.atTime),
            seenFrom: try read(.seenFrom), minSequence: try read(.minSequence))
    }
}

/// Esri's `layers` parameter.
public struct LayerSelection: Hashable, Sendable, Codable {
    /// The candidates to search.
    public enum Option: String, Hashable, Sendable, Codable {
        /// Visible and in scale; only the top-most layer that has a hit answers.
        case top
        /// Visible and in scale.
        case visible
        /// Every layer, visibility and scale ignored.
        case all
    }

    /// The candidates to search.
    public var option: Option
    /// The candidates: layers, and groups for all they hold; nil for every layer.
    public var ids: [LayerID]?

    /// Makes a selection.
    public init(_ option: Option = .top, ids: [LayerID]? = nil) {
        self.option = option
        self.ids = ids
    }
}

/// The size of the caller's picture.
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
