// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import GDAL

/// A column of a table of a database.
struct PostgresColumn: Hashable, Sendable {
    var name: String
    /// The name of its type, of a domain that of the type below it, of an array that of its items
    /// behind a `_`.
    var type: String
    /// `A` for an array, `C` for a composite type, as PostgreSQL's catalogue has it.
    var category: String
    /// Whether its type is one of PostgreSQL itself.
    var isBuiltIn: Bool
    var isDomain: Bool
    /// Its place in the primary key; nil where it is not in it.
    var keyPlace: Int?

    var isGeometry: Bool { !isBuiltIn && (type == "geometry" || type == "geography") }
}

/// A table or view of a database.
struct PostgresTable: Hashable, Sendable {
    var schema: String
    var name: String
    /// Whether it is a part of a table that has its rows as well.
    var isPart: Bool
    var columns: [PostgresColumn]

    /// The name of its first layer: without the schema `public`.
    var shown: String {
        // SQLite and GeoPackage have such tables of their own.
        let isReserved = ["sqlite_", "gpkg_", "rtree_"].contains(where: name.lowercased().hasPrefix)
        return schema == "public" && !isReserved ? name : schema + "." + name
    }

    /// The columns of the primary key, in its order.
    var key: [PostgresColumn] {
        columns.filter { $0.keyPlace != nil }.sorted { ($0.keyPlace ?? 0) < ($1.keyPlace ?? 0) }
    }
}

/// A layer of a database: the rows of a table with one of its columns of geometries.
struct PostgresLayer: Hashable, Sendable {
    var table: PostgresTable
    /// Nil for a table without geometry.
    var geometry: PostgresColumn?

    /// Its name: the table's, with the column behind it where it is not the first one of
    /// geometries.
    var name: String {
        let isFirst = table.columns.first(where: \.isGeometry) == geometry
        return isFirst ? table.shown : table.shown + "(\(geometry?.name ?? ""))"
    }
}

/// The tables of a database that its user may read, and the layers in them.
struct PostgresCatalogue: Sendable {
    /// The schema of PostGIS.
    var extensionSchema: String
    var tables: [PostgresTable]

    init(extensionSchema: String, tables: [PostgresTable]) {
        self.extensionSchema = extensionSchema
        self.tables = tables
    }

    /// Reads it; nil where the database has no PostGIS.
    init?(_ database: PostgresDatabase) throws(GDALError) {
        let found = try database.rows(
            """
            SELECT n.nspname::text AS s FROM pg_catalog.pg_extension e \
            JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'postgis'
            """)
        guard let schema = found.first?.first ?? nil else { return nil }
        extensionSchema = schema
        tables = []
        for row in try database.rows(Self.query) where row.count == 9 {
            guard let schema = row[0], let name = row[1], let column = row[3], let type = row[4]
            else { continue }
            let new = PostgresColumn(
                name: column, type: type, category: row[5] ?? "", isBuiltIn: row[6] == "true",
                isDomain: row[7] == "true", keyPlace: row[8].flatMap { Int($0) })
            if tables.last?.schema == schema, tables.last?.name == name {
                tables[tables.count - 1].columns.append(new)
            } else {
                tables.append(
                    PostgresTable(
                        schema: schema, name: name, isPart: row[2] == "true", columns: [new]))
            }
        }
    }

    private static let query = """
        SELECT n.nspname::text AS a, c.relname::text AS b, c.relispartition::text AS c, \
        a.attname::text AS d, b.typname::text AS e, \
        CASE WHEN b.typtype = 'c' THEN 'C' ELSE b.typcategory::text END AS f, \
        (b.typnamespace = 'pg_catalog'::regnamespace)::text AS g, (t.typtype = 'd')::text AS h, \
        (SELECT array_position(i.indkey::int2[], a.attnum) FROM pg_catalog.pg_index i \
        WHERE i.indrelid = c.oid AND i.indisprimary)::text AS i \
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
        JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 \
        AND NOT a.attisdropped JOIN pg_catalog.pg_type t ON t.oid = a.atttypid \
        JOIN pg_catalog.pg_type b ON b.oid = (WITH RECURSIVE d(o) AS (SELECT t.oid UNION ALL \
        SELECT p.typbasetype FROM d JOIN pg_catalog.pg_type p ON p.oid = d.o \
        WHERE p.typtype = 'd') SELECT d.o FROM d JOIN pg_catalog.pg_type p ON p.oid = d.o \
        WHERE p.typtype <> 'd') WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') \
        AND n.nspname NOT IN ('pg_catalog', 'information_schema') \
        AND n.nspname !~ '^pg_(toast|temp)' AND has_schema_privilege(n.oid, 'USAGE') \
        AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.deptype = 'e' \
        AND d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid) \
        ORDER BY n.nspname, c.relname, a.attnum
        """

    private var layers: [PostgresLayer] {
        tables.flatMap { table in
            let geometries = table.columns.filter(\.isGeometry)
            return geometries.isEmpty
                ? [PostgresLayer(table: table)]
                : geometries.map { PostgresLayer(table: table, geometry: $0) }
        }
    }

    /// The layers of those names, in any letter case where no other one is spelled like it; without
    /// names all that have a geometry.
    ///
    /// Throws `Failure` (`invalidParameter`) where there are none, and for a name that is not
    /// there, or in several schemas.
    func layers(named names: [String], of source: String) throws(Failure) -> [PostgresLayer] {
        let all = layers
        guard names.isEmpty else {
            var chosen: [PostgresLayer] = []
            for name in names {
                for layer in try Self.layers(all, named: name, of: source)
                where !chosen.contains(layer) {
                    chosen.append(layer)
                }
            }
            return chosen
        }
        let found = all.filter { $0.geometry != nil && !$0.table.isPart }
        guard !found.isEmpty else {
            throw Failure(
                .invalidParameter,
                "there is no table with geometry to read in '\(source)'; there are "
                    + Self.list(all))
        }
        return found
    }

    private static func layers(
        _ all: [PostgresLayer], named name: String, of source: String
    ) throws(Failure) -> [PostgresLayer] {
        /// The names of a layer, from the one that counts most.
        func names(_ layer: PostgresLayer) -> [String] {
            let full = layer.table.schema + "." + layer.table.name
            let column = "(\(layer.geometry?.name ?? ""))"
            return [layer.table.shown, layer.name, full, full + column, layer.table.name]
        }
        for rank in 0..<5 {
            for isExact in [true, false] {
                let found = all.filter { layer in
                    let known = names(layer)[rank]
                    return isExact ? known == name : known.lowercased() == name.lowercased()
                }
                let tables = Set(found.map(\.table))
                guard !found.isEmpty else { continue }
                guard tables.count == 1 else {
                    throw Failure(
                        .invalidParameter,
                        "there are several layers '\(name.prefix(80))' in '\(source)': "
                            + list(found))
                }
                return found
            }
        }
        throw Failure(
            .invalidParameter,
            "there is no layer '\(name.prefix(80))' in '\(source)'; there are " + list(all))
    }

    private static func list(_ layers: [PostgresLayer]) -> String {
        layers.isEmpty
            ? "none"
            : layers.prefix(40).map { "'\($0.name.prefix(80))'" }.joined(separator: ", ")
    }
}
