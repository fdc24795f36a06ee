// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import Platform
internal import TileStyles

/// The vector tile service of a map: its description, style and TileJSON.
struct VectorTileService {
    /// The media type of a tile.
    static let mediaType = "application/vnd.mapbox-vector-tile"
    /// The media type of glyphs.
    static let glyphsType = "application/x-protobuf"
    /// Pixels of a tile's side.
    private static let side = 512

    let map: MapDescription
    private let layers: [TileLayer]
    private let tiled: TiledMap
    private let origin: String?
    private let secret: String
    /// Whether the caller may have tiles exported.
    private let exportsTiles: Bool

    /// - Parameters:
    ///   - origin: The origin that a client asked; nil for relative addresses.
    ///   - secret: `?token=…` for URLs that clients follow by themselves; often empty.
    init(map: MapDescription, origin: String?, secret: String, exportsTiles: Bool) {
        self.exportsTiles = exportsTiles
        self.map = map
        self.origin = origin
        self.secret = secret
        layers = map.tileLayers()
        tiled = TiledMap(map)
    }

    private var levels: ClosedRange<Int> { TileAddress.levels }
    private var tileURL: String { url + "/tile/{z}/{y}/{x}.pbf" + secret }
    private var url: String {
        let server = tiled.mapServer(origin)
        return server.dropLast("MapServer".count) + "VectorTileServer"
    }

    /// The service's root, as ArcGIS clients read it.
    func root() -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("currentVersion", 10.91)
            json.member("name", tiled.title)
            json.member("copyrightText", tiled.attribution)
            json.member("capabilities", "TilesOnly")
            json.member("type", "indexedVector")
            json.member("defaultStyles", "resources/styles")
            json.member("tiles", array: ["tile/{z}/{y}/{x}.pbf"]) { $0.string($1) }
            json.tileExports(exportsTiles)
            for name in ["initialExtent", "fullExtent"] {
                json.extent(name, tiled.extentInMeters, in: .webMercator)
            }
            json.member("minScale", Self.scale(of: levels.lowerBound))
            json.member("maxScale", Self.scale(of: levels.upperBound))
            json.member("minLOD", levels.lowerBound)
            json.member("maxLOD", levels.upperBound)
            json.member("maxzoom", levels.upperBound)
            json.member("tileInfo") { json in
                json.member("rows", Self.side)
                json.member("cols", Self.side)
                json.member("dpi", 96)
                json.member("format", "pbf")
                json.member("origin") { json in
                    json.member("x", -20_037_508.342787)
                    json.member("y", 20_037_508.342787)
                }
                json.spatialReference(.webMercator)
                json.member("lods", array: levels) { json, level in
                    json.object { json in
                        json.member("level", level)
                        json.member("resolution", 78_271.51696400007 / Double(1 << level))
                        json.member("scale", Self.scale(of: level))
                    }
                }
            }
            json.member("resourceInfo") { json in
                json.member("styleVersion", 8)
                json.member("tileCompression", "none")
            }
        }
        return json.bytes
    }

    private static func scale(of level: Int) -> Double {
        TileLayer.rootScale / Double(1 << level)
    }

    /// TileJSON 3.0.0 with the layers and their fields.
    func tileJSON() -> [UInt8] {
        TileJSON.body(of: tiled, template: tileURL, vectorLayers: layers)
    }

    /// The MapLibre style of the layers' symbols and labels.
    ///
    /// - Parameter isRelative: Whether URLs are paths from the style's own, for Esri's clients.
    func style(isRelative: Bool) -> [UInt8] {
        style.json(
            isRelative
                ? .relative
                : .absolute(
                    tiles: tileURL,
                    glyphs: url + "/resources/fonts/{fontstack}/{range}.pbf" + secret,
                    sprite: url + "/resources/sprites/sprite" + secret))
    }

    /// The paths of the style and of the files that it refers to, the glyphs of all characters
    /// among them, in the form of a VTPK's `resources/info`.
    func resources() -> [UInt8] {
        let style = style
        let sprites = StyleResource.scales.map { "sprites/sprite" + ($0 == 1 ? "" : "@\($0)x") }
        let glyphs = style.fonts.map(\.name).sorted().flatMap { fonts in
            stride(from: 0, to: GlyphRange.end, by: GlyphRange.count).compactMap { first in
                GlyphRange(first: first).map { "fonts/\(fonts)/\($0.text).pbf" }
            }
        }
        var json = JSONWriter()
        json.object { json in
            json.member(
                "resourceInfo",
                array: ["styles/root.json", "info/root.json"]
                    + sprites.flatMap { [$0 + ".json", $0 + ".png"] } + glyphs
            ) { $0.string("resources/" + $1) }
        }
        return json.bytes
    }

    /// The rectangles of the pictures of symbols.
    func spriteIndex(scale: Int) -> [UInt8] { style.sprites.index(scale: scale) }

    private var style: MapStyle { MapStyle(title: tiled.title, layers) }
}
