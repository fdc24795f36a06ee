// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// Writes an update package without its base: from a list of changes that was found elsewhere.
///
/// The package that it applies to is known by its provenance. Used from one thread.
public final class TileChangeWriter {
    /// What is known of a tile before the update.
    public enum Before: Sendable {
        /// Nothing.
        case unknown
        /// Its bytes, vector tiles without gzip; none for no tile.
        case bytes([UInt8])
        /// ``TileChangeWriter/state(of:)`` of these bytes.
        case state([UInt8])
    }

    private let database: PackageDatabase.Writing
    private let metadata: TilePackageMetadata
    private let base: [ProvenanceEntry]
    private var digest: TileDigest
    private var last: TileAddress?
    private var counts = (changed: 0, removed: 0)
    private var needs: StyleNeeds
    private var resources = UpdateResources()

    static let version = 2

    /// Begins an update; nothing is at `path` until it is finished.
    ///
    /// - Parameters:
    ///   - base: The provenance of the package that it applies to, whole and in order.
    ///   - metadata: Of the package after the update.
    public init(
        at path: String, base: [ProvenanceEntry], metadata: TilePackageMetadata
    ) throws(Failure) {
        self.base = base
        self.metadata = metadata
        digest = TileDigest(metadata.encoding)
        needs = StyleNeeds(style: metadata.style)
        database = try PackageDatabase.Writing(
            path, applicationID: TilePackageUpdateWriter.applicationID,
            userVersion: Self.version,
            schema: """
                CREATE TABLE "update" (name TEXT PRIMARY KEY, value TEXT NOT NULL);
                CREATE TABLE tiles (zoom_level INTEGER NOT NULL, tile_column INTEGER NOT NULL,
                tile_row INTEGER NOT NULL, tile_data BLOB, tile_before BLOB);
                """)
        try database.prepareInsert(
            "INSERT INTO tiles (zoom_level, tile_column, tile_row, tile_data, tile_before) "
                + "VALUES (?, ?, ?, ?, ?)")
    }

    /// The state of a tile's bytes: their SHA-256, vector tiles without gzip; a zero byte for no
    /// bytes, no tile.
    public static func state(of bytes: [UInt8]) -> [UInt8] { TileDigest.state(bytes) }

    /// States a tile's bytes after the update, none for no tile; in ascending order, none twice.
    ///
    /// Throws as ``TilePackageWriter/add(_:_:)``.
    public func put(
        _ tile: TileAddress, _ bytes: [UInt8], before: Before
    ) throws(Failure) {
        if let last, last >= tile {
            throw Failure(
                .invalidParameter,
                "\(tile.text) comes after \(last.text): expected ascending tiles, none twice")
        }
        guard metadata.levels.contains(tile.level) else {
            throw Failure(.invalidParameter, "\(tile.text) is not of the update's levels")
        }
        last = tile
        let packed = try PackedTile(bytes, metadata.encoding, tile)
        let isTile = !packed.plain.isEmpty
        let state: [UInt8]? =
            switch before {
            case .unknown: nil
            case .bytes(let bytes): TileDigest.state(bytes)
            case .state(let state): state
            }
        digest.add(tile, state, isTile ? packed.plain : nil)
        if isTile { try needs.take(packed.plain) }
        if isTile { counts.changed += 1 } else { counts.removed += 1 }
        try database.put(tile, row: tile.row, isTile ? packed.stored : nil, before: state)
    }

    /// The glyphs that the labels of the tiles so far need, in order.
    public var glyphNeeds: [GlyphNeed] { needs.glyphs.sorted() }

    /// Adds a file that the style refers to, as ``TilePackageWriter/add(resource:_:)``.
    public func add(resource name: String, _ bytes: [UInt8]) throws(Failure) {
        try resources.add(name, bytes)
    }

    /// Writes what it applies to, and gives the file its name, durably.
    @discardableResult
    public func finish() throws(Failure) -> TileChangeSummary {
        for (name, value) in [
            ("base", String(decoding: base.json, as: UTF8.self)), ("changes", digest.text),
            ("encoding", metadata.encoding.rawValue),
            ("metadata", String(decoding: metadata.json(content: ""), as: UTF8.self)),
        ] {
            try database.run(
                #"INSERT INTO "update" (name, value) VALUES (?, ?)"#, .text(name), .text(value))
        }
        try resources.write(to: database)
        let file = try database.finish()
        return TileChangeSummary(
            changedCount: counts.changed, removedCount: counts.removed,
            byteCount: file.byteCount, sha256: file.sha256)
    }
}

/// A finished update that was made without its base.
public struct TileChangeSummary: Hashable, Sendable {
    /// Tiles that are new or have other bytes.
    public let changedCount: Int
    /// Tiles that are no more.
    public let removedCount: Int
    /// Bytes of the file.
    public let byteCount: Int64
    /// SHA-256 of the file, 64 hexadecimal digits.
    public let sha256: String
}
