// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// Earlier changes of a map were undone: what they had changed is as it was before them.
///
/// Or, right after `map.created`, the map is a copy of another.
/// It names what each part of the map is from now on, so that a fold needs no earlier state.
public struct MapRestored: EventPayload {
    /// The stable type name.
    public static let eventType = "map.restored"
    /// Global positions of the events that were undone, rising; empty for a copy.
    public var undone: [Int64]
    /// The map that a copy was made from; absent for an undo.
    public var copied: MapMoment?
    /// The properties of the map; absent where they stay.
    public var properties: MapProperties?
    /// The layers and groups that are no longer there, rising.
    public var removed: [LayerID]
    /// The layers and groups that changed or are there again, by rising number.
    public var layers: [RestoredLayer]
    /// The children of the top level and of each group, where they changed.
    public var order: [LayerOrder]
    /// Makes the event.
    public init(
        undone: [Int64], copied: MapMoment? = nil, properties: MapProperties? = nil,
        removed: [LayerID], layers: [RestoredLayer], order: [LayerOrder]
    ) {
        self.undone = undone
        self.copied = copied
        self.properties = properties
        self.removed = removed
        self.layers = layers
        self.order = order
    }
}

/// A map as of a moment.
public struct MapMoment: Hashable, Sendable, Codable {
    /// The map.
    public var map: MapName
    /// The global position of its last change by then.
    public var sequence: Int64
    /// States it.
    public init(map: MapName, sequence: Int64) {
        self.map = map
        self.sequence = sequence
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

extension MapRestored {
    /// The whole content of a map, for a new map that is a copy of it.
    ///
    /// Layers that are loading load in the copy.
    public init(copyOf map: MapDescription) {
        let layers = map.layers.map { layer in
            var bare = layer
            bare.children = []
            bare.edits?.changes = []
            bare.edits?.sequence = 0
            if bare.graphics != nil { bare.graphics = [] }
            if bare.loadStatus == .loading {
                bare.loadStatus = .notLoaded
                bare.properties = nil
            }
            return RestoredLayer(
                layer: layer.id, description: bare,
                features: (layer.edits?.changes).orNil.map { changes in
                    changes.map { RestoredFeature(id: $0.id, feature: $0.feature) }
                },
                graphics: layer.graphics.orNil.map { graphics in
                    graphics.map { RestoredGraphic(id: $0.id, graphic: $0) }
                },
                nextGraphicID: layer.graphics?.last.map { $0.id + 1 })
        }
        let order =
            [LayerOrder(parent: nil, children: map.rootLayers)]
            + map.layers.filter { !$0.children.isEmpty }.map {
                LayerOrder(parent: $0.id, children: $0.children)
            }
        self.init(
            undone: [], copied: MapMoment(map: map.name, sequence: map.sequence),
            properties: map.properties, removed: [],
            layers: layers.sorted { $0.layer < $1.layer }, order: order)
    }
}

extension Optional where Wrapped: Collection {
    /// Nil for an empty collection too.
    fileprivate var orNil: Wrapped? { flatMap { $0.isEmpty ? nil : $0 } }
}
