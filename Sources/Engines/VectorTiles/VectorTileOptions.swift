// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// The grid of a tile, and what bounds it.
///
/// Coordinates of a tile are whole cells, x from the left, y downwards, from the tile's upper left
/// corner. Geometry reaches `buffer` cells over each side.
///
/// Simplification is a rounding of every vertex to a multiple of `step` cells of the level's grid,
/// which is one grid for the whole level. Where a vertex goes depends on the vertex and the level
/// alone: not on the ring, its direction, its start, its other vertices or the tile. So a border
/// that two areas share stays one border, junctions stay junctions, and no vertex moves by more
/// than half a step in x and in y. Vertices that come to lie on their predecessor are one. Only
/// where the border of one area crosses itself after rounding does it get vertices of its own, at
/// the cells nearest to the crossings.
public struct VectorTileOptions: Hashable, Sendable {
    /// Cells along a tile's side; a power of two.
    public let extent: Int
    /// Cells that geometry reaches over each side.
    public let buffer: Int
    /// Cells to whose multiples vertices are rounded at levels below ``fullDetailLevel``; a power
    /// of two.
    public let step: Int
    /// The first level whose step is one cell.
    public let fullDetailLevel: Int
    /// The most bytes of a tile, not compressed.
    public let byteLimit: Int

    /// The common grid: 4,096 cells, 64 over each side, steps of 2 below level 14, 500,000 bytes.
    public static let standard = VectorTileOptions()

    private init() {
        (extent, buffer, step, fullDetailLevel, byteLimit) = (4096, 64, 2, 14, 500_000)
    }

    /// Checked options; throws `invalidParameter` with the bounds of what is outside them.
    public init(
        extent: Int = 4096, buffer: Int = 64, step: Int = 2, fullDetailLevel: Int = 14,
        byteLimit: Int = 500_000
    ) throws(Failure) {
        func isPower(_ number: Int) -> Bool { number.nonzeroBitCount == 1 && number > 0 }
        guard 256...16_384 ~= extent, isPower(extent) else {
            throw Failure(
                .invalidParameter,
                "the extent of a tile is a power of two from 256 to 16384, not \(extent)")
        }
        guard 0...extent / 2 ~= buffer else {
            throw Failure(
                .invalidParameter,
                "the buffer of a tile is from 0 to half its extent, not \(buffer)")
        }
        guard 1...64 ~= step, isPower(step) else {
            throw Failure(
                .invalidParameter, "the step of a grid is a power of two up to 64, not \(step)")
        }
        guard byteLimit > 0 else {
            throw Failure(
                .invalidParameter, "the most bytes of a tile are 1 or more, not \(byteLimit)")
        }
        self.extent = extent
        self.buffer = buffer
        self.step = step
        self.fullDetailLevel = fullDetailLevel
        self.byteLimit = byteLimit
    }

    /// The step of a level, in cells.
    public func step(at level: Int) -> Int { level < fullDetailLevel ? step : 1 }

    /// The length in metres of EPSG:3857 of a cell of a level.
    public func cellMeters(at level: Int) -> Double {
        TileAddress.side(at: level) / Double(extent)
    }

    /// The square of a tile with its buffer, in EPSG:3857: features that do not meet it are not in
    /// the tile, nor in those below it.
    public func reach(of tile: TileAddress) -> Envelope { TileFrame(tile, self).reach }
}
