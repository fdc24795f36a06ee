// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import FoundationEssentials
public import Geometry

/// One geometry in GeoJSON (RFC 7946, a `Feature` included) or in Esri's JSON, x before y.
public struct GeometryJSON: Decodable, Hashable, Sendable {
    /// The geometry; open rings of Esri's JSON are closed.
    public var shape: Shape
    /// WGS 84 for GeoJSON; for Esri's JSON its own, nil where it has none.
    public var spatialReference: SpatialReference?

    /// Decodes either: GeoJSON has a `type`; an envelope with swapped bounds is normalised.
    ///
    /// Throws `Failure` (`invalidParameter`) with the expected form.
    public init(from decoder: any Decoder) throws {
        if try Kind(from: decoder).type != nil {
            shape = try GeoJSONGeometry(from: decoder).shape
            spatialReference = .wgs84
        } else {
            let geometry = try EsriGeometry(from: decoder)
            shape = try geometry.shape()
            spatialReference = geometry.reference
        }
        try shape.checkParts()
    }

    /// Parses a text; throws `Failure` (`invalidParameter`).
    public static func parse(_ text: String) throws(Failure) -> GeometryJSON {
        let data = Data(text.utf8)
        guard depth(data) <= 16 else {
            throw Failure(.invalidParameter, "geometry JSON is nested too deeply")
        }
        do throws(Failure) {
            return try CairnJSON.decode(GeometryJSON.self, from: data)
        } catch {
            throw Failure(error.code, "geometry JSON: \(error.message)")
        }
    }

    /// Upper bound of the nesting depth; brackets inside strings count.
    private static func depth(_ data: Data) -> Int {
        var (now, most) = (0, 0)
        for byte in data {
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") { now += 1 }
            if byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}") { now -= 1 }
            most = max(most, now)
        }
        return most
    }

    private struct Kind: Decodable {
        var type: String?

        private enum CodingKeys: String, CodingKey { case type }

        init(from decoder: any Decoder) throws {
            type = try MemberReader<CodingKeys>(decoder).value(.type, "text")
        }
    }
}

/// Decodes members of an object, with errors for values of another kind.
struct MemberReader<Key: CodingKey> {
    private let members: KeyedDecodingContainer<Key>

    init(_ decoder: any Decoder) throws(Failure) {
        do { members = try decoder.container(keyedBy: Key.self) } catch {
            throw Failure(.invalidParameter, "expected a JSON object")
        }
    }

    /// Nil for an absent or null member; throws `invalidParameter` with the expected form.
    func value<Value: Decodable>(_ key: Key, _ expected: String) throws(Failure) -> Value? {
        do {
            return try members.decodeIfPresent(Value.self, forKey: key)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.invalidParameter, "'\(key.stringValue)': expected \(expected)")
        }
    }
}

extension Shape {
    /// Throws `invalidParameter` for a path or ring of too few positions.
    fileprivate func checkParts() throws(Failure) {
        switch self {
        case .polyline(let paths) where paths.contains { $0.count < 2 }:
            throw Failure(.invalidParameter, "every path needs two coordinates or more")
        case .polygon(let rings) where rings.contains { $0.count < 4 }:
            throw Failure(
                .invalidParameter,
                "every ring needs three coordinates or more, and its first again at its end")
        case .point, .multipoint, .polyline, .polygon, .envelope: break
        }
    }
}

/// A position of two or more numbers, of which the first two are kept.
private struct Position: Decodable {
    var coordinate: Coordinate

    init(from decoder: any Decoder) throws {
        guard let numbers = try? [Double](from: decoder) else {
            throw Failure(.invalidParameter, "a position is not a list of numbers")
        }
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
        let object = try MemberReader<CodingKeys>(decoder)
        let type: String = try object.value(.type, "text") ?? ""
        func read<Value: Decodable>(_: Value.Type) throws(Failure) -> Value {
            guard let value: Value = try object.value(.coordinates, "those of a \(type)") else {
                throw Failure(.invalidParameter, "GeoJSON type '\(type)' without 'coordinates'")
            }
            return value
        }
        switch type {
        case "Feature":
            guard let inner: GeoJSONGeometry = try object.value(.geometry, "a geometry") else {
                throw Failure(.invalidParameter, "the Feature has no 'geometry'")
            }
            shape = inner.shape
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

    private enum CodingKeys: String, CodingKey {
        case x, y, points, paths, rings, xmin, ymin, xmax, ymax, spatialReference
    }

    init(from decoder: any Decoder) throws {
        let members = try MemberReader<CodingKeys>(decoder)
        x = try members.value(.x, "a number")
        y = try members.value(.y, "a number")
        points = try members.value(.points, "a list of [x, y]")
        paths = try members.value(.paths, "a list of lists of [x, y]")
        rings = try members.value(.rings, "a list of lists of [x, y]")
        xmin = try members.value(.xmin, "a number")
        ymin = try members.value(.ymin, "a number")
        xmax = try members.value(.xmax, "a number")
        ymax = try members.value(.ymax, "a number")
        spatialReference = try members.value(
            .spatialReference, "an object with a wkid or wkt")
    }

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
            return .envelope(Envelope(minX: xmin, minY: ymin, maxX: xmax, maxY: ymax).ordered)
        }
        throw Failure(
            .invalidParameter, "neither GeoJSON ('type') nor Esri's x, points, paths, rings or xmin"
        )
    }
}
