// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
internal import Codecs
import FoundationEssentials
import GDAL
import Platform

/// Bounds on the expanded size of a file, and on the number of files examined.
public enum ImportBounds {
    /// Files and directories in an archive or a directory.
    public static let entryCount = 10_000
    /// Directories one inside the other.
    public static let depth = 16
    /// Most bytes that a gzip file or an archive may expand to: 200 times its size, 256 MiB at
    /// least and 64 GiB at most.
    public static func expandedByteCount(of packed: Int64) -> Int64 {
        min(64 << 30, max(256 << 20, packed.multipliedReportingOverflow(by: 200).partialValue))
    }
}

/// Prepares a source: expands it, examines it, and isolates it in a directory of its own.
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

    /// The single file or directory to open.
    func file() throws -> SourceFile {
        let files = try files(isSplit: false)
        guard let file = files.first else {
            throw Failure(.unreadable, "'\(named.name)' holds no file of a supported format")
        }
        return file
    }

    /// All files to open; at least one.
    func files() throws -> [SourceFile] { try files(isSplit: true) }

    /// - Parameter isSplit: Whether each data set of an archive or a directory is opened on its
    ///   own.
    private func files(isSplit: Bool) throws -> [SourceFile] {
        var expansion = Expansion(packed: FileSystem.byteCount(of: named.path) ?? 0)
        if named.isDirectory {
            try examineDirectory(named.path)
            return try dataSets(in: named.path, isOwn: false, isSplit: isSplit, &expansion)
        }
        var (path, name) = (named.path, FileName.split(named.path).name)
        var isExpanded = false
        if GzipFile.isGzip(path) {
            name = Self.expandedName(name)
            let expanded = try makeEntry() + "/" + name
            try expandGzip(path, to: expanded, &expansion)
            (path, isExpanded) = (expanded, true)
        }
        let beginning = SourceExamination.beginning(of: path)
        try refuse(name, beginning)
        if let kind = Self.archive(name, beginning) {
            let directory = try makeEntry()
            let archive = try Archive(path: path, name: named.name, kind: kind)
            try expand(archive, into: directory, &expansion)
            // The documents of a KMZ file name each other by their places in it.
            if FileName.ending(name) == "kmz" {
                _ = try examined(try Self.chosen(in: directory))
                try examineDirectory(directory)
                return [file(isExpanded ? path : try view())]
            }
            return try dataSets(in: directory, isOwn: true, isSplit: isSplit, &expansion)
        }
        if !isExpanded {
            path =
                SourceExamination.isDatabaseWithLog(path, beginning)
                ? try copy() : try view()
        }
        return [file(try examined(path))]
    }

    private func file(_ path: String) -> SourceFile { SourceFile(path: path, name: named.name) }

    /// Refuses an unsupported format by its name, before GDAL fails to recognise it.
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
                    "'\(named.name)' holds gzip in what was expanded: expected "
                        + "\(VectorFormats.list)"
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
    func view() throws -> String { try view(of: named) }

    private func view(of named: NamedFiles) throws -> String {
        guard !named.isDirectory else { return named.path }
        let entry = try makeEntry()
        let links = LinkNames(of: named)
        for (name, file) in links.all {
            try FileManager.default.createSymbolicLink(
                atPath: entry + "/" + name, withDestinationPath: file)
        }
        return entry + "/" + links.own
    }

    /// Copies the files instead of linking them: SQLite works in the directory of a database whose
    /// log is not empty.
    private func copy() throws -> String { try copy(of: named) }

    private func copy(of named: NamedFiles) throws -> String {
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

    private func expandGzip(
        _ path: String, to target: String, _ expansion: inout Expansion
    ) throws {
        let limit = expansion.limit - expansion.byteCount
        do throws(TextError) {
            try GzipFile.expand(path, to: target, limit: limit)
        } catch {
            guard !error.isNoSpace else { throw error }
            if FileSystem.byteCount(of: target) ?? 0 >= limit - 256 << 10 {
                throw tooLarge(expansion)
            }
            throw Failure(.unreadable, "cannot read '\(named.name)': \(error.reason)")
        }
        // A tar archive is counted by the files that it expands to.
        if !FileName.split(target).name.lowercased().hasSuffix(".tar") {
            expansion.byteCount += FileSystem.byteCount(of: target) ?? 0
        }
    }

    private func tooLarge(_ expansion: Expansion) -> Failure {
        Failure(
            .tooLarge,
            "'\(named.name)' has \(expansion.packed) bytes and expands to more than "
                + "\(expansion.limit)")
    }

    private func expand(
        _ archive: Archive, into directory: String, _ expansion: inout Expansion
    ) throws {
        let entries = try archive.entries()
        expansion.entryCount += entries.count
        guard expansion.entryCount <= ImportBounds.entryCount else {
            throw Failure(
                .tooLarge,
                "'\(named.name)' holds \(expansion.entryCount) files, the most is "
                    + "\(ImportBounds.entryCount)")
        }
        for entry in entries {
            let steps = try steps(of: entry.name)
            let isDirectory = entry.name.hasSuffix("/") || steps.isEmpty
            let parent = ([directory] + (isDirectory ? steps : steps.dropLast()))
                .joined(separator: "/")
            try FileManager.default.createDirectory(
                atPath: parent, withIntermediateDirectories: true)
            guard !isDirectory, let name = steps.last else { continue }
            let output = try OutputFile(creating: parent + "/" + name)
            var place = 0
            try archive.read(entry) { piece in
                expansion.byteCount += Int64(piece.count)
                guard expansion.byteCount <= expansion.limit else { throw tooLarge(expansion) }
                try output.write(piece, at: place)
                place += piece.count
            }
        }
    }

    /// The names on the way to an entry, none for `./`; throws where they lead out of the archive,
    /// or too deep.
    private func steps(of entry: String) throws(Failure) -> [String] {
        // Some programs of Windows part directories their way.
        let entry = entry.replacing("\\", with: "/")
        let steps = entry.split(separator: "/").map(String.init).filter { $0 != "." }
        let isInside =
            !entry.hasPrefix("/") && !entry.isEmpty
            && steps.allSatisfy { $0 != ".." && $0.utf8.count < 256 }
            && entry.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        guard isInside else {
            throw Failure(
                .unreadable,
                "'\(named.name)' holds '\(entry.prefix(200))', not a path inside an archive")
        }
        guard steps.count <= ImportBounds.depth else {
            throw Failure(
                .tooLarge,
                "'\(named.name)' holds '\(entry.prefix(200))', deeper than \(ImportBounds.depth) "
                    + "directories")
        }
        return steps
    }

    /// The part of an expanded archive to open: its only file, `doc.kml`, its only file with an
    /// extension of ``DataSets``, or its only file geodatabase; else the directory that holds all.
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
                DataSets.endings.contains(FileName.ending($0)) || FileName.ending($0) == "gdb"
            }
            return found.count == 1 ? found[0] : directory
        }
    }

    // MARK: Data sets

    /// The data sets in a directory, each seen with the files that bear its name and no others.
    ///
    /// - Parameter isOwn: Whether the directory is the import's own.
    private func dataSets(
        in root: String, isOwn: Bool, isSplit: Bool, _ expansion: inout Expansion
    ) throws -> [SourceFile] {
        if isOwn { try examineDirectory(root) }
        guard isSplit, FileName.ending(root) != "gdb" else {
            return [file(try examined(isOwn ? try Self.chosen(in: root) : root))]
        }
        var found: [SourceFile] = []
        try collect(root, isOwn: isOwn, prefix: "", depth: 0, &found, &expansion)
        if found.isEmpty {
            found = [file(try examined(isOwn ? try Self.chosen(in: root) : root))]
        }
        guard found.count == 1 else { return found }
        // The inner name has no interest when it is the only one.
        return [found[0].alone]
    }

    private func collect(
        _ root: String, isOwn: Bool, prefix: String, depth: Int, _ found: inout [SourceFile],
        _ expansion: inout Expansion
    ) throws {
        let sets = try DataSets(in: root)
        for path in sets.paths {
            let part = prefix + path.dropFirst(root.count + 1)
            do {
                if let inner = try innerArchive(path) {
                    guard depth < Self.archiveDepth else {
                        throw Failure(
                            .tooLarge,
                            "'\(part)': archives are nested deeper than \(Self.archiveDepth)")
                    }
                    let directory = try makeEntry()
                    try expandInner(path, inner, into: directory, &expansion)
                    try examineDirectory(directory)
                    let before = found.count
                    try collect(
                        directory, isOwn: true, prefix: part + "/", depth: depth + 1, &found,
                        &expansion)
                    if found.count == before {
                        throw Failure(.unreadable, "'\(part)' holds no file of a supported format")
                    }
                } else {
                    let place = try prepared(path, isOwn: isOwn)
                    found.append(SourceFile(path: place, name: named.name, part: part))
                }
            } catch {
                let failure = Failure(importing: error)
                guard failure.code == .unreadable else { throw failure }
                found.append(
                    SourceFile(path: path, name: named.name, part: part, refusal: failure))
            }
        }
    }

    /// Archives one inside the other, beside the one that was named.
    private static let archiveDepth = 3

    /// The path to open for a data set.
    private func prepared(_ path: String, isOwn: Bool) throws -> String {
        if FileSystem.kind(of: path) == .directory { return try examined(path) }
        let ending = FileName.ending(path)
        if ending == "kmz" {
            // Expanded for examination; its documents name each other by their places in it.
            var expansion = Expansion(packed: FileSystem.byteCount(of: path) ?? 0)
            let directory = try makeEntry()
            let archive = try Archive(path: path, name: named.name, kind: .zip)
            try expand(archive, into: directory, &expansion)
            _ = try examined(try Self.chosen(in: directory))
            try examineDirectory(directory)
            return path
        }
        if isOwn, !LinkNames.isFolded(ending) { return try examined(path) }
        let files = try NamedFiles(path, of: named.name)
        // SQLite works in the directory of a database with a log, if it only looks.
        let isCopied =
            !isOwn
            && SourceExamination.isDatabaseWithLog(path, SourceExamination.beginning(of: path))
        return try examined(isCopied ? try copy(of: files) : try view(of: files))
    }

    /// The kind of a file that is an archive itself; nil for others, and for formats read as
    /// archives.
    private func innerArchive(_ path: String) throws -> Archive.Kind? {
        let name = FileName.split(path).name.lowercased()
        if name.hasSuffix(".tar.gz") || name.hasSuffix(".tgz") { return .tar }
        guard FileSystem.kind(of: path) == .file, FileName.ending(name) != "kmz" else {
            return nil
        }
        return Self.archive(name, SourceExamination.beginning(of: path))
    }

    private func expandInner(
        _ path: String, _ kind: Archive.Kind, into directory: String,
        _ expansion: inout Expansion
    ) throws {
        var path = path
        if GzipFile.isGzip(path) {
            let name = Self.expandedName(FileName.split(path).name)
            let expanded = try makeEntry() + "/" + name
            try expandGzip(path, to: expanded, &expansion)
            path = expanded
        }
        try expand(
            Archive(path: path, name: named.name, kind: kind), into: directory, &expansion)
    }

    // MARK: Directories

    /// Throws for a directory with a link out of it, too many files, or a table that refers to
    /// files elsewhere.
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
