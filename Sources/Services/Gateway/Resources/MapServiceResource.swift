// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import Platform

/// `MapServer`, its layers and its legend, from a map's description.
struct MapServiceResource {
    /// Maximum number of features of one layer in an identify answer.
    static let recordLimit = IdentifyRequest.resultsPerLayerBound
    /// Capabilities of the services; clients compare the words exactly.
    private static let capabilities = "Map,Query"
    /// One less than the limit of drawing: a client that cuts its screen into pictures of exactly
    /// this size may ask for one of width 0 besides (QGIS 3.22 does).
    private static let imageSizeLimit = ExportRequest.sizeBound - 1

    let map: MapDescription
    private let extents: MapExtents
    private let layers: [LayerID: LayerDescription]

    private let timeExtents: [LayerID: TimeExtent]
    /// Whether definition expressions and load errors are included.
    private let showsInside: Bool
    /// Whether the caller may have tiles exported.
    var exportsTiles = false

    /// Prepares the resources of a map; `timeInfo` is omitted for layers without an entry in
    /// `timeExtents`.
    init(
        _ map: MapDescription, timeExtents: [LayerID: TimeExtent] = [:], showsInside: Bool = false
    ) {
        self.timeExtents = timeExtents
        self.showsInside = showsInside
        var map = map
        map.layers = map.layers.map(\.asQueried)
        self.map = map
        extents = MapExtents(map)
        layers = Dictionary(uniqueKeysWithValues: map.layers.map { ($0.id, $0) })
    }

    /// Layers in Esri's order: top first, a group before its members.
    var topFirst: [LayerDescription] {
        var result: [LayerDescription] = []
        var pending = map.rootLayers
        while let id = pending.popLast() {
            guard let layer = layers[id] else { continue }
            result.append(layer)
            pending.append(contentsOf: layer.children)
        }
        return result
    }

    /// `MapServer?f=json`.
    func root() -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("currentVersion", Catalog.version)
            for name in ["serviceDescription", "description"] {
                json.member(name, map.properties?.description ?? "")
            }
            json.member("copyrightText", map.attribution)
            json.member("mapName", map.name.rawValue)
            json.member("supportsDynamicLayers", false)
            json.member("layers", array: topFirst) { summary($1, to: &$0) }
            json.member("tables", array: [Int]()) { $0.integer(Int64($1)) }
            writeSpace(to: &json)
            writeTime(to: &json)
            // Tiles are announced, but clients that can request pictures should go on doing so.
            json.member("singleFusedMapCache", false)
            if map.spatialReference != nil {
                json.tileInfo()
                json.member("minLOD", TileAddress.levels.lowerBound)
                json.member("maxLOD", TileAddress.levels.upperBound)
            }
            json.member("minScale", 0)
            json.member("maxScale", 0)
            json.member("supportedImageFormatTypes", "PNG32,PNG24,PNG,JPG")
            json.member("documentInfo") { json in
                json.member("Title", map.properties?.title ?? map.name.rawValue)
                for name in ["Author", "Comments", "Subject", "Category", "Keywords"] {
                    json.member(name, "")
                }
            }
            json.member("capabilities", Self.capabilities)
            json.member("supportedQueryFormats", Self.queryFormats)
            json.tileExports(exportsTiles && map.spatialReference != nil)
            json.member("maxRecordCount", QueryRequest.recordBound)
            json.member("maxImageHeight", Self.imageSizeLimit)
            json.member("maxImageWidth", Self.imageSizeLimit)
            json.member("supportedExtensions", "")
        }
        return json.bytes
    }

    /// The reference and the extents.
    ///
    /// A map whose basemap is not loaded has neither: it is blank. A map without layers gets the
    /// whole world in Web Mercator, so that clients can open it.
    func writeSpace(to json: inout JSONWriter) {
        guard let reference = map.spatialReference ?? (map.layers.isEmpty ? .webMercator : nil)
        else { return }
        json.spatialReference(reference)
        let layers = extents.full
        let full = layers ?? MapExtents.world(in: reference)
        if let extent = map.properties?.initialExtent ?? layers ?? map.initialExtent ?? full {
            json.extent("initialExtent", extent, in: reference)
        }
        if let extent = full { json.extent("fullExtent", extent, in: reference) }
        json.member("units", reference.latestWkid == 4326 ? "esriDecimalDegrees" : "esriMeters")
    }

    /// The time extent of all layers; nothing if no layer has one.
    private func writeTime(to json: inout JSONWriter) {
        let moments = timeExtents.values.flatMap { [$0.start, $0.end].compactMap { $0 } }
        guard let first = moments.min(), let last = moments.max() else { return }
        json.member("timeInfo") { json in
            json.member("timeExtent", array: [first, last]) { $0.integer($1) }
            json.nullMember("timeRelation")
            writeTimeReference(to: &json)
        }
    }

    private func writeTimeReference(to json: inout JSONWriter) {
        json.member("timeReference") { json in
            json.member("timeZone", "UTC")
            json.member("respectsDaylightSaving", false)
        }
    }

    private func summary(_ layer: LayerDescription, to json: inout JSONWriter) {
        json.object { json in
            json.member("id", layer.id)
            json.member("name", layer.name)
            json.member("parentLayerId", layer.parent ?? -1)
            json.member("defaultVisibility", layer.isVisible)
            if layer.kind == .group {
                json.member("subLayerIds", array: layer.children.reversed()) {
                    $0.integer(Int64($1))
                }
            } else {
                json.nullMember("subLayerIds")
            }
            writeScalesAndType(of: layer, to: &json)
        }
    }

    func writeScalesAndType(of layer: LayerDescription, to json: inout JSONWriter) {
        json.member("minScale", layer.scaleRange.minScale)
        json.member("maxScale", layer.scaleRange.maxScale)
        json.member("type", layer.kind.esriType)
        if let type = layer.properties?.geometryType {
            json.member("geometryType", "esriGeometry" + type.rawValue)
        }
    }

    /// `MapServer/layers?f=json`.
    func allLayers() -> [UInt8] { allLayers(topFirst) }

    func allLayers(
        _ layers: [LayerDescription], isFeatureService: Bool = false
    ) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("layers", array: layers) { write($1, isFeatureService, to: &$0) }
            json.member("tables", array: [Int]()) { $0.integer(Int64($1)) }
        }
        return json.bytes
    }

    /// `MapServer/{id}?f=json`; throws `Failure` (`invalidParameter`).
    ///
    /// The feature service uses the same description, with the members about edits.
    func layer(_ id: LayerID, isFeatureService: Bool = false) throws(Failure) -> [UInt8] {
        guard let layer = layers[id] else {
            throw .unknownLayer(id)
        }
        var json = JSONWriter()
        write(layer, isFeatureService, to: &json)
        return json.bytes
    }

    private func write(
        _ layer: LayerDescription, _ isFeatureService: Bool, to json: inout JSONWriter
    ) {
        json.object { json in
            json.member("currentVersion", Catalog.version)
            json.member("id", layer.id)
            json.member("name", layer.name)
            json.member("description", layer.info?.description ?? "")
            json.member(
                "copyrightText",
                layer.info?.attribution ?? layer.properties?.service?.attribution ?? "")
            if !isFeatureService, let parent = layer.parent.flatMap({ layers[$0] }) {
                json.member("parentLayer") { reference(to: parent, &$0) }
            } else {
                json.nullMember("parentLayer")
            }
            json.member("subLayers", array: layer.children.reversed()) { json, id in
                if let child = layers[id] { json.object { reference(to: child, &$0) } }
            }
            json.member("defaultVisibility", layer.isVisible)
            writeScalesAndType(of: layer, to: &json)
            if let (extent, reference) = extents.extent(of: layer) {
                json.extent("extent", extent, in: reference)
            }
            if layer.kind == .group {
                json.nullMember("fields")
            } else {
                writeFeatureLayer(layer, isFeatureService, to: &json)
            }
            if isFeatureService { writeEditing(of: layer, to: &json) }
            json.member(
                "capabilities",
                isFeatureService && layer.isEditable
                    ? Self.editCapabilities : layer.isQueryable ? Self.capabilities : "Map")
            json.member(
                "maxRecordCount",
                layer.isFeatureLayer ? QueryRequest.recordBound : Self.recordLimit)
        }
    }

    private func reference(to layer: LayerDescription, _ json: inout JSONWriter) {
        json.member("id", layer.id)
        json.member("name", layer.name)
    }

    private func writeFeatureLayer(
        _ layer: LayerDescription, _ isFeatureService: Bool, to json: inout JSONWriter
    ) {
        let fields = layer.properties?.fields ?? []
        json.member("loadStatus", layer.loadStatus.rawValue)
        if let error = layer.loadError {
            json.member(
                "loadError", showsInside ? error.description : "the layer failed to load")
        }
        if showsInside, let expression = layer.definitionExpression {
            json.member("definitionExpression", expression)
        }
        json.member("hasAttachments", false)
        json.member("htmlPopupType", "esriServerHTMLPopupTypeNone")
        if let popup = layer.info?.popup {
            json.key("popupInfo")
            json.json(popup.utf8)
        }
        json.member("displayField", layer.shownField ?? "")
        json.nullMember("typeIdField")
        json.member("objectIdField", fields.first?.name ?? "OBJECTID")
        json.member("globalIdField", "")
        json.fields(
            fields, aliases: layer.shownNames(of: fields),
            areEditable: isFeatureService ? layer.isEditable : nil)
        if let info = layer.timeInfo {
            json.member("timeInfo") { json in
                json.member("startTimeField", info.startField)
                if let end = info.endField {
                    json.member("endTimeField", end)
                } else {
                    json.nullMember("endTimeField")
                }
                json.nullMember("trackIdField")
                if let extent = timeExtents[layer.id] {
                    json.member("timeExtent", array: [extent.start, extent.end].compactMap { $0 }) {
                        $0.integer($1)
                    }
                    writeTimeReference(to: &json)
                }
            }
        }
        json.member("relationships", array: [Int]()) { $0.integer(Int64($1)) }
        for name in ["canModifyLayer", "canScaleSymbols"] { json.member(name, false) }
        json.member("hasLabels", layer.shownDrawing?.labels.isEmpty == false)
        json.member("hasM", layer.properties?.hasM ?? false)
        json.member("hasZ", layer.properties?.hasZ ?? false)
        writeQueryCapabilities(of: layer, to: &json)
        layer.writeDrawing(to: &json)
    }

    /// `MapServer/legend?f=json`: an image for each symbol of each layer; for layers on other
    /// servers, theirs.
    func legend(_ remote: LayerLegends) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("layers", array: topFirst.filter { $0.kind != .group }) { json, layer in
                json.object { json in
                    json.member("layerId", layer.id)
                    json.member("layerName", layer.name)
                    json.member("layerType", layer.kind.esriType)
                    json.member("minScale", layer.scaleRange.minScale)
                    json.member("maxScale", layer.scaleRange.maxScale)
                    layer.writeLegend(remote.entries[layer.id], to: &json)
                }
            }
        }
        return json.bytes
    }
}

extension MapDescription {
    /// The map's own attribution, then those of its layers and their servers, without duplicates,
    /// top layer first.
    var attribution: String {
        var seen: Set<String> = []
        let ofLayers = layers.reversed().map {
            $0.info?.attribution ?? $0.properties?.service?.attribution
        }
        return ([properties?.attribution] + ofLayers).compactMap { $0 }
            .filter { seen.insert($0).inserted }.joined(separator: "; ")
    }
}

extension LayerKind {
    /// Esri's name for the kind of layer.
    fileprivate var esriType: String {
        switch self {
        case .group: "Group Layer"
        case .layer(.dataset), .layer(.featureService), .layer(.graphics): "Feature Layer"
        // A picture to clients, whatever identify finds in it.
        case .layer(.raster), .layer(.wms), .layer(.mapService), .layer(.tiles): "Raster Layer"
        }
    }
}
