// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnCore
import Foundation
import Geometry
import SQLite
import TestKit
import Testing
import TilePackages

@Suite struct DamageTests {
    /// Opens a file and reads everything; the failure, if there was one.
    private static func failure(_ path: String, _ tiles: Tiles) -> Failure? {
        do {
            let reader = try TilePackage.open(path)
            for tile in tiles.keys { _ = try reader.tile(tile) }
            try reader.verify()
            return nil
        } catch { return error }
    }

    private static let kinds = UpdateTests.kinds

    /// A package of few bytes.
    private static func package(_ kind: Kind, _ folder: Folder) throws -> ([UInt8], Tiles) {
        var random = SeededGenerator(seed: 7)
        let tiles = random.tiles(60, levels: 0...5)
        try write(
            tiles, kind.format, .sample(kind.encoding, levels: 0...5), to: folder.file("whole"))
        return (try bytes(of: folder.file("whole")), tiles)
    }

    @Test(arguments: kinds)
    func `a package that is cut anywhere is refused by name`(_ kind: Kind) throws {
        let folder = try Folder()
        let (whole, tiles) = try Self.package(kind, folder)
        let path = folder.file("cut")
        let step = max(1, whole.count / 300)
        let ends = Array(stride(from: 0, to: whole.count, by: step)) + [whole.count - 1]
        for end in ends {
            try Data(whole[..<end]).write(to: URL(filePath: path))
            let failure = Self.failure(path, tiles)
            #expect(failure?.message.contains(path) == true, "\(end) of \(whole.count) bytes")
        }
    }

    @Test(arguments: kinds)
    func `changed bytes are refused, or are where nothing is`(_ kind: Kind) throws {
        let folder = try Folder()
        let (whole, tiles) = try Self.package(kind, folder)
        let path = folder.file("changed")
        for seed in Seeds.chosen(500) {
            var random = SeededGenerator(seed: seed)
            var changed = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                // Heads and ends have most to go wrong.
                let place =
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: Int.random(in: 0..<min(400, whole.count), using: &random)
                    case 1:
                        whole.count - Int.random(in: 1...min(2_000, whole.count), using: &random)
                    default: Int.random(in: 0..<whole.count, using: &random)
                    }
                changed[place] = UInt8.random(in: 0...255, using: &random)
            }
            try Data(changed).write(to: URL(filePath: path))
            guard let failure = Self.failure(path, tiles) else {
                let found = try? read(TilePackage.open(path))
                // Without the stated identity, which may be what changed, tiles may be others.
                #expect(found != nil, "seed \(seed)")
                continue
            }
            #expect(failure.code != .internal, "seed \(seed): \(failure)")
        }
    }

    @Test func `other files are no packages`() throws {
        let folder = try Folder()
        for text in ["", "hello", "PK", "PMTiles", "SQLite format 3\0"] {
            try Data(text.utf8).write(to: URL(filePath: folder.file("a")))
            #expect(throws: Failure.self) { try TilePackage.open(folder.file("a")) }
        }
        #expect { try TilePackage.open(folder.file("none")) } throws: {
            ($0 as? Failure)?.code == .notFound
        }
        #expect(throws: Failure.self) { try TilePackage.open(folder.path) }
        try Connection(path: folder.file("db"), mode: .create).execute("CREATE TABLE a (b)")
        #expect { try TilePackage.open(folder.file("db")) } throws: {
            ($0 as? Failure)?.code == .unreadable
        }
    }

    /// A view that has no end: the steps of a question are bounded.
    @Test func `a database without end is refused`() throws {
        let folder = try Folder()
        let path = folder.file("a.mbtiles")
        try Connection(path: path, mode: .create).execute(
            """
            CREATE TABLE metadata (name, value);
            INSERT INTO metadata VALUES ('name', 'a'), ('format', 'png'), ('minzoom', '0'),
            ('maxzoom', '1');
            CREATE VIEW tiles AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
            SELECT 0 AS zoom_level, x AS tile_column, 0 AS tile_row, x'01' AS tile_data FROM c
            WHERE x < 0;
            """)
        #expect(throws: Failure.self) {
            try TilePackage.open(path).tile(#require(TileAddress(level: 0, row: 0, column: 0)))
        }
    }

    /// Each leaf directory stands for a million tiles, all in one content; the second pointer leads
    /// to the same leaf.
    @Test func `directories of PMTiles that lead back are refused`() throws {
        let folder = try Folder()
        let path = folder.file("a.pmtiles")
        var tiles: Tiles = [:]
        for row in 0..<200 {
            for column in 0..<200 {
                let tile = try #require(TileAddress(level: 8, row: row, column: column))
                tiles[tile] = [UInt8(row), UInt8(column), 1]
            }
        }
        try write(tiles, .pmtiles, .sample(.png, levels: 8...8), to: path)
        var changed = try bytes(of: path)
        // The section of leaf directories begins at its end: all pointers lead to other bytes.
        changed[48] = 1
        for index in 49..<56 { changed[index] = 0 }
        try Data(changed).write(to: URL(filePath: path))
        #expect(throws: Failure.self) { try TilePackage.open(path).verify() }
    }
}
