// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Expression
internal import Geometry
internal import JobKinds
internal import Platform

/// The pictures or the vector tiles of a map as a tileset of OGC API – Tiles 1.0 (20-057).
struct OGCTileset {
    /// What its tiles are.
    enum Content {
        case pictures
        case vectors([TileLayer])

        /// The part of a path between the map and its tiles.
        var segment: String {
            switch self {
            case .pictures: "map"
            case .vectors: "vector"
            }
        }

        fileprivate var dataType: String {
            switch self {
            case .pictures: "map"
            case .vectors: "vector"
            }
        }

        fileprivate var mediaType: String {
            switch self {
            case .pictures: "image/png"
            case .vectors: VectorTileService.mediaType
            }
        }

        fileprivate var layers: [TileLayer]? {
            switch self {
            case .pictures: nil
            case .vectors(let layers): layers
            }
        }
    }

    static let relation = "http://www.opengis.net/def/rel/ogc/1.0/"
    /// Media type of TileJSON, as registered by its users.
    static let tileJSON = "application/vnd.mapbox.tile+json"

    let map: TiledMap
    let content: Content
    let links: OGCLinks

    private var collectionPath: String { "\(map.id)/\(content.segment)" }
    private var path: String { collectionPath + "/tiles" }
    private var ownPath: String { path + "/" + TileMatrixSet.name }

    /// URL of a tile, without a token, with variables of those names for level, row and column.
    func template(_ level: String, _ row: String, _ column: String) -> String {
        "\(links.root)/\(ownPath)/{\(level)}/{\(row)}/{\(column)}"
    }

    /// A list of tilesets, one of each map.
    ///
    /// - Parameter path: The path of the list below the landing page.
    static func list(_ tilesets: [OGCTileset], _ path: String, _ links: OGCLinks) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("tilesets", array: tilesets) { json, tileset in
                json.object { tileset.writeEntry(to: &$0) }
            }
            json.key("links")
            json.array { links.writeSelf(path, "Tilesets of maps", &$0) }
        }
        return json.bytes
    }

    /// `/ogc/{map}/map` and `/ogc/{map}/vector`: the map with its extent, in the form of a
    /// collection (OGC 20-024), where clients of OGC API – Tiles begin.
    ///
    /// Each has one kind of tiles: GDAL 3.6 opens no collection with both.
    func collectionBody() -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("id", "\(map.id)")
            map.writeText(to: &json)
            json.member("extent") { $0.spatialExtent(map.extent) }
            json.key("links")
            json.array { json in
                links.writeSelf(collectionPath, map.title, &json)
                links.write(
                    Self.relation + "tilesets-" + content.segment, path, OGCLinks.json, "Tilesets",
                    &json)
            }
        }
        return json.bytes
    }

    /// `/ogc/{map}/map/tiles` and `/ogc/{map}/vector/tiles`.
    func listBody() -> [UInt8] { Self.list([self], path, links) }

    private func writeEntry(to json: inout JSONWriter) {
        json.member("title", map.title)
        writeScheme(to: &json)
        json.key("links")
        json.array { json in
            links.write("self", ownPath, OGCLinks.json, map.title, &json)
            writeSchemeLink(to: &json)
        }
    }

    private func writeScheme(to json: inout JSONWriter) {
        json.member("dataType", content.dataType)
        json.member("crs", TileMatrixSet.crs)
        json.member("tileMatrixSetURI", TileMatrixSet.uri)
    }

    private func writeSchemeLink(to json: inout JSONWriter) {
        links.write(
            Self.relation + "tiling-scheme", schemePath, OGCLinks.json, TileMatrixSet.name, &json)
    }

    private var schemePath: String { "tileMatrixSets/" + TileMatrixSet.name }

    /// `/ogc/{map}/map/tiles/WebMercatorQuad` and `/ogc/{map}/vector/tiles/WebMercatorQuad`.
    ///
    /// Every tile of the scheme is answered, so the limits are those of the matrices; `boundingBox`
    /// is where the map's layers are.
    func body() -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            map.writeText(to: &json)
            writeScheme(to: &json)
            json.member("tileMatrixSetLimits", array: TileMatrixSet.matrices) { json, matrix in
                json.object { json in
                    json.member("tileMatrix", matrix.id)
                    for name in ["Row", "Col"] {
                        json.member("minTile" + name, 0)
                        json.member("maxTile" + name, matrix.count - 1)
                    }
                }
            }
            json.member("boundingBox") { json in
                json.member("lowerLeft", array: [map.extent.minX, map.extent.minY]) {
                    $0.number($1)
                }
                json.member("upperRight", array: [map.extent.maxX, map.extent.maxY]) {
                    $0.number($1)
                }
                json.member("crs", OGCReference.crs84.uri)
            }
            if let layers = content.layers {
                json.key("layers")
                json.array { json in for layer in layers { Self.write(layer, to: &json) } }
            }
            json.key("links")
            json.array { json in
                links.writeSelf(ownPath, map.title, &json)
                links.write(
                    "alternate", ownPath + "?f=tilejson", Self.tileJSON, "TileJSON 3.0.0", &json)
                writeSchemeLink(to: &json)
                OGCLinks.write(
                    "item", url: template("tileMatrix", "tileRow", "tileCol"),
                    content.mediaType, "Tiles", isTemplate: true, &json)
            }
        }
        return json.bytes
    }

    /// The same as TileJSON.
    ///
    /// - Parameter secret: A query that the URL of tiles has; no page shows it.
    func tileJSONBody(secret: String) -> [UInt8] {
        TileJSON.body(
            of: map, template: template("z", "y", "x") + secret, vectorLayers: content.layers)
    }

    /// The layers that vector tiles have of a map's layer (17-083r4, table 30).
    private static func write(_ tiles: TileLayer, to json: inout JSONWriter) {
        for (number, part) in tiles.parts.enumerated() {
            json.object { json in
                json.member("id", part.name)
                json.member("dataType", "vector")
                // Behind the features are the positions of labels.
                if let type = tiles.layer.properties?.geometryType {
                    json.member("geometryDimension", number == 0 ? type.dimension : 0)
                }
                json.member("minTileMatrix", "\(tiles.levels.lowerBound)")
                json.member("maxTileMatrix", "\(tiles.levels.upperBound)")
                json.member("propertiesSchema") { json in
                    json.member("type", "object")
                    json.member("properties") { json in
                        for field in part.fields {
                            json.member(field.name) { json in
                                json.member("type", field.type.nameInTiles.lowercased())
                            }
                        }
                    }
                }
            }
        }
    }
}

extension GeometryType {
    /// 0 of points, 1 of lines, 2 of areas.
    fileprivate var dimension: Int {
        switch self {
        case .point, .multipoint: 0
        case .polyline: 1
        case .polygon: 2
        }
    }
}
