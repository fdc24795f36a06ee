// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials
public import Geometry

/// The position of a layer among its siblings.
public struct LayerPlace: Hashable, Sendable, Codable {
    /// The containing group; nil for the top level.
    public var parent: LayerID?
    /// The place among the siblings, 0 = bottom; nil = on top.
    public var index: Int?

    /// The default is on top of everything.
    public init(parent: LayerID? = nil, index: Int? = nil) {
        self.parent = parent
        self.index = index
    }
}

/// A wish to change a map.
///
/// The map state accepts it, as events, or refuses it with a `Failure`.
public enum MapCommand: Hashable, Sendable, Codable {
    /// Makes an empty map.
    case createMap
    /// Adds a layer; it loads in the background.
    case addLayer(name: String, source: LayerSource, place: LayerPlace)
    /// Adds an empty group.
    case addGroup(name: String, place: LayerPlace)
    /// Moves a layer or group; `index` counts among its new siblings, itself removed.
    case moveLayer(layer: LayerID, place: LayerPlace)
    /// Removes a layer, or a group with all it holds.
    case removeLayer(layer: LayerID)
    /// Gives it another name, unique in the map.
    case renameLayer(layer: LayerID, name: String)
    /// Turns it on or off.
    case setVisibility(layer: LayerID, isVisible: Bool)
    /// Limits the scales at which it is drawn.
    case setScaleRange(layer: LayerID, scaleRange: ScaleRange)
    /// Limits its features by a WHERE clause; nil lifts the limit.
    case setDefinitionExpression(layer: LayerID, expression: String?)
    /// Chooses the field shown for a feature; nil goes back to the default.
    case setDisplayField(layer: LayerID, field: String?)
    /// Sets the time fields of its features; nil makes it a layer without time.
    case setTimeInfo(layer: LayerID, timeInfo: LayerTimeInfo?)
    /// Sets the drawing of its features; nil resets to the symbol of its number.
    case setDrawing(layer: LayerID, drawing: LayerDrawing?)
    /// Sets a field's alias; nil resets to the source's.
    case setFieldAlias(layer: LayerID, field: String, alias: String?)
    /// Sets whether its features can be queried.
    case setQueryable(layer: LayerID, isQueryable: Bool)
    /// Turns its popups on or off.
    case setPopups(layer: LayerID, isEnabled: Bool)
    /// Sets whether its features can be edited.
    case setEditable(layer: LayerID, isEditable: Bool)
    /// Adds, changes and deletes features.
    case editFeatures(layer: LayerID, edits: FeatureEdits)
    /// Adds, changes and deletes features of several layers by one event, each layer named once.
    case editLayers([LayerFeatureEdits])
    /// Tries to load again after a failure.
    case retryLoad(layer: LayerID)
    /// Gives it another source, and loads that.
    case setSource(layer: LayerID, source: LayerSource)
    /// Gives a layer of imported features new data, and carries its edits over.
    case replaceData(layer: LayerID, ReplacementRequest)
    /// Draws on a graphics layer.
    case addGraphic(layer: LayerID, shape: Shape, attributes: Attributes, zIndex: Int)
    /// Changes the given members of a graphic.
    case updateGraphic(
        layer: LayerID, graphic: Int64, shape: Shape?, attributes: Attributes?, zIndex: Int?)
    /// Removes a graphic.
    case removeGraphic(layer: LayerID, graphic: Int64)
    /// Removes every graphic of a layer.
    case clearGraphics(layer: LayerID)
    /// Undoes earlier changes.
    case undo(UndoRequest)
    /// Makes a map that is a copy of another.
    case installMap(MapRestored)
    /// Moves the map's content to another name, by one commit; its past stays under the old one.
    case renameMap(name: MapName)
    /// Deletes the map; its past remains, and the name is free.
    case deleteMap
    /// Sets all properties of the map.
    case setMapProperties(MapProperties)
    /// Sets description, attribution and popup definition of a layer or group; nil clears them.
    case setLayerInfo(layer: LayerID, info: LayerInfo?)
}

/// A command on its way to the map state.
public struct MapCommandRequest: Hashable, Sendable, Codable {
    /// Chosen by the caller, kept over retries: the same id is carried out once.
    public var id: UUID
    /// The map.
    public var map: MapName
    /// The command.
    public var command: MapCommand
    /// The requesting user.
    public var actor: String?

    /// Makes a request.
    public init(id: UUID, map: MapName, command: MapCommand, actor: String? = nil) {
        self.id = id
        self.map = map
        self.command = command
        self.actor = actor
    }
}

/// The answer to an accepted command.
public struct MapCommandResult: Hashable, Sendable, Codable {
    /// The global position of the command's last event: pass it as `minSequence` to read your own
    /// write.
    public var sequence: Int64
    /// The layer that was made, for `addLayer` and `addGroup`.
    public var layer: LayerID?
    /// The graphic that was drawn, for `addGraphic`.
    public var graphic: Int64?
    /// Outcomes of the edits, for `editFeatures`.
    public var edits: FeatureEditResults?
    /// Outcomes for each layer of `editLayers`, in the order of the request.
    public var layerEdits: [FeatureEditResults]?
    /// What an `undo` did, or would do; nil for one that is repeated.
    public var undo: UndoReport?
    /// What a `replaceData` did to the layer's edits, or would do; nil for one that is repeated.
    public var replacement: ReplacementReport?

    /// Makes a result.
    public init(
        sequence: Int64, layer: LayerID? = nil, graphic: Int64? = nil,
        edits: FeatureEditResults? = nil, layerEdits: [FeatureEditResults]? = nil
    ) {
        self.layerEdits = layerEdits
        self.sequence = sequence
        self.layer = layer
        self.graphic = graphic
        self.edits = edits
    }
}
