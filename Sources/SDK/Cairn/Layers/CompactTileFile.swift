// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Platform

/// The tiles of a TPKX or VTPK: bundles of a compact cache V2 that lie unpacked in a ZIP archive
/// (https://github.com/Esri/tile-package-spec, https://github.com/Esri/raster-tiles-compactcache).
///
/// The file is read where tiles are asked for. Any thread may ask.
final class CompactTileFile: Sendable {
    /// Rows and columns of a bundle.
    private static let side = 128
    /// Bytes in front of a bundle's index.
    private static let headerCount = 64
    /// The most bytes of a document in the archive.
    private static let documentLimit = 16 << 20

    private let archive: ZipFile
    private let bundles: String
    /// In front of the names of its documents.
    private let folder: String
    /// `root.json`.
    let root: JSON

    /// Opens a package.
    ///
    /// Throws ``CairnError``: `file` where it cannot be read, `invalidDocument` for what is no such
    /// package or is cut short.
    init(_ url: URL) throws {
        archive = try ZipFile(url, of: "package of tiles")
        let folder = archive.members["root.json"] == nil ? "p12/" : ""
        guard let member = archive.members[folder + "root.json"] else {
            throw archive.damaged("it has no root.json")
        }
        let bytes = try archive.bytes(of: member, atMost: Self.documentLimit)
        guard let root = JSON(bytes) else {
            throw archive.damaged("its root.json is no JSON")
        }
        let path = root.text("tileBundlesPath") ?? "./tile"
        self.folder = folder
        bundles = folder + (path.hasPrefix("./") ? String(path.dropFirst(2)) : path).lowercased()
        self.root = root
    }

    /// The style of vector tiles in the package.
    func styleJSON() throws -> String {
        guard let member = archive.members[folder + "resources/styles/root.json"] else {
            throw archive.damaged("it has no resources/styles/root.json")
        }
        let bytes = try archive.bytes(of: member, atMost: Self.documentLimit)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The bytes of a tile; nil where there is none.
    func tile(level: Int, row: Int, column: Int) throws -> Data? {
        guard 0...99 ~= level, 0..<1 << 30 ~= row, 0..<1 << 30 ~= column else { return nil }
        func name(_ number: Int) -> String {
            let text = String(number / Self.side * Self.side, radix: 16)
            return String(repeating: "0", count: max(0, 4 - text.count)) + text
        }
        let folder = level < 10 ? "l0\(level)" : "l\(level)"
        guard
            let bundle = archive.members[
                "\(bundles)/\(folder)/r\(name(row))c\(name(column)).bundle"]
        else { return nil }
        guard bundle.method == 0 else { throw archive.damaged("a bundle in it is packed") }
        let start = try archive.start(of: bundle)
        let slot = row % Self.side * Self.side + column % Self.side
        let place = Self.headerCount + 8 * slot
        guard place + 8 <= bundle.byteCount else { throw archive.damaged("a bundle ends early") }
        let entry = try archive.read(start + UInt64(place), 8).littleEndian(at: 0, 8)
        let (offset, count) = (entry & (1 << 40 - 1), Int(entry >> 40))
        guard count > 0 else { return nil }
        guard offset + UInt64(count) <= UInt64(bundle.byteCount) else {
            throw archive.damaged("tile \(level)/\(row)/\(column) is not in its bundle")
        }
        return Data(try archive.read(start + offset, count))
    }
}
