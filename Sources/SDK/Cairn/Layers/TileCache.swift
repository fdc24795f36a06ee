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

/// Style, glyphs and sprites of vector tiles, in a folder.
public final class ItemResourceCache: LoadableBase, @unchecked Sendable {
    /// The folder.
    public let fileURL: URL
    /// A cache; it is opened when it is loaded.
    public init(fileURL: URL) { self.fileURL = fileURL }
    override func performLoad() async throws { try PackageFile.check(fileURL) }

    /// The style in it.
    func styleJSON() throws -> String {
        let file = fileURL.appending(path: "root.json")
        do { return try String(contentsOf: file, encoding: .utf8) } catch {
            throw CairnError(
                .file, "'\(file.path(percentEncoded: false))' cannot be read: \(error)")
        }
    }
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
