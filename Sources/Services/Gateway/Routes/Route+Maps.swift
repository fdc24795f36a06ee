// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Site

// The two services of a map.
extension Route {
    private static let mapServer = "arcgis/rest/services/{map}/MapServer"
    private static let featureServer = "arcgis/rest/services/{map}/FeatureServer"

    /// Parameters of every resource of a map.
    private static let moment: [any DescribedParameter] = [
        Known.at, Known.historicMoment, Known.minSequence,
    ]
    private static let times: [any DescribedParameter] = [Known.time, Known.timeRelation]
    /// Output parameters of geometries.
    private static let shapes: [any DescribedParameter] = [
        Known.maxAllowableOffset, Known.geometryPrecision, Known.returnZ, Known.returnM,
    ]

    private static let identifyParameters = atOnePlace + moment
    /// Parameters of an identify besides its moment.
    private static let atOnePlace = place + [wantedLayers] + screen
    private static let wantedLayers = Known.identifyLayers.shown(
        "Layers", hint: "top, visible or all:1,2", value: "visible")
    private static let place: [any DescribedParameter] = [
        Known.geometry.required.shown("Place", hint: "x,y", isRequired: true),
        Known.geometryType,
        Known.sr.shown("Reference", hint: "4326", value: "4326"),
    ]
    private static let screen =
        [
            Known.tolerance.required.shown("Tolerance in pixels", value: "5"),
            Known.mapExtent.required.shown("Extent of the map", value: "-180,-90,180,90"),
            Known.imageDisplay.required.shown("Size of the map", value: "800,400,96"),
            Known.returnGeometry.sent("false"), Known.layerDefs, Known.layerTimeOptions,
            Known.returnFieldName, Known.maximumResultsPerLayer, Known.returnPopupsOnly,
            Known.explain, Known.returnUnformattedValues, Known.timeout,
        ] + times + shapes

    /// Parameters that select features of a layer.
    private static let selection =
        [
            Known.where.shown(
                "Where", hint: "population > 1000000 AND name LIKE 'P%'", list: "fields"),
            Known.geometry.shown("Box or place", hint: "xmin,ymin,xmax,ymax"),
            Known.geometryType, Known.inSR.shown("its reference", hint: "4326"), Known.spatialRel,
            Known.relationParam, Known.distance, Known.units, Known.text, Known.objectIds,
        ] + times
    /// Parameters that also apply to a single feature.
    private static let output =
        [
            Known.outFields, Known.returnGeometry, Known.outSR, Known.returnCentroid,
            Known.returnIdsOnly, Known.returnCountOnly, Known.returnExtentOnly, Known.timeout,
        ] + shapes + moment
    private static let queryParameters =
        selection + [
            Known.outFields.shown("Fields", value: "*"),
            Known.orderByFields.shown("Order", hint: "population DESC", list: "fields"),
            Known.resultRecordCount.shown("Rows", value: "100"), Known.resultOffset,
            Known.returnGeometry.sent("false"), Known.outSR, Known.quantizationParameters,
            Known.returnCentroid, Known.returnIdsOnly, Known.returnCountOnly,
            Known.returnExtentOnly, Known.returnDistinctValues, Known.outStatistics,
            Known.groupByFieldsForStatistics, Known.having, Known.resultType, Known.sqlFormat,
            Known.timeout,
        ] + shapes + moment
    private static let stream = ["text/event-stream", OGCLinks.json]

    static let map = [
        Route(
            mapServer, label: "map", "A map and its layers.", requires: .map(.query),
            asks: [
                Known.at.shown(
                    "As of", hint: "now, or 2026-01-31T12:00:00Z, or a sequence number"),
                Known.historicMoment, Known.minSequence,
            ],
            view: .map, handler: GatewayService.mapService),
        Route(
            mapServer + "/layers", label: "mapLayers", "All layers in full.",
            requires: .map(.query), asks: moment, view: .allLayers,
            handler: GatewayService.mapLayers),
        Route(
            mapServer + "/legend", label: "mapLegend", "The symbols of the layers.",
            requires: .map(.query), asks: moment + [Known.timeout], view: .legend,
            handler: GatewayService.mapLegend),
        Route(
            mapServer + "/{layer}", label: "mapLayer", "A layer in full.",
            requires: .map(.query), asks: moment, view: .layer, handler: GatewayService.mapLayer),
        Route(
            mapServer + "/{layer}/query", label: "mapQuery",
            "The features of a layer that meet conditions.", requires: .map(.query),
            asks: queryParameters,
            refuses: QueryResource.refused,
            formats: Format.query, view: .query, handler: GatewayService.queryLayer),
        Route(
            mapServer + "/identify", label: "mapIdentify", "What is at a place.",
            requires: .map(.query), asks: identifyParameters,
            refuses: IdentifyResource.refused, view: .identify, handler: GatewayService.identify),
        Route(
            mapServer + "/{layer}/identify", label: "mapIdentify",
            "What of a layer is at a place: identify with layers=all:{layer}.",
            requires: .map(.query), asks: place + screen + moment,
            refuses: IdentifyResource.refused, view: .identify,
            handler: GatewayService.identifyLayer),
        Route(
            mapServer + "/identify/changes", label: "mapFollow",
            "What is at a place, and each change of it as an event.", requires: .map(.query),
            asks: identifyParameters,
            refuses: IdentifyResource.refused, mediaTypes: stream,
            view: .mapValue, handler: GatewayService.followIdentify),
        Route(
            mapServer + "/identify/compare", label: "mapCompare",
            "What is at a place as of two moments, and what made the difference.",
            requires: .map(.history),
            asks: [
                Known.first.required.shown(
                    "First moment", hint: "2026-01-31T12:00:00Z, or a sequence number",
                    isRequired: true),
                Known.second.required.shown("Second moment", isRequired: true),
            ] + atOnePlace + [Known.minSequence], refuses: IdentifyResource.refused,
            view: .comparison, handler: GatewayService.compareIdentify),
        Route(
            mapServer + "/history", label: "mapHistory", "The last changes of a map.",
            requires: .map(.history), asks: [Known.before, Known.historyCount],
            view: .mapHistory, handler: GatewayService.mapHistory),
        Route(
            mapServer + "/find", label: "mapFind", "Features by a text in their fields.",
            requires: .map(.query),
            asks: [
                Known.searchText.required.shown("Text", isRequired: true), Known.contains,
                Known.searchFields.shown("in the fields", hint: "all, or name,country"),
                Known.findLayers.shown("of the layers", hint: "all, or 0,2"),
                Known.layerDefs, Known.sr, Known.returnGeometry.sent("false"),
                Known.returnFieldName,
                Known.returnUnformattedValues, Known.timeout,
            ] + shapes + moment, refuses: FindResource.refused, view: .find,
            handler: GatewayService.find),
        Route(
            mapServer + "/changes", label: "mapChanges", "Each change of the map as an event.",
            requires: .map(.query), asks: moment + [Known.after],
            mediaTypes: stream, view: .mapValue, handler: GatewayService.mapChanges),
        Route(
            mapServer + "/export", label: "mapExport", "A picture of a part of the map.",
            requires: .map(.query), style: .bytes,
            asks: [
                Known.exportBox.required, Known.bboxSR, Known.imageSR, Known.size, Known.dpi,
                Known.mapScale, Known.format, Known.transparent, Known.drawnLayers, Known.rotation,
                Known.layerDefs, Known.layerTimeOptions, Known.timeout,
            ] + times + moment, refuses: ExportResource.refused,
            formats: Format.esri + ["image"], view: .mapValue,
            handler: GatewayService.export),
        Route(
            mapServer + "/tile/{level}/{row}/{column}", label: "mapTile",
            "A square of the map as it is now.", requires: .map(.query), style: .bytes,
            asks: moment,
            formats: [], mediaTypes: ["image/png"],
            view: .mapValue, tile: .pictures, handler: GatewayService.tile),
        Route(
            mapServer + "/tilejson.json", label: "mapTileJSON",
            "The tiles of the map as TileJSON 3.0.0.", requires: .map(.query), style: .bytes,
            asks: moment, formats: [], mediaTypes: [OGCLinks.json], view: .mapValue,
            handler: GatewayService.tileJSON),
        wmts(
            "", "The tiles of the map as OGC WMTS 1.0.0, by parameters.",
            asks: [
                Known.wmtsService, Known.wmtsRequest, Known.wmtsVersion, Known.wmtsAcceptVersions,
                Known.wmtsLayer, Known.wmtsStyle, Known.wmtsFormat, Known.wmtsMatrixSet,
                Known.wmtsMatrix, Known.wmtsRow, Known.wmtsColumn,
            ], types: ["text/xml", "image/png"], GatewayService.wmts),
        wmts(
            "/1.0.0/WMTSCapabilities.xml", "The capabilities of the map's WMTS.",
            types: ["text/xml"], GatewayService.wmtsCapabilities),
        wmts(
            "/tile/1.0.0/{rest}",
            "A tile: {Layer}/{Style}/{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}.png.",
            types: ["image/png"], GatewayService.wmtsTile),
        Route(
            mapServer + "/{layer}/{objectId}", label: "mapFeature", "A feature of a layer.",
            requires: .map(.query), asks: output, view: .feature, handler: GatewayService.feature),
        Route(
            mapServer + "/{layer}/{objectId}/history", label: "mapFeatureHistory",
            "Every change of a feature.", requires: .map(.history), asks: [Known.timeout],
            view: .featureHistory, handler: GatewayService.featureHistory),
    ]

    static let features = [
        Route(
            featureServer, label: "features", "A map and its layers, to be queried and edited.",
            requires: .map(.query), asks: moment, view: .features,
            handler: GatewayService.featureService),
        Route(
            featureServer + "/layers", label: "featuresLayers", "All layers in full.",
            requires: .map(.query), asks: moment, view: .allLayers,
            handler: GatewayService.featureLayers),
        Route(
            featureServer + "/{layer}", label: "featuresLayer", "A layer in full.",
            requires: .map(.query), asks: moment, view: .layer, handler: GatewayService.featureLayer
        ),
        Route(
            featureServer + "/{layer}/query", label: "featuresQuery",
            "The features of a layer that meet conditions.", requires: .map(.query),
            asks: queryParameters,
            refuses: QueryResource.refused,
            formats: Format.query, view: .query, handler: GatewayService.queryLayer),
        Route(
            featureServer + "/query", label: "featuresQuery",
            "The features of several layers that meet conditions.", requires: .map(.query),
            asks: [Known.layerDefs] + selection + output + [
                Known.quantizationParameters, Known.resultType, Known.sqlFormat,
            ], refuses: ServiceQuery.refused + QueryResource.refused,
            view: .mapValue, handler: GatewayService.queryLayers),
        edit(
            "/{layer}/addFeatures", "Adds features.", asks: [Known.features.required],
            GatewayService.addFeatures),
        edit(
            "/{layer}/updateFeatures", "Updates features.", asks: [Known.features.required],
            GatewayService.updateFeatures),
        edit(
            "/{layer}/deleteFeatures", "Deletes features.", asks: queryParameters,
            refuses: QueryResource.refused, GatewayService.deleteFeatures),
        edit(
            "/{layer}/applyEdits", "Edits a layer.",
            asks: [Known.adds, Known.updates, Known.deletes], GatewayService.applyEdits),
        edit(
            "/applyEdits", "Edits several layers at once.", asks: [Known.edits.required],
            GatewayService.applyEditsOfLayers),
        Route(
            featureServer + "/undo", label: "featuresUndo", "Undoes edits.",
            requires: .map(.edit), isChange: true,
            methods: .post(refusal: "edits are undone with POST, not with GET"),
            asks: [
                Known.undoFrom.required, Known.undoThrough, Known.undoActor, Known.undoPolicy,
                Known.undoDryRun, Known.timeout,
            ], view: .undo, handler: GatewayService.undoEdits),
        Route(
            featureServer + "/{layer}/{objectId}", label: "featuresFeature",
            "A feature of a layer.", requires: .map(.query), asks: output, view: .feature,
            handler: GatewayService.feature),
    ]

    private static func wmts(
        _ path: String, _ summary: String, asks parameters: [any DescribedParameter] = [],
        types: [String], _ handler: @escaping Handler
    ) -> Route {
        Route(
            mapServer + "/WMTS" + path, label: "mapWMTS", summary, requires: .map(.query),
            style: .wmts, asks: parameters + moment, formats: [], mediaTypes: types,
            view: .mapValue, handler: handler)
    }

    private static func edit(
        _ path: String, _ summary: String, asks parameters: [any DescribedParameter],
        refuses: [String] = [], _ handler: @escaping Handler
    ) -> Route {
        let timeout = parameters.contains { $0.description.name == Known.timeout.name }
        return Route(
            featureServer + path, label: "featuresEdit", summary, requires: .map(.edit),
            isChange: true,
            methods: .post(refusal: "features are edited with POST, not with GET"),
            asks: parameters + (timeout ? [] : [Known.timeout]) + [
                Known.rollbackOnFailure, Known.returnEditMoment, Known.returnDeleteResults,
                Known.useGlobalIds, Known.async,
            ], refuses: refuses, view: .mapValue, handler: handler)
    }
}
