// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import FoundationEssentials
import Platform

/// The data sets in a directory and the directories in it, as data portals hand them out.
struct DataSets {
    /// Files, file geodatabases and archives, by their paths in order.
    private(set) var paths: [String] = []

    /// Extensions of files that are a source on their own, beside others.
    static let endings: Set<String> = [
        "csv", "dgn", "dxf", "fgb", "geojson", "geojsonl", "geojsons", "gml", "gmt", "gpkg", "gpx",
        "jml", "json", "kml", "mbtiles", "osm", "pbf", "sqlite", "topojson", "tsv", "000", "x10",
    ]

    /// Endings of the one file of several that the others belong to.
    private static let heads: Set<String> = ["mif", "shp", "tab"]
    private static let archives: Set<String> = ["gz", "kmz", "tar", "tgz", "zip"]

    /// Scans a directory, without hidden files and those added by macOS.
    init(in root: String) throws {
        try look(root)
        // Without a known extension, GDAL may still recognise the only file.
        guard paths.isEmpty else { return }
        var others: [String] = []
        try Self.files(in: root, &others)
        if others.count == 1 { paths = others }
    }

    private static func names(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory)
            .filter { !$0.hasPrefix(".") && $0 != "__MACOSX" }.sorted()
    }

    private static func files(in directory: String, _ found: inout [String]) throws {
        for name in try names(in: directory) {
            let path = directory + "/" + name
            switch FileSystem.kind(of: path) {
            case .file: found.append(path)
            case .directory: try files(in: path, &found)
            default: continue
            }
        }
    }

    private mutating func look(_ directory: String) throws {
        let names = try Self.names(in: directory)
        let shapes = Set(
            names.filter { FileName.ending($0) == "shp" }.map { FileName.stem($0).lowercased() })
        let hasDocument = names.contains { $0.lowercased() == "doc.kml" }
        for name in names {
            let path = directory + "/" + name
            let ending = FileName.ending(name)
            switch FileSystem.kind(of: path) {
            case .directory:
                // A file geodatabase is a directory, whatever it is called.
                let isDatabase =
                    ending == "gdb"
                    || FileSystem.kind(of: path + "/a00000001.gdbtable") == .file
                if isDatabase { paths.append(path) } else { try look(path) }
            case .file:
                let isSource: Bool
                switch ending {
                // A table on its own, without shapes.
                case "dbf":
                    isSource =
                        !shapes.contains(FileName.stem(name).lowercased())
                        && !names.contains { Self.isTable($0, of: name) }
                case "kml": isSource = !hasDocument || name.lowercased() == "doc.kml"
                default:
                    isSource =
                        Self.endings.contains(ending) || Self.heads.contains(ending)
                        || Self.archives.contains(ending)
                }
                if isSource { paths.append(path) }
            default: continue
            }
        }
    }

    /// Whether the file is a table of MapInfo whose rows are in a dBASE file.
    private static func isTable(_ name: String, of rows: String) -> Bool {
        FileName.ending(name) == "tab"
            && FileName.stem(name).lowercased() == FileName.stem(rows).lowercased()
    }
}

/// The names under which the files of a data set are opened.
///
/// Formats of several files find the others by lower-case extensions beside the one that is opened,
/// whatever the case in a delivery.
struct LinkNames {
    /// The name of the file that is opened.
    let own: String
    /// Link names with their files.
    private(set) var all: [(name: String, file: String)] = []

    /// Extensions of opened files whose companions are found by theirs.
    static func isFolded(_ ending: String) -> Bool {
        ["csv", "dbf", "gml", "mif", "shp", "tab"].contains(ending)
    }

    init(of named: NamedFiles) {
        let name = FileName.split(named.path).name
        let ending = FileName.ending(name)
        guard Self.isFolded(ending) else {
            own = name
            all = named.all.map { (FileName.split($0).name, $0) }
            return
        }
        let stem = FileName.stem(name)
        own = stem + "." + ending
        all = [(own, named.path)]
        var taken: Set<String> = [own]
        // Of two files for one name the one in the same case as the opened file.
        let companions =
            named.companions.filter { FileName.split($0).name.hasPrefix(stem) }
            + named.companions.filter { !FileName.split($0).name.hasPrefix(stem) }
        for file in companions {
            let rest = FileName.split(file).name.dropFirst(stem.count).lowercased()
            let link = stem + rest
            if taken.insert(link).inserted { all.append((link, file)) }
        }
    }
}

/// The totals of an import's expansion so far.
struct Expansion {
    /// The bytes that the named file has.
    let packed: Int64
    var byteCount: Int64 = 0
    var entryCount = 0

    init(packed: Int64) { self.packed = packed }

    var limit: Int64 { ImportBounds.expandedByteCount(of: packed) }
}

extension SourceFile {
    /// The file as the only data set of its source.
    var alone: SourceFile { renamed(name) }
}
