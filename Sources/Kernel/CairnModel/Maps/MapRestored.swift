// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// Earlier changes of a map were undone: what they had changed is as it was before them.
///
/// It names what each part of the map is from now on, so that a fold needs no earlier state.
public struct MapRestored: EventPayload {
    /// The stable type name.
    public static let eventType = "map.restored"
    /// Global positions of the events that were undone, rising.
    public var undone: [Int64]
    /// The layers and groups that are no longer there, rising.
    public var removed: [LayerID]
    /// The layers and groups that changed or are there again, by rising number.
    public var layers: [RestoredLayer]
    /// The children of the top level and of each group, where they changed.
    public var order: [LayerOrder]
    /// Makes the event.
    public init(
        undone: [Int64], removed: [LayerID], layers: [RestoredLayer], order: [LayerOrder]
    ) {
        self.undone = undone
        self.removed = removed
        self.layers = layers
        self.order = order
    }
}

/// The children of a group, or of the top level.
public struct LayerOrder: Hashable, Sendable, Codable {
    /// The group; absent for the top level.
    public var parent: LayerID?
    /// Its children, bottom first.
    public var children: [LayerID]
    /// States it.
    public init(parent: LayerID?, children: [LayerID]) {
        self.parent = parent
        self.children = children
    }
}

/// A layer as it is after an undo.
public struct RestoredLayer: Hashable, Sendable, Codable {
    /// The layer or group.
    public var layer: LayerID
    /// The layer without its children, features and graphics; absent where only these changed.
    public var description: LayerDescription?
    /// The features that changed; absent for none.
    ///
    /// They replace those with their object ids among the edits of a layer that keeps its source;
    /// of a layer with a restored source, and of one that is there again, they are all edits.
    public var features: [RestoredFeature]?
    /// The graphics that changed, all of a layer that is there again; absent for none.
    public var graphics: [RestoredGraphic]?
    /// The lowest number that no graphic ever had; absent where it stays.
    public var nextGraphicID: Int64?
    /// States it.
    public init(
        layer: LayerID, description: LayerDescription? = nil, features: [RestoredFeature]? = nil,
        graphics: [RestoredGraphic]? = nil, nextGraphicID: Int64? = nil
    ) {
        self.layer = layer
        self.description = description
        self.features = features
        self.graphics = graphics
        self.nextGraphicID = nextGraphicID
    }
}

/// A feature as it is after an undo.
public struct RestoredFeature: Hashable, Sendable, Codable {
    /// The object id.
    public var id: Int64
    /// The feature; absent for one that is not there.
    public var feature: EditedFeature?
    /// States it.
    public init(id: Int64, feature: EditedFeature?) {
        self.id = id
        self.feature = feature
    }
}

/// A graphic as it is after an undo.
public struct RestoredGraphic: Hashable, Sendable, Codable {
    /// Its number.
    public var id: Int64
    /// The graphic; absent for one that is not there.
    public var graphic: Graphic?
    /// States it.
    public init(id: Int64, graphic: Graphic?) {
        self.id = id
        self.graphic = graphic
    }
}
