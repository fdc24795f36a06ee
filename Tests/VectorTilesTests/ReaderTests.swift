// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnCore
import Geometry
import TestKit
import Testing
import VectorTiles

struct ReaderTests {
    @Test func `mutated tiles are read or refused`() throws {
        var random = SeededGenerator(seed: 7)
        let address = try #require(TileAddress(level: 3, row: 4, column: 5))
        let cells = TileCells(address: address)
        let features = (0..<20).map { number in
            let star = random.star(2000, 2000, reach: 1500, count: 12)
            let shape: Shape =
                switch number % 3 {
                case 0: .polygon(rings: [cells.ring(star)])
                case 1: .polyline(paths: [cells.ring(star)])
                default: .multipoint(cells.ring(star))
                }
            return VectorTileFeature(
                id: UInt64(number),
                attributes: [
                    ("a", .string("text \(number)")), ("b", .double(Double(number))),
                    ("c", .int64(-Int64(number))), ("d", .float(1)), ("e", .bool(true)),
                ], shape: shape)
        }
        var builder = try VectorTileBuilder([VectorTileLayer(name: "a", features: features)])
        let bytes = try #require(builder.tile(address).bytes)
        let reader = VectorTileReader()
        var (read, refused) = (0, 0)
        for _ in 0..<20_000 {
            var mutated = bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = mutated.indices.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<4, using: &random) {
                case 0: mutated[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: mutated[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2: mutated.removeSubrange(place...)
                default: mutated.insert(0xff, at: place)
                }
                if mutated.isEmpty { mutated = [0x1a] }
            }
            do throws(Failure) {
                _ = try reader.read(mutated)
                read += 1
            } catch {
                #expect(error.code == .corrupt)
                refused += 1
            }
        }
        #expect(read > 100)
        #expect(refused > 100)
    }

    @Test func `limits are held`() throws {
        var reader = VectorTileReader()
        reader.byteLimit = 3
        #expect(throws: Failure.self) { try reader.read([0x1a, 2, 0x0a, 0]) }
        reader.byteLimit = 100
        reader.itemLimit = 1
        #expect(throws: Failure.self) { try reader.read([0x1a, 2, 0x0a, 0]) }
        reader.itemLimit = 2
        #expect(try reader.read([0x1a, 2, 0x0a, 0]).layers.map(\.name) == [""])
    }

    @Test func `numbers that are not packed are read`() throws {
        // A feature of type 1 whose geometry comes as three fields.
        let feature: [UInt8] = [0x18, 1, 0x20, 9, 0x20, 50, 0x20, 34]
        let layer: [UInt8] = [0x78, 2, 0x0a, 1, 0x61, 0x12, UInt8(feature.count)] + feature
        let tile = try VectorTileReader().read([0x1a, UInt8(layer.count)] + layer)
        #expect(tile.layers.first?.features.first?.parts == [[.init(x: 25, y: 17)]])
    }
}
