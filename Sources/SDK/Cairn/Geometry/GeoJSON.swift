// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// Geometries of GeoJSON, in degrees on WGS 84 (RFC 7946).
enum GeoJSON {
    static func geometry(_ json: JSON?) -> Geometry? {
        guard let json, let type = json.text("type") else { return nil }
        let coordinates = json["coordinates"]
        func place(_ json: JSON) -> Place? { Place(json, hasZ: true) }
        func line(_ json: JSON) -> [Place] { json.elements.compactMap(place) }
        switch type {
        case "Point": return coordinates.flatMap(place).map { Point($0, .wgs84) }
        case "MultiPoint":
            return Multipoint(places: coordinates.map(line) ?? [], spatialReference: .wgs84)
        case "LineString":
            return Polyline(places: [coordinates.map(line) ?? []], spatialReference: .wgs84)
        case "MultiLineString":
            return Polyline(
                places: (coordinates?.elements ?? []).map(line), spatialReference: .wgs84)
        case "Polygon":
            return Polygon(
                places: (coordinates?.elements ?? []).map(line), spatialReference: .wgs84)
        case "MultiPolygon":
            return Polygon(
                places: (coordinates?.elements ?? []).flatMap { $0.elements.map(line) },
                spatialReference: .wgs84)
        default: return nil
        }
    }
}
