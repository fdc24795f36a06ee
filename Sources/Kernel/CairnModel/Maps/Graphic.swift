// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// A shape that a client drew on a graphics layer, with attributes.
public struct Graphic: Hashable, Sendable {
    /// Its number in its layer, from 1, never used again there.
    public var id: Int64
    /// The shape, in the layer's spatial reference; never an envelope.
    public var shape: Shape
    /// Attributes; names are unique without regard to case, and none is `OBJECTID`.
    public var attributes: Attributes
    /// Drawing order: a higher index is on top, equal ones in order of their numbers.
    public var zIndex: Int

    /// Makes a graphic.
    public init(id: Int64, shape: Shape, attributes: Attributes, zIndex: Int) {
        self.id = id
        self.shape = shape
        self.attributes = attributes
        self.zIndex = zIndex
    }
}

// Members shared with a feature of an edit have the same form.
extension Graphic: Codable {
    private enum CodingKeys: String, CodingKey { case zIndex }

    /// Decodes the form of ``encode(to:)``.
    public init(from decoder: any Decoder) throws {
        let feature = try EditedFeature(from: decoder)
        let members = try decoder.container(keyedBy: CodingKeys.self)
        guard let shape = feature.shape else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath, debugDescription: "a graphic has a geometry"))
        }
        self.init(
            id: feature.id, shape: shape, attributes: feature.attributes,
            zIndex: try members.decode(Int.self, forKey: .zIndex))
    }

    /// Writes `id`, `geometry` in Esri's JSON, `attributes` and `zIndex`.
    public func encode(to encoder: any Encoder) throws {
        try EditedFeature(id: id, shape: shape, attributes: attributes).encode(to: encoder)
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(zIndex, forKey: .zIndex)
    }
}

/// A graphic was drawn.
public struct GraphicAdded: EventPayload {
    /// The stable type name.
    public static let eventType = "map.graphic.added"
    /// The graphics layer.
    public var layer: LayerID
    /// The graphic, with a number never used before in its layer.
    public var graphic: Graphic
    /// Makes the event.
    public init(layer: LayerID, graphic: Graphic) {
        self.layer = layer
        self.graphic = graphic
    }
}

/// A graphic's shape, attributes or place in the drawing order changed.
public struct GraphicChanged: EventPayload {
    /// The stable type name.
    public static let eventType = "map.graphic.changed"
    /// The graphics layer.
    public var layer: LayerID
    /// The whole graphic as it is now.
    public var graphic: Graphic
    /// Makes the event.
    public init(layer: LayerID, graphic: Graphic) {
        self.layer = layer
        self.graphic = graphic
    }
}

/// A graphic was removed.
public struct GraphicRemoved: EventPayload {
    /// The stable type name.
    public static let eventType = "map.graphic.removed"
    /// The graphics layer.
    public var layer: LayerID
    /// The graphic's number.
    public var graphic: Int64
    /// Makes the event.
    public init(layer: LayerID, graphic: Int64) {
        self.layer = layer
        self.graphic = graphic
    }
}

/// Every graphic of a layer was removed.
public struct GraphicsCleared: EventPayload {
    /// The stable type name.
    public static let eventType = "map.graphics.cleared"
    /// The graphics layer.
    public var layer: LayerID
    /// Makes the event.
    public init(layer: LayerID) { self.layer = layer }
}
