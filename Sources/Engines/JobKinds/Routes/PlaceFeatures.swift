// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Geometry
internal import Platform
internal import Tables

/// The type of an attribute of features, which a table keeps as text.
enum AttributeKind: String, Codable, Hashable, Sendable {
    case text
    case whole
    case real
    case flag
    /// What the feature is for: a member `role` beside its properties.
    case role

    /// The value of a field; null for an empty one that is no text.
    func value(_ field: [UInt8]) -> JSONValue {
        let text = String(decoding: field, as: UTF8.self)
        switch self {
        case .text, .role: return .string(text)
        case .whole: return Int64(text).map { .integer($0) } ?? .null
        case .real: return Double(text).map { .real($0) } ?? .null
        case .flag: return text.isEmpty ? .null : .bool(text == "true")
        }
    }
}

/// Features of GeoJSON (RFC 7946) as the table that the chunks of a job read: their attributes,
/// then the columns of their places.
///
/// Equal features give equal bytes.
struct PlaceFeatures {
    /// What the last columns have.
    enum Places: Hashable {
        /// Longitude and latitude.
        case single
        /// The stops of a route, `x,y;x,y`.
        case stops
    }

    /// Size limit of a file of features, in bytes.
    static let maximumByteCount: Int64 = 64 << 20
    /// The columns that say which route a stop belongs to, and its place in it.
    private static let (routeName, sequence) = ("routename", "sequence")

    /// The header and the rows: CSV in UTF-8 with commas.
    private(set) var csv: [UInt8] = []
    /// The kind of each column.
    private(set) var kinds: [AttributeKind] = []

    private struct Row {
        var id: JSONTree?
        var role: String?
        var attributes: [String: JSONTree] = [:]
        /// The fields of the last columns.
        var places: [String]
    }

    /// Whether a file has features, by its first character.
    static func isFeatures(_ beginning: [UInt8]) -> Bool {
        let start = beginning.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        return beginning.dropFirst(start).first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "{")
    }

    /// Reads a feature collection, or one feature.
    ///
    /// `fields` are the attributes to keep, all where it is nil. Throws `Failure`
    /// (`invalidParameter`) with the number of the feature.
    init(_ bytes: [UInt8], _ places: Places, keeping fields: [String]?) throws(Failure) {
        let tree: JSONTree
        do throws(JSONFault) {
            let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
            tree = try JSONTree(Array(bytes.dropFirst(start)), .strict)
        } catch {
            throw Failure(.invalidParameter, "the features are no GeoJSON: \(error)")
        }
        try Self.checkReference(tree)
        var names: [String] = []
        var known: Set<String> = []
        var rows: [Row] = []
        for (index, feature) in try Self.features(of: tree).enumerated() {
            do throws(Failure) {
                rows.append(try Self.row(feature, places))
            } catch {
                throw Failure(error.code, "feature \(index + 1): \(error.message)")
            }
            for member in feature["properties"]?.members ?? []
            where known.insert(member.name).inserted {
                names.append(member.name)
            }
        }
        if places == .stops { rows = Self.routes(rows, names) }
        if let fields { names = try Self.chosen(fields, among: names) }
        write(rows, names, places)
    }

    private static func features(of tree: JSONTree) throws(Failure) -> [JSONTree] {
        switch tree["type"]?.text {
        case "FeatureCollection"?:
            guard case .array(let features)? = tree["features"] else {
                throw Failure(.invalidParameter, "the feature collection has no list 'features'")
            }
            return features
        case "Feature"?: return [tree]
        default:
            throw Failure(
                .invalidParameter,
                "the features are no GeoJSON: expected 'type' to be FeatureCollection or Feature")
        }
    }

    /// Throws for a reference other than WGS 84, which an older form of GeoJSON allows to state.
    static func checkReference(_ tree: JSONTree) throws(Failure) {
        guard let crs = tree["crs"], case .object = crs else { return }
        let name = crs["properties"]?["name"]?.text ?? ""
        let known = ["CRS84", "EPSG::4326", "EPSG:4326", "4326"]
        guard !known.contains(where: name.hasSuffix) else { return }
        throw Failure(
            .invalidParameter,
            "the features are in '\(name.prefix(80))': expected longitude and latitude of WGS 84, "
                + "as GeoJSON has them")
    }

    private static func row(_ feature: JSONTree, _ places: Places) throws(Failure) -> Row {
        guard feature["type"]?.text == "Feature" else {
            throw Failure(.invalidParameter, "expected 'type' to be Feature")
        }
        var row = Row(places: [])
        if let id = feature["id"], id.text != nil || id.number != nil { row.id = id }
        row.role = feature["role"]?.text
        for member in feature["properties"]?.members ?? [] {
            row.attributes[member.name] = member.value
        }
        let geometry = feature["geometry"] ?? .null
        let positions = try positions(of: geometry)
        let isPoint = positions == nil || geometry["type"]?.text == "Point"
        switch places {
        case .single:
            guard let positions else {
                row.places = ["", ""]
                return row
            }
            guard positions.count == 1 else {
                throw Failure(
                    .invalidParameter,
                    "\(geometry["type"]?.text ?? "geometry") with \(positions.count) positions: "
                        + "expected a Point")
            }
            row.places = [
                BatchGeocode.decimal(positions[0].x), BatchGeocode.decimal(positions[0].y),
            ]
        case .stops:
            let texts = (positions ?? []).map {
                BatchGeocode.decimal($0.x) + "," + BatchGeocode.decimal($0.y)
            }
            // A point is a stop of the route that its attributes name.
            row.places = isPoint ? [texts.first ?? "?", "stop"] : [texts.joined(separator: ";")]
        }
        return row
    }

    /// The positions of a point, or of the stops of a line; nil without a geometry.
    private static func positions(of geometry: JSONTree) throws(Failure) -> [Coordinate]? {
        guard case .object = geometry else { return nil }
        let type = geometry["type"]?.text ?? ""
        let list = geometry["coordinates"] ?? .null
        let elements: [JSONTree]
        switch type {
        case "Point": elements = list.elements.isEmpty ? [] : [list]
        case "MultiPoint", "LineString": elements = list.elements
        case "MultiLineString": elements = list.elements.flatMap(\.elements)
        default:
            throw Failure(
                .invalidParameter,
                "a geometry of type '\(type.prefix(40))': expected Point, or MultiPoint, "
                    + "LineString or MultiLineString of stops")
        }
        guard !elements.isEmpty else { return nil }
        var positions: [Coordinate] = []
        for element in elements {
            let numbers = element.elements.compactMap { ordinate -> Double? in
                switch ordinate {
                case .integer, .real: ordinate.number
                default: nil
                }
            }
            guard numbers.count >= 2, numbers[0].isFinite, numbers[1].isFinite else {
                throw Failure(
                    .invalidParameter, "a position of its geometry: expected two numbers or more")
            }
            positions.append(Coordinate(x: numbers[0], y: numbers[1]))
        }
        return positions
    }

    /// Joins stops that are points to routes, by `RouteName` and in the order of `Sequence`.
    ///
    /// All are one route where they name none. A line stays a route of its own.
    private static func routes(_ rows: [Row], _ names: [String]) -> [Row] {
        func name(_ wanted: String) -> String? { names.first { $0.lowercased() == wanted } }
        let (route, order) = (name(routeName), name(sequence))
        var joined: [Row] = []
        var places: [String: Int] = [:]
        var stops: [[(order: Double, text: String)]] = []
        for row in rows {
            guard row.places.count == 2 else {
                joined.append(row)
                stops.append([(0, row.places[0])])
                continue
            }
            let key = route.flatMap { row.attributes[$0] }.map(text) ?? ""
            let place = places[key] ?? joined.count
            if place == joined.count {
                places[key] = place
                joined.append(row)
                stops.append([])
            }
            let number = order.flatMap { row.attributes[$0]?.number } ?? .infinity
            stops[place].append((number, row.places[0]))
        }
        for index in joined.indices {
            let sorted = stops[index].enumerated().sorted {
                ($0.element.order, $0.offset) < ($1.element.order, $1.offset)
            }
            joined[index].places = [sorted.map(\.element.text).joined(separator: ";")]
        }
        return joined
    }

    private static func chosen(
        _ fields: [String], among names: [String]
    ) throws(Failure) -> [String] {
        var chosen: [String] = []
        for field in fields {
            let name =
                names.first { $0 == field }
                ?? names.first { $0.lowercased() == field.lowercased() }
            guard let name else {
                let all = names.prefix(20).map { "'\($0.prefix(40))'" }.joined(separator: ", ")
                throw Failure(
                    .invalidParameter,
                    "parameter 'fields': the features have no attribute '\(field.prefix(80))'; "
                        + "they have \(all)")
            }
            if !chosen.contains(name) { chosen.append(name) }
        }
        return chosen
    }

    private mutating func write(_ rows: [Row], _ names: [String], _ places: Places) {
        var header = names
        let hasIDs = rows.contains { $0.id != nil } && !names.contains { $0.lowercased() == "id" }
        if hasIDs { header.insert("id", at: 0) }
        let hasRoles = rows.contains { $0.role != nil }
        if hasRoles { header.append(BatchGeocode.free("role", among: header)) }
        for name in places == .single ? ["x", "y"] : ["stops"] {
            header.append(BatchGeocode.free(name, among: header))
        }
        var found: [Set<AttributeKind>] = Array(repeating: [], count: names.count)
        let newline = [UInt8(ascii: "\n")]
        csv = CSVWriter.record(header.map { Array($0.utf8) }, newline: newline)
        for row in rows {
            var fields = hasIDs ? [row.id.map(Self.text) ?? ""] : []
            for (index, name) in names.enumerated() {
                let value = row.attributes[name] ?? .null
                if let kind = Self.kind(value) { found[index].insert(kind) }
                fields.append(Self.text(value))
            }
            if hasRoles { fields.append(row.role ?? "") }
            fields += row.places
            csv += CSVWriter.record(fields.map { Array($0.utf8) }, newline: newline)
        }
        kinds = (hasIDs ? [.text] : []) + found.map(Self.common) + (hasRoles ? [.role] : [])
        kinds += Array(repeating: .text, count: header.count - kinds.count)
    }

    private static func kind(_ value: JSONTree) -> AttributeKind? {
        switch value {
        case .null: nil
        case .bool: .flag
        case .integer: .whole
        case .real: .real
        case .string, .array, .object, .positions: .text
        }
    }

    private static func common(_ kinds: Set<AttributeKind>) -> AttributeKind {
        if kinds.count == 1, let kind = kinds.first { return kind }
        return kinds == [.whole, .real] ? .real : .text
    }

    private static func text(_ value: JSONTree) -> String {
        switch value {
        case .null: ""
        case .bool(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .real(let number): number.isFinite ? BatchGeocode.decimal(number) : ""
        case .string(let text): text
        case .array, .object, .positions: value.jsonText
        }
    }
}
