// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// A layer of imported features got new data; it stays the same layer.
public struct LayerReplaced: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.replaced"
    /// The layer.
    public var layer: LayerID
    /// Its dataset from now on.
    public var dataset: ContentID
    /// Its properties, the edits that are carried over included.
    public var properties: LayerProperties
    /// The column by which features kept their object ids; absent where the ids are the source's.
    public var key: String?
    /// The edits that are carried over, by rising object id; absent for none.
    public var features: [RestoredFeature]?
    /// The lowest object id that no feature of the layer ever had; absent where it stays.
    public var nextID: Int64?
    /// The object ids of features whose edits gave way to the new data; absent for none.
    public var dropped: [Int64]?
    /// Makes the event.
    public init(
        layer: LayerID, dataset: ContentID, properties: LayerProperties, key: String? = nil,
        features: [RestoredFeature]? = nil, nextID: Int64? = nil, dropped: [Int64]? = nil
    ) {
        self.layer = layer
        self.dataset = dataset
        self.properties = properties
        self.key = key
        self.features = features
        self.nextID = nextID
        self.dropped = dropped
    }
}

/// A request to give a layer of imported features new data.
public struct ReplacementRequest: Hashable, Sendable, Codable {
    /// The dataset of the new data.
    public var dataset: ContentID
    /// The column by which features kept their object ids; nil where the ids are the source's.
    public var key: String?
    /// Whether edits that conflict with the new data give way to it.
    public var dropsEdits: Bool
    /// Whether the outcome is only reported.
    public var isDryRun: Bool

    /// Makes a request.
    public init(
        dataset: ContentID, key: String? = nil, dropsEdits: Bool = false, isDryRun: Bool = false
    ) {
        self.dataset = dataset
        self.key = key
        self.dropsEdits = dropsEdits
        self.isDryRun = isDryRun
    }
}

/// What a replacement does to the edits of its layer, or did.
public struct ReplacementReport: Hashable, Sendable, Codable {
    /// An edit that conflicts with the new data.
    public struct Conflict: Hashable, Sendable, Codable {
        /// The object id of the feature.
        public var id: Int64
        /// What was edited, and what the new data has instead.
        public var reason: String
        /// States it.
        public init(id: Int64, reason: String) {
            self.id = id
            self.reason = reason
        }

        /// `feature 7: 'name' was edited …`.
        public var text: String { "feature \(id): \(reason)" }
    }

    /// The object ids of features with edits that are carried over, rising.
    public var carried: [Int64]
    /// The edits that are not, by rising object id.
    public var conflicts: [Conflict]
    /// Properties of the layer that name what the new data lacks, a sentence each.
    public var notes: [String]

    /// States it.
    public init(carried: [Int64], conflicts: [Conflict], notes: [String]) {
        self.carried = carried
        self.conflicts = conflicts
        self.notes = notes
    }
}
