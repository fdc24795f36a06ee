// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// Tiles drawn as one picture and cut: labels are placed once, and none is cut within a block.
public struct PictureBlock: Hashable, Sendable {
    /// Level of the tiles.
    public let level: Int
    /// Row of the block from the top.
    public let row: Int
    /// Column of the block from the left.
    public let column: Int

    /// Tiles on each side, where the level has that many.
    public static let count = 4
    /// Side of a tile in pixels.
    public static let tileSide = 256
    /// The scale's denominator of pictures of level 0.
    public static let rootScale = 2 * TileLayer.rootScale

    /// The block that contains a tile.
    public init(containing tile: TileAddress) {
        level = tile.level
        row = tile.row / Self.count
        column = tile.column / Self.count
    }

    /// Tiles on each side.
    public var tilesPerSide: Int { min(Self.count, TileAddress.count(at: level)) }

    /// Index of one of its tiles, row by row.
    public func index(of tile: TileAddress) -> Int {
        tile.row % Self.count * tilesPerSide + tile.column % Self.count
    }

    /// In EPSG:3857.
    private var extent: Envelope {
        let half = TileAddress.halfWorldMeters
        let width = TileAddress.side(at: level) * Double(tilesPerSide)
        let (left, top) = (-half + Double(column) * width, half - Double(row) * width)
        return Envelope(minX: left, minY: top - width, maxX: left + width, maxY: top)
    }

    /// The request that draws it, at that sequence number of the map or later.
    public func request(map: MapName, minSequence: Int64) -> ExportRequest {
        let side = tilesPerSide * Self.tileSide
        var request = ExportRequest(
            map: map, extent: extent, extentReference: .webMercator, imageReference: .webMercator,
            width: side, height: side, isTransparent: true)
        request.division = tilesPerSide
        request.minSequence = minSequence
        return request
    }
}
