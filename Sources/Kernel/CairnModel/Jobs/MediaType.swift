// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The media types of the files that jobs read and make, with the endings of their names.
public enum MediaType: String, Hashable, Sendable, CaseIterable {
    /// RFC 4180.
    case csv = "text/csv"
    /// One JSON value on each line.
    case jsonLines = "application/jsonl"
    /// RFC 8259.
    case json = "application/json"
    /// RFC 7946.
    case geoJSON = "application/geo+json"
    /// OGC 12-128.
    case geoPackage = "application/geopackage+sqlite3"
    /// OGC 12-007.
    case kml = "application/vnd.google-earth.kml+xml"
    /// FlatGeobuf; its authors have registered no type.
    case flatGeobuf = "application/flatgeobuf"
    /// MBTiles 1.3; the type is that of SQLite, which is what it is.
    case mbtiles = "application/vnd.sqlite3"
    /// PMTiles 3.
    case pmtiles = "application/vnd.pmtiles"
    /// A tile package of Esri's; no type is registered.
    case tpkx = "application/vnd.esri.tpkx+zip"
    /// A vector tile package of Esri's; no type is registered.
    case vtpk = "application/vnd.esri.vtpk+zip"
    /// An update of a tile package.
    case tileUpdate = "application/vnd.cairn.tile-update+sqlite3"
    /// A ZIP archive.
    case zip = "application/zip"
    /// Text of no stated form.
    case text = "text/plain"
    /// Any bytes.
    case bytes = "application/octet-stream"

    /// The endings of file names of this type, with their dots; a product gets the first.
    public var endings: [String] {
        switch self {
        case .csv: [".csv"]
        case .jsonLines: [".jsonl", ".ndjson"]
        case .json: [".json"]
        case .geoJSON: [".geojson"]
        case .geoPackage: [".gpkg"]
        case .kml: [".kml"]
        case .flatGeobuf: [".fgb"]
        case .mbtiles: [".mbtiles"]
        case .pmtiles: [".pmtiles"]
        case .tpkx: [".tpkx"]
        case .vtpk: [".vtpk"]
        case .tileUpdate: [".tileupdate"]
        case .zip: [".zip"]
        case .text: [".txt", ".tsv"]
        case .bytes: [".bin"]
        }
    }

    /// Whether files of this type are text, one record on a line, that can be compared by line.
    public var hasLines: Bool {
        switch self {
        case .csv, .jsonLines, .text: true
        case .json, .geoJSON, .geoPackage, .kml, .flatGeobuf, .mbtiles, .pmtiles, .tpkx, .vtpk,
            .tileUpdate, .zip, .bytes:
            false
        }
    }

    /// The `Content-Type`; of text it states UTF-8 (RFC 7111), which other types have by their
    /// definitions.
    public var contentType: String {
        rawValue + (rawValue.hasPrefix("text/") ? "; charset=utf-8" : "")
    }

    /// The media type by file extension, in any letter case; `bytes` for an unknown extension.
    public init(ofFile name: String) {
        let name = name.lowercased()
        self = Self.allCases.first { $0.endings.contains { name.hasSuffix($0) } } ?? .bytes
    }
}

extension BlobReference {
    /// Its media type; `bytes` for an unknown one.
    public var type: MediaType { MediaType(rawValue: mediaType) ?? .bytes }
}
