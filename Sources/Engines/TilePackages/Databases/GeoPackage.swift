// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Geometry
internal import Platform

/// Writes GeoPackage 1.3 (OGC 12-128r17) with one tile pyramid in EPSG:3857; rows count from the
/// top.
final class GeoPackageSink: TileSink {
    private let database: PackageDatabase.Writing
    /// `GPKG`.
    private static let applicationID = 0x4750_4b47
    private static let version = 10_300

    init(_ path: String, _ metadata: TilePackageMetadata) throws(Failure) {
        database = try PackageDatabase.Writing(
            path, applicationID: Self.applicationID, userVersion: Self.version,
            schema: GeoPackageSchema.tables)
        try database.prepareInsert(
            "INSERT INTO tiles (zoom_level, tile_column, tile_row, tile_data) VALUES (?, ?, ?, ?)")
    }

    func put(_ tile: TileAddress, _ stored: [UInt8]) throws(Failure) {
        try database.put(tile, row: tile.row, stored)
    }

    func finish(
        _ metadata: TilePackageMetadata, content: String
    ) throws(Failure) -> (byteCount: Int64, sha256: String) {
        let time = UTCText.milliseconds(metadata.created)
        for (name, id, organisation, definition) in GeoPackageSchema.references {
            try database.run(
                """
                INSERT INTO gpkg_spatial_ref_sys (srs_name, srs_id, organization,
                organization_coordsys_id, definition) VALUES (?, ?, ?, ?, ?)
                """, .text(name), .integer(id), .text(organisation), .integer(id),
                .text(definition))
        }
        let extent = metadata.extent
        try database.run(
            """
            INSERT INTO gpkg_contents (table_name, data_type, identifier, description, last_change,
            min_x, min_y, max_x, max_y, srs_id) VALUES ('tiles', 'tiles', ?, ?, ?, ?, ?, ?, ?, 3857)
            """, .text(metadata.name), .text(metadata.description), .text(time),
            .real(extent.minX), .real(extent.minY), .real(extent.maxX), .real(extent.maxY))
        let world = TilePackageMetadata.world
        try database.run(
            "INSERT INTO gpkg_tile_matrix_set VALUES ('tiles', 3857, ?, ?, ?, ?)",
            .real(world.minX), .real(world.minY), .real(world.maxX), .real(world.maxY))
        for level in metadata.levels {
            let count = Int64(TileAddress.count(at: level))
            let pixel = TileAddress.side(at: level) / Double(metadata.tileSide)
            try database.run(
                "INSERT INTO gpkg_tile_matrix VALUES ('tiles', ?, ?, ?, ?, ?, ?, ?)",
                .integer(Int64(level)), .integer(count), .integer(count),
                .integer(Int64(metadata.tileSide)), .integer(Int64(metadata.tileSide)),
                .real(pixel), .real(pixel))
        }
        let json = metadata.json(content: content)
        try database.run(
            "INSERT INTO gpkg_metadata VALUES (1, 'dataset', ?, 'application/json', ?)",
            .text(GeoPackageSchema.standard), .text(String(decoding: json, as: UTF8.self)))
        try database.run(
            """
            INSERT INTO gpkg_metadata_reference VALUES ('table', 'tiles', NULL, NULL, ?, 1, NULL)
            """, .text(time))
        return try database.finish()
    }
}

/// Reads a GeoPackage of any program with a pyramid of web map tiles.
final class GeoPackageSource: TileSource {
    private let database: PackageDatabase.Reading
    private let table: String
    let metadata: TilePackageMetadata
    let content: String?

    init(_ database: PackageDatabase.Reading) throws(Failure) {
        self.database = database
        let rows = try database.rows(
            """
            SELECT table_name, identifier, description, min_x, min_y, max_x, max_y
            FROM gpkg_contents WHERE data_type = 'tiles' ORDER BY table_name
            """, columns: 7)
        guard let row = rows.first, rows.count == 1, let name = row[0] else {
            throw Failure(
                .unreadable, "'\(database.path)' has \(rows.count) tables of tiles: expected one")
        }
        table = "\"" + name.replacing("\"", with: "\"\"") + "\""
        try Self.checkScheme(name, database)
        try database.prepareFind(table)
        var json: JSONTree?
        if try database.has(table: "gpkg_metadata") {
            let kept = try database.rows(
                "SELECT metadata FROM gpkg_metadata WHERE md_standard_uri = ?1",
                [GeoPackageSchema.standard], columns: 1)
            json = kept.first?.first.flatMap(\.self).flatMap { JSONTree(Array($0.utf8)) }
        }
        content = json?["content"]?.text
        metadata =
            if let kept = json.flatMap(TilePackageMetadata.init) { kept } else {
                try Self.foreign(row, name, table, database)
            }
    }

    /// Refuses a pyramid that is not that of web maps.
    private static func checkScheme(
        _ name: String, _ database: PackageDatabase.Reading
    ) throws(Failure) {
        let sets = try database.rows(
            """
            SELECT min_x, min_y, max_x, max_y FROM gpkg_tile_matrix_set
            WHERE table_name = ?1 AND srs_id IN
            (SELECT srs_id FROM gpkg_spatial_ref_sys WHERE organization_coordsys_id = 3857)
            """, [name], columns: 4)
        let bounds = (sets.first ?? []).compactMap { $0.flatMap(Double.init) }
        let half = TileAddress.halfWorldMeters
        let isWorld =
            bounds.count == 4
            && zip(bounds, [-half, -half, half, half]).allSatisfy { abs($0 - $1) < 1 }
        let wrong = try database.rows(
            """
            SELECT zoom_level FROM gpkg_tile_matrix WHERE table_name = ?1
            AND (zoom_level NOT BETWEEN 0 AND 23 OR matrix_width <> 1 << zoom_level
            OR matrix_height <> 1 << zoom_level)
            """, [name], columns: 1)
        guard isWorld, wrong.isEmpty else {
            throw Failure(
                .unreadable,
                "the tiles of '\(database.path)' are not those of web maps: expected EPSG:3857 in "
                    + "squares, one at level 0")
        }
    }

    private static func foreign(
        _ row: [String?], _ name: String, _ table: String, _ database: PackageDatabase.Reading
    ) throws(Failure) -> TilePackageMetadata {
        let matrices = try database.rows(
            """
            SELECT min(zoom_level), max(zoom_level), max(tile_width) FROM gpkg_tile_matrix
            WHERE table_name = ?1
            """, [name], columns: 3)
        let heads = try database.rows(
            "SELECT hex(substr(tile_data, 1, 2)) FROM \(table) LIMIT 1", columns: 1)
        let numbers = (matrices.first ?? []).map { $0.map(JSONTree.string) }
        guard numbers.count == 3,
            let levels = TilePackageMetadata.levels(numbers[0], numbers[1]),
            let side = numbers[2]?.whole, 1...4_096 ~= side
        else { throw Failure.damaged(database.path, "its levels cannot be read") }
        var metadata = TilePackageMetadata(
            name: row[1] ?? "", encoding: heads.first?[0] == "FFD8" ? .jpg : .png, levels: levels,
            tileSide: Int(side))
        metadata.description = row[2] ?? ""
        let bounds = row[3...].compactMap { $0.flatMap(Double.init) }
        if bounds.count == 4 {
            let extent = Envelope(
                minX: bounds[0], minY: bounds[1], maxX: bounds[2], maxY: bounds[3])
            if extent.isFinite, !extent.isEmpty { metadata.extent = extent }
        }
        return metadata
    }

    func list(
        _ body: (_ tile: TileAddress, _ place: UInt64) throws(Failure) -> Void
    ) throws(Failure) {
        try database.list(table) { level, column, row throws(Failure) in
            guard
                let tile = TileAddress(
                    level: Int(clamping: level), row: Int(clamping: row),
                    column: Int(clamping: column))
            else {
                throw Failure.damaged(
                    database.path, "it has a tile of level \(level), column \(column), row \(row)")
            }
            try body(tile, tile.sortKey)
        }
    }

    func bytes(of tile: TileAddress) throws(Failure) -> [UInt8]? {
        try database.tile(level: tile.level, column: tile.column, row: tile.row)
    }

    func bytes(at place: UInt64) throws(Failure) -> [UInt8] {
        try TileAddress(sortKey: place).flatMap { tile throws(Failure) in try bytes(of: tile) }
            ?? []
    }
}
