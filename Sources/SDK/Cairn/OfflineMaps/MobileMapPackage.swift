// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A map with its data, in a folder or in a ZIP archive of one.
///
/// In it are `map.json`, geodatabases, tiles, and `locator.bin`.
///
/// Its map draws, identifies and queries from these files; no server is asked.
public final class MobileMapPackage: LoadableBase, @unchecked Sendable {
    /// The folder, or the archive.
    public let fileURL: URL
    private struct Content: Sendable {
        var maps: [Map] = []
        var locator: LocatorTask?
        var itemInfo: OfflineMapItemInfo?
        var geodatabases = PackagedGeodatabases()
        /// Where an archive is unpacked.
        var unpacked: URL?
    }
    private let content = Guarded(Content())

    /// A package; it is opened when it is loaded.
    public init(fileURL: URL) { self.fileURL = fileURL }

    deinit { close() }

    /// Its maps; empty before it is loaded.
    public var maps: [Map] { content.current.maps }
    /// Its locator; nil where it has none, and before it is loaded.
    public var locatorTask: LocatorTask? { content.current.locator }
    /// What it says of itself; nil where it says nothing, and before it is loaded.
    public var itemInfo: OfflineMapItemInfo? { content.current.itemInfo }

    /// Loading reads the map's document; an archive is unpacked into a folder of the temporary
    /// directory, which goes with ``close()``, and with the package.
    ///
    /// Throws ``CairnError``: `file` where it cannot be read or unpacked, `invalidDocument` for
    /// what is no package.
    override func performLoad() async throws {
        try PackageFile.check(fileURL)
        var content = Content()
        do {
            let folder = try Self.folder(of: fileURL, &content)
            try Self.read(folder, of: fileURL, into: &content)
        } catch {
            if let unpacked = content.unpacked { try? FileManager.default.removeItem(at: unpacked) }
            throw error
        }
        self.content.current = content
    }

    private static func folder(of file: URL, _ content: inout Content) throws -> URL {
        if (try? file.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true {
            return URL(
                filePath: file.path(percentEncoded: false), directoryHint: .isDirectory)
        }
        let archive = try ZipFile(file, of: "package of a map")
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "cairn-package-\(UUID().uuidString)", directoryHint: .isDirectory)
        content.unpacked = folder
        try archive.unpack(into: folder)
        // An archive may have everything in one folder.
        let names = archive.members.keys.filter { !$0.hasSuffix("/") }
        if !names.contains("map.json"),
            let inner = archive.members["map.json"]?.name
                ?? archive.members.values.map(\.name).filter({
                    $0.lowercased().hasSuffix("/map.json")
                })
                .min(by: { $0.count < $1.count })
        {
            return folder.appending(
                path: String(inner.dropLast("map.json".count)), directoryHint: .isDirectory)
        }
        return folder
    }

    private static func read(
        _ folder: URL, of file: URL, into content: inout Content
    ) throws {
        let name = file.path(percentEncoded: false)
        let data: Data
        do { data = try Data(contentsOf: folder.appending(path: "map.json")) } catch {
            throw CairnError(
                .invalidDocument, "'\(name)' is no package of a map: it has no map.json")
        }
        guard let document = JSON([UInt8](data)) else {
            throw CairnError(
                .invalidDocument, "'\(name)' is no package of a map: its map.json is no JSON")
        }
        let map = Map()
        try map.read(document, from: folder, content.geodatabases)
        content.maps = [map]
        content.itemInfo = document.member("itemInfo").map { OfflineMapItemInfo($0) }
        let locator = folder.appending(path: "locator.bin")
        if FileManager.default.fileExists(atPath: locator.path(percentEncoded: false)) {
            content.locator = LocatorTask(locatorFileURL: locator)
        }
    }

    /// Closes its files, and removes what was unpacked: its maps and its locator are not to be used
    /// any more.
    public func close() {
        content.withLock { content in
            content.geodatabases.close()
            if let unpacked = content.unpacked { try? FileManager.default.removeItem(at: unpacked) }
            content.unpacked = nil
            (content.maps, content.locator) = ([], nil)
        }
    }
}

/// The geodatabases of a package, each opened once.
final class PackagedGeodatabases: Sendable {
    private let byPath = Guarded<[String: Geodatabase]>([:])

    func geodatabase(_ url: URL) -> Geodatabase {
        let path = url.path(percentEncoded: false)
        return byPath.withLock { byPath in
            if let known = byPath[path] { return known }
            let made = Geodatabase(fileURL: URL(filePath: path))
            byPath[path] = made
            return made
        }
    }

    func close() {
        for geodatabase in byPath.current.values { geodatabase.close() }
    }
}
