// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// The tiles that may differ between two sequence numbers of a map.
struct TileCandidates {
    /// Where the map changed.
    let changes: MapChanges
    /// How far beyond a changed feature a tile of a level may differ, in metres of EPSG:3857.
    let margin: (LayerChanges, _ level: Int) -> Double

    /// The most blocks that are picked one by one; beyond, every block is a candidate.
    private static let blockLimit = 100_000

    /// The parts of a rectangle of tiles that may differ, overlapping or not; nil for all of it.
    func parts(of tiles: TileRectangle, at level: Int) -> [TileRectangle]? {
        guard case .features(let layers) = changes else { return nil }
        return layers.flatMap { layer in
            let margin = margin(layer, level)
            return layer.boxes.compactMap { box in
                TileRectangle(of: box.expanded(by: margin), at: level)?.part(in: tiles)
            }
        }
    }

    /// Whether a tile may differ.
    func contains(_ tile: TileAddress) -> Bool {
        let own = TileRectangle(
            rows: tile.row...tile.row, columns: tile.column...tile.column)
        return parts(of: own, at: tile.level)?.isEmpty != true
    }

    /// The blocks with tiles that may differ, without those of no tile.
    ///
    /// - Parameters:
    ///   - blocks: All blocks.
    ///   - tiles: The rectangle of the selected tiles of a level of the blocks.
    ///   - block: The block of a tile of such a level, by the tile's row or column.
    func pick(
        from blocks: TileBlocks, tiles: (_ level: Int) -> TileRectangle?,
        block: (_ place: Int, _ level: Int) -> Int
    ) -> TileBlocks? {
        var found: Set<TileBlock> = []
        for level in blocks.levels {
            guard let selected = tiles(level) else { continue }
            guard let parts = parts(of: selected, at: level) else { return blocks }
            for part in parts {
                let rows = block(part.rows.lowerBound, level)...block(part.rows.upperBound, level)
                let columns =
                    block(part.columns.lowerBound, level)...block(part.columns.upperBound, level)
                guard rows.count * columns.count <= Self.blockLimit else { return blocks }
                for row in rows {
                    for column in columns {
                        found.insert(TileBlock(row: row, column: column))
                    }
                }
                guard found.count <= Self.blockLimit else { return blocks }
            }
        }
        guard !found.isEmpty else { return nil }
        var picked = blocks
        picked.picked = found.sorted()
        return picked
    }
}
