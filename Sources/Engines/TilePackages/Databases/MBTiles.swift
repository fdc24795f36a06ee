// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Geometry
internal import Platform

/// Writes MBTiles 1.3 (https://github.com/mapbox/mbtiles-spec); rows count from the bottom.
final class MBTilesSink: TileSink {
    private let database: PackageDatabase.Writing
    /// `MPBX`.
    private static let applicationID = 0x4d50_4258

    init(_ path: String, _ metadata: TilePackageMetadata) throws(Failure) {
        database = try PackageDatabase.Writing(
            path, applicationID: Self.applicationID, userVersion: 0,
            schema: """
                CREATE TABLE metadata (name text, value text);
                CREATE TABLE tiles (zoom_level integer, tile_column integer, tile_row integer,
                tile_data blob);
                """)
        try database.prepareInsert(
            "INSERT INTO tiles (zoom_level, tile_column, tile_row, tile_data) VALUES (?, ?, ?, ?)")
    }

    func put(_ tile: TileAddress, _ stored: [UInt8]) throws(Failure) {
        try database.put(tile, row: tile.rowFromBottom, stored)
    }

    func finish(
        _ metadata: TilePackageMetadata, content: String
    ) throws(Failure) -> (byteCount: Int64, sha256: String) {
        // Sorted at once, where row after row would read the index from the disk again and again.
        try database.run(
            "CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row)")
        for (name, value) in rows(metadata, content: content) {
            try database.run(
                "INSERT INTO metadata (name, value) VALUES (?, ?)", .text(name), .text(value))
        }
        return try database.finish()
    }

    private func rows(
        _ metadata: TilePackageMetadata, content: String
    ) -> [(name: String, value: String)] {
        let degrees = metadata.degrees
        let bounds = [degrees.minX, degrees.minY, degrees.maxX, degrees.maxY]
        let center = [degrees.center.x, degrees.center.y]
        var rows = [
            ("name", metadata.name),
            ("format", metadata.encoding == .mvt ? "pbf" : metadata.encoding.rawValue),
            ("minzoom", String(metadata.levels.lowerBound)),
            ("maxzoom", String(metadata.levels.upperBound)),
            ("bounds", Self.list(bounds)),
            ("center", Self.list(center + [Double(metadata.levels.lowerBound)])),
            ("type", metadata.encoding == .jpg ? "baselayer" : "overlay"),
            ("version", "1"),
        ]
        if !metadata.description.isEmpty { rows.append(("description", metadata.description)) }
        if !metadata.attribution.isEmpty { rows.append(("attribution", metadata.attribution)) }
        if metadata.encoding == .mvt {
            var json = JSONWriter()
            json.object { $0.vectorLayers(metadata.vectorLayers) }
            rows.append(("json", String(decoding: json.bytes, as: UTF8.self)))
        }
        let all = metadata.json(content: content)
        return rows + [("cairn", String(decoding: all, as: UTF8.self))]
    }

    private static func list(_ numbers: [Double]) -> String {
        numbers.map { number in
            var text: [UInt8] = []
            DecimalText.append(number, to: &text)
            return String(decoding: text, as: UTF8.self)
        }.joined(separator: ",")
    }
}

extension TileAddress {
    /// The row as MBTiles and TMS count it.
    var rowFromBottom: Int { Self.count(at: level) - 1 - row }

    /// The tile of a row that counts from the bottom; nil outside the scheme.
    init?(level: Int64, column: Int64, rowFromBottom: Int64) {
        guard let level = Int(exactly: level), Self.levels ~= level,
            0..<Int64(Self.count(at: level)) ~= rowFromBottom
        else { return nil }
        self.init(
            level: level, row: Self.count(at: level) - 1 - Int(rowFromBottom),
            column: Int(clamping: column))
    }
}

/// Reads MBTiles of any program, with a table of tiles or a view.
final class MBTilesSource: TileSource {
    private let database: PackageDatabase.Reading
    let metadata: TilePackageMetadata
    let content: String?

    init(_ database: PackageDatabase.Reading) throws(Failure) {
        self.database = database
        guard try database.has(table: "tiles"), try database.has(table: "metadata") else {
            throw Failure(
                .unreadable,
                "'\(database.path)' is no tile package: a database without tiles and metadata")
        }
        var values: [String: String] = [:]
        for row in try database.rows("SELECT name, value FROM metadata", columns: 2) {
            if let name = row[0], let value = row[1] { values[name] = value }
        }
        try database.prepareFind("tiles")
        let json = values["cairn"].flatMap { JSONTree(Array($0.utf8)) }
        content = json?["content"]?.text
        metadata =
            if let kept = json.flatMap(TilePackageMetadata.init) { kept } else {
                try Self.foreign(values, database)
            }
    }

    private static func foreign(
        _ values: [String: String], _ database: PackageDatabase.Reading
    ) throws(Failure) -> TilePackageMetadata {
        let encoding: TileEncoding
        switch values["format"] {
        case "png": encoding = .png
        case "jpg", "jpeg": encoding = .jpg
        case "pbf": encoding = .mvt
        case let format:
            throw Failure(
                .unreadable,
                "'\(database.path)' has tiles of format '\(format ?? "")': expected png, jpg or pbf"
            )
        }
        let found = try database.rows(
            "SELECT min(zoom_level), max(zoom_level) FROM tiles", columns: 2)
        let low = values["minzoom"] ?? found.first?[0] ?? "0"
        let high = values["maxzoom"] ?? found.first?[1] ?? low
        guard let levels = TilePackageMetadata.levels(.string(low), .string(high)) else {
            throw Failure.damaged(database.path, "levels '\(low)' to '\(high)'")
        }
        var metadata = TilePackageMetadata(
            name: values["name"] ?? "", encoding: encoding, levels: levels)
        metadata.description = values["description"] ?? ""
        metadata.attribution = values["attribution"] ?? ""
        let json = values["json"].flatMap { JSONTree(Array($0.utf8)) }
        metadata.vectorLayers = VectorTileLayer.reading(json?["vector_layers"], levels)
        let bounds = values["bounds"]?.split(separator: ",").compactMap { Double($0) } ?? []
        guard bounds.count == 4 else { return metadata }
        return metadata.withDegrees(
            Envelope(minX: bounds[0], minY: bounds[1], maxX: bounds[2], maxY: bounds[3]))
    }

    func list(
        _ body: (_ tile: TileAddress, _ place: UInt64) throws(Failure) -> Void
    ) throws(Failure) {
        try database.list("tiles") { level, column, row throws(Failure) in
            guard let tile = TileAddress(level: level, column: column, rowFromBottom: row) else {
                throw Failure.damaged(
                    database.path, "it has a tile of level \(level), column \(column), row \(row)")
            }
            try body(tile, tile.sortKey)
        }
    }

    func bytes(of tile: TileAddress) throws(Failure) -> [UInt8]? {
        try database.tile(level: tile.level, column: tile.column, row: tile.rowFromBottom)
    }

    func bytes(at place: UInt64) throws(Failure) -> [UInt8] {
        try TileAddress(sortKey: place).flatMap { tile throws(Failure) in try bytes(of: tile) }
            ?? []
    }
}
