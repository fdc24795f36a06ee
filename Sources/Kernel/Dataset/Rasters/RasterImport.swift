// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import GDAL
internal import Platform

/// A raster that an import made, or found to be there already.
public struct ImportedRaster: Hashable, Sendable {
    /// The file's name without its extension.
    public var name: String
    /// Content id of the raster in the site.
    public var raster: ContentID
    /// Properties of the raster.
    public var properties: LayerProperties
    /// Notes on parts left out.
    public var notes: [String]
}

/// Imports rasters into a site, from self-contained file formats.
public enum RasterImport {
    /// Whether a file is a raster; reads no more than its beginning.
    public static func recognises(_ path: String) -> Bool {
        RasterSource.format(of: FileSystem.absolute(path)) != nil
    }

    /// Copies a raster, with the files that belong to it, into the site; all or nothing.
    ///
    /// The copy is `<directory>/<sha256>/` with the files as they are, renamed to `raster.…`, and
    /// `raster.json`, which lists their hashes and names the raster by its own. The same files give
    /// the same raster. Blocks the calling thread.
    ///
    /// Throws `notFound`, `unreadable` (no raster, no georeferencing, complex numbers, files that
    /// belong to it under other names), `noSpace`.
    public static func importFile(
        path: String, into directory: String
    ) throws(Failure) -> ImportedRaster {
        let staging = try StagingDirectory(in: directory)
        do {
            let (entry, raster) = try SourceFile.readRaster(path, in: staging) { file in
                let entry = try staging.makeEntry()
                return (entry, try copy(file, to: entry))
            }
            try staging.publish(entry: entry, as: raster.raster.rawValue)
            return raster
        } catch {
            throw Failure(importing: error).naming(path)
        }
    }

    private static func copy(_ file: SourceFile, to entry: String) throws -> ImportedRaster {
        let source = try RasterSource(path: file.path, name: file.name)
        let (names, notes) = try names(of: source, file.path)
        var files: [RasterManifest.File] = []
        for (origin, name) in names {
            var copy = try StagedFile(inDirectory: entry)
            try copy.write(contentsOfFile: origin)
            let (digest, byteCount) = (copy.digest, copy.byteCount)
            try copy.publish(as: entry + "/" + name)
            files.append(.init(name: name, byteCount: byteCount, sha256: ContentID(digest)))
        }
        let manifest = RasterManifest(format: source.driver, files: files)
        let bytes = Array(try CairnJSON.encode(manifest))
        var list = try StagedFile(inDirectory: entry)
        try list.write(bytes)
        try list.publish(as: entry + "/" + RasterManifest.name)
        // The copy is read before it gets its name: it must be complete without the original.
        let copy = try RasterSource(
            path: FileSystem.absolute(entry + "/" + names[0].name), name: file.name,
            format: source.driver)
        let (_, properties) = try RasterFile.describe(copy)
        return ImportedRaster(
            name: stem(of: file.name), raster: ContentID(SHA256.digest(bytes)),
            properties: properties, notes: notes)
    }

    /// The files to copy and their new names, the one to open first.
    private static func names(
        of source: RasterSource, _ path: String
    ) throws -> (names: [(origin: String, name: String)], notes: [String]) {
        let stem = stem(of: path).lowercased()
        let main = path.split(separator: "/").last ?? ""
        var names: [(String, String)] = []
        var notes: [String] = []
        for file in [path] + source.files.filter({ $0 != path }) {
            let own = file.split(separator: "/").last.map(String.init) ?? file
            if own.lowercased().hasSuffix(".ovr") {
                notes.append("the overviews in '\(own)' are not needed and were left out")
                continue
            }
            guard own.lowercased().hasPrefix(stem + ".") || own.lowercased() == stem,
                file.dropLast(own.count) == path.dropLast(main.count),
                FileSystem.kind(of: file) == .file, names.count < 16
            else {
                throw Failure(
                    .unreadable,
                    "it needs '\(own)', whose name does not begin with '\(stem).': convert it to "
                        + "GeoTIFF first (gdal_translate)")
            }
            try examine(file, own)
            names.append((file, "raster" + own.dropFirst(stem.count)))
        }
        return (names, notes)
    }

    /// Throws where the mask beside a raster is a format that can name other files.
    private static func examine(_ file: String, _ name: String) throws {
        guard name.lowercased().hasSuffix(".msk") else { return }
        let content = try MappedFile(path: file)
        let mark = content.copy(0..<min(4, content.byteCount))
        guard ["II*\0", "MM\0*", "II+\0", "MM\0+"].contains(where: { mark == Array($0.utf8) })
        else {
            throw Failure(.unreadable, "its mask '\(name)' is not a TIFF")
        }
    }

    private static func stem(of path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
        return String(name[..<dot])
    }
}
