// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import DeferredSQLite
internal import Foundation
internal import Platform

/// A GeoPackage (OGC 12-128r17): its tables of features and of attributes, read and edited.
final class GeoPackage: Sendable {
    /// A table as the file describes it.
    struct Table: Sendable {
        var name: String
        var title: String
        /// The column of object ids.
        var key: String
        var fields: [Field]
        var geometryColumn: String?
        var geometryTypeName = ""
        var srs: Int32 = 0
        var spatialReference: SpatialReference?
        /// The table of the spatial index; nil for none.
        var index: String?

        var geometryType: Geometry.Type? {
            guard geometryColumn != nil else { return nil }
            return switch geometryTypeName.uppercased() {
            case "POINT": Point.self
            case "MULTIPOINT": Multipoint.self
            case "LINESTRING", "MULTILINESTRING": Polyline.self
            case "POLYGON", "MULTIPOLYGON": Polygon.self
            default: Geometry.self
            }
        }

        var globalIDField: String? { fields.first { $0.type == .globalID }?.name }
    }

    /// A row of a table.
    struct Row: Sendable {
        var geometry: Geometry?
        var attributes: [String: any Sendable]
    }

    /// Where edits are noted until they are synchronised.
    static let notes = "cairn_edits"

    let url: URL
    let file: SQLiteFile

    /// Opens a file; throws ``CairnError`` for what is no GeoPackage.
    init(_ url: URL) throws {
        self.url = url
        file = try SQLiteFile(url)
        do {
            _ = try file.rows("SELECT count(*) FROM gpkg_contents")
        } catch let error as CairnError where error.kind == .invalidArgument {
            throw CairnError(
                .invalidDocument,
                "'\(url.path(percentEncoded: false))' is no GeoPackage: \(error.description)")
        }
    }

    var isWritable: Bool {
        FileManager.default.isWritableFile(atPath: url.path(percentEncoded: false))
    }

    func checkOpen() throws { _ = try file.rows("SELECT 1") }
    func close() { file.close() }

    // MARK: Description

    /// The tables, by name.
    func tables() throws -> [Table] {
        let geometries = try has("gpkg_geometry_columns")
        let isReplica = try has(Self.layers)
        return try file.rows(
            "SELECT table_name, identifier, srs_id FROM gpkg_contents "
                + "WHERE data_type IN ('features', 'attributes', 'aspatial') ORDER BY table_name"
        ).compactMap { row in
            guard let name = row[0].text else { return nil }
            var table = try table(name, title: row[1].text ?? name, hasGeometries: geometries)
            if isReplica, let fields = table?.fields {
                let described = try describedFields(name)
                table?.fields = fields.map { described[$0.name.lowercased()] ?? $0 }
            }
            return table
        }
    }

    func has(_ table: String) throws -> Bool {
        try !file.rows(
            "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = ?",
            [.text(table)]
        ).isEmpty
    }

    private func table(_ name: String, title: String, hasGeometries: Bool) throws -> Table? {
        let columns = try file.rows("PRAGMA table_info(\(name.quotedName))")
        guard let key = columns.first(where: { $0[5].integer == 1 })?[1].text else { return nil }
        var table = Table(name: name, title: title.isEmpty ? name : title, key: key, fields: [])
        let shape =
            hasGeometries
            ? try file.rows(
                "SELECT column_name, geometry_type_name, srs_id FROM gpkg_geometry_columns "
                    + "WHERE table_name = ?", [.text(name)]
            ).first : nil
        if let shape, let column = shape[0].text {
            table.geometryColumn = column
            table.geometryTypeName = shape[1].text ?? ""
            table.srs = Int32(clamping: shape[2].integer ?? 0)
            table.spatialReference = try reference(Int64(table.srs))
            let index = "rtree_\(name)_\(column)"
            if try has(index) { table.index = index }
        }
        table.fields = columns.compactMap { column -> Field? in
            guard let name = column[1].text, name != table.geometryColumn else { return nil }
            let (type, length) = Self.type(
                column[2].text ?? "", name, isKey: name == key)
            return Field(
                type: type, name: name, alias: name, length: length, isEditable: name != key,
                isNullable: name != key && column[3].integer != 1)
        }
        return table
    }

    /// The type of a field by that of a column (table 1 of the standard).
    private static func type(
        _ column: String, _ name: String, isKey: Bool
    ) -> (type: Field.FieldType, length: Int?) {
        if isKey { return (.oid, nil) }
        let parts = column.uppercased().split(separator: "(")
        let length = parts.dropFirst().first.flatMap { Int($0.prefix { $0.isNumber }) }
        switch parts.first?.trimmingCharacters(in: .whitespaces) ?? "" {
        case "BOOLEAN", "TINYINT", "SMALLINT": return (.int16, nil)
        case "MEDIUMINT": return (.int32, nil)
        case "INT", "INTEGER", "BIGINT": return (.int64, nil)
        case "FLOAT": return (.float32, nil)
        case "DOUBLE", "REAL", "NUMERIC", "DOUBLE PRECISION": return (.float64, nil)
        case "DATE": return (.dateOnly, nil)
        case "DATETIME", "TIMESTAMP": return (.date, nil)
        case "BLOB": return (.blob, nil)
        default:
            return (name.lowercased() == "globalid" ? .globalID : .text, length)
        }
    }

    private func reference(_ srs: Int64) throws -> SpatialReference? {
        let row = try file.rows(
            "SELECT organization, organization_coordsys_id, definition FROM gpkg_spatial_ref_sys "
                + "WHERE srs_id = ?", [.integer(srs)]
        ).first
        guard srs > 0, let row else { return nil }
        let owner = row[0].text?.uppercased() ?? ""
        if ["EPSG", "ESRI"].contains(owner), let number = row[1].integer.flatMap({ WKID(Int($0)) })
        {
            return SpatialReference(wkid: number)
        }
        return row[2].text.flatMap { SpatialReference(wkText: $0) }
    }

    /// Around all features; nil where the file does not say.
    func extent(of table: Table) throws -> Envelope? {
        let stated = try file.rows(
            "SELECT min_x, min_y, max_x, max_y FROM gpkg_contents WHERE table_name = ?",
            [.text(table.name)]
        ).first?.compactMap(\.number)
        guard let stated, stated.count == 4 else { return nil }
        return Envelope(
            xMin: stated[0], yMin: stated[1], xMax: stated[2], yMax: stated[3],
            spatialReference: table.spatialReference)
    }

    // MARK: Queries

    /// The features that a query finds.
    func features(_ values: QueryParameters.Values, of table: Table) throws -> [Row] {
        var found: [Row] = []
        var left = values.resultOffset
        let target = values.outSpatialReference
        try scan(values, of: table) { row, geometry in
            if left > 0 {
                left -= 1
                return false
            }
            var shape = values.returnsGeometry ? geometry : nil
            if let target, let given = shape, given.spatialReference != nil {
                shape = try GeometryEngine.projected(given, into: target)
            }
            found.append(Row(geometry: shape, attributes: Self.attributes(row, table)))
            return values.maxFeatures > 0 && found.count >= values.maxFeatures
        }
        return found
    }

    /// How many features a query finds, whatever its maximum and offset.
    func count(_ values: QueryParameters.Values, of table: Table) throws -> Int {
        var count = 0
        var all = values
        all.orderByFields = []
        if values.geometry == nil {
            let (clause, bound) = try condition(all, of: table, nil)
            return Int(
                try file.rows(
                    "SELECT count(*) FROM \(table.name.quotedName) WHERE \(clause)", bound
                ).first?.first?.integer ?? 0)
        }
        try scan(all, of: table) { _, _ in
            count += 1
            return false
        }
        return count
    }

    /// Goes through the rows that a query finds, until `take` is content (true).
    private func scan(
        _ values: QueryParameters.Values, of table: Table,
        _ take: ([SQLiteValue], Geometry?) throws -> Bool
    ) throws {
        guard values.timeExtent == nil else {
            throw CairnError.unsupported("query of a time", by: url)
        }
        let test = try SpatialTest(values, table, url)
        let (clause, bound) = try condition(values, of: table, test)
        let columns =
            table.fields.map { $0.name.quotedName } + [table.geometryColumn?.quotedName ?? "NULL"]
        let order = try values.orderByFields.map { order in
            guard let field = table.fields.first(where: { $0.isNamed(order.fieldName) }) else {
                throw CairnError(
                    .invalidArgument,
                    "orderByFields: '\(table.name)' has no field '\(order.fieldName)'")
            }
            return field.name.quotedName + (order.sortOrder == .descending ? " DESC" : " ASC")
        }
        let sql =
            "SELECT \(columns.joined(separator: ", ")) FROM \(table.name.quotedName) "
            + "WHERE \(clause) ORDER BY "
            + (order + [table.key.quotedName]).joined(separator: ", ")
        try file.rows(sql, bound) { row in
            var geometry: Geometry?
            if case .blob(let bytes)? = row.last, test != nil || values.returnsGeometry {
                geometry = try GeoPackageGeometry.read(bytes, table.spatialReference)
            }
            if let test {
                guard let geometry, test.accepts(geometry) else { return false }
            }
            return try take(row, geometry)
        }
    }

    private func condition(
        _ values: QueryParameters.Values, of table: Table, _ test: SpatialTest?
    ) throws -> (clause: String, values: [SQLiteValue]) {
        var clauses = ["1"]
        var bound: [SQLiteValue] = []
        // The end of the line ends a comment, too.
        if !values.whereClause.isEmpty {
            clauses.append("(\(WhereClause.sqlite(values.whereClause))\n)")
        }
        if !values.objectIDs.isEmpty {
            clauses.append(
                "\(table.key.quotedName) IN "
                    + "(\(values.objectIDs.map(String.init).joined(separator: ",")))")
        }
        if let test, let index = table.index {
            clauses.append(
                "\(table.key.quotedName) IN (SELECT id FROM \(index.quotedName) "
                    + "WHERE minx <= ? AND maxx >= ? AND miny <= ? AND maxy >= ?)")
            let box = test.extent
            bound = [.real(box.xMax), .real(box.xMin), .real(box.yMax), .real(box.yMin)]
        }
        return (clauses.joined(separator: " AND "), bound)
    }

    private static func attributes(
        _ row: [SQLiteValue], _ table: Table
    ) -> [String: any Sendable] {
        var attributes: [String: any Sendable] = [:]
        for (field, value) in zip(table.fields, row) {
            attributes[field.name] = Self.value(value, field)
        }
        return attributes
    }

    static func value(_ value: SQLiteValue, _ field: Field) -> (any Sendable)? {
        switch value {
        case .null: nil
        case .integer(let number): field.value(.integer(number))
        case .real(let number): field.value(.real(number))
        case .text(let text): field.value(.string(text))
        case .blob(let bytes): Data(bytes)
        }
    }

    // MARK: Edits

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

    /// Deletes a row.
    func delete(_ id: Int64, of table: Table) throws {
        try require(id, table)
        _ = try change(
            [
                (
                    "DELETE FROM \(table.name.quotedName) WHERE \(table.key.quotedName) = ?",
                    [.integer(id)]
                )
            ] + touch(table, nil), table, "delete", id)
    }

    private func require(_ id: Int64, _ table: Table) throws {
        let found = try file.rows(
            "SELECT 1 FROM \(table.name.quotedName) WHERE \(table.key.quotedName) = ?",
            [.integer(id)])
        guard !found.isEmpty else {
            throw CairnError(.invalidArgument, "'\(table.name)' has no feature \(id)")
        }
    }

    /// Changes, with the note that they were made; the row that the first of them inserted.
    private func change(
        _ statements: [(sql: String, values: [SQLiteValue])], _ table: Table, _ operation: String,
        _ id: Int64?
    ) throws -> Int64 {
        guard isWritable else {
            throw CairnError(.file, "'\(url.path(percentEncoded: false))' may not be written")
        }
        if try !has(Self.notes) {
            _ = try file.change([
                (
                    "CREATE TABLE IF NOT EXISTS \(Self.notes) (id INTEGER PRIMARY KEY "
                        + "AUTOINCREMENT, table_name TEXT NOT NULL, operation TEXT NOT NULL, "
                        + "feature_id INTEGER NOT NULL, global_id TEXT)", []
                )
            ])
        }
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
            (value as? UUID).map { .text("{\($0.uuidString)}") }
                ?? (value as? String).map { .text($0) }
        case .blob: (value as? Data).map { .blob([UInt8]($0)) }
        default: (value as? String).map { .text($0) }
        }
    }

    // MARK: Notes of edits

    /// Whether edits wait, of one table or of any.
    func hasEdits(of table: String? = nil) throws -> Bool {
        guard try has(Self.notes) else { return false }
        return try !file.rows(
            "SELECT 1 FROM \(Self.notes) WHERE ?1 IS NULL OR table_name = ?1 LIMIT 1",
            [table.map { .text($0) } ?? .null]
        ).isEmpty
    }
}

extension Field {
    /// Whether it is meant by a name, in any letter case.
    func isNamed(_ name: String) -> Bool {
        self.name == name || self.name.lowercased() == name.lowercased()
    }
}

/// Whether a feature lies as a query asks.
private struct SpatialTest {
    private let asked: Geometry
    private let relationship: SpatialRelationship
    let extent: Envelope

    /// Nil for a query without a geometry.
    init?(_ values: QueryParameters.Values, _ table: GeoPackage.Table, _ url: URL) throws {
        guard let geometry = values.geometry else { return nil }
        guard table.geometryColumn != nil else {
            throw CairnError(.invalidArgument, "'\(table.name)' has no geometries")
        }
        let own =
            if let reference = table.spatialReference, geometry.spatialReference != nil {
                try GeometryEngine.projected(geometry, into: reference)
            } else { geometry }
        asked = (own as? Envelope)?.polygon ?? own
        extent = own.extent
        relationship = values.spatialRelationship
        guard [.intersects, .contains, .within, .envelopeIntersects].contains(relationship) else {
            throw CairnError.unsupported("query of what \(relationship)", by: url)
        }
    }

    func accepts(_ geometry: Geometry) -> Bool {
        let box = geometry.extent
        guard !geometry.isEmpty, box.xMin <= extent.xMax, box.xMax >= extent.xMin,
            box.yMin <= extent.yMax, box.yMax >= extent.yMin
        else { return false }
        return switch relationship {
        case .contains: PlanarRelation.contains(asked, geometry)
        case .within: PlanarRelation.contains(geometry, asked)
        case .envelopeIntersects: true
        default: PlanarRelation.intersects(asked, geometry)
        }
    }
}

/// How two geometries of one reference lie to each other in the plane.
enum PlanarRelation {
    /// Whether they have a point in common.
    static func intersects(_ one: Geometry, _ other: Geometry) -> Bool {
        one.places.contains { GeometryEngine.distance(from: $0, to: other) == 0 }
            || other.places.contains { GeometryEngine.distance(from: $0, to: one) == 0 }
            || cross(one, other)
    }

    /// Whether every point of the other is in or on the first, by its vertices and crossings.
    static func contains(_ one: Geometry, _ other: Geometry) -> Bool {
        other.places.allSatisfy { GeometryEngine.distance(from: $0, to: one) == 0 }
            && !cross(one, other)
    }

    private static func lines(_ geometry: Geometry) -> [[Place]] {
        (geometry as? Multipart)?.lines ?? (geometry as? Envelope)?.polygon.lines ?? []
    }

    /// Whether two segments cross, each on both sides of the other.
    private static func cross(_ one: Geometry, _ other: Geometry) -> Bool {
        func side(_ a: Place, _ b: Place, _ c: Place) -> Double {
            (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
        }
        let others = lines(other).flatMap { zip($0, $0.dropFirst()).map { ($0, $1) } }
        guard !others.isEmpty else { return false }
        for line in lines(one) {
            for (a, b) in zip(line, line.dropFirst()) {
                for (c, d) in others
                where side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0 {
                    return true
                }
            }
        }
        return false
    }
}

/// WHERE clauses of the REST as SQLite takes them.
enum WhereClause {
    /// The clause with `date '…'` and `timestamp '…'` as texts that GeoPackages have; text and
    /// names in quotes stay as they are.
    static func sqlite(_ clause: String) -> String {
        var result = ""
        var rest = Substring(clause)
        while let first = rest.first {
            if first == "'" || first == "\"" {
                let quoted = quotedPart(rest)
                result += quoted
                rest = rest.dropFirst(quoted.count)
            } else if first.isLetter || first == "_" {
                let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                rest = rest.dropFirst(word.count)
                let next = rest.drop { $0 == " " }
                if ["DATE", "TIMESTAMP"].contains(word.uppercased()), next.first == "'" {
                    let quoted = quotedPart(next)
                    let form = word.uppercased() == "DATE" && quoted.count == 12
                    // A day is a beginning of a time, and compares as one.
                    result +=
                        form ? quoted : "strftime('%Y-%m-%dT%H:%M:%fZ', \(quoted))"
                    rest = next.dropFirst(quoted.count)
                } else {
                    result += word
                }
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        return result
    }

    private static func quotedPart(_ text: Substring) -> Substring {
        guard let mark = text.first else { return text }
        var end = text.index(after: text.startIndex)
        while end < text.endIndex {
            let next = text.index(after: end)
            if text[end] == mark {
                guard next < text.endIndex, text[next] == mark else { return text[..<next] }
                end = text.index(after: next)
            } else {
                end = next
            }
        }
        return text
    }
}
