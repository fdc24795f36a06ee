// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import GDAL

/// The queries of a layer of a database: what its values are, and then the values, each in a type
/// that a GeoPackage holds exactly.
struct PostgresQuery {
    let layer: PostgresLayer
    /// The schema of PostGIS.
    let extensionSchema: String

    /// What the values of a layer are.
    struct Facts {
        var rowCount = 0
        /// The least and the greatest value of a key of one integer.
        var keyRange: ClosedRange<Int64>?
        /// The least and the greatest SRID of its geometries.
        var srids: ClosedRange<Int>?
        /// The number of values of a column, by its place, that its type in the copy cannot hold.
        var misfits: [Int: Int] = [:]
        /// The number of values of a column, by its place, that are rounded, or null, in the copy.
        var losses: [Int: Int] = [:]
    }

    private var table: PostgresTable { layer.table }

    private var from: String {
        "FROM \(Self.quoted(table.schema)).\(Self.quoted(table.name)) AS t"
    }

    private static func quoted(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    private static func value(_ column: PostgresColumn) -> String {
        let value = "t." + quoted(column.name)
        return column.isDomain && column.isBuiltIn
            ? value + "::pg_catalog.\(quoted(column.type))" : value
    }

    /// The geometry as the type `geometry`; nil for a table without.
    private var shape: String? {
        layer.geometry.map { "\(Self.value($0))::\(Self.quoted(extensionSchema)).geometry" }
    }

    /// The key of one integer.
    private var integerKey: PostgresColumn? {
        guard table.key.count == 1, let key = table.key.first, key.isBuiltIn,
            ["int2", "int4", "int8"].contains(key.type)
        else { return nil }
        return key
    }

    // MARK: The first query

    /// Whether a value does not fit the type of the copy; nil where all do.
    private static func misfit(_ column: PostgresColumn) -> String? {
        guard column.isBuiltIn else { return nil }
        let value = value(column)
        func isBeyond(_ value: String, _ type: String) -> String {
            "NOT isfinite(\(value)) OR \(value) < '0001-01-01'::\(type) "
                + "OR \(value) >= '10000-01-01'::\(type)"
        }
        switch column.type {
        case "numeric":
            // The conversions of others fail.
            return "CASE WHEN \(value)::text IN ('NaN', 'Infinity', '-Infinity') THEN true "
                + "WHEN \(value) = 0 THEN false WHEN abs(\(value)) >= 1e300 "
                + "OR abs(\(value)) < 1e-300 THEN true "
                + "ELSE \(value)::float8::text::numeric <> \(value) END"
        case "date": return isBeyond(value, "date")
        case "timestamp": return isBeyond(value, "timestamp")
        case "timestamptz": return isBeyond("(\(value) AT TIME ZONE 'UTC')", "timestamp")
        default: return nil
        }
    }

    /// Whether a value is rounded, or becomes null; nil where none is.
    private static func loss(_ column: PostgresColumn) -> String? {
        guard column.isBuiltIn else { return nil }
        let value = value(column)
        return switch column.type {
        case "float4", "float8": "\(value) = 'NaN'"
        case "timestamp", "timestamptz": "date_trunc('milliseconds', \(value)) <> \(value)"
        default: nil
        }
    }

    /// The query of ``Facts``, with one row.
    private var examination: String {
        func count(_ condition: String) -> String {
            "(count(*) FILTER (WHERE \(condition)))::text"
        }
        var items = ["count(*)::text"]
        items += ["min", "max"].map { function in
            integerKey.map { "\(function)(\(Self.value($0)))::text" } ?? "NULL::text"
        }
        items += ["min", "max"].map { function in
            shape.map { "\(function)(\(Self.quoted(extensionSchema)).st_srid(\($0)))::text" }
                ?? "NULL::text"
        }
        for column in table.columns {
            items.append(Self.misfit(column).map(count) ?? "NULL::text")
            items.append(Self.loss(column).map(count) ?? "NULL::text")
        }
        let named = items.enumerated().map { "\($1) AS k\($0)" }.joined(separator: ", ")
        return "SELECT \(named) \(from)"
    }

    func facts(_ database: PostgresDatabase) throws(GDALError) -> Facts {
        var facts = Facts()
        let row = try database.rows(examination).first ?? []
        guard row.count == 5 + 2 * table.columns.count else { return facts }
        facts.rowCount = row[0].flatMap { Int($0) } ?? 0
        if let low = row[1].flatMap({ Int64($0) }), let high = row[2].flatMap({ Int64($0) }) {
            facts.keyRange = low...max(low, high)
        }
        if let low = row[3].flatMap({ Int($0) }), let high = row[4].flatMap({ Int($0) }) {
            facts.srids = low...max(low, high)
        }
        for index in table.columns.indices {
            facts.misfits[index] = row[5 + 2 * index].flatMap { Int($0) }
            facts.losses[index] = row[6 + 2 * index].flatMap { Int($0) }
        }
        return facts
    }

    // MARK: The second query

    /// Names without regard to the case of letters.
    private struct Names {
        var taken: Set<String>

        mutating func take(_ name: String) -> String {
            var (free, number) = (name, 2)
            while !taken.insert(free.lowercased()).inserted {
                free = "\(name)_\(number)"
                number += 1
            }
            return free
        }
    }

    /// GDAL takes columns of these names for ids or geometries.
    private static let meaningful: Set<String> = [
        "ogc_fid", "st_asbinary", "asbinary", "st_asewkb", "asewkb", "st_astext", "astext",
        "st_asewkt", "asewkt", "binarybase64", "ewkbbase64",
    ]

    /// The layer of the copy, with notes on what differs from the database.
    func copy(
        _ facts: Facts, geometryType: String?, reference: String?
    ) -> (layer: PostgresDatabase.Layer, notes: [String]) {
        var (items, notes): ([String], [String]) = ([], [])
        let ids: ClosedRange<Int64> = 1...2_147_483_647
        let range = facts.keyRange ?? ids
        let isKeyed = ids.contains(range.lowerBound) && ids.contains(range.upperBound)
        let id = isKeyed ? integerKey : nil
        if let integerKey, !isKeyed {
            notes.append(
                "the key '\(integerKey.name)' has values outside of 1 to 2147483647: it is a "
                    + "column, and object ids are counted")
        }
        var names = Names(taken: Self.meaningful)
        var idColumn = ""
        if let id {
            items.append("\(Self.value(id)) AS ogc_fid")
            if id.name.lowercased() == "ogc_fid" { names.taken.remove("ogc_fid") }
            idColumn = names.take(id.name)
        }
        for (index, column) in table.columns.enumerated() where column != id {
            if column.isGeometry { continue }
            if column.type == "raster", !column.isBuiltIn {
                notes.append("column '\(column.name)' is left out: a raster")
                continue
            }
            let name = names.take(column.name)
            if name != column.name {
                notes.append(
                    "column '\(column.name)' is called '\(name)': another column has its name, or "
                        + "GDAL takes the name for an id or a geometry")
            }
            let isText = facts.misfits[index] ?? 0 > 0
            items.append("\(Self.item(column, isText: isText)) AS \(Self.quoted(name))")
            notes += Self.notes(
                column, misfits: facts.misfits[index] ?? 0, losses: facts.losses[index] ?? 0)
        }
        if idColumn.isEmpty { idColumn = names.take("fid") }
        let geometryColumn = names.take("geom")
        if let shape { items.append("\(shape) AS \(Self.quoted(geometryColumn))") }
        // A GeoPackage has no table without columns.
        if items.isEmpty { items.append("NULL::text AS \(Self.quoted(names.take("empty")))") }
        var query = "SELECT \(items.joined(separator: ", ")) \(from)"
        // An import leaves tables without geometry out, whatever their rows are.
        if shape == nil { query += " WHERE false" }
        if !table.key.isEmpty {
            query += " ORDER BY " + table.key.map { Self.value($0) }.joined(separator: ", ")
        }
        return (
            PostgresDatabase.Layer(
                name: layer.name, query: query, hasIDs: id != nil, idColumn: idColumn,
                geometryColumn: geometryColumn, geometryType: geometryType,
                reference: reference), notes
        )
    }

    /// A value in a type that the copy holds exactly.
    private static func item(_ column: PostgresColumn, isText: Bool) -> String {
        let value = value(column)
        if column.category == "A" || column.category == "C" { return "to_json(\(value))::text" }
        guard column.isBuiltIn, !isText else { return value + "::text" }
        return switch column.type {
        case "bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar", "date": value
        case "numeric": value + "::float8"
        case "oid": value + "::int8"
        case "timestamp": "date_trunc('milliseconds', \(value))"
        case "timestamptz": "date_trunc('milliseconds', \(value) AT TIME ZONE 'UTC')"
        case "bytea": "NULL::bytea"
        default: value + "::text"
        }
    }

    private static func notes(
        _ column: PostgresColumn, misfits: Int, losses: Int
    ) -> [String] {
        func count(_ number: Int) -> String { number == 1 ? "a value" : "\(number) values" }
        var notes: [String] = []
        if misfits > 0 {
            let reason =
                column.type == "numeric"
                ? "that a double does not hold exactly"
                : "that no date is: infinite, or outside of the years 1 to 9999"
            notes.append("column '\(column.name)': text, because of \(count(misfits)) \(reason)")
        } else if losses > 0 {
            notes.append(
                ["float4", "float8"].contains(column.type)
                    ? "column '\(column.name)': \(count(losses)) became null: NaN"
                    : "column '\(column.name)': \(count(losses)) cut to thousandths of a second")
        }
        return notes
    }
}
