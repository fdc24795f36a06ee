// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Layers of a Web Map Service (OGC WMS 1.1.1 or 1.3.0).
public struct WMSSource: Hashable, Sendable, Codable {
    /// The service's address, `http://` or `https://`, without the parameters of the protocol.
    public var url: String
    /// The service's names of the layers, the first drawn below.
    public var layers: [String]
    /// `1.1.1` or `1.3.0`; nil for the service's preference.
    public var version: String?
    /// The name of a credential of the site; nil for none.
    public var credential: String?

    /// Makes a source.
    public init(url: String, layers: [String], version: String? = nil, credential: String? = nil) {
        self.url = url
        self.layers = layers
        self.version = version
        self.credential = credential
    }
}

/// An ArcGIS map service, or a layer of a feature service.
public struct ArcGISSource: Hashable, Sendable, Codable {
    /// The address: `…/MapServer`, or `…/FeatureServer/0`.
    public var url: String
    /// The numbers of a map service's layers; nil for all.
    public var layers: [Int]?
    /// The name of a credential of the site; nil for none.
    public var credential: String?

    /// Makes a source.
    public init(url: String, layers: [Int]? = nil, credential: String? = nil) {
        self.url = url
        self.layers = layers
        self.credential = credential
    }
}

/// Tiles: an address with `{z}`, `{x}` and `{y}` in Web Mercator, or a cached ArcGIS map service.
public struct TileSource: Hashable, Sendable, Codable {
    /// The address.
    public var url: String
    /// The name of a credential of the site; nil for none.
    public var credential: String?

    /// Makes a source.
    public init(url: String, credential: String? = nil) {
        self.url = url
        self.credential = credential
    }

    /// Whether the address has places for level, column and row.
    public var isTemplate: Bool {
        url.contains("{z}") && url.contains("{x}") && (url.contains("{y}") || url.contains("{-y}"))
    }
}

/// The properties of a layer on another server, from its load.
public struct ServiceProperties: Hashable, Sendable, Codable {
    /// Title on its server.
    public var title: String?
    /// The version of the protocol that is spoken with it.
    public var version: String?
    /// Format of GetFeatureInfo answers.
    public var infoFormat: String?
    /// Queryable layers of the service.
    public var queryable: [String]
    /// Supported spatial references, by number; at most 100.
    public var spatialReferences: [Int]
    /// The field the server shows for a feature.
    public var displayField: String?
    /// Attribution of its pictures and features.
    public var attribution: String?
    /// The form of its pictures, where it is not PNG; a media type.
    public var pictureFormat: String?
    /// Whether its content depends on time.
    public var hasTime: Bool?
    /// Page size of the server; nil without paging.
    public var pageSize: Int?
    /// The server's drawing of its features, as far as supported here.
    public var drawing: LayerDrawing?
    /// Its tiling scheme, unless that of web maps.
    public var tiling: TilingScheme?

    /// Describes a service.
    public init(
        title: String? = nil, version: String? = nil, infoFormat: String? = nil,
        queryable: [String] = [], spatialReferences: [Int] = [], displayField: String? = nil,
        attribution: String? = nil, pictureFormat: String? = nil, hasTime: Bool? = nil,
        pageSize: Int? = nil, drawing: LayerDrawing? = nil, tiling: TilingScheme? = nil
    ) {
        self.attribution = attribution
        self.pictureFormat = pictureFormat
        self.hasTime = hasTime
        self.pageSize = pageSize
        self.drawing = drawing
        self.tiling = tiling
        self.displayField = displayField
        self.title = title
        self.version = version
        self.infoFormat = infoFormat
        self.queryable = queryable
        self.spatialReferences = spatialReferences
    }
}
