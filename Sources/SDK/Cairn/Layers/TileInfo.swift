// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// How tiles lie: an origin, a size, and a resolution for each level.
public struct TileInfo: Sendable, Hashable {
    /// A level of tiles.
    public struct LevelOfDetail: Sendable, Hashable {
        /// Its number.
        public let level: Int
        /// Units of the reference for a pixel.
        public let resolution: Double
        /// The scale, at the tiles' dots per inch.
        public let scale: Double
    }

    /// Pixels of a tile.
    public let tileWidth, tileHeight: Int
    /// Dots per inch.
    public let dpi: Double
    /// The upper left corner of the first tile.
    public let originX, originY: Double
    /// The levels, the smallest scale first.
    public let levelsOfDetail: [LevelOfDetail]
    /// The reference.
    public let spatialReference: SpatialReference

    init?(_ json: JSON?) {
        guard let json, let width = json["cols"]?.int, let height = json["rows"]?.int, width > 0,
            height > 0, let x = json["origin"]?["x"]?.number, let y = json["origin"]?["y"]?.number,
            let reference = SpatialReference(json.member("spatialReference"))
        else { return nil }
        let levels = (json["lods"]?.elements ?? []).compactMap { level -> LevelOfDetail? in
            guard let number = level["level"]?.int, let resolution = level["resolution"]?.number,
                resolution > 0
            else { return nil }
            return LevelOfDetail(
                level: number, resolution: resolution, scale: level["scale"]?.number ?? 0)
        }
        guard !levels.isEmpty else { return nil }
        tileWidth = width
        tileHeight = height
        dpi = json["dpi"]?.number ?? 96
        (originX, originY) = (x, y)
        levelsOfDetail = levels.sorted { $0.resolution > $1.resolution }
        spatialReference = reference
    }

    /// Web Mercator as the web's maps have it: tiles of 256 pixels, levels 0 to 22.
    public static let webMercator = TileInfo()

    private init() {
        let world = Envelope.webMercatorWorld
        tileWidth = 256
        tileHeight = 256
        dpi = 96
        (originX, originY) = (world.xMin, world.yMax)
        levelsOfDetail = (0...22).map { level in
            let resolution = world.width / 256 / Double(1 << level)
            return LevelOfDetail(
                level: level, resolution: resolution, scale: resolution * 96 / 0.0254)
        }
        spatialReference = .webMercator
    }
}
