// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
public import Platform

/// Writes features of points and lines as the GeoJSON (RFC 7946) that jobs read as their input.
public struct PlaceFeaturesWriter: Sendable {
    private var json = JSONWriter()

    /// A collection without features.
    public init() {
        json.openObject()
        json.member("type", "FeatureCollection")
        json.openArray("features")
    }

    /// Writes a feature: its shape in longitude and latitude, null for none.
    ///
    /// `role` is a member beside the properties, whose members `properties` writes. Throws
    /// `Failure` (`invalidParameter`) for an area unless they are allowed; the collection is of no
    /// use then.
    public mutating func write(
        id: Int, role: String? = nil, _ shape: Shape?, allowsAreas: Bool = false,
        properties: (inout JSONWriter) -> Void
    ) throws(Failure) {
        json.openObject()
        json.member("type", "Feature")
        json.member("id", id)
        if let role { json.member("role", role) }
        json.member("properties", properties)
        json.key("geometry")
        if allowsAreas, let rings = Self.rings(of: shape) {
            writeAreas(rings)
        } else {
            try write(shape)
        }
        json.closeObject()
    }

    /// The bytes of the whole collection.
    public consuming func finish() -> [UInt8] {
        json.closeArray()
        json.closeObject()
        return json.bytes
    }

    private static func rings(of shape: Shape?) -> [[Coordinate]]? {
        switch shape {
        case .polygon(let rings)?: return rings
        case .envelope(let box)?:
            let corners = [
                (box.minX, box.minY), (box.maxX, box.minY), (box.maxX, box.maxY),
                (box.minX, box.maxY), (box.minX, box.minY),
            ]
            return [corners.map { Coordinate(x: $0.0, y: $0.1) }]
        default: return nil
        }
    }

    private mutating func writeAreas(_ rings: [[Coordinate]]) {
        let polygons = RingNesting(rings).polygons.map { $0.map { rings[$0] } }
        write("MultiPolygon") { json in
            json.array(of: polygons) { json, polygon in
                json.array(of: polygon) { $0.line($1) }
            }
        }
    }

    private mutating func write(_ shape: Shape?) throws(Failure) {
        switch shape {
        case nil: json.null()
        case .point(let place)?: write("Point") { $0.position(place) }
        case .multipoint(let places)?: write("MultiPoint") { $0.line(places) }
        case .polyline(let paths)?:
            write("MultiLineString") { json in json.array(of: paths) { $0.line($1) } }
        case .polygon?, .envelope?:
            throw Failure(.invalidParameter, "an area: expected a point or a line")
        }
    }

    private mutating func write(_ type: String, _ coordinates: (inout JSONWriter) -> Void) {
        json.object { json in
            json.member("type", type)
            json.key("coordinates")
            coordinates(&json)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func position(_ place: Coordinate) {
        array(of: [place.x, place.y]) { $0.number($1) }
    }

    fileprivate mutating func line(_ places: [Coordinate]) {
        array(of: places) { $0.position($1) }
    }
}
