// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import NetworkSolve
internal import Platform

/// A feature set in Esri JSON, in longitude and latitude.
struct TaskTable {
    /// A column: its name, that of the attribute it is made of, and Esri's type of a field without
    /// its prefix; nil for what its values are.
    struct Column {
        var name: String
        var source: String
        var type: String?

        init(_ name: String, _ type: String? = nil, from source: String? = nil) {
            self.name = name
            self.type = type
            self.source = source ?? name
        }
    }

    private let columns: [Column]
    private let geometryType: String
    private var rows: [(values: [NetworkValue], shape: Shape?)] = []

    /// - Parameters:
    ///   - set: Its rows have the columns' attributes, null where they lack one.
    ///   - extra: The attributes of a row's feature that go along.
    init(
        _ set: NetworkFeatureSet, _ columns: [Column],
        extra: (Int) -> [(name: String, value: JSONTree)] = { _ in [] }
    ) {
        geometryType = set.geometryType
        var columns = columns
        let known = Set(columns.map { $0.name.lowercased() })
        var others: [String] = []
        var given: [[String: NetworkValue]] = []
        for row in set.rows {
            var values: [String: NetworkValue] = [:]
            let attributes: [(name: String, value: JSONTree)] = row.number.map(extra) ?? []
            for (name, value) in attributes
            where !known.contains(name.lowercased()) {
                if values.updateValue(Self.value(value), forKey: name) == nil,
                    !others.contains(name)
                {
                    others.append(name)
                }
            }
            given.append(values)
        }
        let count = columns.count
        columns += others.map { Column($0) }
        for (row, extra) in zip(set.rows, given) {
            let own = Dictionary(row.attributes.map { ($0.name, $0.value) }) { first, _ in first }
            let values =
                columns[..<count].map { own[$0.source] ?? .null }
                + others.map { extra[$0] ?? .null }
            rows.append((values, row.shape))
        }
        for index in columns.indices where columns[index].type == nil {
            columns[index].type = Self.type(of: rows.map { $0.values[index] })
        }
        self.columns = columns
    }

    private static func value(_ tree: JSONTree) -> NetworkValue {
        switch tree {
        case .null: .null
        case .bool(let flag): .whole(flag ? 1 : 0)
        case .integer(let number): .whole(Int(number))
        case .real(let number): .real(number)
        case .string(let text): .text(text)
        default: .text(tree.jsonText)
        }
    }

    private static func type(of values: [NetworkValue]) -> String {
        var type = "Integer"
        for value in values {
            switch value {
            case .null: break
            case .whole(let number):
                if Int32(exactly: number) == nil { type = "Double" }
            case .real: type = "Double"
            case .text: return "String"
            }
        }
        return values.allSatisfy { $0 == .null } ? "String" : type
    }

    var bytes: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("displayFieldName", "")
            json.member("geometryType", "esriGeometry" + geometryType)
            json.spatialReference(.wgs84)
            json.member("fields", array: columns) { json, column in
                json.object { json in
                    json.member("name", column.name)
                    json.member("type", "esriFieldType" + (column.type ?? "String"))
                    json.member("alias", column.name)
                    if column.type == "String" { json.member("length", 2_147_483_647) }
                }
            }
            json.member("features", array: rows) { json, row in
                json.object { json in
                    json.member("attributes") { json in
                        for (column, value) in zip(columns, row.values) {
                            json.key(column.name)
                            Self.write(value, column.type ?? "", to: &json)
                        }
                    }
                    if let shape = row.shape { json.geometry(shape, in: .wgs84) }
                }
            }
            json.member("exceededTransferLimit", false)
        }
        return json.bytes
    }

    private static func write(_ value: NetworkValue, _ type: String, to json: inout JSONWriter) {
        switch value {
        case .null: json.null()
        case .text(let text): json.string(text)
        case .whole(let number) where type == "String": json.string("\(number)")
        case .whole(let number): json.integer(Int64(number))
        case .real(let number) where type == "Date":
            json.integer(Int64(exactly: number.rounded()) ?? 0)
        case .real(let number) where type == "String": json.string("\(number)")
        case .real(let number): json.number(number)
        }
    }
}

/// The product of a task: an object in JSON whose members are its results, each on a line.
struct TaskProduct {
    private var results: [String: [UInt8]] = [:]
    private(set) var messages: [(type: Int, text: String)]

    init(_ messages: [(type: Int, text: String)]) { self.messages = messages }

    mutating func add(_ name: String, _ table: TaskTable) { results[name] = table.bytes }

    /// The bytes with the results of a kind in their order; those that it lacks are null, and the
    /// success true.
    func bytes(_ description: JobKindDescription) -> [UInt8] {
        var bytes = Array("{".utf8)
        for (index, result) in description.results.enumerated() {
            bytes += Array("\(index > 0 ? "," : "")\n\"\(result.name)\":".utf8)
            if let own = results[result.name] {
                bytes += own
                continue
            }
            switch result.form {
            case .flag: bytes += Array("true".utf8)
            case .features(let type):
                bytes +=
                    TaskTable(
                        NetworkFeatureSet(geometryType: type), [.init("ObjectID", "OID")]
                    ).bytes
            case .text, .file: bytes += Array("null".utf8)
            }
        }
        return bytes + Array("\n}\n".utf8)
    }

    /// Most messages of a chunk that are kept.
    private static let messageLimit = 18

    var jobMessages: [JobMessage] {
        var said = messages.prefix(Self.messageLimit).map { message in
            JobMessage(message.type == 0 ? .informative : .warning, message.text)
        }
        if messages.count > Self.messageLimit {
            said.append(
                JobMessage(.warning, "and \(messages.count - Self.messageLimit) messages more"))
        }
        return said
    }
}
