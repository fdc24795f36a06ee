// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnCore
import Codecs
import Foundation
import Geometry
import TestKit
import Testing
import TilePackages

@Suite struct RoundTripTests {
    @Test(arguments: Kind.all)
    func `tiles and metadata are read as they were written`(_ kind: Kind) throws {
        for seed in Seeds.chosen(8) {
            let folder = try Folder()
            var random = SeededGenerator(seed: seed)
            let levels = 0...Int.random(in: 3...23, using: &random)
            let most = kind.isCompact ? 60 : 600
            let tiles = random.tiles(Int.random(in: 0..<most, using: &random), levels: levels)
            let metadata = TilePackageMetadata.sample(kind.encoding, levels: levels)
            let path = folder.file("a" + kind.format.ending)
            let summary = try write(tiles, kind.format, metadata, to: path)

            let reader = try TilePackage.open(path)
            #expect(try read(reader) == tiles, "seed \(seed)")
            for (tile, bytes) in tiles { #expect(try reader.tile(tile) == bytes) }
            for tile in random.tiles(50, levels: 0...23).keys {
                #expect(try reader.tile(tile) == tiles[tile], "seed \(seed)")
            }
            #expect(reader.format == kind.format)
            #expect(reader.metadata == metadata)
            #expect(reader.statedContent == summary.content)
            #expect(try reader.verify() == summary.content)
            #expect(summary.tileCount == tiles.count)
            #expect(try Int64(bytes(of: path).count) == summary.byteCount)
            #expect(try SHA256.digest(bytes(of: path)).hexadecimal == summary.sha256)
            #expect(folder.names == ["a" + kind.format.ending])
        }
    }

    @Test(arguments: [42, nil])
    func `a TPKX states the quality of its pictures, 0 for an unknown one`(quality: Int?) throws {
        let folder = try Folder()
        var metadata = TilePackageMetadata.sample(.jpg, levels: 0...3)
        metadata.quality = quality
        var random = SeededGenerator(seed: 9)
        let path = folder.file("a.tpkx")
        _ = try write(random.tiles(5, levels: 0...3), .tpkx, metadata, to: path)
        let stated = #""tileImageInfo":{"format":"JPEG","compressionQuality":\#(quality ?? 0)}"#
        #expect(try Data(bytes(of: path)).range(of: Data(stated.utf8)) != nil)
        #expect(try TilePackage.open(path).metadata.quality == quality)
    }

    @Test(arguments: Kind.all)
    func `two packages of the same tiles are the same bytes`(_ kind: Kind) throws {
        for seed in Seeds.chosen(4) {
            var random = SeededGenerator(seed: seed)
            let tiles = random.tiles(500, levels: 0...9)
            let metadata = TilePackageMetadata.sample(kind.encoding, levels: 0...9)
            let (first, second) = (try Folder(), try Folder())
            let one = try write(tiles, kind.format, metadata, to: first.file("one"))
            let two = try write(tiles, kind.format, metadata, to: second.file("another name"))
            #expect(one == two, "seed \(seed)")
            #expect(try bytes(of: first.file("one")) == bytes(of: second.file("another name")))
        }
    }

    @Test func `one set of tiles has one identity in every format`() throws {
        let folder = try Folder()
        var random = SeededGenerator(seed: 5)
        let tiles = random.tiles(300, levels: 0...8)
        for encoding in TileEncoding.allCases {
            let kinds = Kind.all.filter { $0.encoding == encoding }
            let contents = try kinds.map { kind in
                try write(
                    tiles, kind.format, .sample(encoding, levels: 0...8),
                    to: folder.file(kind.testDescription)
                ).content
            }
            #expect(Set(contents).count == 1)
        }
    }

    @Test(arguments: Kind.all)
    func `no tile, and one tile, are packages too`(_ kind: Kind) throws {
        let folder = try Folder()
        let last = try #require(TileAddress(level: 23, row: 8_388_607, column: 8_388_607))
        for tiles: Tiles in [[:], [last: [0x1a, 7]]] {
            let path = folder.file("a")
            try write(tiles, kind.format, .sample(kind.encoding, levels: 0...23), to: path)
            #expect(try read(TilePackage.open(path)) == tiles)
        }
    }

    @Test func `PMTiles of very many tiles have leaf directories`() throws {
        let folder = try Folder()
        var random = SeededGenerator(seed: 1)
        var tiles: Tiles = [:]
        for row in 0..<256 {
            for column in 0..<256 where Int.random(in: 0..<4, using: &random) > 0 {
                let tile = try #require(TileAddress(level: 8, row: row, column: column))
                tiles[tile] = random.content()
            }
        }
        let path = folder.file("a.pmtiles")
        try write(tiles, .pmtiles, .sample(.png, levels: 0...8), to: path)
        let reader = try TilePackage.open(path)

        #expect(tiles.count > 40_000)
        // The length of the leaf directories.
        #expect(try bytes(of: path)[48..<56].contains { $0 > 0 })
        #expect(try read(reader) == tiles)
        for (tile, bytes) in tiles.prefix(2_000) { #expect(try reader.tile(tile) == bytes) }
    }

    @Test func `equal tiles are in PMTiles once`() throws {
        let folder = try Folder()
        var tiles: Tiles = [:]
        for row in 0..<64 {
            for column in 0..<64 {
                let tile = try #require(TileAddress(level: 6, row: row, column: column))
                tiles[tile] = [UInt8](repeating: UInt8(column % 2 + 1), count: 10_000)
            }
        }
        let summary = try write(
            tiles, .pmtiles, .sample(.png, levels: 6...6), to: folder.file("a.pmtiles"))
        #expect(summary.byteCount < 40_000)
    }

    @Test func `more tiles than memory holds are sorted in files`() throws {
        let folder = try Folder()
        let metadata = TilePackageMetadata(name: "a", encoding: .png, levels: 10...10)
        let path = folder.file("a.pmtiles")
        let writer = try TilePackage.writer(.pmtiles, at: path, metadata)
        for row in 0..<800 {
            for column in 0..<1_000 {
                let tile = try #require(TileAddress(level: 10, row: row, column: column))
                try writer.add(tile, [UInt8(row & 0xff), UInt8(column & 0xff), UInt8(column >> 8)])
            }
        }
        let summary = try writer.finish()
        let reader = try TilePackage.open(path)
        #expect(summary.tileCount == 800_000)
        #expect(try reader.verify() == summary.content)
        #expect(folder.names == ["a.pmtiles"])
    }

    @Test(arguments: TilePackageFormat.allCases)
    func `what cannot be kept is refused`(_ format: TilePackageFormat) throws {
        let folder = try Folder()
        let encoding = try #require(format.encodings.first)
        let metadata = TilePackageMetadata(name: "a", encoding: encoding, levels: 2...3)
        let tile = try #require(TileAddress(level: 2, row: 1, column: 1))
        let before = try #require(TileAddress(level: 2, row: 1, column: 0))
        let other = try #require(TileAddress(level: 4, row: 1, column: 1))
        let writer = try TilePackage.writer(format, at: folder.file("a"), metadata)
        try writer.add(tile, [1])
        #expect(throws: Failure.self) { try writer.add(tile, [1]) }
        #expect(throws: Failure.self) { try writer.add(before, [1]) }
        #expect(throws: Failure.self) { try writer.add(other, [1]) }
        let next = try #require(TileAddress(level: 3, row: 1, column: 1))
        let large = (0..<TilePackage.tileByteLimit + 65_536).map { index in
            UInt8(truncatingIfNeeded: (index &* 2_654_435_761) >> 13 ^ index)
        }
        #expect {
            try writer.add(next, encoding == .mvt ? Array(repeating: 9, count: 65 << 20) : large)
        } throws: {
            ($0 as? Failure)?.code == .tooLarge
        }
        for encoding in TileEncoding.allCases where !format.encodings.contains(encoding) {
            let wrong = TilePackageMetadata(name: "a", encoding: encoding, levels: 2...3)
            #expect(throws: Failure.self) {
                try TilePackage.writer(format, at: folder.file("b"), wrong)
            }
        }
    }

    @Test(arguments: TilePackageFormat.allCases)
    func `a writer that is dropped leaves nothing`(_ format: TilePackageFormat) throws {
        let folder = try Folder()
        let encoding = try #require(format.encodings.first)
        let metadata = TilePackageMetadata(name: "a", encoding: encoding, levels: 2...3)
        do {
            let writer = try TilePackage.writer(format, at: folder.file("a"), metadata)
            try writer.add(try #require(TileAddress(level: 2, row: 1, column: 1)), [1, 2, 3])
        }
        #expect(folder.names == [])
    }

    @Test func `a vector tile that is gzip already is kept as it is`() throws {
        let folder = try Folder()
        let tile = try #require(TileAddress(level: 2, row: 1, column: 1))
        let plain = [UInt8](repeating: 0x1a, count: 300)
        let packed = Gzip.compress(plain, level: 1)
        for format: TilePackageFormat in [.mbtiles, .pmtiles, .vtpk] {
            let path = folder.file(format.rawValue)
            try write([tile: packed], format, .sample(.mvt, levels: 2...2), to: path)
            let reader = try TilePackage.open(path)
            #expect(try reader.tile(tile) == plain)
            #expect(try reader.storedTile(tile) == packed)
        }
    }

    @Test(arguments: [TilePackageFormat.mbtiles, .gpkg])
    func `the counters of a database are equal`(_ format: TilePackageFormat) throws {
        let folder = try Folder()
        var random = SeededGenerator(seed: 3)
        let tiles = random.tiles(300, levels: 0...8)
        try write(tiles, format, .sample(.png, levels: 0...8), to: folder.file("a"))
        let head = try bytes(of: folder.file("a"))[..<100]
        #expect(head[24..<28].elementsEqual(head[92..<96]))
        // No page is free.
        #expect(head[36..<40].allSatisfy { $0 == 0 })
        // Neither a journal nor a log.
        #expect(head[18] == 1 && head[19] == 1)
    }
}
