// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import TestKit
import Testing
import VectorTiles

/// A partition of the plane into cells with crooked borders.
private struct Partition {
    let features: [VectorTileFeature]

    /// Squares of some side in cells of a tile whose corners are moved and whose sides are broken
    /// `count` times; each ring begins anywhere and turns either way.
    init(
        _ cells: TileCells, over range: ClosedRange<Double>, side: Double, count: Int,
        _ random: inout SeededGenerator
    ) {
        let rows = Int((range.upperBound - range.lowerBound) / side)
        var corners: [[(Double, Double)]] = []
        for row in 0...rows {
            corners.append(
                (0...rows).map { column in
                    (
                        range.lowerBound + side * Double(column)
                            + Double.random(in: -0.3...0.3, using: &random) * side,
                        range.lowerBound + side * Double(row)
                            + Double.random(in: -0.3...0.3, using: &random) * side
                    )
                })
        }
        func broken(_ a: (Double, Double), _ b: (Double, Double)) -> [(Double, Double)] {
            let sway = 0.1 * side / Double(count)
            return [a]
                + (1..<count).map { number in
                    let part = Double(number) / Double(count)
                    return (
                        a.0 + part * (b.0 - a.0) + Double.random(in: -sway...sway, using: &random),
                        a.1 + part * (b.1 - a.1) + Double.random(in: -sway...sway, using: &random)
                    )
                }
        }
        var levels: [[[(Double, Double)]]] = []
        var uprights: [[[(Double, Double)]]] = []
        for row in 0...rows {
            levels.append((0..<rows).map { broken(corners[row][$0], corners[row][$0 + 1]) })
        }
        for row in 0..<rows {
            uprights.append((0...rows).map { broken(corners[row][$0], corners[row + 1][$0]) })
        }
        var features: [VectorTileFeature] = []
        for row in 0..<rows {
            for column in 0..<rows {
                let end = corners[row + 1][column + 1]
                var ring = levels[row][column] + uprights[row][column + 1] + [end]
                ring += levels[row + 1][column].dropFirst().reversed()
                ring += [corners[row + 1][column]]
                ring += uprights[row][column].dropFirst().reversed()
                let start = Int.random(in: 0..<ring.count, using: &random)
                ring = Array(ring[start...] + ring[..<start])
                if Bool.random(using: &random) { ring.reverse() }
                features.append(
                    VectorTileFeature(
                        id: UInt64(features.count),
                        shape: .polygon(rings: [cells.ring(ring)])))
            }
        }
        self.features = features
    }
}

struct BorderTests {
    typealias Position = DecodedVectorTile.Position

    private struct Edge: Hashable {
        let a: Position
        let b: Position

        init(_ one: Position, _ other: Position) {
            (a, b) = (one.x, one.y) < (other.x, other.y) ? (one, other) : (other, one)
        }
    }

    @Test(arguments: [(900.0, 1, 1), (300, 20, 1), (300, 150, 2), (60, 8, 4), (40, 30, 2)])
    func `areas that share borders fill the tile without gap or overlap, edge by edge`(
        side: Double, count: Int, step: Int
    ) throws {
        var random = SeededGenerator(seed: UInt64(side) + UInt64(count))
        let address = try #require(TileAddress(level: 7, row: 44, column: 71))
        let cells = TileCells(address: address)
        let options = try VectorTileOptions(step: step, byteLimit: 50_000_000)
        let partition = Partition(
            cells, over: (-2 * side - 64)...(4160 + 2 * side), side: side, count: count, &random)
        let features =
            try decodedLayer(partition.features, at: address, options: options)
            .layer?.features ?? []
        var sides: [Edge: Int] = [:]
        var area: Int64 = 0
        for ring in features.flatMap(\.parts) {
            area += GridGeometry.doubledArea(ring)
            for (a, b) in GridGeometry.edges(ring) { sides[Edge(a, b), default: 0] += 1 }
        }
        func isOnSide(_ edge: Edge) -> Bool {
            (edge.a.x == edge.b.x && [-64, 4160].contains(edge.a.x))
                || (edge.a.y == edge.b.y && [-64, 4160].contains(edge.a.y))
        }
        // Each edge inside has an area at both hands. With borders of many small edges an area's
        // border may have crossed itself when it was rounded, which the other area need not see.
        let single = sides.filter { $0.value != 2 && !isOnSide($0.key) }
        let doubledSquare: Int64 = 2 * 4224 * 4224
        if side >= Double(4 * step * count) {
            #expect(single.isEmpty)
            #expect(area == doubledSquare)
        } else {
            #expect(single.count * 200 < sides.count)
            #expect(abs(area - doubledSquare) < Int64(single.count) * 8)
        }
    }

    @Test func `the next tile has the same vertices where the two overlap`() throws {
        var random = SeededGenerator(seed: 8)
        let address = try #require(TileAddress(level: 7, row: 44, column: 71))
        let right = try #require(TileAddress(level: 7, row: 44, column: 72))
        let partition = Partition(
            TileCells(address: address), over: 3000...5200, side: 80, count: 9, &random)
        func rings(_ address: TileAddress, from left: Int64) throws -> [[Position]] {
            let layer = try #require(try decodedLayer(partition.features, at: address).layer)
            return layer.features.flatMap(\.parts).map { part in
                part.map { Position(x: $0.x + left, y: $0.y) }
            }
        }
        let (here, there) = try (rings(address, from: 0), rings(right, from: 4096))
        let inner = -63...Int64(4159)
        // Next to the side of a square an edge ends where it is cut, and a vertex may be on the
        // straight line to there: then it is on an edge instead.
        for (one, other) in [(here, there), (there, here)] {
            let known = Set(other.flatMap(\.self))
            let edges = other.flatMap(GridGeometry.edges)
            var (count, absent) = (0, 0)
            for place in one.flatMap(\.self) where inner ~= place.y {
                guard Int64(4033)...4159 ~= place.x else { continue }
                count += 1
                guard !known.contains(place) else { continue }
                absent += 1
                #expect(edges.contains { GridGeometry.isOn(place, $0, $1) })
            }
            #expect(count > 100)
            #expect(absent * 20 < count)
        }
    }

    @Test func `a vertex on a straight border stays where a third area ends`() throws {
        let address = try #require(TileAddress(level: 7, row: 44, column: 71))
        let cells = TileCells(address: address)
        func area(_ places: [(Double, Double)]) -> VectorTileFeature {
            VectorTileFeature(id: nil, shape: .polygon(rings: [cells.ring(places)]))
        }
        // The middle of the left area's right side; the quarters change nothing.
        let features = [
            area([
                (100, 100), (200, 100), (200, 130), (200, 200), (200, 270), (200, 300), (100, 300),
            ]),
            area([(200, 100), (300, 100), (300, 200), (200, 200), (200, 130)]),
            area([(200, 200), (300, 200), (300, 300), (200, 300), (200, 270)]),
        ]
        let rings = try #require(try decodedLayer(features, at: address).layer).features
            .map { $0.parts[0] }
        #expect(rings.map(\.count) == [5, 4, 4])
        #expect(rings.allSatisfy { $0.contains(Position(x: 200, y: 200)) })
    }
}
