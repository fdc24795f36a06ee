// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// Where the pictures and tiles of a map may differ between two sequence numbers.
public enum MapChanges: Hashable, Sendable {
    /// Anywhere; the reason is a clause for messages: `layer 3 'Roads' changed as a whole`.
    case anywhere(String)
    /// Where changed features of these layers are or were; layers without any are left out.
    case features([LayerChanges])
}

/// Where a layer's changed features are or were.
public struct LayerChanges: Hashable, Sendable {
    /// The layer.
    public var layer: LayerID
    /// The rectangles around the features, each as it was and as it is, in EPSG:3857; none is
    /// empty.
    public var boxes: [Envelope]
    /// How far its symbols reach beyond the features in pictures of 96 dots per inch, in pixels.
    public var reachPixels: Double

    /// States them.
    public init(layer: LayerID, boxes: [Envelope], reachPixels: Double) {
        self.layer = layer
        self.boxes = boxes
        self.reachPixels = reachPixels
    }
}

extension MapDescription {
    /// Why this map's pictures and tiles may differ anywhere from those of the other, as a clause
    /// for messages; nil where only features of datasets and graphics differ.
    public func wholeChange(from other: MapDescription) -> String? {
        guard spatialReference == other.spatialReference else {
            return "the map has another spatial reference"
        }
        guard rootLayers == other.rootLayers, layers.map(\.id) == other.layers.map(\.id) else {
            return "the map has other layers, or another order of them"
        }
        for (now, then) in zip(layers, other.layers)
        where now.withoutFeatures != then.withoutFeatures {
            return "layer \(now.id) '\(now.name)' changed otherwise than in its features"
        }
        return nil
    }
}

extension LayerDescription {
    /// The layer without its features, what follows from them, and what no picture or tile shows.
    fileprivate var withoutFeatures: LayerDescription {
        var layer = self
        layer.edits = nil
        layer.graphics = nil
        layer.info = nil
        layer.isPopupEnabled = true
        layer.properties?.extent = nil
        layer.properties?.geographicExtent = nil
        layer.properties?.featureCount = 0
        return layer
    }
}
