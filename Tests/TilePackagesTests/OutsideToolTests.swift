// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnCore
import Foundation
import Geometry
import Testing
import TilePackages

/// The packages as programs of others read them; needs `sqlite3`, `gdalinfo` and `ogrinfo`.
@Suite struct OutsideToolTests {
    private static func isThere(_ tool: String) -> Bool {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/" + tool)
    }

    /// What a program prints.
    private static func output(_ tool: String, _ arguments: [String]) throws -> String {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/" + tool)
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    /// All tiles of levels 0 to 3.
    private static func write(
        _ format: TilePackageFormat, _ encoding: TileEncoding, to path: String
    ) throws {
        var metadata = TilePackageMetadata.sample(encoding, levels: 0...3)
        metadata.extent = TilePackageMetadata.world
        let layer = VectorTileLayer(id: "points", fields: [], levels: 0...3)
        metadata.vectorLayers = encoding == .mvt ? [layer] : []
        let writer = try TilePackage.writer(format, at: path, metadata)
        for level in 0...3 {
            for row in 0..<TileAddress.count(at: level) {
                for column in 0..<TileAddress.count(at: level) {
                    let tile = try #require(TileAddress(level: level, row: row, column: column))
                    try writer.add(tile, encoding == .mvt ? tile.vectorTile : tile.picture)
                }
            }
        }
        try writer.finish()
    }

    @Test(.enabled(if: isThere("sqlite3")), arguments: [TilePackageFormat.mbtiles, .gpkg])
    func `SQLite finds the databases whole`(_ format: TilePackageFormat) throws {
        let folder = try Folder()
        let path = folder.file("a" + format.ending)
        try Self.write(format, .png, to: path)
        let checks = try Self.output(
            "sqlite3", [path, "PRAGMA integrity_check; SELECT count(*) FROM tiles"])
        #expect(checks == "ok\n85\n")
    }

    @Test(.enabled(if: isThere("gdalinfo")), arguments: [TilePackageFormat.mbtiles, .gpkg])
    func `GDAL reads pictures where they are`(_ format: TilePackageFormat) throws {
        let folder = try Folder()
        let path = folder.file("a" + format.ending)
        try Self.write(format, .png, to: path)
        let info = try Self.output("gdalinfo", [path])
        #expect(info.contains("Size is 2048, 2048"), "\(info)")
        #expect(info.contains("EPSG\",3857"), "\(info)")
        #expect(!info.contains("Warning"), "\(info)")
        // The pixel in the middle of the tile of row 5, column 2 at level 3.
        let pixel = try Self.output(
            "gdallocationinfo", ["-valonly", path, "\(2 * 256 + 128)", "\(5 * 256 + 128)"])
        #expect(pixel.split(separator: "\n").prefix(3) == ["5", "2", "77"], "\(pixel)")
    }

    @Test(.enabled(if: isThere("ogrinfo")))
    func `GDAL reads vector tiles`() throws {
        let folder = try Folder()
        let path = folder.file("a.mbtiles")
        try Self.write(.mbtiles, .mvt, to: path)
        let info = try Self.output("ogrinfo", ["-al", path])
        #expect(info.contains("Layer name: points"), "\(info)")
        #expect(info.contains("Feature Count: 64"), "\(info)")
    }
}
