// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The interpretation of an identify request, and the outcome for every layer and group of the map.
///
/// Its JSON form is stable: members are only ever added. See `Docs/identify.md`.
public struct IdentifyExplanation: Hashable, Sendable, Codable {
    /// The map's spatial reference, in which distances are measured; nil for a blank map.
    public var mapSpatialReference: SpatialReference?
    /// The size of a pixel in map units; nil when the screen or its extent has no size.
    public var resolution: Double?
    /// The denominator of the map's scale; nil like `resolution`.
    public var scale: Double?
    /// Hit distance in map units.
    public var tolerance: Double
    /// Hit distance in metres; degrees are converted as at the equator.
    public var toleranceMeters: Double
    /// Every layer and group of the map, top first, a group before its layers.
    public var layers: [LayerExplanation]

    /// Makes an explanation.
    public init(
        mapSpatialReference: SpatialReference?, resolution: Double?, scale: Double?,
        tolerance: Double, toleranceMeters: Double, layers: [LayerExplanation]
    ) {
        self.mapSpatialReference = mapSpatialReference
        self.resolution = resolution
        self.scale = scale
        self.tolerance = tolerance
        self.toleranceMeters = toleranceMeters
        self.layers = layers
    }
}

/// The outcome for one layer or group in an identify.
public struct LayerExplanation: Hashable, Sendable, Codable {
    /// Whether its features were searched.
    public enum Status: String, Hashable, Sendable, Codable {
        /// Searched.
        case searched
        /// Not searched; `reason` says why.
        case skipped
        /// The layer's server failed; `reason` and `detail` say why.
        case failed
    }

    /// The reason why a layer was not searched; the first that applies, in this order.
    public enum Reason: String, Hashable, Sendable, Codable {
        /// A group has no features of its own; its layers are listed themselves.
        case group
        /// The request names other layers.
        case notSelected
        /// Its source has not been read, or is being read.
        case notLoaded
        /// Its source could not be read.
        case failedToLoad
        /// A tile layer has no features.
        case tiled
        /// The layer may not be queried.
        case notQueryable
        /// The request is for layers with popups, and this one's are off.
        case popupsOff
        /// The layer, or a group around it, is hidden.
        case invisible
        /// The scale is out of its range, or that of a group around it.
        case outOfScale
        /// The map has no spatial reference because its basemap is not loaded.
        case blankMap
        /// The request is for `top`, and a layer above had a hit.
        case afterTop
        /// Another server did not answer as it should.
        case remoteFailed
    }

    /// The layer or group.
    public var layerID: LayerID
    /// Its name.
    public var layerName: String
    /// Whether it was searched.
    public var status: Status
    /// The reason; nil for a layer that was searched.
    public var reason: Reason?
    /// The reason in one sentence, with names and numbers; of a layer that was searched, why
    /// features may be missing; nil when none are.
    public var detail: String?
    /// Number of exact tests, after the search by rectangle; features hidden by the layer are not
    /// counted.
    public var candidateCount: Int
    /// Number of features in reach that the request's own clause excluded.
    public var excludedByDefinition: Int
    /// Number of features in reach that only the time excluded.
    public var excludedByTime: Int
    /// Number of hits.
    public var hitCount: Int
    /// Number of hits in the answer.
    public var resultCount: Int
    /// Whether some are not, because of a limit.
    public var transferLimitExceeded: Bool

    /// Makes the entry of a layer that was searched.
    public init(
        searched layerID: LayerID, layerName: String, candidateCount: Int,
        excludedByDefinition: Int, excludedByTime: Int, hitCount: Int, resultCount: Int,
        transferLimitExceeded: Bool
    ) {
        self.layerID = layerID
        self.layerName = layerName
        status = .searched
        self.candidateCount = candidateCount
        self.excludedByDefinition = excludedByDefinition
        self.excludedByTime = excludedByTime
        self.hitCount = hitCount
        self.resultCount = resultCount
        self.transferLimitExceeded = transferLimitExceeded
    }

    /// Makes the entry of a layer that was not searched.
    public init(
        skipped layerID: LayerID, layerName: String, reason: Reason, detail: String
    ) {
        self.init(
            searched: layerID, layerName: layerName, candidateCount: 0, excludedByDefinition: 0,
            excludedByTime: 0, hitCount: 0, resultCount: 0, transferLimitExceeded: false)
        status = .skipped
        self.reason = reason
        self.detail = detail
    }
}
