// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// The work order of a chunk: a rectangle of blocks of tiles.
struct TileRun: Codable, Hashable, Sendable {
    /// The sequence number as of which the map is read.
    var position: Int64
    /// The level at which rows and columns of blocks are counted.
    var level: Int
    /// The last level of the tiles below the blocks; `level` for pictures.
    var lastLevel: Int
    var firstRow: Int
    var lastRow: Int
    var firstColumn: Int
    var lastColumn: Int
    /// The number of tiles planned: those in the rectangle around the area.
    var tileCount: Int

    /// Throws `corrupt` for ranges that no plan has.
    var rectangle: TileRectangle {
        get throws(Failure) {
            guard 0...23 ~= level, level...23 ~= lastLevel, firstRow >= 0, firstRow <= lastRow,
                firstColumn >= 0, firstColumn <= lastColumn, lastRow < 1 << 24,
                lastColumn < 1 << 24
            else { throw Failure(.corrupt, "the run of tiles at level \(level)") }
            return TileRectangle(
                rows: firstRow...lastRow, columns: firstColumn...lastColumn)
        }
    }
}

/// Blocks of one level, and the levels of the tiles in them.
struct TileBlocks: Sendable {
    var level: Int
    var levels: ClosedRange<Int>
    var rectangle: TileRectangle
    /// Tiles of a block, all levels together; an estimate that weighs the run.
    var tilesPerBlock: Int
}

extension TileBlocks {
    /// The most runs of an export; with more blocks, each run gets more of them.
    private static let runLimit = 3_500

    /// Runs of at most `count` blocks each, more where there would be too many runs.
    static func runs(
        _ all: [TileBlocks], of count: Int, position: Int64
    ) -> [TileRun] {
        let total = all.reduce(0) { $0 + $1.rectangle.count }
        let count = max(count, (total + runLimit - 1) / runLimit)
        return all.flatMap { blocks in
            blocks.rectangle.cut(by: count).map { part in
                TileRun(
                    position: position, level: blocks.level, lastLevel: blocks.levels.upperBound,
                    firstRow: part.rows.lowerBound, lastRow: part.rows.upperBound,
                    firstColumn: part.columns.lowerBound, lastColumn: part.columns.upperBound,
                    tileCount: part.count * blocks.tilesPerBlock)
            }
        }
    }
}
