// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Platform

/// Files of many tiles: their limits, and how they are opened and made.
public enum TilePackage {
    /// The most tiles of a package, written or read.
    public static let tileLimit = 100_000_000
    /// The most bytes of a tile as it is stored; compact caches hold no greater ones.
    public static let tileByteLimit = 1 << 24 - 1
    /// The most bytes of a vector tile before gzip.
    public static let expandedByteLimit = 64 << 20

    /// Begins a package; nothing is at `path` until it is finished, then all of it.
    ///
    /// Throws `invalidParameter` for metadata that the format cannot keep, `noSpace` on a full
    /// disk.
    ///
    /// - Parameters:
    ///   - path: The file; one of that name is replaced. Its directory also takes what does not fit
    ///     into memory, in files without names.
    public static func writer(
        _ format: TilePackageFormat, at path: String, _ metadata: TilePackageMetadata
    ) throws(Failure) -> TilePackageWriter {
        try metadata.check(for: format)
        let directory = directory(of: path)
        let sink: any TileSink =
            switch format {
            case .mbtiles: try MBTilesSink(path, metadata)
            case .gpkg: try GeoPackageSink(path, metadata)
            case .pmtiles: try PMTilesSink(path, scratch: directory)
            case .tpkx, .vtpk: try CompactSink(path, format, scratch: directory)
            }
        return TilePackageWriter(format, metadata, sink)
    }

    /// Opens a package of any format, which it tells by the first bytes and members.
    ///
    /// Throws `notFound` for a missing file, `unreadable` for one that is no tile package of web
    /// maps, `corrupt` for a damaged one. The file must not change while it is open.
    ///
    /// - Parameter scratch: A directory for what does not fit into memory (the order of more than
    ///   262,144 tiles); the package's own where it is nil.
    public static func open(
        _ path: String, scratch: String? = nil
    ) throws(Failure) -> TilePackageReader {
        let file: MappedFile
        do throws(MappingError) { file = try MappedFile(path: path) } catch {
            throw Failure(error.isNotFound ? .notFound : .unreadable, error.description)
        }
        let scratch = scratch ?? directory(of: path)
        let (format, source) = try source(file)
        return TilePackageReader(path, format, source, scratch: scratch)
    }

    private static func source(
        _ file: MappedFile
    ) throws(Failure) -> (TilePackageFormat, any TileSource) {
        let head = file.copy(0..<100)
        if head.starts(with: Array("PMTiles".utf8)) {
            return (.pmtiles, try PMTilesSource(file))
        }
        if head.starts(with: Array("SQLite format 3\0".utf8)) {
            try PackageDatabase.checkLength(file)
            let database = try PackageDatabase.Reading(file.path)
            return try database.has(table: "gpkg_contents")
                ? (.gpkg, try GeoPackageSource(database))
                : (.mbtiles, try MBTilesSource(database))
        }
        if head.starts(with: [0x50, 0x4b]) {
            let archive = try ZipReader(file)
            return archive.has("p12/root.json")
                ? (.vtpk, try CompactSource(archive, .vtpk))
                : (.tpkx, try CompactSource(archive, .tpkx))
        }
        throw Failure(.unreadable, "'\(file.path)' is no tile package: its first bytes are unknown")
    }

    static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

extension Failure {
    /// The failure of writing a package.
    init(package error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as PlatformError: self.init(error)
        default: self.init(.internal, "\(error)")
        }
    }

    /// The refusal of a package whose bytes do not have the form of its format.
    static func damaged(_ path: String, _ what: String) -> Failure {
        Failure(.corrupt, "the tile package '\(path)' is damaged: \(what)")
    }
}
