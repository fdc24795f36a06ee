// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnCore
import Geometry
import TestKit
import Testing
import VectorTiles

struct AreaLabelTests {
    private static let labels = VectorTileLayer.AreaLabels(name: "a/label", attributes: ["n"])

    private func areas(_ random: inout SeededGenerator) -> [VectorTileFeature] {
        (0..<80).map { number in
            let reach: Double = [2e4, 3e5, 2e6, 6e6][number % 4]
            let x = Double.random(in: -1.2e7...1.2e7, using: &random)
            let y = Double.random(in: -1.2e7...1.2e7, using: &random)
            func ring(_ count: Int, _ x: Double, _ reach: Double) -> [Coordinate] {
                random.star(x, y, reach: reach, count: count).map { Coordinate(x: $0.0, y: $0.1) }
            }
            // Every tenth has more corners than are searched; every second a second, smaller part.
            var rings = [ring(number % 10 == 0 ? 6_000 : 30, x, reach)]
            if number % 2 == 0 { rings.append(ring(9, x + 2.5 * reach, reach / 3)) }
            return VectorTileFeature(
                id: UInt64(number),
                attributes: [("n", .int64(Int64(number))), ("other", .string("x"))],
                shape: .polygon(rings: rings))
        }
    }

    private func isInside(_ place: Coordinate, _ shape: Shape) -> Bool {
        guard case .polygon(let rings) = shape else { return false }
        return rings.count { Ring.locate(place, in: $0 + [$0[0]]) == .inside } % 2 == 1
    }

    @Test func `a level has one label of each area, inside of it, in all of its tiles`() throws {
        var random = SeededGenerator(seed: 31)
        let areas = areas(&random)
        let layer = VectorTileLayer(name: "a", features: areas, labels: Self.labels)
        var builder = try VectorTileBuilder([layer])
        #expect(builder.layers.map(\.name) == ["a", "a/label"])
        let root = try #require(TileAddress(level: 0, row: 0, column: 0))
        var places: [Int: [UInt64: Coordinate]] = [:]
        var vanished: [Int: Int] = [:]
        try builder.run(below: root, levels: 0...5) { address, tile throws in
            vanished[address.level, default: 0] += tile.report.layers[1].vanished
            let layers = try VectorTileReader().read(tile.bytes ?? []).layers
            guard let found = layers.first(where: { $0.name == "a/label" }) else { return }
            let extent = address.extent
            for feature in found.features {
                let id = try #require(feature.id)
                #expect(feature.kind == .points && feature.parts.map(\.count) == [1])
                #expect(feature.attributes.map(\.name) == ["n"])
                let cell = feature.parts[0][0]
                #expect(0..<4096 ~= cell.x && 0..<4096 ~= cell.y)
                let before = places[address.level, default: [:]].updateValue(
                    Coordinate(
                        x: extent.minX + Double(cell.x) * extent.width / 4096,
                        y: extent.maxY - Double(cell.y) * extent.height / 4096), forKey: id)
                #expect(before == nil, "\(id) at level \(address.level)")
            }
        }
        for level in 0...5 {
            let pixel = TileAddress.side(at: level) / 512
            let wanted = areas.filter {
                max($0.shape.envelope.width, $0.shape.envelope.height) >= 8 * pixel
            }
            let found = places[level] ?? [:]
            #expect(Set(found.keys) == Set(wanted.compactMap(\.id)))
            #expect(vanished[level] == areas.count - wanted.count)
            // The same place at every level, but for the grid's step.
            for (id, place) in found {
                guard let best = places[5]?[id] else { continue }
                #expect(abs(place.x - best.x) <= pixel / 2 && abs(place.y - best.y) <= pixel / 2)
            }
        }
        #expect(places[0]?.count ?? 0 > 10 && places[5]?.count == 80)
        for (id, place) in places[5] ?? [:] { #expect(isInside(place, areas[Int(id)].shape)) }
    }

    @Test func `labels are the same alone and in a run, and change nothing of their areas`() throws
    {
        var random = SeededGenerator(seed: 32)
        let areas = areas(&random)
        let root = try #require(TileAddress(level: 0, row: 0, column: 0))
        let layer = VectorTileLayer(name: "a", features: areas, labels: Self.labels)
        var (run, alone) = (try VectorTileBuilder([layer]), try VectorTileBuilder([layer]))
        var bare = try VectorTileBuilder([VectorTileLayer(name: "a", features: areas)])
        var count = 0
        try run.run(below: root, levels: 0...4) { address, tile throws in
            #expect(alone.tile(address) == tile)
            // Of the areas that touch the tile alone, as a live tile is made.
            let near = areas.filter {
                $0.shape.envelope.intersects(VectorTileOptions.standard.reach(of: address))
            }
            var live = try VectorTileBuilder([
                VectorTileLayer(name: "a", features: near, labels: Self.labels)
            ])
            #expect(live.tile(address) == tile)
            let own = bare.tile(address).bytes ?? []
            #expect(Array((tile.bytes ?? []).prefix(own.count)) == own)
            count += tile.report.layers[1].kept
        }
        #expect(count > 200)
    }

    @Test func `what has no area has no label, and a name is of one layer`() throws {
        let line = [Coordinate(x: 0, y: 0), Coordinate(x: 9e5, y: 9e5)]
        let features = [
            VectorTileFeature(id: 1, shape: .polygon(rings: [line + [line[0]]])),
            VectorTileFeature(id: 2, shape: .polyline(paths: [line])),
            VectorTileFeature(id: 3, shape: .polygon(rings: [])),
        ]
        let layer = VectorTileLayer(name: "a", features: features, labels: Self.labels)
        var builder = try VectorTileBuilder([layer])
        let root = try #require(TileAddress(level: 0, row: 0, column: 0))
        #expect(builder.tile(root).report.layers.map(\.touching) == [2, 0])
        #expect(throws: Failure.self) {
            try VectorTileBuilder([layer, VectorTileLayer(name: "a/label", features: [])])
        }
    }

    @Test func `a tile that is too large has the labels of its largest areas`() throws {
        let features = (0..<400).map { number in
            let side = 7e5 + Double(number * 7919 % 400) * 250
            let x = -9e6 + Double(number % 20) * 9e5
            let y = -9e6 + Double(number / 20) * 9e5
            return VectorTileFeature(
                id: UInt64(side),
                shape: .envelope(Envelope(minX: x, minY: y, maxX: x + side, maxY: y + side)))
        }
        let layer = VectorTileLayer(name: "a", features: features, labels: Self.labels)
        var builder = try VectorTileBuilder([layer], options: .init(byteLimit: 4_000))
        let root = try #require(TileAddress(level: 0, row: 0, column: 0))
        let tile = builder.tile(root)
        let bytes = try #require(tile.bytes)
        let found = try #require(try VectorTileReader().read(bytes).layers.last)
        let kept = found.features.compactMap(\.id)
        #expect(bytes.count <= 4_000 && found.name == "a/label" && kept.count > 50)
        #expect(tile.report.layers[1].dropped == 400 - kept.count)
        #expect(kept.sorted() == features.compactMap(\.id).sorted().suffix(kept.count))
    }
}
