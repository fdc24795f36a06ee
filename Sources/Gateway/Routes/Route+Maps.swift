// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Site

// The two services of a map.
extension Route {
    private static let mapServer = "arcgis/rest/services/{map}/MapServer"
    private static let featureServer = "arcgis/rest/services/{map}/FeatureServer"

    static let map = [
        Route(
            mapServer, label: "map", "A map and its layers.", requires: .map(.query),
            view: .map, handler: GatewayService.mapService),
        Route(
            mapServer + "/layers", label: "mapLayers", "All layers in full.",
            requires: .map(.query), view: .mapValue, handler: GatewayService.mapLayers),
        Route(
            mapServer + "/legend", label: "mapLegend", "The symbols of the layers.",
            requires: .map(.query), view: .legend, handler: GatewayService.mapLegend),
        Route(
            mapServer + "/{layer}", label: "mapLayer", "A layer in full.",
            requires: .map(.query), view: .layer, handler: GatewayService.mapLayer),
        Route(
            mapServer + "/{layer}/query", label: "mapQuery",
            "The features of a layer that meet conditions.", requires: .map(.query),
            formats: Format.query, view: .query, handler: GatewayService.queryLayer),
        Route(
            mapServer + "/identify", label: "mapIdentify", "What is at a place.",
            requires: .map(.query), view: .identify, handler: GatewayService.identify),
        Route(
            mapServer + "/identify/changes", label: "mapFollow",
            "What is at a place, and each change of it as an event.", requires: .map(.query),
            view: .mapValue, handler: GatewayService.followIdentify),
        Route(
            mapServer + "/find", label: "mapFind", "Features by a text in their fields.",
            requires: .map(.query), view: .mapValue, handler: GatewayService.find),
        Route(
            mapServer + "/changes", label: "mapChanges", "Each change of the map as an event.",
            requires: .map(.query), view: .mapValue, handler: GatewayService.mapChanges),
        Route(
            mapServer + "/export", label: "mapExport", "A picture of a part of the map.",
            requires: .map(.query), style: .bytes, view: .mapValue,
            handler: GatewayService.export),
        Route(
            mapServer + "/tile/{level}/{row}/{column}", label: "mapTile",
            "A square of the map as it is now.", requires: .map(.query), style: .bytes,
            view: .mapValue, handler: GatewayService.tile),
        Route(
            mapServer + "/{layer}/{objectId}", label: "mapFeature", "A feature of a layer.",
            requires: .map(.query), view: .feature, handler: GatewayService.feature),
    ]

    static let features = [
        Route(
            featureServer, label: "features", "A map and its layers, to be queried and edited.",
            requires: .map(.query), view: .features, handler: GatewayService.featureService),
        Route(
            featureServer + "/layers", label: "featuresLayers", "All layers in full.",
            requires: .map(.query), view: .mapValue, handler: GatewayService.featureLayers),
        Route(
            featureServer + "/{layer}", label: "featuresLayer", "A layer in full.",
            requires: .map(.query), view: .layer, handler: GatewayService.featureLayer),
        Route(
            featureServer + "/{layer}/query", label: "featuresQuery",
            "The features of a layer that meet conditions.", requires: .map(.query),
            formats: Format.query, view: .query, handler: GatewayService.queryLayer),
        Route(
            featureServer + "/query", label: "featuresQuery",
            "The features of several layers that meet conditions.", requires: .map(.query),
            view: .mapValue, handler: GatewayService.queryLayers),
        edit("/{layer}/addFeatures", "Adds features.", GatewayService.addFeatures),
        edit("/{layer}/updateFeatures", "Updates features.", GatewayService.updateFeatures),
        edit("/{layer}/deleteFeatures", "Deletes features.", GatewayService.deleteFeatures),
        edit("/{layer}/applyEdits", "Edits a layer.", GatewayService.applyEdits),
        edit("/applyEdits", "Edits several layers at once.", GatewayService.applyEditsOfLayers),
        Route(
            featureServer + "/{layer}/{objectId}", label: "featuresFeature",
            "A feature of a layer.", requires: .map(.query), view: .feature,
            handler: GatewayService.feature),
    ]

    private static func edit(
        _ path: String, _ summary: String, _ handler: @escaping Handler
    ) -> Route {
        Route(
            featureServer + path, label: "featuresEdit", summary, requires: .map(.edit),
            isChange: true,
            methods: .post(refusal: "features are edited with POST, not with GET"),
            view: .mapValue, handler: handler)
    }
}
