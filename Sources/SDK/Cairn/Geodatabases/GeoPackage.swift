// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import DeferredSQLite
internal import Foundation

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
        let geometries = try file.has("gpkg_geometry_columns")
        let isReplica = try file.has(Self.layers)
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
            if try file.has(index) { table.index = index }
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
}
