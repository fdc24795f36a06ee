// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The encoding of a package's tiles.
public enum TileEncoding: String, CaseIterable, Sendable {
    /// Pictures, PNG.
    case png
    /// Pictures, JPEG.
    case jpg
    /// Vector tiles, Mapbox Vector Tile 2.1; every package keeps them as gzip.
    case mvt
}

/// The formats of tile packages.
public enum TilePackageFormat: String, CaseIterable, Sendable {
    /// MBTiles 1.3: an SQLite database.
    case mbtiles
    /// PMTiles 3: one file that clients read by ranges.
    case pmtiles
    /// GeoPackage 1.3 with one tile pyramid: an SQLite database.
    case gpkg
    /// Esri's tile package: a ZIP of compact cache V2 bundles.
    case tpkx
    /// Esri's vector tile package: a ZIP of compact cache V2 bundles, style and service
    /// description.
    case vtpk

    /// The encodings that it holds.
    public var encodings: [TileEncoding] {
        switch self {
        case .mbtiles, .pmtiles: TileEncoding.allCases
        case .gpkg, .tpkx: [.png, .jpg]
        case .vtpk: [.mvt]
        }
    }

    /// The ending of its files, with the dot.
    public var ending: String { "." + rawValue }

    /// The media type of its files.
    public var mediaType: String {
        switch self {
        case .mbtiles: "application/vnd.sqlite3"
        case .pmtiles: "application/vnd.pmtiles"
        case .gpkg: "application/geopackage+sqlite3"
        case .tpkx, .vtpk: "application/zip"
        }
    }
}
