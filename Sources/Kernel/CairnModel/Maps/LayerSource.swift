// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The source of a layer's content, which determines the kind of layer.
public enum LayerSource: Hashable, Sendable {
    /// The features of an immutable dataset of the site.
    case dataset(ContentID)
    /// The pixels of an immutable raster of the site.
    case raster(ContentID)
    /// Layers of a Web Map Service.
    case wms(WMSSource)
    /// An ArcGIS map service.
    case mapService(ArcGISSource)
    /// A layer of an ArcGIS feature service.
    case featureService(ArcGISSource)
    /// Pictures in tiles.
    case tiles(TileSource)
    /// Shapes drawn by clients and kept in the map itself.
    case graphics(GraphicsSource)

    /// Names a dataset.
    public init(dataset: ContentID) { self = .dataset(dataset) }

    /// Display name of the kind of layer: `feature`, `raster`.
    public var kindName: String {
        switch self {
        case .dataset: "feature"
        case .raster: "raster"
        case .wms: "WMS"
        case .mapService: "map service"
        case .featureService: "feature service"
        case .tiles: "tiled"
        case .graphics: "graphics"
        }
    }

    /// Whether the layer's content is on another server.
    public var isRemote: Bool {
        switch self {
        case .wms, .mapService, .featureService, .tiles: true
        case .dataset, .raster, .graphics: false
        }
    }

    /// Whether it consists of pictures; only other layers have features to identify.
    public var isTiled: Bool {
        if case .tiles = self { true } else { false }
    }

    /// Whether the layer's content is part of the map's state.
    public var isGraphics: Bool {
        if case .graphics = self { true } else { false }
    }
}

/// The source of a layer of client-drawn shapes.
public struct GraphicsSource: Hashable, Sendable, Codable {
    /// Spatial reference of every graphic in the layer.
    public var spatialReference: SpatialReference

    /// Makes a source.
    public init(spatialReference: SpatialReference) { self.spatialReference = spatialReference }
}

extension LayerSource: Codable {
    private enum CodingKeys: String, CodingKey {
        case dataset, raster, wms, mapService, featureService, tiles, graphics
    }

    /// Reads `{"<kind>": …}`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch container.allKeys.first {
        case .dataset:
            self = .dataset(try container.decode(ContentID.self, forKey: .dataset))
        case .raster:
            self = .raster(try container.decode(ContentID.self, forKey: .raster))
        case .wms: self = .wms(try container.decode(WMSSource.self, forKey: .wms))
        case .mapService:
            self = .mapService(try container.decode(ArcGISSource.self, forKey: .mapService))
        case .featureService:
            self = .featureService(
                try container.decode(ArcGISSource.self, forKey: .featureService))
        case .tiles: self = .tiles(try container.decode(TileSource.self, forKey: .tiles))
        case .graphics:
            self = .graphics(try container.decode(GraphicsSource.self, forKey: .graphics))
        case nil:
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "expected the kind of source, as dataset or wms")
            )
        }
    }

    /// Writes `{"dataset": content}`, `{"graphics": …}`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .dataset(let dataset): try container.encode(dataset, forKey: .dataset)
        case .raster(let raster): try container.encode(raster, forKey: .raster)
        case .wms(let source): try container.encode(source, forKey: .wms)
        case .mapService(let source): try container.encode(source, forKey: .mapService)
        case .featureService(let source): try container.encode(source, forKey: .featureService)
        case .tiles(let source): try container.encode(source, forKey: .tiles)
        case .graphics(let source): try container.encode(source, forKey: .graphics)
        }
    }

    /// Whether the first schema of the events that name a source can express it.
    var isInFirstSchema: Bool {
        if case .dataset = self { true } else { false }
    }
}

/// The kind of an entry in a map's drawing order.
public enum LayerKind: Hashable, Sendable {
    /// A group that holds layers and has no content of its own.
    case group
    /// A layer, with its source.
    case layer(source: LayerSource)

    /// The source of a layer; nil for a group.
    public var source: LayerSource? {
        if case .layer(let source) = self { source } else { nil }
    }

    /// The dataset of a layer of features; nil for anything else.
    public var dataset: ContentID? {
        if case .layer(.dataset(let dataset)) = self { dataset } else { nil }
    }
}

extension LayerKind: Codable {
    private enum CodingKeys: String, CodingKey { case group, feature, layer }

    private struct Sourced: Codable { var source: LayerSource }

    /// Reads `{"group":{}}`, `{"feature":{"source":…}}` or `{"layer":{"source":…}}`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch container.allKeys.first {
        case .group: self = .group
        case .feature:
            self = .layer(source: try container.decode(Sourced.self, forKey: .feature).source)
        case .layer:
            self = .layer(source: try container.decode(Sourced.self, forKey: .layer).source)
        case nil:
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "expected the kind of layer: group, feature, layer"))
        }
    }

    /// Writes `{"feature":…}` for a dataset, as ever, and `{"layer":…}` for every other source.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .group: try container.encode(Nothing(), forKey: .group)
        case .layer(let source):
            try container.encode(
                Sourced(source: source), forKey: source.isInFirstSchema ? .feature : .layer)
        }
    }

    /// Whether the first schema of the events that name a kind can express it.
    var isInFirstSchema: Bool { source?.isInFirstSchema ?? true }
}
