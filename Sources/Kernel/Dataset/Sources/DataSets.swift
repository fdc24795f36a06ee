// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import FoundationEssentials
import Platform

/// The data sets in a directory and the directories in it, as data portals hand them out.
struct DataSets {
    /// Files, file geodatabases and archives, by their paths in order.
    private(set) var paths: [String] = []

    /// Endings of files that are a source on their own, where others lie beside them.
    static let endings: Set<String> = [
        "csv", "dgn", "dxf", "fgb", "geojson", "geojsonl", "geojsons", "gml", "gmt", "gpkg", "gpx",
        "jml", "json", "kml", "mbtiles", "osm", "pbf", "sqlite", "topojson", "tsv", "000", "x10",
    ]

    /// Endings of the one file of several that the others belong to.
    private static let heads: Set<String> = ["mif", "shp", "tab"]
    private static let archives: Set<String> = ["gz", "kmz", "tar", "tgz", "zip"]

    /// Looks through a directory, but not at what begins with a full stop or what macOS adds.
    init(in root: String) throws {
        try look(root)
        // Where there is nothing that is known by its ending, GDAL may know the only file there is.
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

    /// Whether it is a table of MapInfo whose rows lie in a file of dBASE.
    private static func isTable(_ name: String, of rows: String) -> Bool {
        FileName.ending(name) == "tab"
            && FileName.stem(name).lowercased() == FileName.stem(rows).lowercased()
    }
}

/// What the files that belong together are called where they are opened: formats of several files
/// are found by endings in small letters, beside the one that is opened, whatever letters a
/// delivery has.
struct LinkNames {
    /// The name of the file that is opened.
    let own: String
    /// Names and the files they stand for.
    private(set) var all: [(name: String, file: String)] = []

    /// Endings of the files that are opened, whose others are found by theirs.
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
        // Of two files for one place the one that is spelled like the one opened.
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

/// What an import has expanded so far.
struct Expansion {
    /// The bytes that the named file has.
    let packed: Int64
    var byteCount: Int64 = 0
    var entryCount = 0

    init(packed: Int64) { self.packed = packed }

    var limit: Int64 { ImportBounds.expandedByteCount(of: packed) }
}

extension SourceFile {
    /// The same where it is the only data set there is.
    var alone: SourceFile { renamed(name) }
}
