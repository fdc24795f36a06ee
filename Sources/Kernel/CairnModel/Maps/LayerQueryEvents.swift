// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The time fields of a layer's features changed.
public struct LayerTimeInfoChanged: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.timeInfoChanged"
    /// The layer.
    public var layer: LayerID
    /// The fields; absent for a layer without time.
    public var timeInfo: LayerTimeInfo?
    /// Makes the event.
    public init(layer: LayerID, timeInfo: LayerTimeInfo?) {
        self.layer = layer
        self.timeInfo = timeInfo
    }
}

/// The drawing of a layer's features changed.
public struct LayerDrawingChanged: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.drawingChanged"
    /// The layer.
    public var layer: LayerID
    /// The new drawing; absent for the symbol of the layer's number.
    public var drawing: LayerDrawing?
    /// Makes the event.
    public init(layer: LayerID, drawing: LayerDrawing?) {
        self.layer = layer
        self.drawing = drawing
    }
}

/// A field of a layer got another alias.
public struct LayerFieldAliasChanged: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.fieldAliasChanged"
    /// The layer.
    public var layer: LayerID
    /// The field's name.
    public var field: String
    /// Its alias; absent for that of the source.
    public var alias: String?
    /// Makes the event.
    public init(layer: LayerID, field: String, alias: String?) {
        self.layer = layer
        self.field = field
        self.alias = alias
    }
}

/// The query capability of a layer changed.
public struct LayerQueryableChanged: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.queryableChanged"
    /// The layer.
    public var layer: LayerID
    /// Whether they may now.
    public var isQueryable: Bool
    /// Makes the event.
    public init(layer: LayerID, isQueryable: Bool) {
        self.layer = layer
        self.isQueryable = isQueryable
    }
}

/// A layer's popups were turned on or off.
public struct LayerPopupsChanged: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.popupsChanged"
    /// The layer.
    public var layer: LayerID
    /// Whether they are on now.
    public var isEnabled: Bool
    /// Makes the event.
    public init(layer: LayerID, isEnabled: Bool) {
        self.layer = layer
        self.isEnabled = isEnabled
    }
}
