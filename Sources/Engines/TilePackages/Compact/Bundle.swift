// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Platform

/// A bundle of a compact cache V2: 128 rows and columns of tiles of one level
/// (https://github.com/Esri/raster-tiles-compactcache).
struct Bundle: Hashable {
    let level: Int
    /// In bundles from the top.
    let row: Int
    /// In bundles from the left.
    let column: Int

    static let side = 128
    static let tileCount = side * side
    static let headerCount = 64
    /// Bytes in front of the first tile.
    static let indexEnd = headerCount + 8 * tileCount

    init(level: Int, row: Int, column: Int) {
        (self.level, self.row, self.column) = (level, row, column)
    }

    init(containing tile: TileAddress) {
        self.init(level: tile.level, row: tile.row / Self.side, column: tile.column / Self.side)
    }

    /// Index of a tile within it.
    static func slot(of tile: TileAddress) -> Int {
        tile.row % side * side + tile.column % side
    }

    /// The tile at an index; nil outside of the scheme.
    func tile(slot: Int) -> TileAddress? {
        TileAddress(
            level: level, row: row * Self.side + slot / Self.side,
            column: column * Self.side + slot % Self.side)
    }

    /// A number in the order of bundles and of the tiles in them.
    func sortKey(slot: Int) -> UInt64 {
        UInt64(level) << 46 | UInt64(row) << 30 | UInt64(column) << 14 | UInt64(slot)
    }

    /// The bundle of a ``sortKey(slot:)``.
    init(sortKey key: UInt64) {
        self.init(
            level: Int(key >> 46), row: Int(key >> 30 & 0xffff), column: Int(key >> 14 & 0xffff))
    }

    /// `L05/R0000C0080.bundle`: the level in decimal, the first row and column in hexadecimal
    /// digits.
    var name: String {
        let level = String(level)
        return "L" + String(repeating: "0", count: max(0, 2 - level.count)) + level + "/R"
            + Self.hexadecimal(row * Self.side) + "C" + Self.hexadecimal(column * Self.side)
            + ".bundle"
    }

    private static func hexadecimal(_ number: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, 4 - text.count)) + text
    }

    /// The bundle of a ``name``, in any letter case; nil for any other text.
    init?(name: Substring) {
        guard
            let found = name.lowercased().wholeMatch(
                of: /l([0-9]{2})\/r([0-9a-f]{4,8})c([0-9a-f]{4,8})\.bundle/),
            let level = Int(found.1), TileAddress.levels ~= level,
            let row = Int(found.2, radix: 16), let column = Int(found.3, radix: 16),
            row % Self.side == 0, column % Self.side == 0,
            TileAddress(level: level, row: row, column: column) != nil
        else { return nil }
        self.init(level: level, row: row / Self.side, column: column / Self.side)
    }

    /// Header and index of a bundle; `sizes` gives the slots that have a tile, ascending.
    static func beginning(_ sizes: [(slot: Int, byteCount: Int)]) -> (bytes: [UInt8], end: UInt64) {
        var index = [UInt64](repeating: 4, count: tileCount)
        var end = UInt64(indexEnd)
        var greatest = 0
        for (slot, byteCount) in sizes {
            index[slot] = end + 4 | UInt64(byteCount) << 40
            end += 4 + UInt64(byteCount)
            greatest = max(greatest, byteCount)
        }
        var writer = ByteWriter(capacity: indexEnd)
        for word: UInt32 in [3, UInt32(tileCount), UInt32(greatest), 5] { writer.append(word) }
        for word: UInt64 in [0, end, 40] { writer.append(word) }
        for word: UInt32 in [131_092, 3, 16, UInt32(tileCount), 5, 131_072] { writer.append(word) }
        for word in index { writer.append(word) }
        return (writer.bytes, end)
    }
}
