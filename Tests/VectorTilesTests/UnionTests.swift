// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import TestKit
import Testing
import VectorTiles

/// Tiles of a level, decoded and put together in cells of the level, against their source.
struct UnionTests {
    private let root: TileAddress

    init() throws {
        root = try #require(TileAddress(level: 4, row: 5, column: 8))
    }

    /// Every feature's parts in cells of the root's grid at the level, tile by tile.
    private func decoded(_ features: [VectorTileFeature], at level: Int, step: Int) throws
        -> [(tile: Envelope, feature: DecodedVectorTile.Feature, parts: [[(Double, Double)]])]
    {
        let options = try VectorTileOptions(extent: 256, buffer: 16, step: step)
        var builder = try VectorTileBuilder(
            [VectorTileLayer(name: "a", features: features)], options: options)
        var tiles: [(TileAddress, [UInt8])] = []
        builder.run(below: root, levels: level...level) { address, tile in
            if let bytes = tile.bytes { tiles.append((address, bytes)) }
        }
        let shift = level - root.level
        return try tiles.flatMap { address, bytes in
            let left = Double((address.column - root.column << shift) * 256)
            let top = Double((address.row - root.row << shift) * 256)
            let square = Envelope(minX: left, minY: top, maxX: left + 256, maxY: top + 256)
            return try VectorTileReader().read(bytes).layers[0].features.map { feature in
                let parts = feature.parts.map { part in
                    part.map { (left + Double($0.x), top + Double($0.y)) }
                }
                return (square, feature, parts)
            }
        }
    }

    private func cells(at level: Int) -> TileCells {
        TileCells(address: root, extent: 256 << (level - root.level))
    }

    @Test(arguments: [(4, 1), (5, 2), (6, 1), (7, 2)])
    func `areas of all tiles together are the source's, but for the grid`(
        level: Int, step: Int
    ) throws {
        var random = SeededGenerator(seed: UInt64(level))
        let size = Double(256 << (level - 4))
        let cells = cells(at: level)
        let stars = (0..<6).map { _ in
            random.star(
                .random(in: 0...size, using: &random), .random(in: 0...size, using: &random),
                reach: size * 0.4, count: 30)
        }
        let features = stars.enumerated().map { number, star in
            VectorTileFeature(id: UInt64(number), shape: .polygon(rings: [cells.ring(star)]))
        }
        let decoded = try decoded(features, at: level, step: step)
        for _ in 0..<3000 {
            let x = Double.random(in: 0..<size, using: &random)
            let y = Double.random(in: 0..<size, using: &random)
            for (number, star) in stars.enumerated() {
                let nearest =
                    zip(star, star.dropFirst() + star.prefix(1))
                    .map { PolygonTests.distance(x, y, $0, $1) }.min() ?? 0
                if nearest < 0.7072 * Double(step) + 2 { continue }
                let place = Coordinate(x: x, y: y)
                func contains(_ rings: [[(Double, Double)]]) -> Bool {
                    rings.count {
                        Ring.locate(place, in: $0.map { Coordinate(x: $0.0, y: $0.1) }) == .inside
                    } % 2 == 1
                }
                let isCovered = decoded.contains {
                    $0.feature.id == UInt64(number) && $0.tile.contains(place) && contains($0.parts)
                }
                #expect(isCovered == contains([star]), "\(x) \(y) of \(star)")
            }
        }
    }

    @Test(arguments: [(4, 1), (6, 2)])
    func `lines of all tiles together follow the source, and none of it is missing`(
        level: Int, step: Int
    ) throws {
        var random = SeededGenerator(seed: UInt64(level))
        let size = Double(256 << (level - 4))
        let source = (0..<40).map { _ in
            (
                Double.random(in: -size / 4...size * 1.25, using: &random),
                Double.random(in: -size / 4...size * 1.25, using: &random)
            )
        }
        let path = source.map { cells(at: level).coordinate($0.0, $0.1) }
        let decoded = try decoded(
            [VectorTileFeature(id: 1, shape: .polyline(paths: [path]))], at: level, step: step)
        func distance(_ x: Double, _ y: Double, _ path: [(Double, Double)]) -> Double {
            zip(path, path.dropFirst()).map { PolygonTests.distance(x, y, $0, $1) }.min()
                ?? .infinity
        }
        let tolerance = 0.7072 * Double(step) + 0.75
        for (_, _, parts) in decoded {
            for part in parts {
                #expect(part.count > 1)
                for (a, b) in zip(part, part.dropFirst()) {
                    #expect(a != b)
                    for share in [0.0, 0.3, 1] {
                        let (x, y) = (a.0 + share * (b.0 - a.0), a.1 + share * (b.1 - a.1))
                        #expect(distance(x, y, source) <= tolerance)
                    }
                }
            }
        }
        for (a, b) in zip(source, source.dropFirst()) {
            for share in stride(from: 0.0, through: 1, by: 0.05) {
                let (x, y) = (a.0 + share * (b.0 - a.0), a.1 + share * (b.1 - a.1))
                guard 0...size ~= x, 0...size ~= y else { continue }
                let nearest =
                    decoded.filter { $0.tile.contains(Coordinate(x: x, y: y)) }
                    .flatMap(\.parts).map { distance(x, y, $0) }.min() ?? .infinity
                #expect(nearest <= tolerance)
            }
        }
    }

    @Test func `every point is in its tile, and in the buffers of the others`() throws {
        var random = SeededGenerator(seed: 10)
        let cells = cells(at: 6)
        let places = (0..<500).map { _ in
            (
                Double.random(in: 0..<1024, using: &random),
                Double.random(in: 0..<1024, using: &random)
            )
        }
        let features = places.enumerated().map { number, place in
            VectorTileFeature(
                id: UInt64(number), shape: .point(cells.coordinate(place.0, place.1)))
        }
        let decoded = try decoded(features, at: 6, step: 1)
        for (number, place) in places.enumerated() {
            let mine = decoded.filter { $0.feature.id == UInt64(number) }
            #expect(mine.contains { $0.tile.contains(Coordinate(x: place.0, y: place.1)) })
            for copy in mine {
                let (x, y) = copy.parts[0][0]
                #expect(abs(x - place.0) <= 0.501 && abs(y - place.1) <= 0.501)
            }
            let expected = (0..<16).count {
                let (left, top) = (Double($0 % 4 * 256), Double($0 / 4 * 256))
                let (x, y) = (place.0.rounded(), place.1.rounded())
                return left - 16...left + 272 ~= x && top - 16...top + 272 ~= y
            }
            #expect(mine.count == expected)
        }
    }

    @Test func `short lines are strokes in proportion to their length, repeated points are one`()
        throws
    {
        let cells = cells(at: 4)
        let lines = (0..<1000).map { number in
            let (x, y) = (Double(number % 200) + 20.1, Double(number / 200) + 20.1)
            return VectorTileFeature(
                id: UInt64(number),
                shape: .polyline(paths: [[cells.coordinate(x, y), cells.coordinate(x + 0.3, y)]]))
        }
        let strokes = try decoded(lines, at: 4, step: 1)
        #expect(240...360 ~= strokes.count)
        let points = Shape.multipoint([(5.1, 5), (5, 5.2), (6, 5), (5, 5)].map(cells.coordinate))
        let kept = try decoded([VectorTileFeature(id: 1, shape: points)], at: 4, step: 1)
        #expect(kept.map { $0.feature.parts } == [[[.init(x: 5, y: 5), .init(x: 6, y: 5)]]])
    }
}
