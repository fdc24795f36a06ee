// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import TestKit
import Testing
import VectorTiles

struct SizeTests {
    let address: TileAddress
    let cells: TileCells

    init() throws {
        address = try #require(TileAddress(level: 7, row: 44, column: 71))
        cells = TileCells(address: address)
    }

    private func squares(_ count: Int) -> [VectorTileFeature] {
        (0..<count).map { number in
            let side = Double(10 + number * 37 % count)
            let x = Double(number * 7919 % 3000)
            return VectorTileFeature(
                id: UInt64(number), attributes: [("side", .int64(Int64(side)))],
                shape: .polygon(rings: [
                    cells.ring([(x, x), (x + side, x), (x + side, x + side), (x, x + side)])
                ]))
        }
    }

    @Test func `a tile above the bound gives up its smallest areas, as few as will do`() throws {
        let features = squares(500)
        for limit in [100, 3000, 9000] {
            let options = try VectorTileOptions(step: 1, byteLimit: limit)
            var builder = try VectorTileBuilder(
                [VectorTileLayer(name: "a", features: features)], options: options)
            let tile = builder.tile(address)
            let bytes = tile.bytes ?? []
            #expect(bytes.count <= limit)
            #expect(bytes.count > limit - 60)
            let layer = try VectorTileReader().read(bytes).layers.first
            let kept = Set(layer?.features.compactMap(\.id) ?? [])
            let fates = tile.report.layers[0]
            #expect(fates.kept == kept.count)
            #expect(fates.kept + fates.dropped == 500)
            let largest = features.sorted {
                $0.shape.envelope.width > $1.shape.envelope.width
            }.prefix(kept.count)
            #expect(Set(largest.compactMap(\.id)) == kept)
        }
    }

    @Test func `a small layer is whole however large another is`() throws {
        var random = SeededGenerator(seed: 9)
        let points = (0..<5000).map { number in
            VectorTileFeature(
                id: UInt64(number),
                shape: .point(
                    cells.coordinate(
                        .random(in: 0...4096, using: &random),
                        .random(in: 0...4096, using: &random))))
        }
        let options = try VectorTileOptions(byteLimit: 20_000)
        var builder = try VectorTileBuilder(
            [
                VectorTileLayer(name: "many", features: points),
                VectorTileLayer(name: "few", features: squares(20)),
            ], options: options)
        let tile = builder.tile(address)
        #expect((tile.bytes ?? []).count <= 20_000)
        #expect((tile.bytes ?? []).count > 19_900)
        let (many, few) = (tile.report.layers[0], tile.report.layers[1])
        #expect(few.kept == 20)
        #expect(many.dropped > 3000)
        #expect(many.touching == 5000)
        // From all over the tile, in their order.
        let ids = try VectorTileReader().read(tile.bytes ?? []).layers[0].features.compactMap(\.id)
        #expect(ids == ids.sorted())
        let places = ids.map { cells.cells(points[Int($0)].shape.envelope.center) }
        for (left, top) in [(0.0, 0.0), (2048, 0), (0, 2048), (2048, 2048)] {
            let share = places.count {
                left...left + 2048 ~= $0.x && top...top + 2048 ~= $0.y
            }
            #expect(share * 6 > places.count)
        }
    }

    @Test func `squares that stand for small areas are counted once when they go`() throws {
        let features = (0..<300).map { number in
            let x = 20 + 12 * Double(number)
            return VectorTileFeature(
                id: UInt64(number),
                shape: .polygon(rings: [
                    cells.ring([(x, x), (x + 0.9, x), (x + 0.9, x + 0.9), (x, x + 0.9)])
                ]))
        }
        let options = try VectorTileOptions(step: 2, byteLimit: 500)
        let fates = try decodedLayer(features, at: address, options: options).fates
        #expect(fates.touching == 300)
        #expect(fates.dropped > 0)
        #expect(fates.kept >= 0 && fates.replaced >= 0)
    }
}
