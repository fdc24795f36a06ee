// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import DeferredSQLite
internal import Foundation
internal import Platform

/// A GeoPackage of the layers of a service.
extension GeoPackage {
    /// A layer that becomes a table.
    struct NewLayer: Sendable {
        var id: Int
        /// What the service says of it.
        var description: JSON
        /// The reference of its geometries; nil for a table without.
        var spatialReference: SpatialReference?
        var features: [JSON]
    }

    /// Writes a file with the features of layers and its registration, all or nothing; a file that
    /// was there before is replaced.
    ///
    /// Throws ``CairnError``: `unsupported` for a layer that cannot be synchronised, `file` for a
    /// file that cannot be made.
    static func write(_ layers: [NewLayer], _ replica: Replica, to target: URL) throws {
        let part = target.appendingPathExtension("part")
        let files = FileManager.default
        try? files.removeItem(at: part)
        guard files.createFile(atPath: part.path(percentEncoded: false), contents: nil) else {
            throw CairnError(.file, "'\(part.path(percentEncoded: false))' cannot be made")
        }
        do {
            let file = try SQLiteFile(part)
            defer { file.close() }
            var replica = replica
            try file.transaction { file in
                for statement in skeleton { try file.change(statement) }
            }
            let store = try GeoPackage(part)
            defer { store.close() }
            var names: Set<String> = []
            var tables: [Plan] = []
            for layer in layers {
                let plan = try Plan(layer, isRegistered: !replica.id.isEmpty, &names)
                tables.append(plan)
            }
            replica.layers = zip(layers, tables).map { layer, plan in
                Replica.Layer(
                    id: layer.id, table: plan.name,
                    generation: replica.layers.first { $0.id == layer.id }?.generation,
                    fields: plan.fieldsJSON)
            }
            let registration = replica
            try store.file.transaction { file in
                for plan in tables { try plan.make(file) }
                try register(registration, file)
                for (plan, layer) in zip(tables, layers) {
                    let writer = FeatureWriter(store: store, file: file, table: plan.table)
                    for feature in layer.features { try writer.put(feature, plan.id(feature), nil) }
                }
            }
        } catch {
            try? files.removeItem(at: part)
            throw error
        }
        try replace(target, by: part)
    }

    /// Puts a finished file in the place of another.
    static func replace(_ target: URL, by part: URL) throws {
        do {
            try? FileManager.default.removeItem(at: target)
            try FileManager.default.moveItem(at: part, to: target)
        } catch {
            try? FileManager.default.removeItem(at: part)
            throw TransportError(
                .file, "'\(target.path(percentEncoded: false))' cannot be written: \(error)")
        }
    }

    private static let degrees =
        "GEOGCS[\"WGS 84\",DATUM[\"WGS_1984\",SPHEROID[\"WGS 84\",6378137,298.257223563]],"
        + "PRIMEM[\"Greenwich\",0],UNIT[\"degree\",0.0174532925199433]]"

    private static let mercator =
        "PROJCS[\"WGS 84 / Pseudo-Mercator\",\(degrees),PROJECTION[\"Mercator_1SP\"],"
        + "PARAMETER[\"central_meridian\",0],PARAMETER[\"scale_factor\",1],"
        + "PARAMETER[\"false_easting\",0],PARAMETER[\"false_northing\",0],UNIT[\"metre\",1]]"

    private static let skeleton = [
        "PRAGMA application_id = 1196444487", "PRAGMA user_version = 10300",
        """
        CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER PRIMARY KEY,
        organization TEXT NOT NULL, organization_coordsys_id INTEGER NOT NULL,
        definition TEXT NOT NULL, description TEXT)
        """,
        """
        INSERT INTO gpkg_spatial_ref_sys VALUES
        ('Undefined cartesian', -1, 'NONE', -1, 'undefined', NULL),
        ('Undefined geographic', 0, 'NONE', 0, 'undefined', NULL),
        ('WGS 84', 4326, 'EPSG', 4326, '\(degrees)', NULL)
        """,
        """
        CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL,
        identifier TEXT UNIQUE, description TEXT DEFAULT '', last_change DATETIME NOT NULL DEFAULT
        (strftime('%Y-%m-%dT%H:%M:%fZ','now')), min_x DOUBLE, min_y DOUBLE, max_x DOUBLE,
        max_y DOUBLE, srs_id INTEGER, CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES
        gpkg_spatial_ref_sys(srs_id))
        """,
        """
        CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL UNIQUE, column_name TEXT
        NOT NULL, geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL, z TINYINT NOT NULL,
        m TINYINT NOT NULL, CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name))
        """,
        """
        CREATE TABLE gpkg_extensions (table_name TEXT, column_name TEXT, extension_name TEXT
        NOT NULL, definition TEXT NOT NULL, scope TEXT NOT NULL, CONSTRAINT ge_tce UNIQUE
        (table_name, column_name, extension_name))
        """,
        """
        CREATE TABLE gpkg_data_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL,
        name TEXT, title TEXT, description TEXT, mime_type TEXT, constraint_name TEXT,
        CONSTRAINT pk_gdc PRIMARY KEY (table_name, column_name), CONSTRAINT gdc_tn UNIQUE
        (table_name, name))
        """,
        """
        CREATE TABLE gpkg_data_column_constraints (constraint_name TEXT NOT NULL, constraint_type
        TEXT NOT NULL, value TEXT, min NUMERIC, min_is_inclusive BOOLEAN, max NUMERIC,
        max_is_inclusive BOOLEAN, description TEXT, CONSTRAINT gdcc_ntv UNIQUE (constraint_name,
        constraint_type, value))
        """,
        """
        INSERT INTO gpkg_extensions VALUES
        ('gpkg_data_columns', NULL, 'gpkg_schema',
         'http://www.geopackage.org/spec130/#extension_schema', 'read-write'),
        ('gpkg_data_column_constraints', NULL, 'gpkg_schema',
         'http://www.geopackage.org/spec130/#extension_schema', 'read-write')
        """,
    ]

    /// The table of a layer.
    private struct Plan {
        let name: String
        let table: Table
        let fieldsJSON: JSON
        private let title: String
        private let hasZ: Bool
        private let hasM: Bool
        private let reference: SpatialReference?

        init(_ layer: NewLayer, isRegistered: Bool, _ names: inout Set<String>) throws {
            let json = layer.description
            title = json.text("name").flatMap(\.orNil) ?? "Layer \(layer.id)"
            var name = title
            let small = name.lowercased()
            let isOwn = ["gpkg_", "rtree_", "sqlite_", "cairn_"].contains { small.hasPrefix($0) }
            if isOwn { name = "layer_" + name }
            if names.contains(name.lowercased()) { name += "_\(layer.id)" }
            guard names.insert(name.lowercased()).inserted else {
                throw CairnError(.unsupported, "two layers of the service are called '\(title)'")
            }
            self.name = name
            // A field of which the service does not say that it is fixed may be edited.
            var members = (json["fields"]?.elements ?? []).filter { field in
                ![.geometry, .blob, .raster].contains(Field(field)?.type)
            }.map { field in
                field.member("editable") == nil
                    ? JSON.object(field.members + [("editable", .bool(true))]) : field
            }
            let key =
                json.text("objectIdField").flatMap(\.orNil)
                ?? Field.list(.array(members)).first { $0.type == .oid }?.name ?? "OBJECTID"
            if !members.contains(where: { $0.text("name")?.lowercased() == key.lowercased() }) {
                members.insert(
                    .object([
                        ("name", .string(key)), ("type", .string(Field.FieldType.oid.rawValue)),
                    ]), at: 0)
            }
            fieldsJSON = .array(members)
            let fields = Field.list(fieldsJSON)
            var table = Table(
                name: name, title: title,
                key: fields.first { $0.isNamed(key) }?.name ?? key, fields: fields)
            let kind = json.text("geometryType").flatMap(Geometry.kind(named:))
            reference = kind == nil ? nil : layer.spatialReference
            (hasZ, hasM) = (json["hasZ"]?.flag ?? false, json["hasM"]?.flag ?? false)
            guard !isRegistered || table.globalIDField != nil else {
                throw CairnError(
                    .unsupported,
                    "the layer \(layer.id) '\(title)' has no field of global ids: it cannot be "
                        + "synchronised")
            }
            guard let kind else {
                self.table = table
                return
            }
            var column = "geom"
            while fields.contains(where: { $0.isNamed(column) }) { column += "_" }
            table.geometryColumn = column
            table.geometryTypeName =
                switch kind {
                case let kind where kind == Point.self: "POINT"
                case let kind where kind == Multipoint.self: "MULTIPOINT"
                case let kind where kind == Polyline.self: "MULTILINESTRING"
                default: "MULTIPOLYGON"
                }
            table.spatialReference = reference
            table.srs = Self.number(of: reference)
            self.table = table
        }

        /// The number of a reference in the file: EPSG's or Esri's own, 100000 for a text.
        private static func number(of reference: SpatialReference?) -> Int32 {
            guard let reference else { return 0 }
            if reference.isWebMercator { return 3857 }
            return reference.wkid.map { Int32(clamping: $0.rawValue) } ?? 100_000
        }

        /// The global id of a feature; nil for none.
        func id(_ feature: JSON) -> UUID? {
            table.globalIDField.flatMap { feature["attributes"]?.text($0) }
                .flatMap { UUID(globalID: $0) }
        }

        private static func type(_ field: Field) -> String {
            switch field.type {
            case .int16: "SMALLINT"
            case .int32: "MEDIUMINT"
            case .int64, .oid: "INTEGER"
            case .float32: "FLOAT"
            case .float64: "DOUBLE"
            case .date: "DATETIME"
            case .dateOnly: "DATE"
            case .guid: "TEXT(38)"
            case .globalID: "TEXT(38) UNIQUE"
            case .text: field.length.map { $0 > 0 ? "TEXT(\($0))" : "TEXT" } ?? "TEXT"
            default: "TEXT"
            }
        }

        func make(_ file: SQLiteTransaction) throws {
            if let reference, table.srs != 4326 {
                let isEsri = table.srs > 32_767
                let definition =
                    table.srs == 3857
                    ? GeoPackage.mercator : reference.wkText.orNil ?? "undefined"
                let owner =
                    reference.wkid == nil ? "NONE" : isEsri ? "ESRI" : "EPSG"
                try file.change(
                    "INSERT OR IGNORE INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, NULL)",
                    [
                        .text(reference.description), .integer(Int64(table.srs)), .text(owner),
                        .integer(Int64(table.srs)), .text(definition),
                    ])
            }
            var columns = table.fields.map { field in
                field.name == table.key
                    ? "\(field.name.quotedName) INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL"
                    : "\(field.name.quotedName) \(Self.type(field))"
            }
            if let column = table.geometryColumn {
                columns.append("\(column.quotedName) \(table.geometryTypeName)")
            }
            let quoted = name.quotedName
            try file.change("CREATE TABLE \(quoted) (\(columns.joined(separator: ", ")))")
            try file.change(
                "INSERT INTO gpkg_contents (table_name, data_type, identifier, srs_id) "
                    + "VALUES (?, ?, ?, ?)",
                [
                    .text(name), .text(table.geometryColumn == nil ? "attributes" : "features"),
                    .text(name), table.geometryColumn == nil ? .null : .integer(Int64(table.srs)),
                ])
            for field in table.fields where field.alias != field.name {
                try file.change(
                    "INSERT INTO gpkg_data_columns (table_name, column_name, name, title) "
                        + "VALUES (?, ?, ?, ?)",
                    [.text(name), .text(field.name), .text(field.name), .text(field.alias)])
            }
            guard let column = table.geometryColumn else { return }
            try file.change(
                "INSERT INTO gpkg_geometry_columns VALUES (?, ?, ?, ?, ?, ?)",
                [
                    .text(name), .text(column), .text(table.geometryTypeName),
                    .integer(Int64(table.srs)), .integer(hasZ ? 2 : 0), .integer(hasM ? 2 : 0),
                ])
            for statement in index(column) { try file.change(statement) }
        }

        /// The spatial index and its triggers (GeoPackage 1.3, annex F.3).
        private func index(_ column: String) -> [String] {
            let (table, key, shape) = (
                name.quotedName, table.key.quotedName, column.quotedName
            )
            let index = "rtree_\(name)_\(column)".quotedName
            let add =
                "INSERT OR REPLACE INTO \(index) VALUES (NEW.\(key), ST_MinX(NEW.\(shape)), "
                + "ST_MaxX(NEW.\(shape)), ST_MinY(NEW.\(shape)), ST_MaxY(NEW.\(shape)));"
            let isThere = "(NEW.\(shape) NOTNULL AND NOT ST_IsEmpty(NEW.\(shape)))"
            let isEmpty = "(NEW.\(shape) ISNULL OR ST_IsEmpty(NEW.\(shape)))"
            func trigger(_ part: String, _ when: String, _ body: String) -> String {
                "CREATE TRIGGER \("rtree_\(name)_\(column)_\(part)".quotedName) AFTER \(when) "
                    + "BEGIN \(body) END"
            }
            let (same, other) = ("OLD.\(key) = NEW.\(key)", "OLD.\(key) != NEW.\(key)")
            let remove = "DELETE FROM \(index) WHERE id = OLD.\(key);"
            let both = "DELETE FROM \(index) WHERE id IN (OLD.\(key), NEW.\(key));"
            let of = "UPDATE OF \(shape) ON \(table)"
            return [
                "CREATE VIRTUAL TABLE \(index) USING rtree(id, minx, maxx, miny, maxy)",
                trigger("insert", "INSERT ON \(table) WHEN \(isThere)", add),
                trigger("update1", "\(of) WHEN \(same) AND \(isThere)", add),
                trigger("update2", "\(of) WHEN \(same) AND \(isEmpty)", remove),
                trigger("update3", "UPDATE ON \(table) WHEN \(other) AND \(isThere)", remove + add),
                trigger("update4", "UPDATE ON \(table) WHEN \(other) AND \(isEmpty)", both),
                trigger("delete", "DELETE ON \(table) WHEN OLD.\(shape) NOT NULL", remove),
                "INSERT INTO gpkg_extensions VALUES (\(name.quotedText), \(column.quotedText), "
                    + "'gpkg_rtree_index', "
                    + "'http://www.geopackage.org/spec130/#extension_rtree', 'write-only')",
            ]
        }
    }
}

extension String {
    /// The text as a text in SQL.
    fileprivate var quotedText: String { "'" + replacingOccurrences(of: "'", with: "''") + "'" }
}
