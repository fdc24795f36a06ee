// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import TestKit
import Testing
import VectorTiles

struct BlockTests {
    /// Shapes of every kind around one tile, some in it, some far larger.
    private static func features(
        _ random: inout SeededGenerator, around cells: TileCells
    ) -> [VectorTileFeature] {
        (0..<60).map { number in
            let reach: Double = [3, 40, 900, 9000].randomElement(using: &random) ?? 3
            let x = Double.random(in: -2000...6000, using: &random)
            let y = Double.random(in: -2000...6000, using: &random)
            let places: [(Double, Double)] =
                switch number % 3 {
                case 0: random.star(x, y, reach: reach, count: 40)
                default:
                    (0..<12).map { _ in
                        (
                            x + Double.random(in: -reach...reach, using: &random),
                            y + Double.random(in: -reach...reach, using: &random)
                        )
                    }
                }
            let ring = cells.ring(places)
            let shape: Shape =
                switch number % 5 {
                case 0, 1, 2: .polygon(rings: [ring])
                case 3: .polyline(paths: [ring, Array(ring.prefix(5))])
                default: .multipoint(ring)
                }
            return VectorTileFeature(
                id: UInt64(number), attributes: [("number", .int64(Int64(number % 7)))],
                shape: shape)
        }
    }

    @Test func `a tile has the same bytes and report alone and in a run over any block`() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<12 {
            let column = Int.random(in: 0..<512, using: &random)
            let middle = try #require(TileAddress(level: 9, row: 200, column: column))
            let layers = [
                VectorTileLayer(
                    name: "a", features: Self.features(&random, around: .init(address: middle))),
                VectorTileLayer(
                    name: "b", features: Self.features(&random, around: .init(address: middle))),
            ]
            var alone = try VectorTileBuilder(layers)
            var root = middle
            for _ in 0..<Int.random(in: 1...9, using: &random) { root = root.parent ?? root }
            var tiles: [TileAddress: VectorTile] = [:]
            var builder = try VectorTileBuilder(layers)
            builder.run(below: root, levels: root.level...9) { tiles[$0] = $1 }
            #expect(tiles[middle] != nil)
            for (address, tile) in tiles { #expect(alone.tile(address) == tile) }
            // And none is passed over.
            for row in 195...205 {
                for column in column - 5...column + 5 {
                    guard let address = TileAddress(level: 9, row: row, column: column) else {
                        continue
                    }
                    var above: TileAddress? = address
                    while let parent = above, parent.level > root.level { above = parent.parent }
                    guard above == root, tiles[address] == nil else { continue }
                    let tile = alone.tile(address)
                    #expect(tile.bytes == nil)
                    #expect(tile.report.layers.allSatisfy { $0.touching == 0 })
                }
            }
        }
    }

    @Test func `a tile does not change with features that do not touch it`() throws {
        var random = SeededGenerator(seed: 6)
        let address = try #require(TileAddress(level: 9, row: 200, column: 300))
        let features = Self.features(&random, around: .init(address: address))
        let all = try decodedLayer(features, at: address)
        let ids = Set(all.layer?.features.map(\.id) ?? [])
        let some = features.filter { ids.contains($0.id) }
        #expect(some.count < features.count)
        #expect(try decodedLayer(some, at: address).layer == all.layer)
    }

    @Test func `tiles of a run are in the grid, each once, in order`() throws {
        let world = VectorTileFeature(
            id: 1,
            shape: .envelope(Envelope(minX: -9e7, minY: -9e7, maxX: 9e7, maxY: 9e7)))
        var builder = try VectorTileBuilder([VectorTileLayer(name: "a", features: [world])])
        var addresses: [TileAddress] = []
        let root = try #require(TileAddress(level: 0, row: 0, column: 0))
        builder.run(below: root, levels: 1...3) { address, _ in addresses.append(address) }
        #expect(addresses.count == 4 + 16 + 64)
        #expect(Set(addresses).count == addresses.count)
    }
}
