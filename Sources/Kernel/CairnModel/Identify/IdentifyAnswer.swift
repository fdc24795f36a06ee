// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// One feature that was hit.
public struct IdentifyResult: Hashable, Sendable, Codable {
    /// The layer it belongs to.
    public var layerID: LayerID
    /// Name of that layer.
    public var layerName: String
    /// Its object id.
    public var objectID: Int64
    /// The name, never the alias, of the field shown for it.
    public var displayFieldName: String
    /// Value of that field, formatted as the attributes.
    public var value: AttributeValue
    /// All attributes, in field order, the object id among them.
    ///
    /// Named and formatted by the request's `returnFieldName` and `returnUnformattedValues`.
    public var attributes: Attributes
    /// Geometry type of the feature.
    public var geometryType: GeometryType
    /// Geometry in the output spatial reference, if requested.
    public var geometry: Shape?
    /// Z of every coordinate of `geometry` in its order, nil for a missing one.
    ///
    /// Nil as a whole when not requested, or when the layer has no Z.
    public var zValues: [Double?]?
    /// The M of every coordinate of `geometry`, as `zValues`.
    public var mValues: [Double?]?
    /// The distance from the query geometry in map units; 0 when they touch.
    public var distance: Double

    /// Makes a result.
    public init(
        layerID: LayerID, layerName: String, objectID: Int64, displayFieldName: String,
        value: AttributeValue, attributes: Attributes, geometryType: GeometryType,
        geometry: Shape?, zValues: [Double?]? = nil, mValues: [Double?]? = nil,
        distance: Double
    ) {
        self.layerID = layerID
        self.layerName = layerName
        self.objectID = objectID
        self.displayFieldName = displayFieldName
        self.value = value
        self.attributes = attributes
        self.geometryType = geometryType
        self.geometry = geometry
        self.zValues = zValues
        self.mValues = mValues
        self.distance = distance
    }
}

/// The results of one layer, with those of its sublayers: the SDK's `IdentifyLayerResult`.
public struct IdentifyLayerResult: Hashable, Sendable, Codable {
    /// The layer or group.
    public var layerID: LayerID
    /// Its name.
    public var layerName: String
    /// The features hit in this very layer, nearest first; empty for a group.
    public var results: [IdentifyResult]
    /// The layers inside it that have a hit, top first.
    public var sublayerResults: [IdentifyLayerResult]
    /// Whether further features of this very layer were hit that are not in `results`.
    public var transferLimitExceeded: Bool
    /// Number of hits in this layer alone, omitted ones included as far as their number is known.
    public var hitCount: Int

    /// Creates a layer's results; `hitCount` defaults to the number of results.
    public init(
        layerID: LayerID, layerName: String, results: [IdentifyResult],
        sublayerResults: [IdentifyLayerResult], transferLimitExceeded: Bool, hitCount: Int? = nil
    ) {
        self.layerID = layerID
        self.layerName = layerName
        self.results = results
        self.sublayerResults = sublayerResults
        self.transferLimitExceeded = transferLimitExceeded
        self.hitCount = hitCount ?? results.count
    }

    /// Whether features were left out here or in any layer inside.
    public var isTruncated: Bool {
        transferLimitExceeded || sublayerResults.contains(where: \.isTruncated)
    }

    /// Number of hits here and in all sublayers.
    public var totalHitCount: Int { sublayerResults.reduce(hitCount) { $0 + $1.totalHitCount } }

    /// Number of `results` here and in all sublayers.
    public var totalResultCount: Int {
        sublayerResults.reduce(results.count) { $0 + $1.totalResultCount }
    }

    /// The results of this layer, then of its sublayers, depth first: Esri's flat list.
    public var flattened: [IdentifyResult] {
        var results: [IdentifyResult] = []
        forEachResult { results.append($0) }
        return results
    }

    /// Calls `body` with each of ``flattened``.
    func forEachResult(_ body: (IdentifyResult) -> Void) {
        for result in results { body(result) }
        for layer in sublayerResults { layer.forEachResult(body) }
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
    /// The outcome for every layer, if requested.
    public var explanation: IdentifyExplanation?
    /// Layers on other servers that failed, or answered in part, top first; nil for none.
    ///
    /// The answer lacks their features.
    public var failures: [LayerFailure]?

    /// Makes an answer.
    public init(
        layers: [IdentifyLayerResult], spatialReference: SpatialReference, sequence: Int64,
        isStale: Bool, explanation: IdentifyExplanation? = nil,
        failures: [LayerFailure]? = nil
    ) {
        self.failures = failures
        self.layers = layers
        self.spatialReference = spatialReference
        self.sequence = sequence
        self.isStale = isStale
        self.explanation = explanation
    }

    /// Number of hits in all layers, omitted ones included.
    public var hitCount: Int { layers.reduce(0) { $0 + $1.totalHitCount } }

    /// Whether features of any layer were left out.
    public var transferLimitExceeded: Bool { layers.contains(where: \.isTruncated) }

    /// Calls `body` with every result, top layer first.
    public func forEachResult(_ body: (IdentifyResult) -> Void) {
        for layer in layers { layer.forEachResult(body) }
    }

    /// Every result, top layer first.
    public var results: [IdentifyResult] {
        var results: [IdentifyResult] = []
        forEachResult { results.append($0) }
        return results
    }
}
