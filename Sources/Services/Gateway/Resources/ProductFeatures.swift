// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import JobKinds
internal import Platform
internal import Site
internal import Tables

/// The beginning of a job's product as features in Esri JSON, as many as an answer has.
struct ProductFeatures {
    /// Most features of an answer.
    static let countLimit = 10_000
    /// Most bytes of a product that are read for an answer.
    static let byteLimit = 32 << 20

    private struct Row {
        var attributes: [(name: String, value: JSONTree)]
        /// WGS 84 longitude and latitude.
        var shape: Shape?
    }

    private let output: JobKindDescription.FeatureOutput
    private var rows: [Row] = []
    /// Whether the product has more features.
    private var isCut = false

    /// Reads a product, GeoJSON with a feature on each line or CSV with a header.
    ///
    /// Throws `Failure` (`notFound`) for one that is not in the store any more.
    init(
        _ product: BlobReference, _ output: JobKindDescription.FeatureOutput, in blobs: BlobStore
    ) throws(Failure) {
        self.output = output
        let file: MappedFile
        do { file = try MappedFile(path: blobs.path(product.id)) } catch {
            throw Failure(.notFound, "the product \(product.id) cannot be read: \(error)")
        }
        let end = min(file.byteCount, Self.byteLimit)
        isCut = end < file.byteCount
        let bytes = Array(file.copy(0..<end))
        if product.type == .csv { try readTable(bytes) } else { readFeatures(bytes) }
    }

    private mutating func readFeatures(_ bytes: [UInt8]) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard line.starts(with: Array(#"{"type":"Feature","#.utf8)) else { continue }
            let text = line.last == UInt8(ascii: ",") ? line.dropLast() : line
            guard let feature = JSONTree(Array(text)) else { continue }
            guard rows.count < Self.countLimit else {
                isCut = true
                return
            }
            rows.append(
                Row(
                    attributes: feature["properties"]?.members ?? [],
                    shape: Self.shape(feature["geometry"] ?? .null)))
        }
    }

    private static func shape(_ geometry: JSONTree) -> Shape? {
        func line(_ tree: JSONTree) -> [Coordinate] {
            tree.elements.compactMap { position in
                let numbers = position.elements.compactMap(\.number)
                return numbers.count < 2 ? nil : Coordinate(x: numbers[0], y: numbers[1])
            }
        }
        guard let list = geometry["coordinates"] else { return nil }
        switch geometry["type"]?.text {
        case "LineString"?: return .polyline(paths: [line(list)])
        case "MultiPolygon"?:
            return .polygon(rings: list.elements.flatMap { $0.elements.map(line) })
        default: return nil
        }
    }

    private mutating func readTable(_ bytes: [UInt8]) throws(Failure) {
        var names: [String] = []
        var found: [Row] = []
        var isCut = isCut
        let types = output.fields
        var scanner = TableForm().scanner(at: 0)
        let take = { (record: CSVScanner.Record) in
            let texts = record.fields.map { String(decoding: $0, as: UTF8.self) }
            guard record.number > 0 else {
                names = texts
                return
            }
            guard found.count < Self.countLimit else {
                isCut = true
                return
            }
            let attributes = zip(names, texts).map { name, text in
                let isNumber = types.contains { $0.name == name && $0.type == .number }
                let value: JSONTree =
                    isNumber ? Double(text).map { .real($0) } ?? .null : .string(text)
                return (name: name, value: value)
            }
            found.append(Row(attributes: attributes))
        }
        do {
            try scanner.feed(bytes, take)
            // The last record of a part may be cut.
            if !isCut { try scanner.finish(take) }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.internal, "the product could not be read: \(error)")
        }
        (rows, self.isCut) = (found, isCut)
    }

    /// The answer with the features in a reference.
    func body(in reference: PlaceReference) -> [UInt8] {
        var fields: [(name: String, type: String)] = []
        var places: [String: Int] = [:]
        for row in rows {
            for attribute in row.attributes {
                guard let type = type(of: attribute) else { continue }
                guard let place = places[attribute.name] else {
                    places[attribute.name] = fields.count
                    fields.append((attribute.name, type))
                    continue
                }
                fields[place].type = Self.common(fields[place].type, type)
            }
        }
        let id = Self.free("ObjectID", among: fields.map(\.name))
        var json = JSONWriter()
        json.object { json in
            json.member("paramName", JobResource.outputFeatures)
            json.member("dataType", output.esriType)
            json.member("value") { json in
                json.member("displayFieldName", "")
                json.member("objectIdFieldName", id)
                if let type = output.geometryType {
                    json.member("geometryType", "esriGeometry" + type)
                    json.spatialReference(reference.value)
                }
                json.key("fields")
                json.array { json in
                    Self.field(id, "esriFieldTypeOID", &json)
                    for field in fields { Self.field(field.name, field.type, &json) }
                }
                json.key("features")
                json.array { json in
                    for (index, row) in rows.enumerated() {
                        write(row, id, index + 1, fields, reference, &json)
                    }
                }
                json.member("exceededTransferLimit", isCut)
            }
        }
        return json.bytes
    }

    private func write(
        _ row: Row, _ id: String, _ number: Int, _ fields: [(name: String, type: String)],
        _ reference: PlaceReference, _ json: inout JSONWriter
    ) {
        json.object { json in
            json.member("attributes") { json in
                json.member(id, number)
                for field in fields {
                    let value = row.attributes.first { $0.name == field.name }?.value ?? .null
                    json.key(field.name)
                    switch value {
                    case .bool(let flag): json.integer(flag ? 1 : 0)
                    case .string(let text): json.string(text)
                    case .null: json.null()
                    default:
                        let isText = field.type == "esriFieldTypeString"
                        isText ? json.string(value.jsonText) : json.json(value.jsonText.utf8)
                    }
                }
            }
            guard let shape = row.shape else { return }
            json.geometry(Self.projected(shape, reference), in: reference.value)
        }
    }

    static func projected(_ shape: Shape, _ reference: PlaceReference) -> Shape {
        func line(_ line: [Coordinate]) -> [Coordinate] { line.compactMap(reference.project) }
        return switch shape {
        case .polyline(let paths): .polyline(paths: paths.map(line))
        case .polygon(let rings): .polygon(rings: rings.map(line))
        case .point(let place): .point(line([place]).first ?? place)
        default: shape
        }
    }

    private func type(of attribute: (name: String, value: JSONTree)) -> String? {
        if let stated = output.fields.first(where: { $0.name == attribute.name }) {
            return stated.type.esriFieldType
        }
        switch attribute.value {
        case .null: return nil
        case .bool: return "esriFieldTypeSmallInteger"
        case .integer(let number):
            return Int32(exactly: number) == nil ? "esriFieldTypeDouble" : "esriFieldTypeInteger"
        case .real: return "esriFieldTypeDouble"
        case .string, .array, .object, .positions: return "esriFieldTypeString"
        }
    }

    /// The type that has the values of both.
    private static func common(_ first: String, _ second: String) -> String {
        if first == second { return first }
        let isText = [first, second].contains("esriFieldTypeString")
        return isText ? "esriFieldTypeString" : "esriFieldTypeDouble"
    }

    private static func field(_ name: String, _ type: String, _ json: inout JSONWriter) {
        json.object { json in
            json.member("name", name)
            json.member("type", type)
            json.member("alias", name)
            if type == "esriFieldTypeString" { json.member("length", 2_147_483_647) }
        }
    }

    private static func free(_ name: String, among names: [String]) -> String {
        var (free, number) = (name, 1)
        while names.contains(where: { $0.isEqualIgnoringCase(free) }) {
            free = "\(name)_\(number)"
            number += 1
        }
        return free
    }
}
