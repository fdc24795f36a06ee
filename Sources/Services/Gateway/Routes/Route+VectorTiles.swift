// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Site

// The vector tile service of a map.
extension Route {
    private static let vectorTileServer = "arcgis/rest/services/{map}/VectorTileServer"
    private static let moment: [any DescribedParameter] = [
        Known.at, Known.historicMoment, Known.minSequence,
    ]

    static let vectorTiles = [
        Route(
            vectorTileServer, label: "vectorTiles", "The vector tiles of a map.",
            requires: .map(.query), asks: moment, view: .vectorTiles,
            handler: GatewayService.vectorTileService),
        style("/resources/styles", "The style of the tiles (MapLibre style, version 8)."),
        style("/resources/styles/root.json", "The same style."),
        resources("/resources/info", "The files that the style refers to, by their paths."),
        resources("/resources/info/root.json", "The same list."),
        Route(
            vectorTileServer + "/tile/{level}/{row}/{column.pbf}", label: "vectorTile",
            "The features of a square of the map, as Mapbox Vector Tile 2.1.",
            requires: .map(.query), style: .bytes, asks: moment, formats: [],
            mediaTypes: [VectorTileService.mediaType], view: .mapValue, tile: .vectors,
            handler: GatewayService.vectorTile),
        Route(
            vectorTileServer + "/tilejson.json", label: "vectorTileJSON",
            "The vector tiles of the map as TileJSON 3.0.0.", requires: .map(.query),
            style: .bytes, asks: moment, formats: [], mediaTypes: [OGCLinks.json],
            view: .mapValue, handler: GatewayService.vectorTileJSON),
        Route(
            vectorTileServer + "/style.json", label: "vectorTileStyle",
            "The style with absolute addresses, for MapLibre.", requires: .map(.query),
            style: .bytes, asks: moment, formats: [], mediaTypes: [OGCLinks.json],
            view: .mapValue, handler: GatewayService.mapLibreStyle),
        Route(
            vectorTileServer + "/resources/fonts/{fontstack}/{range.pbf}",
            label: "vectorTileGlyphs",
            "The glyphs of 256 characters, for the style (signed distances).",
            requires: .map(.query), style: .bytes, asks: moment, formats: [],
            mediaTypes: [VectorTileService.glyphsType], view: .mapValue,
            handler: GatewayService.glyphs),
        sprites("/sprite.json", "Where symbols are in the picture of symbols.", OGCLinks.json) {
            $0.spriteIndex(scale: 1)
        },
        sprites("/sprite@2x.json", "The same for the picture of double size.", OGCLinks.json) {
            $0.spriteIndex(scale: 2)
        },
        sprites("/sprite.png", "The symbols of the style that are pictures.", "image/png") {
            $0.spritePicture(scale: 1)
        },
        sprites("/sprite@2x.png", "The same symbols in double size.", "image/png") {
            $0.spritePicture(scale: 2)
        },
    ]

    private static func sprites(
        _ path: String, _ summary: String, _ mediaType: String, handler: @escaping Handler
    ) -> Route {
        Route(
            vectorTileServer + "/resources/sprites" + path, label: "vectorTileSprites", summary,
            requires: .map(.query), style: .bytes, asks: moment, formats: [],
            mediaTypes: [mediaType], view: .mapValue, handler: handler)
    }

    private static func resources(_ path: String, _ summary: String) -> Route {
        Route(
            vectorTileServer + path, label: "vectorTileResources", summary, requires: .map(.query),
            style: .bytes, asks: moment, formats: [], mediaTypes: [OGCLinks.json],
            view: .mapValue, handler: GatewayService.vectorTileResources)
    }

    private static func style(_ path: String, _ summary: String) -> Route {
        Route(
            vectorTileServer + path, label: "vectorTileStyle", summary, requires: .map(.query),
            style: .bytes, asks: moment, formats: [], mediaTypes: [OGCLinks.json],
            view: .mapValue, handler: GatewayService.vectorTileStyle)
    }
}
