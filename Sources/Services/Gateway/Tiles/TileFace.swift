// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import JobKinds
internal import Platform

/// A service whose tiles are exported: `MapServer` or `VectorTileServer`.
enum TileFace: CaseIterable, Sendable {
    case pictures, vectors

    /// The service's name in paths.
    var service: String {
        switch self {
        case .pictures: "MapServer"
        case .vectors: "VectorTileServer"
        }
    }

    /// The job kind that makes its packages.
    var task: JobKindDescription {
        switch self {
        case .pictures: ExportTiles.description
        case .vectors: ExportVectorTiles.description
        }
    }

    /// The format of a package, unless another is asked for.
    var standardFormat: String {
        switch self {
        case .pictures: "tpkx"
        case .vectors: "vtpk"
        }
    }

    /// Pixels of a tile's side.
    var side: Int {
        switch self {
        case .pictures: PictureBlock.tileSide
        case .vectors: 512
        }
    }

    /// Metres per pixel of a level, as the service states them.
    func resolution(of level: Int) -> Double {
        156_543.03392800014 * Double(PictureBlock.tileSide) / Double(side) / Double(1 << level)
    }

    /// The scale's denominator of a level, likewise.
    func scale(of level: Int) -> Double {
        let root =
            switch self {
            case .pictures: 591_657_527.591555
            case .vectors: TileLayer.rootScale
            }
        return root / Double(1 << level)
    }

    /// Path of the service of a map, from the root of the server.
    func path(of map: MapName) -> String {
        let server = TiledMap.mapServer(map, nil)
        return server.dropLast("MapServer".count) + service
    }
}

extension JSONWriter {
    /// Writes what clients read before they ask for an export.
    mutating func tileExports(_ areAllowed: Bool) {
        member("exportTilesAllowed", areAllowed)
        guard areAllowed else { return }
        member("maxExportTilesCount", TileSelection.tileLimit)
        member("exportTileCacheCompactV2Allowed", true)
    }
}
