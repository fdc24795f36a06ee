// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// What people read about a map, and what it shows first.
public struct MapProperties: Hashable, Sendable, Codable {
    /// The title; nil for the map's name.
    public var title: String?
    /// The description; nil for none.
    public var description: String?
    /// To be named beside every picture; nil for what the layers' servers ask for.
    public var attribution: String?
    /// What a client shows first, in the map's spatial reference; nil for the basemap's extent.
    public var initialExtent: Envelope?
    /// The spatial reference of the map; nil for the basemap's.
    public var spatialReference: SpatialReference?
    /// Places of the map by name, in the order that people chose; nil for none.
    public var bookmarks: [MapBookmark]?

    /// Makes properties.
    public init(
        title: String? = nil, description: String? = nil, attribution: String? = nil,
        initialExtent: Envelope? = nil, spatialReference: SpatialReference? = nil,
        bookmarks: [MapBookmark]? = nil
    ) {
        self.bookmarks = bookmarks
        self.title = title
        self.description = description
        self.attribution = attribution
        self.initialExtent = initialExtent
        self.spatialReference = spatialReference
    }
}

/// A place of a map that has a name.
public struct MapBookmark: Hashable, Sendable, Codable {
    /// The name; of one map each once.
    public var name: String
    /// What is shown, in the map's spatial reference.
    public var extent: Envelope

    /// Makes a bookmark.
    public init(name: String, extent: Envelope) {
        self.name = name
        self.extent = extent
    }
}

/// What people read about a layer.
public struct LayerInfo: Hashable, Sendable, Codable {
    /// The description; nil for none.
    public var description: String?
    /// To be named beside every picture of it; nil for what its server asks for.
    public var attribution: String?
    /// The definition of its popups: Esri's `popupInfo`, the JSON text as it was given; nil for
    /// none.
    public var popup: String?

    /// Makes it.
    public init(
        description: String? = nil, attribution: String? = nil, popup: String? = nil
    ) {
        self.description = description
        self.attribution = attribution
        self.popup = popup
    }
}

/// The properties of a map changed.
public struct MapPropertiesChanged: EventPayload {
    /// The stable type name.
    public static let eventType = "map.propertiesChanged"
    /// All of them as they are now.
    public var properties: MapProperties
    /// Makes the event.
    public init(properties: MapProperties) { self.properties = properties }
}

/// The description, the attribution or the popup definition of a layer changed.
public struct LayerInfoChanged: EventPayload {
    /// The stable type name.
    public static let eventType = "map.layer.infoChanged"
    /// The layer or group.
    public var layer: LayerID
    /// All of them as they are now; absent where none is set.
    public var info: LayerInfo?
    /// Makes the event.
    public init(layer: LayerID, info: LayerInfo?) {
        self.layer = layer
        self.info = info
    }
}

/// A map was deleted; its past remains.
public struct MapDeleted: EventPayload {
    /// The stable type name.
    public static let eventType = "map.deleted"
    /// Makes the event.
    public init() {}
}

/// A deleted map is there again, as it was.
public struct MapRevived: EventPayload {
    /// The stable type name.
    public static let eventType = "map.revived"
    /// Global position of the deletion that was undone.
    public var undone: Int64
    /// Makes the event.
    public init(undone: Int64) { self.undone = undone }
}
