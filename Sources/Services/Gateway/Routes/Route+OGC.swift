// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Site

// OGC API – Features, and OGC API – Tiles.
extension Route {
    private static let known: [any DescribedParameter] = [
        Known.ogcFormat, Known.at, Known.historicMoment, Known.minSequence, Known.timeout,
        Known.token,
    ]

    private static let ofTiles: [any DescribedParameter] = [
        Known.at, Known.historicMoment, Known.minSequence, Known.token,
    ]

    static let ogc = [
        ogc("ogc", "ogc", "Landing page", view: .ogcLanding, GatewayService.landing),
        ogc(
            "ogc/conformance", "ogc", "What is implemented", view: .ogcValue,
            GatewayService.conformance),
        ogc("ogc/api", "ogc", "The API", view: .ogcValue, GatewayService.ogcAPI),
        ogc(
            "ogc/collections", "ogcCollections", "Layers of maps that can be read",
            requires: .filtered, view: .collections, GatewayService.collections),
        ogc(
            "ogc/collections/{collection}", "ogcCollection", "One of them",
            requires: .map(.query), view: .collection, GatewayService.collection),
        ogc(
            "ogc/collections/{collection}/items", "ogcItems",
            "Features. Further parameters are values that properties must have",
            requires: .map(.query), asks: OGCItems.parameters, takesOther: true, view: .items,
            GatewayService.items),
        ogc(
            "ogc/collections/{collection}/items/{feature}", "ogcItem", "One feature",
            requires: .map(.query), asks: known + [Known.crs], refuses: OGCItems.filters,
            view: .item, GatewayService.item),
        ogc(
            "ogc/tileMatrixSets", "ogc", "Schemes of tiles", view: .ogcValue,
            GatewayService.tileMatrixSets),
        ogc(
            "ogc/tileMatrixSets/" + TileMatrixSet.name, "ogc", "The scheme of tiles",
            view: .ogcValue, GatewayService.tileMatrixSet),
        ogc(
            "ogc/map/tiles", "ogcAllTilesets", "Tilesets of maps that can be read",
            requires: .filtered, asks: [Known.ogcFormat, Known.minSequence, Known.token],
            view: .ogcValue, GatewayService.allTilesets),
        ogc(
            "ogc/{mapId}/map", "ogcTilesets", "A map as a collection of tiles",
            requires: .map(.query), asks: [Known.ogcFormat] + ofTiles, view: .ogcValue,
            GatewayService.tileCollection),
        ogc(
            "ogc/{mapId}/map/tiles", "ogcTilesets", "Tilesets of a map", requires: .map(.query),
            asks: [Known.ogcFormat] + ofTiles, view: .ogcValue, GatewayService.tilesets),
        ogc(
            "ogc/{mapId}/map/tiles/" + TileMatrixSet.name, "ogcTilesets", "A tileset of a map",
            requires: .map(.query), asks: [Known.tilesetFormat] + ofTiles,
            formats: ["json", "tilejson", "html"], view: .ogcValue, GatewayService.tileset),
        Route(
            "ogc/{mapId}/map/tiles/" + TileMatrixSet.name + "/{level}/{row}/{column}",
            label: "ogcTile", "A tile of a map as it is now", requires: .map(.query),
            methods: .read, style: .ogcBytes,
            asks: [Known.tileFormat, Known.at, Known.historicMoment, Known.minSequence],
            formats: [], mediaTypes: ["image/png"], view: .ogcValue,
            tile: .pictures, handler: GatewayService.ogcTile),
        ogc(
            "ogc/vector/tiles", "ogcAllTilesets", "Vector tilesets of maps that can be read",
            requires: .filtered, asks: [Known.ogcFormat, Known.minSequence, Known.token],
            view: .ogcValue, GatewayService.allVectorTilesets),
        ogc(
            "ogc/{mapId}/vector", "ogcTilesets", "A map as a collection of vector tiles",
            requires: .map(.query), asks: [Known.ogcFormat] + ofTiles, view: .ogcValue,
            GatewayService.vectorTileCollection),
        ogc(
            "ogc/{mapId}/vector/tiles", "ogcTilesets", "Vector tilesets of a map",
            requires: .map(.query), asks: [Known.ogcFormat] + ofTiles, view: .ogcValue,
            GatewayService.vectorTilesets),
        ogc(
            "ogc/{mapId}/vector/tiles/" + TileMatrixSet.name, "ogcTilesets",
            "A vector tileset of a map", requires: .map(.query),
            asks: [Known.tilesetFormat] + ofTiles, formats: ["json", "tilejson", "html"],
            view: .ogcValue, GatewayService.vectorTileset),
        Route(
            "ogc/{mapId}/vector/tiles/" + TileMatrixSet.name + "/{level}/{row}/{column}",
            label: "ogcVectorTile", "A vector tile of a map as it is now", requires: .map(.query),
            methods: .read, style: .ogcBytes,
            asks: [Known.vectorTileFormat, Known.at, Known.historicMoment, Known.minSequence],
            formats: [], mediaTypes: [VectorTileService.mediaType], view: .ogcValue,
            tile: .vectors, handler: GatewayService.ogcVectorTile),
        ogc("ogc/{rest}", unknown, "Nothing", view: .ogcValue, GatewayService.noOGC),
    ]

    private static func ogc(
        _ pattern: String, _ label: String, _ summary: String,
        requires requirement: Requirement.Rule = .nothing,
        asks parameters: [any DescribedParameter] = known, refuses: [String] = [],
        takesOther: Bool = false, formats: [String] = ["json", "html"], view: View,
        _ handler: @escaping Handler
    ) -> Route {
        Route(
            pattern, label: label, summary, requires: requirement, methods: .read, style: .ogc,
            asks: parameters, refuses: refuses, takesOther: takesOther, formats: formats,
            mediaTypes: [
                pattern.contains("/items") ? OGCLinks.geoJSON : OGCLinks.json, OGCLinks.html,
            ], view: view, handler: handler)
    }
}
