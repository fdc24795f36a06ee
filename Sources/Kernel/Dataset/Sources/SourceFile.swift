// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
public import GDAL
import Platform

/// The sandboxed file or directory of an import.
///
/// A directory that holds nothing else shows the source with the companion files of its name, or
/// the expanded archive; other files that its content refers to are absent. The reading thread is
/// confined (`Confinement`) to these files and the import's own directory.
public struct SourceFile: Sendable {
    /// Path of the file.
    public let path: String
    /// The import's source, for messages.
    public let name: String
    /// Path inside the import's archive or directory; the name for the source itself.
    public let part: String
    /// The reason to refuse it; nil as a rule.
    private let refusal: Failure?

    /// A converted form in the import's own directory.
    public init(path: String, name: String) {
        self.init(path: path, name: name, part: name)
    }

    init(path: String, name: String, part: String, refusal: Failure? = nil) {
        self.path = path
        self.name = name
        self.part = part
        self.refusal = refusal
    }

    /// The file in a converted form, in the import's own directory.
    func moved(to path: String) -> SourceFile {
        SourceFile(path: path, name: name, part: part, refusal: refusal)
    }

    /// Throws the refusal, if any.
    func check() throws(Failure) { if let refusal { throw refusal } }

    /// The file with another name in messages.
    func renamed(_ part: String) -> SourceFile {
        SourceFile(path: path, name: name, part: part, refusal: refusal)
    }

    /// Opens the file; throws `unreadable` for an unsupported format, with a list of the supported
    /// ones.
    ///
    /// - Parameter options: Open options of the one driver meant, `KEY=VALUE`.
    public func open(options: [String] = []) throws -> VectorSource {
        try check()
        let isTable = [".csv", ".tsv", ".txt"].contains { path.lowercased().hasSuffix($0) }
        let isJSON =
            FileSystem.kind(of: path) == .file
            && JSONSource.isJSON(SourceExamination.beginning(of: path))
        do throws(GDALError) {
            return try VectorSource(
                path: path, name: part,
                options: options + (isTable ? Self.tableOptions(besides: options) : [])
                    + (isJSON ? Self.jsonOptions : []))
        } catch {
            guard error.messages.allSatisfy(Self.isUnrecognised) else { throw error }
            throw Failure(
                .unreadable, "\(error.description): expected \(VectorFormats.list)",
                details: Array(error.messages.dropFirst()))
        }
    }

    /// Whether GDAL's message reports that no driver recognises a file.
    private static func isUnrecognised(_ message: String) -> Bool {
        message.contains("not recognized as a supported file format")
            || message.contains("not recognized as being in a supported file format")
    }

    /// The options for coordinates in tables.
    private static let tableOptions = [
        "X_POSSIBLE_NAMES=longitude,long,lon,lng,x,easting",
        "Y_POSSIBLE_NAMES=latitude,lat,y,northing",
        "GEOM_POSSIBLE_NAMES=wkt,the_geom,geom,geometry",
        "AUTODETECT_TYPE=NO", "KEEP_GEOM_COLUMNS=YES",
    ]

    /// Those for which `options` has no others.
    private static func tableOptions(besides options: [String]) -> [String] {
        tableOptions.filter { usual in
            let key = usual.prefix { $0 != "=" } + "="
            return !options.contains { $0.hasPrefix(key) }
        }
    }

    /// Days and times stay as they are written.
    private static let jsonOptions = ["DATE_AS_STRING=YES"]

    /// Prepares a source and calls `body` with it on a confined thread, while the caller waits.
    ///
    /// The source is a vector file, a gzip file of one, a tar or zip archive, or a directory.
    /// Throws `notFound`; `unreadable` for an unsupported format, a database with virtual tables
    /// that reach beyond it, a document with a DOCTYPE, a table of MapInfo that is a view of
    /// others, a link out of the directory; `tooLarge` for an expansion beyond ``ImportBounds``;
    /// and the errors of `body`.
    ///
    /// - Parameters:
    ///   - path: The path of the source.
    ///   - staging: The import's own directory.
    public static func read<Value>(
        _ path: String, in staging: borrowing StagingDirectory,
        _ body: (SourceFile) throws -> Value
    ) throws -> Value {
        try confined(path, in: staging) { try body(try $0.file()) }
    }

    /// Calls `body` for all data sets of an archive or a directory, in the order of their names.
    ///
    /// They include those of inner archives, within the bounds of the outer one.
    public static func readAll<Value>(
        _ path: String, in staging: borrowing StagingDirectory,
        _ body: ([SourceFile]) throws -> Value
    ) throws -> Value {
        try confined(path, in: staging) { try body(try $0.files()) }
    }

    /// Calls `body` with the path of a raster, which is never an archive, among the files of its
    /// name.
    public static func readRaster<Value>(
        _ path: String, in staging: borrowing StagingDirectory,
        _ body: (SourceFile) throws -> Value
    ) throws -> Value {
        try confined(path, in: staging) { try body(SourceFile(path: try $0.view(), name: path)) }
    }

    /// Runs `body` on a thread that may read the source and write into `staging`, and waits for it.
    private static func confined<Value>(
        _ path: String, in staging: borrowing StagingDirectory,
        _ body: (SourcePreparation) throws -> Value
    ) throws -> Value {
        let named = try NamedFiles(path)
        let directory = FileSystem.absolute(staging.path)
        VectorSource.prepare()
        return try Confinement.run("import", reading: named.all, writing: [directory]) {
            VectorSource.keepTemporaryFiles(in: directory)
            VectorSource.readsTextAsText()
            return try body(SourcePreparation(named, in: directory))
        }
    }
}

/// The source named on the command line, with its companion files.
struct NamedFiles {
    /// The name as given.
    let name: String
    /// The absolute path.
    let path: String
    let isDirectory: Bool
    /// Plain files of the same directory whose names begin with its name up to the last dot.
    let companions: [String]

    /// All readable files.
    var all: [String] { [path] + companions }

    /// Files beside a file that bear its name.
    private static let companionLimit = 2_000

    /// A file in the source's directory, with its companions.
    init(_ path: String, of name: String) throws(Failure) {
        self.name = name
        self.path = path
        isDirectory = false
        companions = try Self.companions(of: path, name)
    }

    /// Throws `notFound`, or `unreadable` for anything but a file or directory.
    init(_ name: String) throws(Failure) {
        let path = FileSystem.absolute(name)
        // An empty name must not stand for the working directory.
        guard !name.isEmpty, let kind = FileSystem.kind(of: path) else {
            throw Failure(.notFound, "'\(name)' does not exist")
        }
        guard kind == .file || kind == .directory, PlainPath.isPlain(path) else {
            throw Failure(.unreadable, "'\(name)': expected the path of a file or a directory")
        }
        self.name = name
        isDirectory = kind == .directory
        if isDirectory {
            self.path = FileSystem.real(path) ?? path
            companions = []
        } else {
            self.path = path
            companions = try Self.companions(of: path, name)
        }
    }

    private static func companions(of path: String, _ name: String) throws(Failure) -> [String] {
        let (directory, own) = FileName.split(path)
        let stem = FileName.stem(own).lowercased() + "."
        // In a directory that cannot be listed, no companions are found.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory + "/")) ?? []
        var companions: [String] = []
        for other in names.sorted() where other != own && other.lowercased().hasPrefix(stem) {
            let companion = directory + "/" + other
            guard FileSystem.kind(of: companion) == .file else { continue }
            guard isOfDirectory(companion, directory) else {
                throw Failure(
                    .unreadable,
                    "'\(name)': '\(other)' beside it is a link out of the directory")
            }
            companions.append(companion)
        }
        guard companions.count <= companionLimit else {
            throw Failure(
                .tooLarge,
                "'\(name)': \(companions.count) files beside it bear its name, the most is "
                    + "\(companionLimit)")
        }
        return companions
    }

    private static func isOfDirectory(_ file: String, _ directory: String) -> Bool {
        if FileSystem.kind(of: file, followingLinks: false) == .file { return true }
        guard let real = FileSystem.real(file), let home = FileSystem.real(directory + "/") else {
            return false
        }
        return FileName.split(real).directory == (home == "/" ? "" : home)
    }
}

/// The parts of a path.
enum FileName {
    /// The directory, without `/` at its end, and the name in it.
    static func split(_ path: String) -> (directory: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    /// The name up to its last dot.
    static func stem(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// The lower-case extension.
    static func ending(_ name: String) -> String {
        guard let dot = name.lastIndex(of: ".") else { return "" }
        return name[name.index(after: dot)...].lowercased()
    }
}
