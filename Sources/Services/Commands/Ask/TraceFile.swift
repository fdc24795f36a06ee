// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Expat
internal import FoundationEssentials
internal import Geometry
internal import Tables

/// Reads recorded positions: GPX, GeoJSON or CSV, by their first characters.
///
/// - GPX: the points of all tracks, else of routes, else waypoints, with their times.
/// - GeoJSON: the positions of a line, or points; `time` or `timestamp` of a point's properties,
///   `coordTimes` or `times` of a line's.
/// - CSV with a header: `lon`, `lng`, `longitude` or `x`; `lat`, `latitude` or `y`; and where there
///   are such columns `time` or `timestamp`, `accuracy` or `precision` (metres), `bearing`,
///   `heading` or `course`.
///
/// Times are ISO 8601 or seconds since 1970.
enum TraceFile {
    /// Most bytes of a file.
    static let byteLimit = 64 << 20

    /// The positions in their order; throws `Failure` (`invalidParameter`, `unreadable`).
    static func points(_ bytes: [UInt8], name: String) throws(Failure) -> [TracePoint] {
        let points: [TracePoint]
        switch bytes.first(where: { !$0.isSpace && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF }) {
        case UInt8(ascii: "<"): points = try gpx(bytes, name)
        case UInt8(ascii: "{"): points = try geoJSON(bytes, name)
        default: points = try csv(bytes, name)
        }
        guard points.count >= 2 else {
            throw Failure(
                .invalidParameter,
                "'\(name)' has \(points.count) positions; a trace has two or more")
        }
        return points
    }

    private static func refusal(_ name: String, _ reason: String) -> Failure {
        Failure(.invalidParameter, "'\(name)': \(reason)")
    }

    private static func time(
        _ text: String, _ place: String, _ name: String
    ) throws(Failure) -> Timestamp? {
        guard !text.isEmpty else { return nil }
        if let time = Timestamp(iso: text) { return time }
        // Up to the year 9999.
        guard let seconds = Double(text), seconds >= 0, seconds <= 253_402_300_799 else {
            throw refusal(
                name,
                "\(place): the time '\(text.prefix(40))' is neither ISO 8601 nor seconds since 1970"
            )
        }
        return Timestamp(microseconds: Int64((seconds * 1e6).rounded()))
    }

    private static func coordinate(
        _ x: String?, _ y: String?, _ place: String, _ name: String
    ) throws(Failure) -> Coordinate {
        guard let x = x.flatMap({ Double($0) }), let y = y.flatMap({ Double($0) }),
            abs(x) <= 180, abs(y) <= 90
        else { throw refusal(name, "\(place): expected longitude and latitude") }
        return Coordinate(x: x, y: y)
    }

    // MARK: GPX

    private static func gpx(_ bytes: [UInt8], _ name: String) throws(Failure) -> [TracePoint] {
        let root: XMLElement
        do { root = try XMLReader.read(bytes) } catch { throw refusal(name, error.description) }
        guard root.name.lowercased() == "gpx" else {
            throw refusal(name, "its outermost element is '\(root.name.prefix(40))', not 'gpx'")
        }
        let tracks = root.all("trk").flatMap { $0.all("trkseg") }.flatMap { $0.all("trkpt") }
        let routes = root.all("rte").flatMap { $0.all("rtept") }
        var elements = tracks
        if elements.isEmpty { elements = routes.isEmpty ? root.all("wpt") : routes }
        var points: [TracePoint] = []
        for (number, element) in elements.enumerated() {
            let place = "point \(number + 1)"
            var point = TracePoint(
                try coordinate(element.attributes["lon"], element.attributes["lat"], place, name))
            point.time = try time(element.first("time")?.trimmed ?? "", place, name)
            points.append(point)
        }
        return points
    }

    // MARK: GeoJSON

    private static func geoJSON(_ bytes: [UInt8], _ name: String) throws(Failure) -> [TracePoint] {
        let value: JSONValue
        do { value = try CairnJSON.decode(JSONValue.self, from: Data(bytes)) } catch {
            throw refusal(name, "it is not JSON")
        }
        var points: [TracePoint] = []
        try add(value, [:], name, to: &points)
        return points
    }

    private static func add(
        _ value: JSONValue, _ properties: [String: JSONValue], _ name: String,
        to points: inout [TracePoint]
    ) throws(Failure) {
        guard case .object(let members) = value, case .string(let type)? = members["type"] else {
            throw refusal(name, "it is not GeoJSON: an object has no type")
        }
        switch type {
        case "FeatureCollection":
            guard case .array(let features)? = members["features"] else { return }
            for feature in features {
                guard case .object(let feature) = feature, let geometry = feature["geometry"] else {
                    continue
                }
                var own: [String: JSONValue] = [:]
                if case .object(let values)? = feature["properties"] { own = values }
                try add(geometry, own, name, to: &points)
            }
        case "Feature":
            try add(
                .object(["type": .string("FeatureCollection"), "features": .array([value])]), [:],
                name, to: &points)
        case "Point":
            let stated = text(properties["time"] ?? properties["timestamp"])
            try add(members["coordinates"].map { [$0] } ?? [], [stated], name, to: &points)
        case "LineString", "MultiPoint":
            try add(list(members["coordinates"]), times(properties), name, to: &points)
        case "MultiLineString":
            let times = list(properties["coordTimes"] ?? properties["times"])
            for (number, line) in list(members["coordinates"]).enumerated() {
                let own = number < times.count ? list(times[number]).map(text) : []
                try add(list(line), own, name, to: &points)
            }
        default: throw refusal(name, "a geometry is a \(type.prefix(40)): expected points or lines")
        }
    }

    private static func times(_ properties: [String: JSONValue]) -> [String] {
        list(properties["coordTimes"] ?? properties["times"]).map(text)
    }

    private static func list(_ value: JSONValue?) -> [JSONValue] {
        if case .array(let values)? = value { values } else { [] }
    }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text)?: text
        case .integer(let number)?: "\(number)"
        case .real(let number)?: "\(number)"
        default: ""
        }
    }

    private static func add(
        _ positions: [JSONValue], _ times: [String], _ name: String,
        to points: inout [TracePoint]
    ) throws(Failure) {
        for (number, position) in positions.enumerated() {
            let place = "position \(points.count + 1)"
            let numbers = list(position)
            guard numbers.count >= 2 else {
                throw refusal(name, "\(place): expected longitude and latitude")
            }
            var point = TracePoint(
                try coordinate(text(numbers[0]), text(numbers[1]), place, name))
            if number < times.count { point.time = try time(times[number], place, name) }
            points.append(point)
        }
    }

    // MARK: CSV

    private static func csv(_ bytes: [UInt8], _ name: String) throws(Failure) -> [TracePoint] {
        let form = TableForm(beginning: bytes)
        var records: [[String]] = []
        var scanner = form.scanner(at: form.start)
        do {
            let take = { (record: CSVScanner.Record) in
                records.append(record.fields.map { String(decoding: $0, as: UTF8.self) })
            }
            try scanner.feed(bytes.dropFirst(form.start), take)
            try scanner.finish(take)
        } catch {
            throw (error as? Failure).map { refusal(name, $0.message) }
                ?? refusal(name, "it is not CSV")
        }
        let header = (records.first ?? []).map { $0.lowercased() }
        func column(_ names: String...) -> Int? { header.firstIndex { names.contains($0) } }
        guard let x = column("lon", "lng", "long", "longitude", "x"),
            let y = column("lat", "latitude", "y")
        else {
            throw refusal(
                name,
                "it is neither GPX nor GeoJSON, and as CSV its first line has no columns 'lon' and "
                    + "'lat'")
        }
        let (times, precisions, bearings) = (
            column("time", "timestamp"), column("accuracy", "precision"),
            column("bearing", "heading", "course")
        )
        var points: [TracePoint] = []
        for (number, record) in records.enumerated().dropFirst() {
            let place = "row \(number)"
            func field(_ column: Int?) -> String? {
                column.flatMap { $0 < record.count ? record[$0] : nil }
            }
            var point = TracePoint(try coordinate(field(x), field(y), place, name))
            point.time = try time(field(times) ?? "", place, name)
            point.precision = field(precisions).flatMap { Double($0) }
            point.bearing = field(bearings).flatMap { Double($0) }
            points.append(point)
        }
        return points
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool { self == 32 || 9...13 ~= self }
}
