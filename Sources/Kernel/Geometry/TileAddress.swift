// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A tile of web maps: EPSG:3857 in squares, one for the world at level 0, twice as many in each
/// direction at each further level; rows count from the top, columns from the left.
///
/// OGC calls the scheme `WebMercatorQuad`, other programs XYZ.
public struct TileAddress: Hashable, Sendable {
    /// Level, in ``levels``.
    public let level: Int
    /// Row from the top, from 0.
    public let row: Int
    /// Column from the left, from 0.
    public let column: Int

    /// Supported levels.
    public static let levels = 0...23
    /// Half of the map's side in metres.
    public static let halfWorldMeters = Double.pi * WebMercator.radiusMeters

    /// A tile of the scheme; nil outside it.
    public init?(level: Int, row: Int, column: Int) {
        guard Self.levels ~= level else { return nil }
        let rows = 0..<Self.count(at: level)
        guard rows ~= row, rows ~= column else { return nil }
        (self.level, self.row, self.column) = (level, row, column)
    }

    /// Number of rows, and of columns, at a level.
    public static func count(at level: Int) -> Int { 1 << level }

    /// Side in metres of a tile of a level.
    public static func side(at level: Int) -> Double {
        2 * halfWorldMeters / Double(count(at: level))
    }

    /// Its square in EPSG:3857, x east, y north.
    public var extent: Envelope {
        let side = Self.side(at: level)
        let left = -Self.halfWorldMeters + Double(column) * side
        let top = Self.halfWorldMeters - Double(row) * side
        return Envelope(minX: left, minY: top - side, maxX: left + side, maxY: top)
    }

    /// The tile one level up that contains it; nil at level 0.
    public var parent: TileAddress? {
        TileAddress(level: level - 1, row: row / 2, column: column / 2)
    }
}

extension TileAddress: Comparable {
    /// By level, then row, then column.
    public static func < (first: TileAddress, second: TileAddress) -> Bool {
        (first.level, first.row, first.column) < (second.level, second.row, second.column)
    }
}
