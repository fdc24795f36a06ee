// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import TestKit
import Testing
import VectorTiles

struct PolygonTests {
    let address: TileAddress
    let cells: TileCells

    init() throws {
        address = try #require(TileAddress(level: 5, row: 11, column: 17))
        cells = TileCells(address: address, extent: 256)
    }

    private func rings(_ source: [[(Double, Double)]], step: Int = 1, buffer: Int = 8) throws
        -> [[DecodedVectorTile.Position]]
    {
        let feature = VectorTileFeature(id: 1, shape: .polygon(rings: source.map(cells.ring)))
        let options = try VectorTileOptions(extent: 256, buffer: buffer, step: step)
        return try decodedLayer([feature], at: address, options: options).layer?.features.first?
            .parts ?? []
    }

    @Test func `rings of anything are simple and cover what an odd number of rings enclose`() throws
    {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<400 {
            // Corners in cells, so that nothing but crossings is rounded.
            let reach: Double = [6, 30, 300].randomElement(using: &random) ?? 6
            let source = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                (0..<Int.random(in: 3...9, using: &random)).map { _ in
                    (
                        Double.random(in: -reach...reach, using: &random).rounded() + 128,
                        Double.random(in: -reach...reach, using: &random).rounded() + 128
                    )
                }
            }
            let rings = try rings(source)
            if !rings.isEmpty { #expect(GridGeometry.fault(rings) == nil, "\(source)") }
            let exact = source.map {
                $0.map { DecodedVectorTile.Position(x: Int64($0.0), y: Int64($0.1)) }
            }
            for _ in 0..<100 {
                let x = Int64.random(in: -8..<264, using: &random)
                let y = Int64.random(in: -8..<264, using: &random)
                let isNear = exact.flatMap(GridGeometry.edges).contains { a, b in
                    Self.distance(Double(x) + 0.5, Double(y) + 0.5, a, b) < 2.5
                }
                if isNear { continue }
                #expect(
                    GridGeometry.isInside(x, y, rings) == GridGeometry.isInside(x, y, exact),
                    "\(x) \(y) of \(source)")
            }
        }
    }

    @Test func `rounding leaves simple rings within half a step and two cells of the source`()
        throws
    {
        var random = SeededGenerator(seed: 2)
        for number in 0..<200 {
            let reach = Double.random(in: 1...200, using: &random)
            let count = [5, 40, 300][number % 3]
            let source = [random.star(128.3, 127.8, reach: reach, count: count)]
            for step in [1, 4] {
                let rings = try rings(source, step: step)
                if !rings.isEmpty { #expect(GridGeometry.fault(rings) == nil) }
                for ring in rings {
                    for place in ring where 0...256 ~= place.x && 0...256 ~= place.y {
                        let nearest =
                            zip(source[0], source[0].dropFirst() + source[0].prefix(1))
                            .map { Self.distance(Double(place.x), Double(place.y), $0, $1) }
                            .min() ?? 0
                        #expect(nearest <= 0.7072 * Double(step) + 2)
                    }
                }
            }
        }
    }

    @Test func `a ring is the same from any start, in either direction`() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<100 {
            let outer = random.star(128, 128, reach: 260, count: 24)
            let inner = random.star(128, 128, reach: 30, count: 7)
            let expected = try rings([outer, inner])
            let start = Int.random(in: 1..<24, using: &random)
            let turned = Array(outer[start...] + outer[..<start])
            #expect(try rings([inner, turned]) == expected)
            #expect(try rings([turned.reversed(), inner.reversed()]) == expected)
        }
    }

    @Test func `holes follow their exterior, islands in holes are exteriors`() throws {
        func square(_ low: Double, _ high: Double) -> [(Double, Double)] {
            [(low, low), (high, low), (high, high), (low, high)]
        }
        let rings = try rings([square(40, 60), square(10, 90), square(100, 110), square(20, 80)])
        #expect(rings.map { GridGeometry.doubledArea($0) / 2 } == [6400, -3600, 400, 100])
        #expect(GridGeometry.fault(rings) == nil)
    }

    @Test func `parts that touch in a vertex are rings of their own`() throws {
        let bow = try rings([[(10, 10), (20, 20), (30, 10), (30, 30), (20, 20), (10, 30)]])
        #expect(bow.map(GridGeometry.doubledArea) == [200, 200])
        // A hole that touches the exterior in two places parts the area.
        let parted = try rings([
            [(10, 10), (30, 10), (30, 30), (10, 30)], [(20, 10), (25, 20), (20, 30), (15, 20)],
        ])
        #expect(parted.map(GridGeometry.doubledArea) == [300, 300])
    }

    @Test func `an area around the tile is the buffered square`() throws {
        let rings = try rings([[(-900, -900), (900, -900), (900, 900), (-900, 900)]])
        #expect(
            rings == [
                [(-8, -8), (264, -8), (264, 264), (-8, 264)].map {
                    DecodedVectorTile.Position(x: $0.0, y: $0.1)
                }
            ])
        // Around the outside of the tile, without it.
        let outside: [(Double, Double)] = [
            (-900, -900), (900, -900), (900, 900), (800, 900), (800, -800), (-900, -800),
        ]
        #expect(try self.rings([outside]).isEmpty)
    }

    @Test func `an area that is cut several times does not run along the side between the cuts`()
        throws
    {
        // A comb with its back outside.
        let rings = try rings([
            [
                (-50, 10), (50, 10), (50, 20), (-40, 20), (-40, 30), (50, 30), (50, 40), (-50, 40),
            ]
        ])
        #expect(rings.map { GridGeometry.doubledArea($0) / 2 } == [580, 580])
    }

    @Test func `an area smaller than a step is a square as often as its part of one`() throws {
        var random = SeededGenerator(seed: 4)
        let options = try VectorTileOptions(extent: 4096, buffer: 64, step: 4)
        let cells = TileCells(address: address)
        let features = (0..<4000).map { number in
            let x = 4 * Double.random(in: 5..<1000, using: &random).rounded() + 0.2
            let y = 4 * Double.random(in: 5..<1000, using: &random).rounded() + 0.2
            return VectorTileFeature(
                id: UInt64(number),
                shape: .polygon(rings: [
                    cells.ring([(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)])
                ]))
        }
        let (layer, fates) = try decodedLayer(features, at: address, options: options)
        #expect(fates.kept == 0)
        #expect(fates.replaced + fates.vanished == 4000)
        #expect(200...300 ~= fates.replaced)
        let shown = try #require(layer).features
        #expect(shown.count == fates.replaced)
        #expect(
            shown.allSatisfy { $0.parts.count == 1 && GridGeometry.doubledArea($0.parts[0]) == 32 })
        // What is shown at one level is shown at the next.
        let finer = try VectorTileOptions(extent: 4096, buffer: 64, step: 2)
        let next = try decodedLayer(features, at: address, options: finer).layer?.features ?? []
        #expect(Set(shown.map(\.id)).isSubset(of: Set(next.map(\.id))))
    }

    static func distance(
        _ x: Double, _ y: Double, _ a: (Double, Double), _ b: (Double, Double)
    ) -> Double {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1)
        let length = dx * dx + dy * dy
        let part = length == 0 ? 0 : min(max(((x - a.0) * dx + (y - a.1) * dy) / length, 0), 1)
        let (ex, ey) = (a.0 + part * dx - x, a.1 + part * dy - y)
        return (ex * ex + ey * ey).squareRoot()
    }

    static func distance(
        _ x: Double, _ y: Double, _ a: DecodedVectorTile.Position, _ b: DecodedVectorTile.Position
    ) -> Double {
        distance(x, y, (Double(a.x), Double(a.y)), (Double(b.x), Double(b.y)))
    }
}
