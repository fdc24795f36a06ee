// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import GDAL
import Platform

/// How much an import lets a file grow to, and how many files it looks at.
public enum ImportBounds {
    /// Files and directories in an archive or a directory.
    public static let entryCount = 10_000
    /// Directories one inside the other.
    public static let depth = 16
    /// Bytes that a gzip file or an archive may expand to: 200 times what it has, 256 MiB at least and
    /// 64 GiB at most.
    public static func expandedByteCount(of packed: Int64) -> Int64 {
        min(64 << 30, max(256 << 20, packed.multipliedReportingOverflow(by: 200).partialValue))
    }
}

/// Makes what was named ready to be opened: expands it, examines it, and puts it where nothing else is.
///
/// Runs on the confined thread.
struct SourcePreparation {
    private let named: NamedFiles
    /// The import's own directory, from the root.
    private let staging: String

    init(_ named: NamedFiles, in staging: String) {
        self.named = named
        self.staging = staging
    }

    /// What is to be opened.
    func file() throws -> SourceFile {
        let path = try prepared()
        return SourceFile(path: path, name: named.name)
    }

    private func prepared() throws -> String {
        if named.isDirectory {
            try examineDirectory(named.path)
            return named.path
        }
        var (path, name) = (named.path, FileName.split(named.path).name)
        var isExpanded = false
        if GzipFile.isGzip(path) {
            name = Self.expandedName(name)
            let expanded = try makeEntry() + "/" + name
            try expandGzip(to: expanded)
            (path, isExpanded) = (expanded, true)
        }
        let beginning = SourceExamination.beginning(of: path)
        try refuse(name, beginning)
        if let kind = Self.archive(name, beginning) {
            let directory = try makeEntry()
            try expand(Archive(path: path, name: named.name, kind: kind), into: directory)
            let chosen = try examined(try Self.chosen(in: directory))
            // The documents of a KMZ file name each other by their places in it.
            guard FileName.ending(name) == "kmz" else { return chosen }
            try examineDirectory(directory)
            return isExpanded ? path : try view()
        }
        if !isExpanded {
            path =
                SourceExamination.isDatabaseWithLog(path, beginning)
                ? try copy() : try view()
        }
        return try examined(path)
    }

    /// A format that is not read is named before GDAL says that it does not know it.
    private func refuse(_ name: String, _ beginning: [UInt8]) throws(Failure) {
        guard let format = VectorFormats.refused(name: name, beginning: beginning) else { return }
        throw Failure(
            .unreadable,
            "'\(named.name)' is \(format): expected \(VectorFormats.list); GDAL's ogr2ogr "
                + "converts to these")
    }

    private func examined(_ path: String) throws -> String {
        if FileSystem.kind(of: path) == .directory {
            try examineDirectory(path)
        } else {
            guard !GzipFile.isGzip(path) else {
                throw Failure(
                    .unreadable,
                    "'\(named.name)' holds gzip in what was expanded: expected \(VectorFormats.list)"
                )
            }
            let beginning = SourceExamination.beginning(of: path)
            try refuse(FileName.split(path).name, beginning)
            try SourceExamination(path: path, name: named.name).examine(beginning)
        }
        return path
    }

    private func makeEntry() throws -> String {
        let entry = staging + "/" + UUID().uuidString.lowercased()
        try FileManager.default.createDirectory(
            atPath: entry, withIntermediateDirectories: false)
        return entry
    }

    /// A directory of links to the file and those that bear its name; the link to the file.
    func view() throws -> String {
        guard !named.isDirectory else { return named.path }
        let entry = try makeEntry()
        for file in named.all {
            try FileManager.default.createSymbolicLink(
                atPath: entry + "/" + FileName.split(file).name, withDestinationPath: file)
        }
        return entry + "/" + FileName.split(named.path).name
    }

    /// The same with copies: SQLite works in the directory of a database whose log is not empty.
    private func copy() throws -> String {
        let entry = try makeEntry()
        for file in named.all where file.hasPrefix(named.path) && !file.hasSuffix("-shm") {
            var copy = try StagedFile(inDirectory: entry)
            try copy.write(contentsOfFile: file)
            try copy.publish(as: entry + "/" + FileName.split(file).name)
        }
        return entry + "/" + FileName.split(named.path).name
    }

    // MARK: Archives

    private static func expandedName(_ name: String) -> String {
        let lowered = name.lowercased()
        if lowered.hasSuffix(".tgz") { return name.dropLast(4) + ".tar" }
        return lowered.hasSuffix(".gz") ? String(name.dropLast(3)) : name
    }

    private static func archive(_ name: String, _ beginning: [UInt8]) -> Archive.Kind? {
        if beginning.starts(with: [0x50, 0x4B, 3, 4]) || beginning.starts(with: [0x50, 0x4B, 5, 6])
            || name.lowercased().hasSuffix(".zip")
        {
            return .zip
        }
        return name.lowercased().hasSuffix(".tar") ? .tar : nil
    }

    private var packedByteCount: Int64 { FileSystem.byteCount(of: named.path) ?? 0 }

    private func expandGzip(to target: String) throws {
        let limit = ImportBounds.expandedByteCount(of: packedByteCount)
        do throws(TextError) {
            try GzipFile.expand(named.path, to: target, limit: limit)
        } catch {
            guard !error.isNoSpace else { throw error }
            if FileSystem.byteCount(of: target) ?? 0 >= limit - 256 << 10 { throw tooLarge(limit) }
            throw Failure(.unreadable, "cannot read '\(named.name)': \(error.reason)")
        }
    }

    private func tooLarge(_ limit: Int64) -> Failure {
        Failure(
            .tooLarge,
            "'\(named.name)' has \(packedByteCount) bytes and expands to more than \(limit)")
    }

    private func expand(_ archive: Archive, into directory: String) throws {
        let entries = try archive.entries()
        guard entries.count <= ImportBounds.entryCount else {
            throw Failure(
                .tooLarge,
                "'\(named.name)' holds \(entries.count) files, the most is "
                    + "\(ImportBounds.entryCount)")
        }
        let limit = ImportBounds.expandedByteCount(of: packedByteCount)
        var byteCount: Int64 = 0
        for entry in entries {
            let steps = try steps(of: entry)
            let isDirectory = entry.hasSuffix("/")
            let parent = ([directory] + (isDirectory ? steps : steps.dropLast()))
                .joined(separator: "/")
            try FileManager.default.createDirectory(
                atPath: parent, withIntermediateDirectories: true)
            guard !isDirectory, let name = steps.last else { continue }
            let output = try OutputFile(creating: parent + "/" + name)
            var place = 0
            try archive.read(entry) { piece in
                byteCount += Int64(piece.count)
                guard byteCount <= limit else { throw tooLarge(limit) }
                try output.write(piece, at: place)
                place += piece.count
            }
        }
    }

    /// The names on the way to an entry; throws where they lead out of the archive, or too deep.
    private func steps(of entry: String) throws(Failure) -> [String] {
        let steps = entry.split(separator: "/").map(String.init)
        let isInside =
            !entry.hasPrefix("/") && !steps.isEmpty
            && steps.allSatisfy { $0 != ".." && $0 != "." && $0.utf8.count < 256 }
            && !entry.contains("\\") && entry.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        guard isInside else {
            throw Failure(
                .unreadable,
                "'\(named.name)' holds '\(entry.prefix(200))', which is no path inside an archive")
        }
        guard steps.count <= ImportBounds.depth else {
            throw Failure(
                .tooLarge,
                "'\(named.name)' holds '\(entry.prefix(200))', deeper than \(ImportBounds.depth) "
                    + "directories")
        }
        return steps
    }

    /// Endings of files that are a source on their own, where others lie beside them.
    private static let sources: Set<String> = [
        "csv", "dgn", "dxf", "fgb", "geojson", "geojsonl", "geojsons", "gml", "gmt", "gpkg", "gpx",
        "jml", "json", "kml", "mbtiles", "osm", "pbf", "sqlite", "topojson", "tsv", "000", "x10",
    ]

    /// What is to be opened of an expanded archive: its only file, `doc.kml`, its only file with an ending of
    /// ``sources``, or its only file geodatabase; else the directory that holds all.
    static func chosen(in directory: String) throws -> String {
        var directory = directory
        while true {
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
                .filter { !$0.hasPrefix(".") && $0 != "__MACOSX" }.sorted()
            let paths = names.map { directory + "/" + $0 }
            if paths.count == 1 {
                guard FileSystem.kind(of: paths[0]) == .directory else { return paths[0] }
                directory = paths[0]
                if FileName.ending(names[0]) == "gdb" { return directory }
                continue
            }
            if let document = names.first(where: { $0.lowercased() == "doc.kml" }) {
                return directory + "/" + document
            }
            // Shapefiles and tables of MapInfo are opened by their directory.
            let endings = Set(names.map(FileName.ending))
            guard endings.isDisjoint(with: ["shp", "tab", "mif"]) else { return directory }
            let found = paths.filter {
                sources.contains(FileName.ending($0)) || FileName.ending($0) == "gdb"
            }
            return found.count == 1 ? found[0] : directory
        }
    }

    // MARK: Directories

    /// Throws where a directory holds a link out of it, too much, or a table that leads elsewhere.
    private func examineDirectory(_ root: String) throws {
        var waiting = [(path: root, depth: 0)]
        var count = 0
        while let (directory, depth) = waiting.popLast() {
            for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
                count += 1
                guard count <= ImportBounds.entryCount, depth < ImportBounds.depth else {
                    throw Failure(
                        .tooLarge,
                        "'\(named.name)' holds more than \(ImportBounds.entryCount) files, or "
                            + "directories deeper than \(ImportBounds.depth)")
                }
                let path = directory + "/" + name
                switch FileSystem.kind(of: path, followingLinks: false) {
                case .directory: waiting.append((path, depth + 1))
                case .file:
                    try SourceExamination(path: path, name: named.name).examineTable()
                    guard FileName.ending(name) == "kml" else { continue }
                    try SourceExamination(path: path, name: named.name)
                        .examineDocument(SourceExamination.beginning(of: path))
                case .link:
                    guard let real = FileSystem.real(path), real.hasPrefix(root + "/") else {
                        throw Failure(
                            .unreadable,
                            "'\(named.name)': '\(name)' in it is a link out of the directory")
                    }
                case .other, nil: continue
                }
            }
        }
    }
}
