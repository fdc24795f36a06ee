// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A package of pictures as tiles in a file (`.tpkx`).
public final class TileCache: LoadableBase, @unchecked Sendable {
    /// The file.
    public let fileURL: URL
    private let package = PackageTiles()

    /// A package; it is opened when it is loaded.
    public init(fileURL: URL) { self.fileURL = fileURL }

    /// How its tiles lie; nil before it is loaded.
    public var tileInfo: TileInfo? { TileInfo(package.file?.root.member("tileInfo")) }
    /// Around all its tiles; nil before it is loaded.
    public var fullExtent: Envelope? {
        Geometry.make(package.file?.root.member("fullExtent"), nil) as? Envelope
    }

    override func performLoad() async throws { try package.open(fileURL) }

    /// The tiles; throws for a package that is not loaded.
    func opened() throws -> CompactTileFile { try package.opened(fileURL) }
}

/// A package of vector tiles in a file (`.vtpk`).
public final class VectorTileCache: LoadableBase, @unchecked Sendable {
    /// The file.
    public let fileURL: URL
    private let package = PackageTiles()

    /// A package; it is opened when it is loaded.
    public init(fileURL: URL) { self.fileURL = fileURL }

    override func performLoad() async throws { try package.open(fileURL) }

    /// The tiles; throws for a package that is not loaded.
    func opened() throws -> CompactTileFile { try package.opened(fileURL) }
}

/// The tiles of a package, once it is loaded.
private final class PackageTiles: Sendable {
    private let opened = Guarded<CompactTileFile?>(nil)

    var file: CompactTileFile? { opened.current }

    func open(_ url: URL) throws {
        try PackageFile.check(url)
        opened.current = try CompactTileFile(url)
    }

    func opened(_ url: URL) throws -> CompactTileFile {
        guard let file else {
            throw CairnError(
                .invalidState, "'\(url.path(percentEncoded: false))' is not loaded")
        }
        return file
    }
}

/// Glyphs and sprites of a style, in a folder.
public final class ItemResourceCache: LoadableBase, @unchecked Sendable {
    /// The folder.
    public let fileURL: URL
    /// A cache; it is opened when it is loaded.
    public init(fileURL: URL) { self.fileURL = fileURL }
    override func performLoad() async throws { try PackageFile.check(fileURL) }
}

/// Features of a service in a file, which can be synchronised: a GeoPackage.
public final class Geodatabase: LoadableBase, @unchecked Sendable {
    /// The file.
    public let fileURL: URL
    /// What the server knows it by; nil where it is registered with none.
    public var syncID: String? { registered.current }
    private let registered: Guarded<String?>

    /// A geodatabase; it is opened when it is loaded.
    public convenience init(fileURL: URL) { self.init(fileURL: fileURL, syncID: nil) }

    init(fileURL: URL, syncID: String?) {
        self.fileURL = fileURL
        registered = Guarded(syncID ?? Self.note(of: fileURL))
    }

    override func performLoad() async throws {
        guard fileURL.pathExtension.lowercased() != "geodatabase" else {
            throw CairnError.unsupported("reading of Esri's .geodatabase", by: fileURL)
        }
        try PackageFile.check(fileURL)
    }

    /// Where the id of the replica is kept: beside the file.
    private static func noteURL(_ file: URL) -> URL { file.appendingPathExtension("replica") }

    private static func note(of file: URL) -> String? {
        (try? String(contentsOf: noteURL(file), encoding: .utf8))?
            .trimmingCharacters(in: .whitespacesAndNewlines).orNil
    }

    static func keep(_ replica: String, for file: URL) throws {
        do { try replica.write(to: noteURL(file), atomically: true, encoding: .utf8) } catch {
            throw TransportError(
                .file, "'\(noteURL(file).path(percentEncoded: false))' cannot be written: \(error)")
        }
    }

    func forget() {
        registered.current = nil
        try? FileManager.default.removeItem(at: Self.noteURL(fileURL))
    }
}

/// A map with its data in a folder: map, geodatabases, tiles, locator.
public final class MobileMapPackage: LoadableBase, @unchecked Sendable {
    /// The folder.
    public let fileURL: URL
    private let content = Guarded<(maps: [Map], locator: LocatorTask?)>((maps: [], locator: nil))

    /// A package; it is opened when it is loaded.
    public init(fileURL: URL) { self.fileURL = fileURL }

    /// Its maps; empty before it is loaded.
    public var maps: [Map] { content.current.maps }
    /// Its locator; nil where it has none.
    public var locatorTask: LocatorTask? { content.current.locator }

    override func performLoad() async throws {
        try PackageFile.check(fileURL)
        let document = fileURL.appending(path: "map.json")
        let text: String
        do { text = try String(contentsOf: document, encoding: .utf8) } catch {
            throw CairnError(
                .invalidDocument,
                "'\(fileURL.path(percentEncoded: false))' is no package of a map: it has no "
                    + "map.json")
        }
        content.current = ([try Map.fromJSON(text)], nil)
    }
}

/// Files of packages.
enum PackageFile {
    static func check(_ url: URL) throws {
        guard url.isFileURL, FileManager.default.fileExists(atPath: url.path(percentEncoded: false))
        else {
            throw CairnError(.file, "there is no file '\(url.path(percentEncoded: false))'")
        }
    }
}
