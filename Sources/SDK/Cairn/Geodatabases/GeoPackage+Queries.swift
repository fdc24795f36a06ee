// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import DeferredSQLite
internal import Foundation
internal import Platform

extension GeoPackage {
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
        asked = own.parted
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
