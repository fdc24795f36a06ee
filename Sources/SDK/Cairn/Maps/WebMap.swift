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
    ///
    /// Only documents of a package, whose `base` is its folder, name files, and only those in it.
    init(_ json: JSON, base: URL?, geodatabases: PackagedGeodatabases? = nil) throws {
        guard case .object = json,
            json.member("operationalLayers") != nil || json.member("baseMap") != nil
        else {
            throw CairnError(
                .invalidDocument,
                "the JSON is no web map: expected operationalLayers and baseMap")
        }
        layers = (json["operationalLayers"]?.elements ?? []).compactMap {
            Self.layer($0, base: base, geodatabases)
        }
        let folder = base?.isFileURL == true ? base : nil
        if let base = json.member("baseMap") {
            let all = (base["baseMapLayers"]?.elements ?? []).compactMap { element in
                Self.layer(element, base: folder, geodatabases).map {
                    ($0, element["isReference"]?.flag ?? false)
                }
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
            guard let url = table.text("url").flatMap({ URL(string: $0, relativeTo: base) }),
                Self.isAllowed(url.absoluteURL, base)
            else { return nil }
            return Self.table(url.absoluteURL, geodatabases)
        }
    }

    /// Whether a document may name a URL: a file only where it lies in the package's folder.
    private static func isAllowed(_ url: URL, _ base: URL?) -> Bool {
        guard url.isFileURL else { return true }
        guard let base, base.isFileURL else { return false }
        func path(_ url: URL) -> String {
            url.standardizedFileURL.resolvingSymlinksInPath().path(percentEncoded: false)
        }
        let folder = path(base)
        return path(url).hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
    }

    /// A table of a service, or of a geodatabase of a package: `0.gpkg#Places`.
    private static func table(_ url: URL, _ geodatabases: PackagedGeodatabases?) -> FeatureTable? {
        guard url.isFileURL else { return ServiceFeatureTable(url: url) }
        guard let name = url.fragment(percentEncoded: false), let geodatabases else { return nil }
        return GeodatabaseFeatureTable(named: name, of: geodatabases.geodatabase(url))
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

    private static func layer(
        _ json: JSON, base: URL?, _ geodatabases: PackagedGeodatabases?, depth: Int = 0
    ) -> Layer? {
        let kind = json.text("layerType") ?? json.text("type") ?? ""
        let url = json.text("url").flatMap { URL(string: $0, relativeTo: base)?.absoluteURL }
            .flatMap { isAllowed($0, base) ? $0 : nil }
        let layer: Layer?
        switch kind {
        case "ArcGISMapServiceLayer": layer = url.map { ArcGISMapImageLayer(url: $0) }
        case "ArcGISTiledMapServiceLayer": layer = url.map { ArcGISTiledLayer(url: $0) }
        case "VectorTileLayer":
            let style = json.text("styleUrl").flatMap { URL(string: $0, relativeTo: base) }
            layer = (style.flatMap { isAllowed($0.absoluteURL, nil) ? $0 : nil } ?? url).map {
                guard $0.isFileURL else {
                    return ArcGISVectorTiledLayer(url: service(ofStyle: $0.absoluteURL))
                }
                return ArcGISVectorTiledLayer(
                    vectorTileCache: VectorTileCache(fileURL: $0),
                    itemResourceCache: json.text("itemResources")
                        .flatMap { URL(string: $0, relativeTo: base)?.absoluteURL }
                        .flatMap { isAllowed($0, base) ? ItemResourceCache(fileURL: $0) : nil })
            }
        case "ArcGISFeatureLayer":
            layer = url.flatMap { table($0, geodatabases) }.map { FeatureLayer(featureTable: $0) }
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
                    Self.layer($0, base: base, geodatabases, depth: depth + 1)
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
