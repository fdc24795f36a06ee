// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
public import Geometry

/// One geometry in GeoJSON (RFC 7946, a `Feature` included) or in Esri's JSON, x before y.
public struct GeometryJSON: Decodable, Hashable, Sendable {
    /// The geometry; rings of Esri's are closed where they were not.
    public var shape: Shape
    /// WGS 84 for GeoJSON; of Esri's its own, nil where it states none.
    public var spatialReference: SpatialReference?

    /// Reads either: GeoJSON has a `type`.
    public init(from decoder: any Decoder) throws {
        if try Kind(from: decoder).type != nil {
            shape = try GeoJSONGeometry(from: decoder).shape
            spatialReference = .wgs84
        } else {
            let geometry = try EsriGeometry(from: decoder)
            shape = try geometry.shape()
            spatialReference = geometry.reference
        }
    }

    /// Reads a text; throws `Failure` (`invalidParameter`).
    public static func parse(_ text: String) throws(Failure) -> GeometryJSON {
        let data = Data(text.utf8)
        guard depth(data) <= 16 else {
            throw Failure(.invalidParameter, "geometry JSON: it is nested too deeply")
        }
        do throws(Failure) {
            return try CairnJSON.decode(GeometryJSON.self, from: data)
        } catch {
            throw Failure(error.code, "geometry JSON: \(error.message)")
        }
    }

    /// How deeply brackets are nested, texts included, which is never less than the truth.
    private static func depth(_ data: Data) -> Int {
        var (now, most) = (0, 0)
        for byte in data {
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") { now += 1 }
            if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") { now -= 1 }
            most = max(most, now)
        }
        return most
    }

    private struct Kind: Decodable { var type: String? }
}

/// A position of two or more numbers, of which the first two are kept.
private struct Position: Decodable {
    var coordinate: Coordinate

    init(from decoder: any Decoder) throws {
        let numbers = try [Double](from: decoder)
        guard numbers.count >= 2 else {
            throw Failure(.invalidParameter, "a position has fewer than two numbers")
        }
        coordinate = Coordinate(x: numbers[0], y: numbers[1])
    }
}

private struct GeoJSONGeometry: Decodable {
    var shape: Shape

    private enum CodingKeys: String, CodingKey { case type, coordinates, geometry }

    init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: CodingKeys.self)
        func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
            try object.decode(type, forKey: .coordinates)
        }
        let type = try object.decode(String.self, forKey: .type)
        switch type {
        case "Feature": shape = try object.decode(GeoJSONGeometry.self, forKey: .geometry).shape
        case "Point": shape = .point(try read(Position.self).coordinate)
        case "MultiPoint": shape = .multipoint(try read([Position].self).map(\.coordinate))
        case "LineString": shape = .polyline(paths: [try read([Position].self).map(\.coordinate)])
        case "MultiLineString":
            shape = .polyline(paths: try read([[Position]].self).map { $0.map(\.coordinate) })
        case "Polygon":
            shape = .polygon(rings: try read([[Position]].self).map { $0.map(\.coordinate) })
        case "MultiPolygon":
            shape = .polygon(
                rings: try read([[[Position]]].self).flatMap { $0.map { $0.map(\.coordinate) } })
        default:
            throw Failure(.invalidParameter, "GeoJSON type '\(type.prefix(40))' is not read here")
        }
    }
}

private struct EsriGeometry: Decodable {
    var x: Double?
    var y: Double?
    var points: [Position]?
    var paths: [[Position]]?
    var rings: [[Position]]?
    var xmin: Double?
    var ymin: Double?
    var xmax: Double?
    var ymax: Double?
    var spatialReference: Reference?

    struct Reference: Decodable {
        var wkid: Int?
        var wkt: String?
    }

    var reference: SpatialReference? {
        spatialReference?.wkid.map { SpatialReference(wkid: $0) }
            ?? spatialReference?.wkt.map { SpatialReference(wkt: $0) }
    }

    func shape() throws(Failure) -> Shape {
        if let x, let y { return .point(Coordinate(x: x, y: y)) }
        if let points { return .multipoint(points.map(\.coordinate)) }
        if let paths { return .polyline(paths: paths.map { $0.map(\.coordinate) }) }
        if let rings {
            return .polygon(
                rings: rings.map { ring in
                    let ring = ring.map(\.coordinate)
                    guard let first = ring.first, ring.last != first else { return ring }
                    return ring + [first]
                })
        }
        if let xmin, let ymin, let xmax, let ymax {
            let envelope = Envelope(minX: xmin, minY: ymin, maxX: xmax, maxY: ymax)
            guard !envelope.isEmpty else {
                throw Failure(.invalidParameter, "a minimum is above its maximum")
            }
            return .envelope(envelope)
        }
        throw Failure(
            .invalidParameter, "neither GeoJSON ('type') nor Esri's x, points, paths, rings or xmin"
        )
    }
}
