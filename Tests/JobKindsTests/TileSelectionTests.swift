// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import TestKit
import Testing

@testable import JobKinds

@Suite struct TileSelectionTests {
    private static let half = TileAddress.halfWorldMeters

    /// Each tile of the rectangles, asked by itself.
    private func asked(_ selection: TileSelection) -> Int {
        selection.levels.reduce(0) { total, level in
            guard let rectangle = selection.rectangle(at: level) else { return total }
            return total
                + rectangle.rows.reduce(0) { total, row in
                    total
                        + rectangle.columns.count { column in
                            TileAddress(level: level, row: row, column: column)
                                .map(selection.contains) ?? false
                        }
                }
        }
    }

    private func ring(_ random: inout SeededGenerator, isOnBorders: Bool) -> [Coordinate] {
        let side = TileAddress.side(at: 5)
        let places = (0..<Int.random(in: 3...12, using: &random)).map { _ in
            isOnBorders
                ? Coordinate(
                    x: Double(Int.random(in: -12...12, using: &random)) * side,
                    y: Double(Int.random(in: -12...12, using: &random)) * side)
                : Coordinate(
                    x: .random(in: -1.2 * Self.half...1.2 * Self.half, using: &random),
                    y: .random(in: -1.2 * Self.half...1.2 * Self.half, using: &random))
        }
        return places + places.prefix(1)
    }

    @Test(arguments: [false, true])
    func `the tiles of a polygon are counted as each tile says for itself`(
        _ isOnBorders: Bool
    ) throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for number in 0..<40 {
            let rings = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                ring(&random, isOnBorders: isOnBorders)
            }
            guard
                let selection = try? TileSelection(
                    levels: [0, 1, 3, 5, 6], area: .polygon(rings: rings))
            else { continue }
            let (count, expected) = (try selection.touchedTileCount(), asked(selection))
            #expect(count == expected, "seed \(seed), polygon \(number)")
        }
    }

    @Test func `a triangle has fewer tiles than the box around it, which has all of its own`()
        throws
    {
        let corners = [
            Coordinate(x: 0, y: 0), Coordinate(x: 1_000_000, y: 0),
            Coordinate(x: 0, y: 1_000_000), Coordinate(x: 0, y: 0),
        ]
        let triangle = try TileSelection(levels: [9], area: .polygon(rings: [corners]))
        let box = Envelope(minX: 0, minY: 0, maxX: 1_000_000, maxY: 1_000_000)
        let around = try TileSelection(levels: [9], area: .envelope(box))
        #expect(try triangle.touchedTileCount() < around.tileCount)
        #expect(try around.touchedTileCount() == around.tileCount)
        #expect(try TileSelection(levels: [0, 1, 2], area: nil).touchedTileCount() == 21)
    }

    @Test func `sides that cross too many rows are refused, not counted for ever`() throws {
        let ring = (0...20_000).map {
            Coordinate(x: 100.0 * Double($0 % 3), y: $0 % 2 == 0 ? 0 : 100_000)
        }
        let selection = try TileSelection(levels: [18], area: .polygon(rings: [ring]))
        let failure = #expect(throws: Failure.self) { try selection.touchedTileCount() }
        #expect(failure?.code == .invalidParameter)
    }

    @Test func `a selection is that of the job's own parameters, and of an export alone`() throws {
        let texts = ["map": "World", "levels": "0-2", "format": "tpkx"]
        let pictures = try ParameterTexts(texts, of: ExportTiles.description)
        #expect(try TileSelection(pictures, of: .exportTiles).tileCount == 21)
        #expect(throws: Failure.self) { try TileSelection(pictures, of: .exportVectorTiles) }
        #expect(throws: Failure.self) { try TileSelection(pictures, of: .batch) }
    }
}
