// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// A web map document (web map specification, version 2), read and written.
struct WebMap {
    var basemap: Basemap?
    var layers: [Layer] = []
    var tables: [FeatureTable] = []
    var initialViewpoint: Viewpoint?
    var spatialReference: SpatialReference?
    var bookmarks: [Bookmark] = []

    /// Reads a document; layers of kinds that are not known here are logged and left out.
    init(_ json: JSON, base: URL?) throws {
        guard case .object = json,
            json.member("operationalLayers") != nil || json.member("baseMap") != nil
        else {
            throw CairnError(
                .invalidDocument,
                "the JSON is no web map: expected operationalLayers and baseMap")
        }
        layers = (json["operationalLayers"]?.elements ?? []).compactMap {
            Self.layer($0, base: base)
        }
        if let base = json.member("baseMap") {
            let all = (base["baseMapLayers"]?.elements ?? []).compactMap { element in
                Self.layer(element, base: nil).map { ($0, element["isReference"]?.flag ?? false) }
            }
            let basemap: Basemap
            if all.isEmpty, let style = base.text("style") ?? base.text("cairnStyle") {
                basemap = Basemap(style: Basemap.Style(rawValue: style))
            } else {
                basemap = Basemap(
                    baseLayers: all.filter { !$0.1 }.map(\.0),
                    referenceLayers: all.filter(\.1).map(\.0))
            }
            basemap.name = base.text("title") ?? basemap.name
            self.basemap = basemap
        }
        spatialReference = SpatialReference(json.member("spatialReference"))
        let state = json["initialState"]?["viewpoint"] ?? json.member("initialViewpoint")
        initialViewpoint = Self.viewpoint(state)
        bookmarks = (json["bookmarks"]?.elements ?? []).map { bookmark in
            Bookmark(
                name: bookmark.text("name") ?? "",
                viewpoint: Self.viewpoint(bookmark.member("viewpoint"))
                    ?? Geometry.make(bookmark.member("extent"), nil).map {
                        Viewpoint(boundingGeometry: $0)
                    })
        }
        tables = (json["tables"]?.elements ?? []).compactMap { table in
            table.text("url").flatMap { URL(string: $0) }.map { ServiceFeatureTable(url: $0) }
        }
    }

    static func viewpoint(_ json: JSON?) -> Viewpoint? {
        guard let json, let target = Geometry.make(json.member("targetGeometry"), nil) else {
            return nil
        }
        let rotation = json["rotation"]?.number ?? 0
        if let point = target as? Point, let scale = json["scale"]?.number, scale > 0 {
            return Viewpoint(center: point, scale: scale, rotation: rotation)
        }
        return Viewpoint(boundingGeometry: target, rotation: rotation)
    }

    /// The service of a style's URL, as `…/VectorTileServer/resources/styles/root.json`.
    private static func service(ofStyle url: URL) -> URL {
        var service = url.withoutQuery
        while service.path().contains("/VectorTileServer/") { service = service.above }
        return service
    }

    /// Deepest nesting of groups.
    private static let depthLimit = 32

    private static func layer(_ json: JSON, base: URL?, depth: Int = 0) -> Layer? {
        let kind = json.text("layerType") ?? json.text("type") ?? ""
        let url = json.text("url").flatMap { URL(string: $0, relativeTo: base)?.absoluteURL }
        let layer: Layer?
        switch kind {
        case "ArcGISMapServiceLayer": layer = url.map { ArcGISMapImageLayer(url: $0) }
        case "ArcGISTiledMapServiceLayer": layer = url.map { ArcGISTiledLayer(url: $0) }
        case "VectorTileLayer":
            layer = (json.text("styleUrl").flatMap { URL(string: $0, relativeTo: base) } ?? url)
                .map { ArcGISVectorTiledLayer(url: service(ofStyle: $0.absoluteURL)) }
        case "ArcGISFeatureLayer":
            layer = url.map { FeatureLayer(featureTable: ServiceFeatureTable(url: $0)) }
        case "WMS":
            let names =
                json["visibleLayers"]?.elements.compactMap(\.text)
                ?? (json["layers"]?.elements ?? []).compactMap { $0.text("name") }
            layer = url.map { WMSLayer(url: $0, layerNames: names) }
        case "WebTiledLayer":
            let domains = (json["subDomains"]?.elements ?? []).compactMap(\.text)
            layer = json.text("templateUrl").map {
                WebTiledLayer(urlTemplate: $0, subDomains: domains)
            }
        case "GroupLayer" where depth < depthLimit:
            layer = GroupLayer(
                childLayers: (json["layers"]?.elements ?? []).compactMap {
                    Self.layer($0, base: base, depth: depth + 1)
                })
        case "OpenStreetMap":
            layer = WebTiledLayer(
                urlTemplate: "https://tile.openstreetmap.org/{level}/{col}/{row}.png")
        default: layer = nil
        }
        guard let layer else {
            CairnEnvironment.note(
                .warning, "a layer of a web map is left out",
                ["layer": json.text("title") ?? "", "type": kind])
            return nil
        }
        layer.apply(webMap: json)
        return layer
    }

    // MARK: Writing

    /// The document of a map.
    static func document(of map: Map) -> JSON {
        let layers = map.operationalLayers.compactMap(\.webMapLayer)
        var base: [(name: String, value: JSON)] = []
        if let basemap = map.basemap {
            func list(_ layers: [Layer], isReference: Bool) -> [JSON] {
                layers.compactMap(\.webMapLayer).map { layer in
                    .object(
                        layer.members + (isReference ? [("isReference", .bool(true))] : []))
                }
            }
            base = [
                ("title", .string(basemap.name)),
                (
                    "baseMapLayers",
                    .array(
                        list(basemap.baseLayers, isReference: false)
                            + list(basemap.referenceLayers, isReference: true))
                ),
            ]
            if let style = basemap.style { base.append(("style", .string(style.rawValue))) }
        }
        let state = map.initialViewpoint.map { viewpoint in
            JSON.object([(name: "viewpoint", value: json(viewpoint))])
        }
        let bookmarks = map.bookmarks.map { bookmark in
            JSON.object(of: [
                "name": .string(bookmark.name), "viewpoint": bookmark.viewpoint.map { json($0) },
                "extent": bookmark.viewpoint.map { $0.targetGeometry.extent.json },
            ])
        }
        return .object(of: [
            "operationalLayers": .array(layers),
            "baseMap": base.isEmpty ? nil : .object(base),
            "spatialReference": map.spatialReference?.json,
            "initialState": state,
            "bookmarks": bookmarks.isEmpty ? nil : .array(bookmarks),
            "authoringApp": .string("Cairn"), "version": .string("2.31"),
        ])
    }

    private static func json(_ viewpoint: Viewpoint) -> JSON {
        .object(of: [
            "targetGeometry": viewpoint.targetGeometry.json,
            "scale": viewpoint.scale.map { .real($0) },
            "rotation": .real(viewpoint.rotation),
        ])
    }
}
