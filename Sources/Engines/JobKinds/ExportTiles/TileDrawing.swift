// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry

/// The form of an export's pictures.
struct PictureForm {
    let format: PictureFormat
    /// Of JPEG, 1…100; nil for that of the map service.
    let quality: Int?
}

/// Draws the tiles of one level, as of one sequence number.
struct TileDrawing {
    private let settings: TileExportSettings
    private let form: PictureForm
    private let level: Int
    private let position: Int64
    private let maps: any JobMaps
    private let context: ChunkContext

    init(
        _ settings: TileExportSettings, _ form: PictureForm, _ level: Int,
        at position: Int64, _ maps: any JobMaps, _ context: ChunkContext
    ) {
        self.settings = settings
        self.form = form
        self.level = level
        self.position = position
        self.maps = maps
        self.context = context
    }

    /// A tile on which nothing is drawn.
    func blank() throws -> [UInt8]? {
        guard let tile = TileAddress(level: level, row: 0, column: 0) else { return nil }
        var none = LostFeatures()
        return try pieces(
            of: PictureBlock(containing: tile), layers: DrawnLayers(.show, ids: []), &none
        ).first
    }

    /// The pictures of tiles of one block; `lost` takes what they lack.
    func pictures(
        of tiles: [TileAddress], _ lost: inout LostFeatures
    ) throws -> [(TileAddress, [UInt8])] {
        guard let first = tiles.first else { return [] }
        let block = PictureBlock(containing: first)
        let pieces = try pieces(of: block, layers: settings.layers, &lost)
        return try tiles.map { tile in
            let index = block.index(of: tile)
            guard pieces.indices ~= index else {
                throw Failure(.internal, "a block was drawn in \(pieces.count) pieces")
            }
            return (tile, pieces[index])
        }
    }

    private func pieces(
        of block: PictureBlock, layers: DrawnLayers, _ lost: inout LostFeatures
    ) throws -> [[UInt8]] {
        var request = block.request(map: settings.map, minSequence: position)
        (request.minSequence, request.at) = (nil, position)
        request.layers = layers
        request.format = form.format
        request.quality = form.quality
        request.isTransparent = form.format == .png
        let picture = try context.patiently { [request] () throws(Failure) -> ExportedPicture in
            try maps.picture(request, isCancelled: context.isCancelled)
        }
        // A tile without a layer that belongs on it is no tile of the map.
        if let missing = picture.head.missing?.first {
            throw Failure(
                .unavailable,
                "layer \(missing.layerID) '\(missing.layerName)' cannot be drawn: "
                    + missing.error.message)
        }
        lost.add(picture)
        return try picture.pieces()
    }
}
