// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// Everything that can happen to a map, as recorded in the stream `map-<name>`.
public enum MapEvent: Hashable, Sendable {
    /// A map was made.
    case created(MapCreated)
    /// A layer or group was added.
    case layerAdded(LayerAdded)
    /// A layer or group was moved.
    case layerMoved(LayerMoved)
    /// A layer, or a group with all it holds, was removed.
    case layerRemoved(LayerRemoved)
    /// A layer or group got another name.
    case layerRenamed(LayerRenamed)
    /// A layer or group was turned on or off.
    case layerVisibilityChanged(LayerVisibilityChanged)
    /// The scales at which it is drawn changed.
    case layerScaleRangeChanged(LayerScaleRangeChanged)
    /// The WHERE clause that limits a layer changed.
    case layerDefinitionChanged(LayerDefinitionChanged)
    /// The field shown for its features changed.
    case layerDisplayFieldChanged(LayerDisplayFieldChanged)
    /// The time fields of its features changed.
    case layerTimeInfoChanged(LayerTimeInfoChanged)
    /// The drawing of its features changed.
    case layerDrawingChanged(LayerDrawingChanged)
    /// A field got another alias.
    case layerFieldAliasChanged(LayerFieldAliasChanged)
    /// Its query capability changed.
    case layerQueryableChanged(LayerQueryableChanged)
    /// Its popups were turned on or off.
    case layerPopupsChanged(LayerPopupsChanged)
    /// Whether it takes edits changed.
    case layerEditableChanged(LayerEditableChanged)
    /// Features were added, changed or deleted.
    case featuresEdited(FeaturesEdited)
    /// Edits became part of a new dataset.
    case layerCompacted(LayerCompacted)
    /// A layer got another source.
    case layerSourceChanged(LayerSourceChanged)
    /// A layer of imported features got new data.
    case layerReplaced(LayerReplaced)
    /// The source is being read.
    case layerLoadStarted(LayerLoadStarted)
    /// The source was read.
    case layerLoaded(LayerLoaded)
    /// The source could not be read.
    case layerLoadFailed(LayerLoadFailed)
    /// A graphic was drawn.
    case graphicAdded(GraphicAdded)
    /// A graphic changed.
    case graphicChanged(GraphicChanged)
    /// A graphic was removed.
    case graphicRemoved(GraphicRemoved)
    /// Every graphic of a layer was removed.
    case graphicsCleared(GraphicsCleared)
    /// Earlier changes were undone, or the map was copied from another.
    case restored(MapRestored)
    /// The map's properties changed.
    case propertiesChanged(MapPropertiesChanged)
    /// A layer's description or attribution changed.
    case layerInfoChanged(LayerInfoChanged)
    /// The map was deleted.
    case deleted(MapDeleted)
    /// The deleted map is there again.
    case revived(MapRevived)

    /// The payload inside.
    public var payload: any EventPayload {
        switch self {
        case .created(let payload): payload
        case .layerAdded(let payload): payload
        case .layerMoved(let payload): payload
        case .layerRemoved(let payload): payload
        case .layerRenamed(let payload): payload
        case .layerVisibilityChanged(let payload): payload
        case .layerScaleRangeChanged(let payload): payload
        case .layerDefinitionChanged(let payload): payload
        case .layerDisplayFieldChanged(let payload): payload
        case .layerTimeInfoChanged(let payload): payload
        case .layerDrawingChanged(let payload): payload
        case .layerFieldAliasChanged(let payload): payload
        case .layerQueryableChanged(let payload): payload
        case .layerPopupsChanged(let payload): payload
        case .layerEditableChanged(let payload): payload
        case .featuresEdited(let payload): payload
        case .layerCompacted(let payload): payload
        case .layerSourceChanged(let payload): payload
        case .layerReplaced(let payload): payload
        case .layerLoadStarted(let payload): payload
        case .layerLoaded(let payload): payload
        case .layerLoadFailed(let payload): payload
        case .graphicAdded(let payload): payload
        case .graphicChanged(let payload): payload
        case .graphicRemoved(let payload): payload
        case .graphicsCleared(let payload): payload
        case .restored(let payload): payload
        case .propertiesChanged(let payload): payload
        case .layerInfoChanged(let payload): payload
        case .deleted(let payload): payload
        case .revived(let payload): payload
        }
    }

    /// Decodes a record of a `map-` stream; throws `Failure` (`newerVersion`, `corrupt`).
    public init(_ event: NewEvent) throws(Failure) {
        switch event.type {
        case MapCreated.eventType: self = .created(try .decode(event))
        case LayerAdded.eventType: self = .layerAdded(try .decode(event))
        case LayerMoved.eventType: self = .layerMoved(try .decode(event))
        case LayerRemoved.eventType: self = .layerRemoved(try .decode(event))
        case LayerRenamed.eventType: self = .layerRenamed(try .decode(event))
        case LayerVisibilityChanged.eventType:
            self = .layerVisibilityChanged(try .decode(event))
        case LayerScaleRangeChanged.eventType:
            self = .layerScaleRangeChanged(try .decode(event))
        case LayerDefinitionChanged.eventType:
            self = .layerDefinitionChanged(try .decode(event))
        case LayerDisplayFieldChanged.eventType:
            self = .layerDisplayFieldChanged(try .decode(event))
        case LayerTimeInfoChanged.eventType:
            self = .layerTimeInfoChanged(try .decode(event))
        case LayerDrawingChanged.eventType: self = .layerDrawingChanged(try .decode(event))
        case LayerFieldAliasChanged.eventType:
            self = .layerFieldAliasChanged(try .decode(event))
        case LayerQueryableChanged.eventType:
            self = .layerQueryableChanged(try .decode(event))
        case LayerPopupsChanged.eventType: self = .layerPopupsChanged(try .decode(event))
        case LayerEditableChanged.eventType: self = .layerEditableChanged(try .decode(event))
        case FeaturesEdited.eventType: self = .featuresEdited(try .decode(event))
        case LayerCompacted.eventType: self = .layerCompacted(try .decode(event))
        case LayerSourceChanged.eventType: self = .layerSourceChanged(try .decode(event))
        case LayerReplaced.eventType: self = .layerReplaced(try .decode(event))
        case LayerLoadStarted.eventType: self = .layerLoadStarted(try .decode(event))
        case LayerLoaded.eventType: self = .layerLoaded(try .decode(event))
        case LayerLoadFailed.eventType: self = .layerLoadFailed(try .decode(event))
        case GraphicAdded.eventType: self = .graphicAdded(try .decode(event))
        case GraphicChanged.eventType: self = .graphicChanged(try .decode(event))
        case GraphicRemoved.eventType: self = .graphicRemoved(try .decode(event))
        case GraphicsCleared.eventType: self = .graphicsCleared(try .decode(event))
        case MapRestored.eventType: self = .restored(try .decode(event))
        case MapPropertiesChanged.eventType: self = .propertiesChanged(try .decode(event))
        case LayerInfoChanged.eventType: self = .layerInfoChanged(try .decode(event))
        case MapDeleted.eventType: self = .deleted(try .decode(event))
        case MapRevived.eventType: self = .revived(try .decode(event))
        default:
            throw Failure(
                .newerVersion, "event \(event.id) has type '\(event.type)', unknown to this build")
        }
    }
}

/// An empty map was made.
public struct MapCreated: EventPayload {
    /// The stable type name.
    public static let eventType = "map.created"
    /// The map's name.
    public var name: MapName
    /// Makes the event.
    public init(name: MapName) { self.name = name }
}

/// A layer or group was added.
public struct LayerAdded: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.added"
    /// The second has layers that are no dataset's.
    public static let schema = 2
    /// The second version only adds members.
    public static let upcasts = [Upcast.unchanged]
    /// The first version, if that can express it.
    public var writtenSchema: Int { kind.isInFirstSchema ? 1 : 2 }
    /// Its number, never used before in this map.
    public var layer: LayerID
    /// Its name.
    public var name: String
    /// Group or layer, with its source.
    public var kind: LayerKind
    /// The containing group; absent at the top level.
    public var parent: LayerID?
    /// Its place among its siblings, 0 = bottom.
    public var index: Int
    /// Makes the event.
    public init(layer: LayerID, name: String, kind: LayerKind, parent: LayerID?, index: Int) {
        self.layer = layer
        self.name = name
        self.kind = kind
        self.parent = parent
        self.index = index
    }
}

/// A layer or group was moved.
public struct LayerMoved: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.moved"
    /// The layer or group.
    public var layer: LayerID
    /// The new containing group; absent at the top level.
    public var parent: LayerID?
    /// Index among its new siblings, itself removed before.
    public var index: Int
    /// Makes the event.
    public init(layer: LayerID, parent: LayerID?, index: Int) {
        self.layer = layer
        self.parent = parent
        self.index = index
    }
}

/// A layer, or a group with all it holds, was removed.
public struct LayerRemoved: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.removed"
    /// The layer or group.
    public var layer: LayerID
    /// Makes the event.
    public init(layer: LayerID) { self.layer = layer }
}

/// A layer got another name.
public struct LayerRenamed: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.renamed"
    /// The layer or group.
    public var layer: LayerID
    /// Its new name, unique in the map.
    public var name: String
    /// Makes the event.
    public init(layer: LayerID, name: String) {
        self.layer = layer
        self.name = name
    }
}

/// A layer was turned on or off.
public struct LayerVisibilityChanged: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.visibilityChanged"
    /// The layer or group.
    public var layer: LayerID
    /// Whether it is on now.
    public var isVisible: Bool
    /// Makes the event.
    public init(layer: LayerID, isVisible: Bool) {
        self.layer = layer
        self.isVisible = isVisible
    }
}

/// A layer's scale range changed.
public struct LayerScaleRangeChanged: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.scaleRangeChanged"
    /// The layer or group.
    public var layer: LayerID
    /// Its range now.
    public var scaleRange: ScaleRange
    /// Makes the event.
    public init(layer: LayerID, scaleRange: ScaleRange) {
        self.layer = layer
        self.scaleRange = scaleRange
    }
}

/// A layer's definition expression changed.
public struct LayerDefinitionChanged: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.definitionChanged"
    /// The layer or group.
    public var layer: LayerID
    /// The WHERE clause; absent when the limit was lifted.
    public var expression: String?
    /// Makes the event.
    public init(layer: LayerID, expression: String?) {
        self.layer = layer
        self.expression = expression
    }
}

/// A layer's display field changed.
public struct LayerDisplayFieldChanged: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.displayFieldChanged"
    /// The layer or group.
    public var layer: LayerID
    /// The field's name; absent for the default.
    public var field: String?
    /// Makes the event.
    public init(layer: LayerID, field: String?) {
        self.layer = layer
        self.field = field
    }
}

/// A layer got another source; it is `notLoaded` again.
public struct LayerSourceChanged: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.sourceChanged"
    /// The second has sources that are no dataset.
    public static let schema = 2
    /// The second version only adds members.
    public static let upcasts = [Upcast.unchanged]
    /// The first version, if that can express it.
    public var writtenSchema: Int { source.isInFirstSchema ? 1 : 2 }
    /// The layer or group.
    public var layer: LayerID
    /// Its source now.
    public var source: LayerSource
    /// Makes the event.
    public init(layer: LayerID, source: LayerSource) {
        self.layer = layer
        self.source = source
    }
}

/// The source is being read.
public struct LayerLoadStarted: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.loadStarted"
    /// The layer or group.
    public var layer: LayerID
    /// Makes the event.
    public init(layer: LayerID) { self.layer = layer }
}

/// The source was loaded; its properties are known.
public struct LayerLoaded: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.loaded"
    /// The second has layers without a kind of geometry.
    public static let schema = 2
    /// The second version only adds members.
    public static let upcasts = [Upcast.unchanged]
    /// The first version, if that can express it.
    public var writtenSchema: Int { properties.geometryType == nil ? 2 : 1 }
    /// The layer or group.
    public var layer: LayerID
    /// The loaded properties.
    public var properties: LayerProperties
    /// Makes the event.
    public init(layer: LayerID, properties: LayerProperties) {
        self.layer = layer
        self.properties = properties
    }
}

/// The source could not be read.
public struct LayerLoadFailed: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.loadFailed"
    /// The layer or group.
    public var layer: LayerID
    /// The reason, in one sentence for the user.
    public var error: Failure
    /// Makes the event.
    public init(layer: LayerID, error: Failure) {
        self.layer = layer
        self.error = error
    }
}
