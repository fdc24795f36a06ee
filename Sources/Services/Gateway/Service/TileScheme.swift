// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import EsriForms
internal import Geometry
internal import Platform

/// Web map tiles: EPSG:3857 in squares of 256 pixels, one for the world at level 0, twice as many
/// in each direction at each further level; rows count from the top, columns from the left.
struct TileAddress: Hashable, Sendable {
    let level: Int
    let row: Int
    let column: Int

    /// Supported levels.
    static let levels = 0...23
    /// Side of a tile in pixels.
    static let side = 256

    /// Throws `notFound` for a tile outside the scheme.
    init(level: Int, row: Int, column: Int) throws(Failure) {
        guard Self.levels ~= level else {
            throw Failure(.notFound, "tile level \(level): expected 0 to \(Self.levels.upperBound)")
        }
        let last = 1 << level - 1
        guard 0...last ~= row, 0...last ~= column else {
            throw Failure(
                .notFound,
                "tile row \(row), column \(column): at level \(level) expected 0 to \(last)")
        }
        (self.level, self.row, self.column) = (level, row, column)
    }

    /// The block that contains it.
    var block: TileBlock {
        TileBlock(level: level, row: row / TileBlock.count, column: column / TileBlock.count)
    }

    /// Index in the block, row by row.
    var placeInBlock: Int {
        row % TileBlock.count * block.tilesPerSide + column % TileBlock.count
    }
}

/// Tiles drawn as one picture and cut: labels are placed once, and none is cut within a block.
struct TileBlock: Hashable, Sendable {
    let level: Int
    /// Row of the block from the top.
    let row: Int
    /// Column of the block from the left.
    let column: Int

    /// Tiles on each side, where the level has that many.
    static let count = 4

    var tilesPerSide: Int { min(Self.count, 1 << level) }

    /// In EPSG:3857.
    private var extent: Envelope {
        let half = Double.pi * WebMercator.radiusMeters
        let width = 2 * half / Double(1 << level) * Double(tilesPerSide)
        let (left, top) = (-half + Double(column) * width, half - Double(row) * width)
        return Envelope(minX: left, minY: top - width, maxX: left + width, maxY: top)
    }

    /// The request that draws it, at that sequence number of the map or later.
    func request(map: MapName, minSequence: Int64) -> ExportRequest {
        var request = ExportRequest(
            map: map, extent: extent, extentReference: .webMercator, imageReference: .webMercator,
            width: tilesPerSide * TileAddress.side, height: tilesPerSide * TileAddress.side,
            isTransparent: true)
        request.division = tilesPerSide
        request.minSequence = minSequence
        return request
    }
}

extension JSONWriter {
    /// Writes Esri's `tileInfo` of the scheme, with Esri's rounding.
    mutating func tileInfo() {
        member("tileInfo") { json in
            json.member("rows", TileAddress.side)
            json.member("cols", TileAddress.side)
            json.member("dpi", 96)
            json.member("format", "PNG32")
            json.member("compressionQuality", 0)
            json.member("origin") { json in
                json.member("x", -20_037_508.342787)
                json.member("y", 20_037_508.342787)
            }
            json.spatialReference(.webMercator)
            json.member("lods", array: TileAddress.levels) { json, level in
                json.object { json in
                    json.member("level", level)
                    json.member("resolution", 156_543.03392800014 / Double(1 << level))
                    json.member("scale", 591_657_527.591555 / Double(1 << level))
                }
            }
        }
    }
}
