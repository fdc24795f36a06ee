// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import Platform

/// A map as descriptions of its tiles show it.
struct TiledMap {
    let name: MapName
    let title: String
    /// Empty where there is none.
    let summary: String
    let attribution: String
    /// Where its layers are, in degrees, within Web Mercator: never empty.
    let extent: Envelope

    init(_ map: MapDescription) {
        name = map.name
        title = map.properties?.title ?? map.name.rawValue
        summary = map.properties?.description ?? ""
        attribution = map.attribution
        extent = MapExtents(map).tiled
    }

    /// Name of the map in OGC APIs, one segment: `World`, `Planning.Zones`.
    var id: OGCMapID { OGCMapID(name) }

    /// Name of the map as a layer of its WMTS, as ArcGIS Server writes it: `Planning_Zones`.
    var layerID: String { name.rawValue.split(separator: "/").joined(separator: "_") }

    /// The extent in EPSG:3857.
    var extentInMeters: Envelope {
        let low = WebMercator.project(Coordinate(x: extent.minX, y: extent.minY))
        let high = WebMercator.project(Coordinate(x: extent.maxX, y: extent.maxY))
        return Envelope(minX: low.x, minY: low.y, maxX: high.x, maxY: high.y)
    }

    /// Writes title, description and attribution as documents of OGC have them.
    func writeText(to json: inout JSONWriter) {
        json.member("title", title)
        if !summary.isEmpty { json.member("description", summary) }
        if !attribution.isEmpty { json.member("attribution", attribution) }
    }

    /// The URL of its map service, for a client of that origin.
    func mapServer(_ origin: String?) -> String { Self.mapServer(name, origin) }

    /// The URL of a map's map service, for a client of that origin.
    static func mapServer(_ name: MapName, _ origin: String?) -> String {
        let path = name.rawValue.split(separator: "/").map { Parameters.encode(String($0)) }
        return (origin ?? "") + "/arcgis/rest/services/" + path.joined(separator: "/")
            + "/MapServer"
    }

    /// The level at which about one tile covers the extent.
    var overviewLevel: Int {
        var level = 0
        while level < TileAddress.levels.upperBound,
            max(extent.width, extent.height) * Double(TileAddress.count(at: level + 1)) <= 360
        {
            level += 1
        }
        return level
    }
}

extension MapExtents {
    /// The rectangle around all layers in degrees, within the bounds of Web Mercator.
    ///
    /// The world where there are no layers, or one has no known extent, since what is outside a
    /// stated extent is not asked for; a rectangle without area is widened.
    fileprivate var tiled: Envelope {
        let limit = WebMercator.latitudeLimit
        let world = Envelope(minX: -180, minY: -limit, maxX: 180, maxY: limit)
        guard let all = degrees else { return world }
        let least = 0.001
        var (west, east) = (max(-180, min(180, all.minX)), max(-180, min(180, all.maxX)))
        var (south, north) = (max(-limit, min(limit, all.minY)), max(-limit, min(limit, all.maxY)))
        if east - west < least { (west, east) = (west - least, east + least) }
        if north - south < least { (south, north) = (south - least, north + least) }
        let extent = Envelope(minX: west, minY: south, maxX: east, maxY: north)
        return extent.width.isFinite && extent.height.isFinite ? extent : world
    }
}
