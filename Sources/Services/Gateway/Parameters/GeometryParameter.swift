// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// A geometry parameter, with its own spatial reference if it has one.
struct GeometryParameter: Hashable {
    /// Maximum number of coordinates of a geometry.
    static let coordinateLimit = 50_000

    /// Esri's geometry types, without the prefix `esriGeometry`.
    enum Kind: String, CaseIterable {
        case point = "Point"
        case multipoint = "Multipoint"
        case polyline = "Polyline"
        case polygon = "Polygon"
        case envelope = "Envelope"

        /// Parses `esriGeometryPoint` and so on, case-insensitively; nil when absent.
        init?(_ text: String?) throws(Failure) {
            guard let text else { return nil }
            for (name, kind) in Self.names where name.isEqualIgnoringCase(text) {
                self = kind
                return
            }
            throw Parameters.unexpected(
                "geometryType", text,
                "esriGeometryPoint, esriGeometryMultipoint, esriGeometryPolyline, "
                    + "esriGeometryPolygon or esriGeometryEnvelope")
        }

        private static let names = allCases.map { ("esriGeometry" + $0.rawValue, $0) }
    }

    var shape: Shape
    /// Z and M values of its JSON.
    var ordinates = FurtherOrdinates()
    var spatialReference: SpatialReference?

    /// Parses the simple form (`x,y`, `xmin,ymin,xmax,ymax`, `x,y;x,y`) or JSON.
    ///
    /// Without a kind, the text decides.
    init(_ text: String, kind: Kind?, name: String = "geometry") throws(Failure) {
        if text.utf8.first(where: { $0 > UInt8(ascii: " ") }) == UInt8(ascii: "{") {
            let json: RelaxedValue
            do {
                json = try RelaxedJSON.parse(text)
                spatialReference = try SpatialReference(json["spatialReference"] ?? .null)
                (shape, ordinates) = try Self.geometry(json, kind: kind)
            } catch {
                throw Failure(error.code, "parameter '\(name)': \(error.message)")
            }
        } else {
            shape = try Self.simple(text, kind: kind, name: name)
        }
        try Self.check(shape, "parameter '\(name)'")
    }

    /// Whether JSON is one of Esri's empty geometries: null, no coordinates, or a point whose x is
    /// null or NaN.
    static func isNothing(_ json: RelaxedValue) -> Bool {
        if json == .null { return true }
        if let x = json["x"] { return x == .null || x == .string("NaN") }
        return ["points", "paths", "rings"].contains { json[$0] == .array([]) }
    }

    /// Parses JSON nested in a larger value.
    init(json: RelaxedValue) throws(Failure) {
        spatialReference = try SpatialReference(json["spatialReference"] ?? .null)
        (shape, ordinates) = try Self.geometry(json, kind: nil)
        try Self.check(shape, "the geometry")
    }

    private static func check(_ shape: Shape, _ name: String) throws(Failure) {
        guard shape.coordinateCount <= Self.coordinateLimit else {
            throw Failure(
                .tooLarge,
                "\(name) has \(shape.coordinateCount) coordinates, the most is "
                    + "\(Self.coordinateLimit)")
        }
    }

    private static func simple(
        _ text: String, kind: Kind?, name: String
    ) throws(Failure) -> Shape {
        switch kind {
        case nil, .point?:
            if let values = Parameters.numbers(text, counts: 2...2) {
                return .point(Coordinate(x: values[0], y: values[1]))
            }
            if kind == nil, let values = Parameters.numbers(text, counts: 4...4) {
                return .envelope(envelope(values))
            }
            throw Parameters.unexpected(name, text, "'x,y' or JSON")
        case .envelope?:
            guard let values = Parameters.numbers(text, counts: 4...4) else {
                throw Parameters.unexpected(name, text, "'xmin,ymin,xmax,ymax' or JSON")
            }
            return .envelope(envelope(values))
        case .multipoint?:
            let points = text.split(separator: ";").map {
                Parameters.numbers(String($0), counts: 2...2)
            }
            let coordinates = points.compactMap { $0 }.map { Coordinate(x: $0[0], y: $0[1]) }
            guard !coordinates.isEmpty, coordinates.count == points.count else {
                throw Parameters.unexpected(name, text, "'x,y;x,y' or JSON")
            }
            return .multipoint(coordinates)
        case .polyline?, .polygon?: throw Parameters.unexpected(name, text, "JSON")
        }
    }

    /// Four numbers as an envelope with ordered sides.
    static func envelope(_ values: [Double]) -> Envelope {
        Envelope(
            minX: min(values[0], values[2]), minY: min(values[1], values[3]),
            maxX: max(values[0], values[2]), maxY: max(values[1], values[3]))
    }

    private static func geometry(
        _ json: RelaxedValue, kind: Kind?
    ) throws(Failure) -> (Shape, FurtherOrdinates) {
        let shape: Shape
        let found: Kind
        var further = try FurtherReader(json)
        if json["x"] != nil {
            (shape, found) = (.point(try coordinate([json["x"], json["y"]])), .point)
            try further.takePoint(json)
        } else if let points = json["points"] {
            let coordinates = try coordinates(points, least: 1, what: "points", &further)
            (shape, found) = (.multipoint(coordinates), .multipoint)
        } else if let paths = json["paths"] {
            let parts = try parts(paths, least: 2, "paths", &further)
            (shape, found) = (.polyline(paths: parts), .polyline)
        } else if let rings = json["rings"] {
            let rings = try parts(rings, least: 3, "rings", &further, isClosed: true)
            guard rings.allSatisfy({ $0.count >= 4 }) else {
                throw Failure(.invalidParameter, "every ring needs three coordinates or more")
            }
            (shape, found) = (.polygon(rings: rings), .polygon)
        } else if json["xmin"] != nil {
            let least = try coordinate([json["xmin"], json["ymin"]])
            let most = try coordinate([json["xmax"], json["ymax"]])
            (shape, found) = (.envelope(envelope([least.x, least.y, most.x, most.y])), .envelope)
        } else {
            throw Failure(
                .invalidParameter,
                "expected x and y, points, paths, rings, or xmin, ymin, xmax and ymax")
        }
        guard kind == nil || kind == found else {
            throw Failure(
                .invalidParameter,
                "the JSON is an esriGeometry\(found.rawValue), but geometryType is "
                    + "esriGeometry\(kind?.rawValue ?? "")")
        }
        return (shape, FurtherOrdinates(z: further.z, m: further.m))
    }

    private static func coordinate(_ values: [RelaxedValue?]) throws(Failure) -> Coordinate {
        guard values.count >= 2, let x = values[0]?.number, let y = values[1]?.number else {
            throw Failure(.invalidParameter, "a coordinate needs two numbers")
        }
        return Coordinate(x: x, y: y)
    }

    private static func coordinates(
        _ json: RelaxedValue, least: Int, what: String, _ further: inout FurtherReader,
        isClosed: Bool = false
    ) throws(Failure) -> [Coordinate] {
        guard case .array(let elements) = json, elements.count >= least else {
            throw Failure(
                .invalidParameter, "'\(what)': expected \(least) coordinates or more")
        }
        var result: [Coordinate] = []
        for element in elements {
            guard case .array(let values) = element else {
                throw Failure(.invalidParameter, "'\(what)': expected arrays [x, y]")
            }
            result.append(try coordinate(values))
            try further.take(values)
        }
        if isClosed, let first = result.first, first != result.last {
            result.append(first)
            further.repeat(fromEnd: result.count - 1)
        }
        return result
    }

    private static func parts(
        _ json: RelaxedValue, least: Int, _ what: String, _ further: inout FurtherReader,
        isClosed: Bool = false
    ) throws(Failure) -> [[Coordinate]] {
        guard case .array(let elements) = json, !elements.isEmpty else {
            throw Failure(.invalidParameter, "'\(what)': expected an array of arrays of [x, y]")
        }
        var result: [[Coordinate]] = []
        for element in elements {
            result.append(
                try coordinates(
                    element, least: least, what: what, &further, isClosed: isClosed))
        }
        return result
    }
}

/// Reads the ordinates of positions beyond x and y.
///
/// `hasZ` and `hasM` define the third and fourth number; without both, the third is Z and the
/// fourth M.
private struct FurtherReader {
    /// Values by position; nil without any.
    private(set) var z: [Double?]?
    private(set) var m: [Double?]?

    init(_ json: RelaxedValue) throws(Failure) {
        func flag(_ name: String) throws(Failure) -> Bool? {
            switch json[name] {
            case nil, .null?: return nil
            case .bool(let flag)?: return flag
            default: throw Failure(.invalidParameter, "'\(name)': expected true or false")
            }
        }
        let (hasZ, hasM) = (try flag("hasZ"), try flag("hasM"))
        let isUnsaid = hasZ == nil && hasM == nil
        z = isUnsaid || hasZ == true ? [] : nil
        m = isUnsaid || hasM == true ? [] : nil
    }

    /// Reads the members `z` and `m` of a point, which need no flags.
    mutating func takePoint(_ json: RelaxedValue) throws(Failure) {
        (z, m) = ([try Self.value(json["z"])], [try Self.value(json["m"])])
    }

    /// Reads those of the next position.
    mutating func take(_ values: [RelaxedValue]) throws(Failure) {
        var place = 2
        if z != nil {
            z?.append(try Self.value(place < values.count ? values[place] : nil))
            place += 1
        }
        m?.append(try Self.value(place < values.count ? values[place] : nil))
    }

    /// Repeats those of the position at that offset from the end.
    mutating func `repeat`(fromEnd count: Int) {
        if let z { self.z?.append(z[z.count - count]) }
        if let m { self.m?.append(m[m.count - count]) }
    }

    /// Nil for null, and for `"NaN"` as Esri's clients write it.
    private static func value(_ json: RelaxedValue?) throws(Failure) -> Double? {
        switch json {
        case nil, .null?: return nil
        case .number(let number)?: return number
        case .string(let text)? where text.isEqualIgnoringCase("NaN"): return nil
        default: throw Failure(.invalidParameter, "Z and M: expected a number or null")
        }
    }
}

extension SpatialReference {
    /// Parses Esri's JSON object, or a bare number; nil for null or an empty object.
    init?(_ json: RelaxedValue) throws(Failure) {
        switch json {
        case .null: return nil
        case .number(let number): try self.init(number: number)
        case .object:
            if let wkid = (json["latestWkid"] ?? json["wkid"])?.number {
                try self.init(number: wkid)
            } else if case .string(let wkt)? = json["wkt"] ?? json["wkt2"] {
                self.init(wkt: wkt)
            } else {
                return nil
            }
        default: throw Self.unreadable
        }
    }

    /// Parses `sr`, `outSR` and similar parameters: a number or JSON; nil when absent.
    init?(_ parameters: Parameters, _ name: String) throws(Failure) {
        guard let text = parameters[name] else { return nil }
        do {
            guard let value = try SpatialReference(try RelaxedJSON.parse(text)) else { return nil }
            self = value
        } catch {
            throw Parameters.unexpected(name, text, "a well-known id or a JSON object with one")
        }
    }

    private init(number: Double) throws(Failure) {
        guard let wkid = Int(exactly: number), 1...999_999 ~= wkid else { throw Self.unreadable }
        self.init(wkid: wkid)
    }

    private static var unreadable: Failure {
        Failure(.invalidParameter, "spatialReference: expected a wkid or wkt")
    }
}
