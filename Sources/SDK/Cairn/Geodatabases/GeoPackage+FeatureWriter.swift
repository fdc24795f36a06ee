// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import DeferredSQLite
internal import Foundation
internal import Platform

extension GeoPackage {
    /// Writes features as services have them into a table.
    struct FeatureWriter {
        let store: GeoPackage
        let file: SQLiteTransaction
        let table: Table
        private let fields: [String: Field]

        init(store: GeoPackage, file: SQLiteTransaction, table: Table) {
            (self.store, self.file, self.table) = (store, file, table)
            fields = Dictionary(
                table.fields.map { ($0.name.lowercased(), $0) },
                uniquingKeysWith: { first, _ in first })
        }

        /// Writes a feature into a row, or into a new one: of the service's object id, where that
        /// is free.
        func put(_ feature: JSON, _ id: UUID?, _ row: Int64?) throws {
            var names: [String] = []
            var values: [SQLiteValue] = []
            var number: Int64?
            for (name, json) in feature["attributes"]?.members ?? [] {
                // What is no field of the file is the service's own, as a length.
                guard let field = fields[name.lowercased()] else { continue }
                if field.name == table.key {
                    number = json.whole
                    continue
                }
                names.append(field.name)
                if let id, field.name == table.globalIDField {
                    values.append(.text(id.globalIDText))
                } else if json.isNull {
                    values.append(.null)
                } else if let value = field.value(json),
                    let stored = GeoPackage.stored(value, field)
                {
                    values.append(stored)
                } else {
                    throw CairnError(
                        .invalidDocument,
                        "'\(table.name)': the field '\(field.name)' takes "
                            + "\(field.type?.rawValue ?? "text"), the service has "
                            + json.jsonText.prefix(80))
                }
            }
            var geometry: Geometry?
            if let column = table.geometryColumn, let json = feature["geometry"] {
                geometry = try shape(json)
                names.append(column)
                values.append(try store.geometry(geometry, of: table))
            }
            let name = table.name.quotedName
            if let row {
                guard !names.isEmpty else { return }
                let list = names.map { "\($0.quotedName) = ?" }.joined(separator: ", ")
                try file.change(
                    "UPDATE \(name) SET \(list) WHERE \(table.key.quotedName) = ?",
                    values + [.integer(row)])
            } else {
                if let number, try !file.has(number, in: table) {
                    names.append(table.key)
                    values.append(.integer(number))
                }
                try file.change(
                    names.isEmpty
                        ? "INSERT INTO \(name) DEFAULT VALUES"
                        : "INSERT INTO \(name) (\(names.map(\.quotedName).joined(separator: ", "))"
                            + ") VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))",
                    values)
            }
            for (sql, values) in store.touch(table, geometry) { try file.change(sql, values) }
        }

        private func shape(_ json: JSON) throws -> Geometry? {
            guard json.member("curvePaths") == nil, json.member("curveRings") == nil else {
                throw CairnError(
                    .unsupported, "'\(table.name)': geometries with curves are not stored")
            }
            return Geometry.make(json, table.spatialReference)
        }
    }
}
