// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnCore
import Foundation
import Geometry
import TestKit
import Testing
import TilePackages

@Suite struct UpdateTests {
    /// The kinds, with one encoding for each format.
    static let kinds = TilePackageFormat.allCases.compactMap { format in
        format.encodings.last.map { Kind(format: format, encoding: $0) }
    }

    /// Tiles after some edits: changed, removed, new.
    private static func edit(_ tiles: Tiles, _ random: inout SeededGenerator) -> Tiles {
        var edited = tiles
        for tile in tiles.keys.sorted() {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: edited[tile] = nil
            case 1: edited[tile] = random.content()
            default: break
            }
        }
        let added = random.tiles(Int.random(in: 0..<20, using: &random), levels: 0...6)
        return edited.merging(added) { $1 }
    }

    @Test(arguments: kinds)
    func `an update applied is the export anew, byte for byte`(_ kind: Kind) throws {
        for seed in Seeds.chosen(100) {
            let folder = try Folder()
            var random = SeededGenerator(seed: seed)
            let tiles = random.tiles(Int.random(in: 0..<60, using: &random), levels: 0...6)
            let edited = Self.edit(tiles, &random)
            var metadata = TilePackageMetadata.sample(kind.encoding, levels: 0...6)
            try write(tiles, kind.format, metadata, to: folder.file("base"))
            metadata.provenance.append(ProvenanceEntry("sequence", "4712"))
            let full = try write(edited, kind.format, metadata, to: folder.file("full"))
            let base = try TilePackage.open(folder.file("base"))

            let made = try TilePackageUpdate.make(
                from: base, to: try TilePackage.open(folder.file("full")),
                at: folder.file("update"))
            let applied = try TilePackageUpdate.apply(
                folder.file("update"), to: base, at: folder.file("new"))
            #expect(applied == full, "seed \(seed)")
            #expect(made.target == full.content)
            let changed = edited.filter { tiles[$0.key] != $0.value }
            #expect(made.changedCount == changed.count)
            #expect(made.removedCount == tiles.keys.filter { edited[$0] == nil }.count)

            // The same from a list of changes, one of which is none.
            let list = try TilePackageUpdateWriter(
                at: folder.file("list"), base: base, metadata: metadata)
            for tile in Set(tiles.keys).union(edited.keys).sorted() {
                if edited[tile] == tiles[tile], Bool.random(using: &random) { continue }
                try list.put(tile, edited[tile] ?? [])
            }
            #expect(try list.finish() == made, "seed \(seed)")

            // The same from changes that were found without the base.
            let changes = try TileChangeWriter(
                at: folder.file("changes"), base: base.metadata.provenance, metadata: metadata)
            for tile in Set(tiles.keys).union(edited.keys).sorted()
            where edited[tile] != tiles[tile] {
                let before = tiles[tile] ?? []
                try changes.put(
                    tile, edited[tile] ?? [],
                    before: [
                        .unknown, .bytes(before), .state(TileChangeWriter.state(of: before)),
                    ].randomElement(using: &random) ?? .unknown)
            }
            let summary = try changes.finish()
            #expect(summary.changedCount == made.changedCount, "seed \(seed)")
            #expect(summary.removedCount == made.removedCount, "seed \(seed)")
            let again = try TilePackageUpdate.apply(
                folder.file("changes"), to: base, at: folder.file("again"))
            #expect(again == full, "seed \(seed)")
        }
    }

    @Test func `changes found without the base apply to that base alone, whole or not at all`()
        throws
    {
        let folder = try Folder()
        var random = SeededGenerator(seed: 5)
        var metadata = TilePackageMetadata.sample(.png, levels: 0...6)
        let tiles = random.tiles(40, levels: 0...6)
        try write(tiles, .mbtiles, metadata, to: folder.file("base"))
        let base = try TilePackage.open(folder.file("base"))
        let tile = try #require(tiles.keys.min())
        let other = tiles.merging([tile: [1, 2, 3]]) { $1 }
        try write(other, .mbtiles, metadata, to: folder.file("other tile"))
        let provenance = metadata.provenance
        metadata.provenance.append(ProvenanceEntry("sequence", "4712"))
        let full = try write(
            tiles.merging([tile: [4, 5]]) { $1 }, .mbtiles, metadata, to: folder.file("full"))
        let changes = try TileChangeWriter(
            at: folder.file("changes"), base: provenance, metadata: metadata)
        try changes.put(tile, [4, 5], before: .bytes(tiles[tile] ?? []))
        try changes.finish()
        // Of another provenance, and of the same one with another tile.
        for name in ["full", "other tile"] {
            #expect {
                try TilePackageUpdate.apply(
                    folder.file("changes"), to: try TilePackage.open(folder.file(name)),
                    at: folder.file("new"))
            } throws: { ($0 as? Failure)?.code == .conflict }
        }
        let whole = try bytes(of: folder.file("changes"))
        for _ in 0..<400 {
            var damaged = whole
            let place = Int.random(in: 0..<whole.count, using: &random)
            damaged[place] = UInt8.random(in: 0...255, using: &random)
            try Data(damaged).write(to: URL(filePath: folder.file("damaged")))
            if let applied = try? TilePackageUpdate.apply(
                folder.file("damaged"), to: base, at: folder.file("new"))
            {
                #expect(applied.content == full.content)
            }
        }
    }

    @Test(arguments: kinds)
    func `an update of another base is refused by name`(_ kind: Kind) throws {
        let folder = try Folder()
        var random = SeededGenerator(seed: 1)
        let metadata = TilePackageMetadata.sample(kind.encoding, levels: 0...6)
        let tiles = random.tiles(40, levels: 0...6)
        let edited = Self.edit(tiles, &random)
        try write(tiles, kind.format, metadata, to: folder.file("base"))
        try write(edited, kind.format, metadata, to: folder.file("full"))
        let (base, full) = (
            try TilePackage.open(folder.file("base")), try TilePackage.open(folder.file("full"))
        )
        let update = folder.file("update")
        try TilePackageUpdate.make(from: base, to: full, at: update)
        let names = folder.names
        #expect {
            try TilePackageUpdate.apply(update, to: full, at: folder.file("new"))
        } throws: { error in
            let failure = error as? Failure
            return failure?.code == .conflict && failure?.message.contains(update) == true
        }
        #expect(throws: Failure.self) {
            try TilePackageUpdate.apply(folder.file("base"), to: base, at: folder.file("new"))
        }
        #expect(folder.names == names)
    }

    @Test func `an update applies to its base in another format`() throws {
        let folder = try Folder()
        var random = SeededGenerator(seed: 2)
        let metadata = TilePackageMetadata.sample(.mvt, levels: 0...6)
        let tiles = random.tiles(40, levels: 0...6)
        let edited = Self.edit(tiles, &random)
        try write(tiles, .mbtiles, metadata, to: folder.file("base"))
        try write(edited, .mbtiles, metadata, to: folder.file("full"))
        try TilePackageUpdate.make(
            from: TilePackage.open(folder.file("base")),
            to: TilePackage.open(folder.file("full")), at: folder.file("update"))
        for format: TilePackageFormat in [.pmtiles, .vtpk] {
            try write(tiles, format, metadata, to: folder.file("other"))
            let full = try write(edited, format, metadata, to: folder.file("other full"))
            let applied = try TilePackageUpdate.apply(
                folder.file("update"), to: TilePackage.open(folder.file("other")),
                at: folder.file("new"))
            #expect(applied == full)
        }
    }

    @Test func `a damaged base or update gives no package`() throws {
        let folder = try Folder()
        var random = SeededGenerator(seed: 4)
        let metadata = TilePackageMetadata.sample(.png, levels: 0...6)
        let tiles = random.tiles(60, levels: 0...6)
        let edited = Self.edit(tiles, &random)
        try write(tiles, .pmtiles, metadata, to: folder.file("base"))
        let full = try write(edited, .pmtiles, metadata, to: folder.file("full"))
        let base = try TilePackage.open(folder.file("base"))
        try TilePackageUpdate.make(
            from: base, to: TilePackage.open(folder.file("full")), at: folder.file("update"))
        let whole = try bytes(of: folder.file("update"))
        for _ in 0..<400 {
            var damaged = whole
            if Int.random(in: 0..<4, using: &random) == 0 {
                damaged.removeLast(Int.random(in: 1...whole.count, using: &random))
            } else {
                let place = Int.random(in: 0..<whole.count, using: &random)
                damaged[place] = UInt8.random(in: 0...255, using: &random)
            }
            try Data(damaged).write(to: URL(filePath: folder.file("damaged")))
            // What is accepted is right: the damage was where nothing is.
            if let applied = try? TilePackageUpdate.apply(
                folder.file("damaged"), to: base, at: folder.file("new"))
            {
                #expect(applied.content == full.content)
            }
        }
    }
}
