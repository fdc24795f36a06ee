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
    /// The sequence number of the map with which the tiles are compared; nil for a whole package.
    var since: Int64?
    /// Rows and columns of the blocks by turns; nil for all of the rectangle.
    var picked: [Int]?

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

    /// Its blocks, rows from the top; throws as ``rectangle``.
    func blocks() throws(Failure) -> [TileBlock] {
        let rectangle = try rectangle
        guard let picked else {
            return rectangle.rows.flatMap { row in
                rectangle.columns.map { TileBlock(row: row, column: $0) }
            }
        }
        let blocks = stride(from: 0, to: picked.count - 1, by: 2).map {
            TileBlock(row: picked[$0], column: picked[$0 + 1])
        }
        guard
            blocks.allSatisfy({ rectangle.rows ~= $0.row && rectangle.columns ~= $0.column })
        else { throw Failure(.corrupt, "the run of tiles at level \(level)") }
        return blocks
    }
}

/// A block of tiles, by its row and column among the blocks of its level.
struct TileBlock: Hashable, Comparable, Sendable {
    var row: Int
    var column: Int

    static func < (first: TileBlock, second: TileBlock) -> Bool {
        (first.row, first.column) < (second.row, second.column)
    }
}

/// Blocks of one level, and the levels of the tiles in them.
struct TileBlocks: Sendable {
    var level: Int
    var levels: ClosedRange<Int>
    var rectangle: TileRectangle
    /// Tiles of a block, all levels together; an estimate that weighs the run.
    var tilesPerBlock: Int
    /// The blocks, rising; nil for all of the rectangle.
    var picked: [TileBlock]?

    /// Number of blocks.
    var count: Int { picked?.count ?? rectangle.count }
}

extension TileBlocks {
    /// The most runs of an export; with more blocks, each run gets more of them.
    private static let runLimit = 3_500

    /// Runs of at most `count` blocks each, more where there would be too many runs.
    static func runs(
        _ all: [TileBlocks], of count: Int, position: Int64, since: Int64? = nil
    ) -> [TileRun] {
        let total = all.reduce(0) { $0 + $1.count }
        let count = max(count, (total + runLimit - 1) / runLimit)
        return all.flatMap { blocks in
            blocks.parts(of: count).map { part, picked in
                TileRun(
                    position: position, level: blocks.level, lastLevel: blocks.levels.upperBound,
                    firstRow: part.rows.lowerBound, lastRow: part.rows.upperBound,
                    firstColumn: part.columns.lowerBound, lastColumn: part.columns.upperBound,
                    tileCount: (picked?.count ?? part.count) * blocks.tilesPerBlock, since: since,
                    picked: picked?.flatMap { [$0.row, $0.column] })
            }
        }
    }

    /// Parts of at most `count` blocks: rectangles with the blocks picked in them.
    private func parts(of count: Int) -> [(TileRectangle, [TileBlock]?)] {
        guard let picked else { return rectangle.cut(by: count).map { ($0, nil) } }
        return stride(from: 0, to: picked.count, by: count).map { start in
            let part = Array(picked[start..<min(start + count, picked.count)])
            let (rows, columns) = (part.map(\.row), part.map(\.column))
            return (
                TileRectangle(
                    rows: (rows.min() ?? 0)...(rows.max() ?? 0),
                    columns: (columns.min() ?? 0)...(columns.max() ?? 0)), part
            )
        }
    }
}
