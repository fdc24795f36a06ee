// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import VectorTiles

/// Makes the selected vector tiles of one map, as of one sequence number.
struct EncodedTiles {
    private let settings: TileExportSettings
    private let map: MapDescription
    private let layers: [CairnModel.TileLayer]
    private let maps: any JobMaps
    private let context: ChunkContext

    /// The most tiles of a block that are made one by one, each of the features around it.
    private static let fewTiles = 32

    init(
        _ settings: TileExportSettings, _ map: MapDescription, _ maps: any JobMaps,
        _ context: ChunkContext
    ) {
        self.settings = settings
        self.map = map
        self.maps = maps
        self.context = context
        layers = map.tileLayers(settings.layers)
    }

    /// Calls `body` with each selected tile of the block below a tile, after `read` with the
    /// features that they are made of.
    func forEach(
        below root: TileAddress, _ levels: ClosedRange<Int>,
        read: ([VectorTiles.VectorTileLayer]) -> Void,
        _ body: (TileAddress, VectorTile) throws -> Void
    ) throws {
        try maps.forEachVectorTile(
            below: root, levels: levels, of: layers, in: map, isCancelled: context.isCancelled,
            read: read
        ) { tile, made in
            guard settings.selection.contains(tile),
                settings.selection.levels.contains(tile.level)
            else { return }
            try body(tile, made)
        }
    }

    /// The selected tiles of the block below a tile; nil is all of them.
    ///
    /// `read` receives the features that they are made of.
    func tiles(
        _ wanted: [TileAddress]?, below root: TileAddress, _ levels: ClosedRange<Int>,
        read: ([VectorTiles.VectorTileLayer]) -> Void
    ) throws -> [TileAddress: VectorTile] {
        var found: [TileAddress: VectorTile] = [:]
        guard let wanted, wanted.count <= Self.fewTiles else {
            let only = wanted.map { Set($0) }
            try forEach(below: root, levels, read: read) { tile, made in
                if only?.contains(tile) ?? true { found[tile] = made }
            }
            return found
        }
        for tile in wanted {
            try context.checkCancelled()
            let shown = layers.filter { $0.levels ~= tile.level }
            guard !shown.isEmpty else { continue }
            let contents = try maps.tileContent(
                of: shown, in: map, meeting: VectorTileOptions.standard.reach(of: tile),
                isCancelled: context.isCancelled)
            read(contents)
            var builder = try VectorTileBuilder(contents)
            found[tile] = builder.tile(tile)
        }
        return found
    }
}

extension TileSelection {
    /// The selected tiles of the block below a tile that may differ; nil for all of them.
    func tiles(
        below root: TileAddress, _ levels: ClosedRange<Int>, in candidates: TileCandidates
    ) -> [TileAddress]? {
        var found: Set<TileAddress> = []
        for level in levels where self.levels.contains(level) {
            let shift = level - root.level
            let side = 1 << shift
            let block = TileRectangle(
                rows: root.row << shift...(root.row << shift) + side - 1,
                columns: root.column << shift...(root.column << shift) + side - 1)
            guard let parts = candidates.parts(of: block, at: level) else { return nil }
            for part in parts {
                for tile in part.tiles(at: level) where contains(tile) { found.insert(tile) }
            }
        }
        return found.sorted()
    }
}
