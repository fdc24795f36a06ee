// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// How an identify request was understood, and what came of every layer and group of the map.
///
/// Its JSON form is stable: members are only ever added. See `Docs/identify.md`.
public struct IdentifyExplanation: Hashable, Sendable, Codable {
    /// The map's spatial reference, in which distances are measured; nil for a blank map.
    public var mapSpatialReference: SpatialReference?
    /// The size of a pixel in map units; nil when the screen or its extent has no size.
    public var resolution: Double?
    /// The denominator of the map's scale; nil like `resolution`.
    public var scale: Double?
    /// How far from the geometry a feature still counted, in map units.
    public var tolerance: Double
    /// The same in metres; a degree counts as it does at the equator.
    public var toleranceMeters: Double
    /// Every layer and group of the map, top first, a group before what it holds.
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

/// What came of one layer or group in an identify.
public struct LayerExplanation: Hashable, Sendable, Codable {
    /// Whether its features were looked at.
    public enum Status: String, Hashable, Sendable, Codable {
        /// Its features were looked at.
        case searched
        /// They were not; `reason` says why.
        case skipped
        /// It lies on another server that did not answer as it should; `reason` and `detail` say
        /// why.
        case failed
    }

    /// Why a layer was not searched; the first that applies, in this order.
    public enum Reason: String, Hashable, Sendable, Codable {
        /// A group has no features of its own; what it holds is listed by itself.
        case group
        /// The request names other layers.
        case notSelected
        /// Its source has not been read, or is being read.
        case notLoaded
        /// Its source could not be read.
        case failedToLoad
        /// It consists of pictures, which have no features.
        case tiled
        /// The layer may not be queried.
        case notQueryable
        /// Only layers with popups were asked for, and its popups are off.
        case popupsOff
        /// It, or a group around it, is hidden.
        case invisible
        /// The scale lies outside its range, or that of a group around it.
        case outOfScale
        /// The map has no spatial reference because its basemap is not loaded.
        case blankMap
        /// `top` was asked, and a layer above it had a hit.
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
    /// Why not; nil when it was searched.
    public var reason: Reason?
    /// The reason in one sentence, with names and numbers; of a layer that was searched, why
    /// features may be missing; nil when none are.
    public var detail: String?
    /// How many features had a rectangle near enough and were tested exactly; what the layer hides
    /// is not counted.
    public var candidateCount: Int
    /// How many near enough were left out by the request's own clause.
    public var excludedByDefinition: Int
    /// How many near enough, and not left out by definition, were left out by time.
    public var excludedByTime: Int
    /// How many were hit.
    public var hitCount: Int
    /// How many of those are in the answer.
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
