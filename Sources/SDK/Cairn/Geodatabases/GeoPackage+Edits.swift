// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import DeferredSQLite
internal import Foundation
internal import Platform

extension GeoPackage {
    /// Inserts a row; its object id.
    func insert(
        _ attributes: [String: any Sendable], _ geometry: Geometry?, into table: Table
    ) throws -> Int64 {
        var (names, values) = try columns(attributes, of: table)
        if let column = table.geometryColumn {
            names.append(column)
            values.append(try self.geometry(geometry, of: table))
        }
        let list = names.map(\.quotedName).joined(separator: ", ")
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        let insert =
            names.isEmpty
            ? "INSERT INTO \(table.name.quotedName) DEFAULT VALUES"
            : "INSERT INTO \(table.name.quotedName) (\(list)) VALUES (\(marks))"
        return try change([(insert, values)] + touch(table, geometry), table, "add", nil)
    }

    /// Changes a row.
    func update(
        _ attributes: [String: any Sendable], _ geometry: Geometry?, _ id: Int64, in table: Table
    ) throws {
        var all = attributes
        all[table.key] = nil
        // What a feature is known by stays.
        if let field = table.globalIDField { all[field] = nil }
        var (names, values) = try columns(all, of: table)
        for field in table.fields
        where field.name != table.key && field.name != table.globalIDField
            && !names.contains(field.name)
        {
            names.append(field.name)
            values.append(.null)
        }
        if let column = table.geometryColumn, let geometry {
            names.append(column)
            values.append(try self.geometry(geometry, of: table))
        }
        try require(id, table)
        guard !names.isEmpty else { return }
        let list = names.map { "\($0.quotedName) = ?" }.joined(separator: ", ")
        _ = try change(
            [
                (
                    "UPDATE \(table.name.quotedName) SET \(list) "
                        + "WHERE \(table.key.quotedName) = ?", values + [.integer(id)]
                )
            ] + touch(table, geometry), table, "update", id)
    }

    /// Deletes a row, with the attachments of its feature.
    func delete(_ id: Int64, of table: Table) throws {
        try require(id, table)
        var attachments: [(sql: String, values: [SQLiteValue])] = []
        if try attachmentDirection(table) != nil, let parent = try globalID(of: id, in: table) {
            attachments = Self.withoutAttachments(of: parent, in: table)
        }
        _ = try change(
            [
                (
                    "DELETE FROM \(table.name.quotedName) WHERE \(table.key.quotedName) = ?",
                    [.integer(id)]
                )
            ] + attachments + touch(table, nil), table, "delete", id)
    }

    private func require(_ id: Int64, _ table: Table) throws {
        guard try file.has(id, in: table) else {
            throw CairnError(.invalidArgument, "'\(table.name)' has no feature \(id)")
        }
    }

    static let notesTable =
        "CREATE TABLE IF NOT EXISTS \(notes) (id INTEGER PRIMARY KEY AUTOINCREMENT, "
        + "table_name TEXT NOT NULL, operation TEXT NOT NULL, feature_id INTEGER NOT NULL, "
        + "global_id TEXT)"

    /// Changes, with the note that they were made; the row that the first of them inserted.
    private func change(
        _ statements: [(sql: String, values: [SQLiteValue])], _ table: Table, _ operation: String,
        _ id: Int64?
    ) throws -> Int64 {
        guard isWritable else {
            throw CairnError(.file, "'\(url.path(percentEncoded: false))' may not be written")
        }
        if try !file.has(Self.notes) { try file.change([(Self.notesTable, [])]) }
        let row = id == nil ? "last_insert_rowid()" : "?3"
        let global = table.globalIDField.map {
            "(SELECT \($0.quotedName) FROM \(table.name.quotedName) "
                + "WHERE \(table.key.quotedName) = \(row))"
        }
        let note: (sql: String, values: [SQLiteValue]) = (
            "INSERT INTO \(Self.notes) (table_name, operation, feature_id, global_id) "
                + "VALUES (?1, ?2, \(row), \(global ?? "NULL"))",
            [.text(table.name), .text(operation)] + (id.map { [SQLiteValue.integer($0)] } ?? [])
        )
        // What a deleted feature was is asked for before it has gone.
        return try id == nil
            ? file.change([statements[0], note] + statements.dropFirst())
            : file.change([note] + statements)
    }

    /// Keeps the description of the contents true.
    func touch(
        _ table: Table, _ geometry: Geometry?
    ) -> [(sql: String, values: [SQLiteValue])] {
        var sets = ["last_change = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"]
        var values: [SQLiteValue] = []
        if let geometry, !geometry.isEmpty, let own = try? projected(geometry, table) {
            let box = own.extent
            for (name, choose, side) in [
                ("min_x", "min", box.xMin), ("min_y", "min", box.yMin), ("max_x", "max", box.xMax),
                ("max_y", "max", box.yMax),
            ] {
                sets.append("\(name) = \(choose)(coalesce(\(name), ?), ?)")
                values += [.real(side), .real(side)]
            }
        }
        return [
            (
                "UPDATE gpkg_contents SET \(sets.joined(separator: ", ")) WHERE table_name = ?",
                values + [.text(table.name)]
            )
        ]
    }

    func projected(_ geometry: Geometry, _ table: Table) throws -> Geometry {
        guard let own = table.spatialReference, geometry.spatialReference != nil else {
            return geometry
        }
        return try GeometryEngine.projected(geometry, into: own)
    }

    func geometry(_ geometry: Geometry?, of table: Table) throws -> SQLiteValue {
        guard let geometry else { return .null }
        let own = try projected(geometry, table)
        let name = table.geometryTypeName.uppercased()
        let fits =
            switch table.geometryType {
            case let type? where type == Polygon.self: own is Polygon || own is Envelope
            case let type? where type == Geometry.self: true
            case let type?: type == Swift.type(of: own)
            case nil: false
            }
        let isSingle = name == "LINESTRING" || name == "POLYGON"
        let isMultiple = name.hasPrefix("MULTI")
        let bytes = GeoPackageGeometry.write(own, srs: table.srs, isMultiple: isMultiple)
        guard fits, !isSingle || GeoPackageGeometry.isSingle(bytes) else {
            throw CairnError(
                .invalidArgument,
                "'\(table.name)' takes a geometry of the kind \(name), found a "
                    + "\(Swift.type(of: own))")
        }
        return .blob(bytes)
    }

    private func columns(
        _ attributes: [String: any Sendable], of table: Table
    ) throws -> (names: [String], values: [SQLiteValue]) {
        var names: [String] = []
        var values: [SQLiteValue] = []
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
            guard let field = table.fields.first(where: { $0.isNamed(name) }) else {
                throw CairnError(.invalidArgument, "'\(table.name)' has no field '\(name)'")
            }
            guard let stored = Self.stored(value, field) else {
                throw CairnError(
                    .invalidArgument,
                    "'\(table.name)': the field '\(field.name)' takes "
                        + "\(field.type?.rawValue ?? ""), found a \(Swift.type(of: value))")
            }
            names.append(field.name)
            values.append(stored)
        }
        return (names, values)
    }

    /// A value as a column has it; nil for one of another type.
    static func stored(_ value: any Sendable, _ field: Field) -> SQLiteValue? {
        switch field.type {
        case .oid, .int16, .int32, .int64:
            switch JSON(attribute: value) {
            case .integer(let number) where !(value is Date): .integer(number)
            case .bool(let flag): .integer(flag ? 1 : 0)
            case .real(let number): Int64(exactly: number).map { .integer($0) }
            default: nil
            }
        case .float32, .float64:
            value is Date ? nil : JSON(attribute: value).number.map { .real($0) }
        case .date: (value as? Date).map { .text(DateText.text($0)) }
        case .dateOnly:
            (value as? String).map { .text($0) }
                ?? (value as? Date).map { .text(String(DateText.text($0).prefix(10))) }
        case .globalID, .guid:
            (value as? UUID).map { .text($0.globalIDText) }
                ?? (value as? String).map { .text($0) }
        case .blob: (value as? Data).map { .blob([UInt8]($0)) }
        default: (value as? String).map { .text($0) }
        }
    }

    /// Whether edits wait, of one table or of any.
    func hasEdits(of table: String? = nil) throws -> Bool {
        guard try file.has(Self.notes) else { return false }
        let attachments =
            try table != nil && file.has(Self.attachments)
            ? " OR table_name = '\(Self.attachments)' AND feature_id IN "
                + "(SELECT id FROM \(Self.attachments) WHERE table_name = ?1)" : ""
        return try !file.rows(
            "SELECT 1 FROM \(Self.notes) WHERE ?1 IS NULL OR table_name = ?1\(attachments) LIMIT 1",
            [table.map { .text($0) } ?? .null]
        ).isEmpty
    }
}
