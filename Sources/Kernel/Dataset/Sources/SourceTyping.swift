// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import GDAL
import Platform
import Tables

/// A source that GDAL reads without changing a value, with the types of its columns.
///
/// Tables of text and JSON are surveyed once, and rewritten where GDAL would change a value.
struct SourceTyping {
    /// The file to open.
    let file: SourceFile
    /// Known types of its columns.
    let types: ColumnTypes
    /// Open options of the driver meant.
    private(set) var options: [String] = []

    /// Whether it is a table of text.
    private(set) var isTable = false

    /// Examines the file; converted forms are written into `staging`.
    init(
        _ file: SourceFile, _ choices: ImportChoices, in staging: borrowing StagingDirectory
    ) throws {
        try file.check()
        var (path, types) = (file.path, ColumnTypes())
        func transcoded() throws -> String {
            let target = try staging.makeEntry() + "/" + FileName.split(path).name
            return try choices.transcoded(path, name: file.part, to: target) ?? path
        }
        func note(_ found: SourceEncoding) {
            types.encoding = choices.encoding.map { SourceEncoding($0, .chosen) } ?? found
        }
        let (directory, name) = FileName.split(path)
        let beginning =
            FileSystem.kind(of: path) == .directory ? [] : SourceExamination.beginning(of: path)
        if ["csv", "tsv", "txt", "psv"].contains(FileName.ending(name)) {
            let entry = try Self.view(of: directory, endings: ["prj"], in: staging)
            let target = entry + "/" + FileName.stem(name) + ".csv"
            isTable = true
            if FileSystem.kind(of: target, followingLinks: false) == nil,
                var table = try TableSource(
                    try transcoded(), to: target, geometry: choices.options.geometry)
            {
                let stated = directory + "/" + FileName.stem(name) + ".csvt"
                table.state(TableSource.statedKinds(stated))
                (path, types) = (target, table.types)
                note(table.types.encoding)
            }
            options = choices.options.geometry?.openOptions ?? []
        } else if JSONSource.isJSON(beginning) {
            let entry = try staging.makeEntry()
            path = try transcoded()
            if let written = try JSONSource.prepare(path, to: entry + "/" + name, &types) {
                path = written
            }
            note(types.encoding)
        } else if beginning.starts(with: "<?xml".utf8) {
            let entry = try Self.view(
                of: directory, endings: ["gfs", "xsd", "prj"], in: staging)
            if let stated = try XMLSource.prepare(
                path, to: entry + "/" + name, name: file.name)
            {
                types.encoding = SourceEncoding(stated, .stated)
                path = entry + "/" + name
            }
        }
        if let tables = try Self.tables(path, choices.encoding, in: staging, &types) {
            path = tables.path
            options = tables.options
        }
        if let chosen = choices.encoding, types.encoding.basis != .chosen {
            types.fileNotes.append(
                "the encoding of this format is \(types.encoding.name): \(chosen), which was "
                    + "chosen, has no effect")
        }
        types.statements += choices.options.fields
        self.file = file.moved(to: path)
        self.types = types
    }

    /// A view of a shapefile, or of a directory of shapefiles, with tables declared as `C` for
    /// columns to be read as text; nil for other sources, and for tables without such columns.
    private static func tables(
        _ path: String, _ chosen: String?, in staging: borrowing StagingDirectory,
        _ types: inout ColumnTypes
    ) throws -> (path: String, options: [String])? {
        let isDirectory = FileSystem.kind(of: path) == .directory
        let (directory, name) = isDirectory ? (path, "") : FileName.split(path)
        guard isDirectory || ["shp", "dbf", "shx"].contains(FileName.ending(name)) else {
            return nil
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: directory + "/").sorted()
        var marks: [String: [Int]] = [:]
        var encodings: Set<String> = []
        for table in names
        where FileName.ending(table) == "dbf"
            && (isDirectory
                || FileName.stem(table).lowercased() == FileName.stem(name).lowercased())
        {
            let stem = FileName.stem(table).lowercased()
            let page = names.first { $0.lowercased() == stem + ".cpg" }
                .flatMap { try? MappedFile(path: directory + "/" + $0) }
                .map { String(decoding: $0.copy(0..<min(256, $0.byteCount)), as: UTF8.self) }
                .map { String(decoding: TextValue.trimmed(Array($0.utf8)), as: UTF8.self) }
            guard
                let source = DBFSource(
                    directory + "/" + table, codePage: page, chosen: chosen)
            else { continue }
            types.encoding = source.types.encoding
            marks[table] = source.textMarks
            if let encoding = source.encoding { encodings.insert(encoding) }
            types.notes += source.types.notes
            types.fileNotes += source.types.fileNotes
        }
        // With several encodings the driver detects that of each table.
        let options = encodings.count == 1 ? encodings.map { "ENCODING=" + $0 } : []
        guard marks.contains(where: { !$0.value.isEmpty }) else {
            return options.isEmpty ? nil : (path, options)
        }
        let entry = try staging.makeEntry()
        for other in names where FileSystem.kind(of: directory + "/" + other) == .file {
            let target = entry + "/" + other
            guard let places = marks[other], !places.isEmpty else {
                try FileManager.default.createSymbolicLink(
                    atPath: target, withDestinationPath: directory + "/" + other)
                continue
            }
            let file = try MappedFile(path: directory + "/" + other)
            let output = try OutputFile(creating: target)
            for start in stride(from: 0, to: file.byteCount, by: 1 << 20) {
                var piece = file.copy(start..<min(start + (1 << 20), file.byteCount))
                if start == 0 { for place in places { piece[place] = UInt8(ascii: "C") } }
                try output.write(piece, at: start)
            }
        }
        return (isDirectory ? entry : entry + "/" + name, options)
    }

    /// A directory of links to files of a directory with some endings.
    private static func view(
        of directory: String, endings: Set<String>, in staging: borrowing StagingDirectory
    ) throws -> String {
        let entry = try staging.makeEntry()
        for other in try FileManager.default.contentsOfDirectory(atPath: directory + "/")
        where endings.contains(FileName.ending(other)) {
            try FileManager.default.createSymbolicLink(
                atPath: entry + "/" + other, withDestinationPath: directory + "/" + other)
        }
        return entry
    }
}
