// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// PMTiles' number of a tile: those of the levels above it, then its place on the level's Hilbert
/// curve (https://github.com/protomaps/PMTiles, version 3).
enum PMTilesID {
    /// The number behind the last tile of the last level.
    static let end = first(of: TileAddress.levels.upperBound + 1)

    /// The number of the first tile of a level.
    static func first(of level: Int) -> UInt64 { (1 << UInt64(2 * level) - 1) / 3 }

    /// Whether a number is the first of a level.
    static func beginsLevel(_ number: UInt64) -> Bool {
        TileAddress.levels.contains { first(of: $0) == number }
    }

    static func number(of tile: TileAddress) -> UInt64 {
        var (x, y) = (UInt64(tile.column), UInt64(tile.row))
        var place: UInt64 = 0
        var side: UInt64 = (1 << UInt64(tile.level)) >> 1
        while side > 0 {
            let right: UInt64 = x & side > 0 ? 1 : 0
            let lower: UInt64 = y & side > 0 ? 1 : 0
            place += side * side * ((3 * right) ^ lower)
            rotate(&x, &y, side, right, lower)
            side >>= 1
        }
        return first(of: tile.level) + place
    }

    /// The tile of a number; nil beyond the last level.
    static func tile(_ number: UInt64) -> TileAddress? {
        guard number < end else { return nil }
        var level = 0
        while first(of: level + 1) <= number { level += 1 }
        var rest = number - first(of: level)
        var (x, y): (UInt64, UInt64) = (0, 0)
        var side: UInt64 = 1
        while side < 1 << UInt64(level) {
            let right = 1 & (rest / 2)
            let lower = 1 & (rest ^ right)
            rotate(&x, &y, side, right, lower)
            x += side * right
            y += side * lower
            rest /= 4
            side *= 2
        }
        return TileAddress(level: level, row: Int(y), column: Int(x))
    }

    /// Within the square of `side`; bits above it are of no concern.
    private static func rotate(
        _ x: inout UInt64, _ y: inout UInt64, _ side: UInt64, _ right: UInt64, _ lower: UInt64
    ) {
        guard lower == 0 else { return }
        if right == 1 {
            x = side &- 1 &- x
            y = side &- 1 &- y
        }
        swap(&x, &y)
    }
}
