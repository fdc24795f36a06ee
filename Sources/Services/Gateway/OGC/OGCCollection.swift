// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import Platform

/// Id of a collection, a layer of a map: `World.2` or, for a map in a folder, `Planning.Zones.0`.
struct OGCCollectionID: Hashable, CustomStringConvertible {
    var map: MapName
    var layer: LayerID

    init(map: MapName, layer: LayerID) {
        self.map = map
        self.layer = layer
    }

    /// Nil for text of another form.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let last = parts.last, let layer = Int(last), 0...Int(Int32.max) ~= layer,
            last == "\(layer)", !text.contains("/"),
            let map = MapName(rawValue: parts.dropLast().joined(separator: "/"))
        else { return nil }
        self.init(map: map, layer: layer)
    }

    var description: String {
        map.rawValue.split(separator: "/").joined(separator: ".") + ".\(layer)"
    }
}

/// A layer of a map as a collection of OGC API – Features: a loaded, queryable imported dataset.
struct OGCCollection {
    let id: OGCCollectionID
    let layer: LayerDescription
    let properties: LayerProperties
    private let map: MapDescription
    /// Time extent of its features; nil where it is unknown.
    var time: TimeExtent?

    /// Nil for a layer that is not a collection.
    init?(_ layer: LayerDescription, of map: MapDescription) {
        guard layer.isFeatureLayer, layer.isQueryable, layer.loadStatus == .loaded,
            let properties = layer.asQueried.properties
        else { return nil }
        id = OGCCollectionID(map: map.name, layer: layer.id)
        self.layer = layer.asQueried
        self.map = map
        self.properties = properties
    }

    /// The collections of a map, top layer first.
    static func all(of map: MapDescription) -> [OGCCollection] {
        MapServiceResource(map).topFirst.compactMap { OGCCollection($0, of: map) }
    }

    /// Writes the members of the collection's description.
    func write(to json: inout JSONWriter, _ links: OGCLinks) {
        let path = "collections/\(id)"
        json.member("id", "\(id)")
        json.member("title", layer.name)
        json.member(
            "description",
            layer.info?.description ?? "Layer \(layer.id) of map \(map.name.rawValue)")
        json.member("itemType", "feature")
        let extent = properties.degrees
        if extent != nil || time != nil {
            json.member("extent") { writeExtent(extent, to: &$0) }
        }
        json.member("crs", array: OGCReference.all(of: properties)) { $0.string($1.uri) }
        if let storage = OGCReference.storage(of: properties) {
            json.member("storageCrs", storage.uri)
        }
        json.key("links")
        json.array { json in
            links.write("self", path, OGCLinks.json, layer.name, &json)
            links.write("alternate", path + "?f=html", OGCLinks.html, layer.name, &json)
            links.write("items", path + "/items", OGCLinks.geoJSON, "Features", &json)
            links.write("items", path + "/items?f=html", OGCLinks.html, "Features", &json)
            links.write(
                "related", "\(OGCMapID(map.name))/map/tiles", OGCLinks.json, "Tiles of its map",
                &json)
        }
    }

    private func writeExtent(_ extent: Envelope?, to json: inout JSONWriter) {
        if let extent { json.spatialExtent(extent) }
        guard let time else { return }
        json.member("temporal") { json in
            json.key("interval")
            json.array { json in
                json.array(of: [time.start, time.end]) { json, moment in
                    if let moment {
                        json.string(CalendarClock(milliseconds: moment).text)
                    } else {
                        json.null()
                    }
                }
            }
            json.member("trs", "http://www.opengis.net/def/uom/ISO-8601/0/Gregorian")
        }
    }
}

/// Id of a map: `World` or, for a map in a folder, `Planning.Zones`.
struct OGCMapID: Hashable, CustomStringConvertible {
    let map: MapName

    init(_ map: MapName) { self.map = map }

    /// Nil for text of another form.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard !text.contains("/"), let map = MapName(rawValue: parts.joined(separator: "/")) else {
            return nil
        }
        self.init(map)
    }

    var description: String { map.rawValue.split(separator: "/").joined(separator: ".") }
}

extension JSONWriter {
    /// Writes the member `spatial` of an extent in degrees.
    mutating func spatialExtent(_ extent: Envelope) {
        member("spatial") { json in
            json.key("bbox")
            json.array { json in
                json.array(of: [extent.minX, extent.minY, extent.maxX, extent.maxY]) {
                    $0.number($1)
                }
            }
            json.member("crs", OGCReference.crs84.uri)
        }
    }
}

/// Links of OGC APIs: absolute where the server's name is known.
struct OGCLinks {
    static let json = "application/json"
    static let geoJSON = "application/geo+json"
    static let html = "text/html"
    static let openAPI = "application/vnd.oai.openapi+json;version=3.0"

    /// The URL of the landing page.
    let root: String
    /// `at=5` if the past was requested; carried over to all links.
    private let moment: String?

    init(_ request: GatewayRequest, _ parameters: Parameters) {
        root = (request.origin ?? "") + "/ogc"
        moment = parameters[Known.at].map { "at=" + Parameters.encode($0) }
    }

    /// The URL of a path below the root, which may include a query.
    func url(_ path: String) -> String {
        let whole = path.isEmpty || path.hasPrefix("?") ? root + path : "\(root)/\(path)"
        guard let moment else { return whole }
        return whole + (path.contains("?") ? "&" : "?") + moment
    }

    func write(
        _ relation: String, _ path: String, _ type: String, _ title: String,
        _ json: inout JSONWriter
    ) {
        Self.write(relation, url: url(path), type, title, &json)
    }

    /// Writes the links to a resource itself, and to its page.
    func writeSelf(_ path: String, _ title: String, _ json: inout JSONWriter) {
        write("self", path, Self.json, title, &json)
        write("alternate", path + "?f=html", Self.html, title, &json)
    }

    /// - Parameter isTemplate: Whether the URL has variables in braces.
    static func write(
        _ relation: String, url: String, _ type: String, _ title: String,
        isTemplate: Bool = false, _ json: inout JSONWriter
    ) {
        json.object { json in
            json.member("href", url)
            json.member("rel", relation)
            json.member("type", type)
            json.member("title", title)
            if isTemplate { json.member("templated", true) }
        }
    }
}
