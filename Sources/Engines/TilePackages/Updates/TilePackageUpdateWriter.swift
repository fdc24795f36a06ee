// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import Geometry

/// Writes an update package from a list of changes.
///
/// It reads the base once, beside the changes, for the identities of both states; a change that is
/// none is left out. Used from one thread.
public final class TilePackageUpdateWriter {
    private let database: PackageDatabase.Writing
    private let metadata: TilePackageMetadata
    private var cursor: TileCursor
    private var old: (TileAddress, PackedTile)?
    private var before: TileDigest
    private var after: TileDigest
    private var last: TileAddress?
    private var counts = (changed: 0, removed: 0)
    private var resources = UpdateResources()

    /// `CTPU`.
    static let applicationID = 0x4354_5055
    static let version = 1

    /// Begins an update of a package; nothing is at `path` until it is finished.
    ///
    /// - Parameter metadata: Of the package after the update; its encoding is the base's.
    public init(
        at path: String, base: TilePackageReader, metadata: TilePackageMetadata
    ) throws(Failure) {
        guard metadata.encoding == base.metadata.encoding else {
            throw Failure(
                .invalidParameter,
                "'\(base.path)' has \(base.metadata.encoding.rawValue) tiles: an update cannot "
                    + "make \(metadata.encoding.rawValue) of them")
        }
        self.metadata = metadata
        before = TileDigest(metadata.encoding)
        after = TileDigest(metadata.encoding)
        database = try PackageDatabase.Writing(
            path, applicationID: Self.applicationID, userVersion: Self.version,
            schema: """
                CREATE TABLE "update" (name TEXT PRIMARY KEY, value TEXT NOT NULL);
                CREATE TABLE tiles (zoom_level INTEGER NOT NULL, tile_column INTEGER NOT NULL,
                tile_row INTEGER NOT NULL, tile_data BLOB);
                """)
        try database.prepareInsert(
            "INSERT INTO tiles (zoom_level, tile_column, tile_row, tile_data) VALUES (?, ?, ?, ?)")
        cursor = try base.cursor()
        old = try cursor.next()
    }

    /// States a tile's bytes after the update; in ascending order with ``remove(_:)``.
    ///
    /// No bytes are no tile. Throws as ``TilePackageWriter/add(_:_:)``.
    public func put(_ tile: TileAddress, _ bytes: [UInt8]) throws(Failure) {
        try put(tile, try PackedTile(bytes, metadata.encoding, tile))
    }

    func put(_ tile: TileAddress, _ packed: PackedTile) throws(Failure) {
        guard !packed.plain.isEmpty else { return try remove(tile) }
        guard metadata.levels.contains(tile.level) else {
            throw Failure(.invalidParameter, "\(tile.text) is not of the update's levels")
        }
        let present = try take(tile)
        after.add(tile, packed.plain)
        // A tile with the same content and another compression is a change of the file.
        guard present?.stored != packed.stored else { return }
        counts.changed += 1
        try database.put(tile, row: tile.row, packed.stored)
    }

    /// States that a tile is no more, if it was.
    public func remove(_ tile: TileAddress) throws(Failure) {
        guard try take(tile) != nil else { return }
        counts.removed += 1
        try database.put(tile, row: tile.row, nil)
    }

    /// Adds a file that the style refers to, as ``TilePackageWriter/add(resource:_:)``.
    public func add(resource name: String, _ bytes: [UInt8]) throws(Failure) {
        try resources.add(name, bytes)
    }

    /// Writes the identities, and gives the file its name, durably.
    @discardableResult
    public func finish() throws(Failure) -> TilePackageUpdateSummary {
        try advance(to: nil)
        let (base, target) = (before.text, after.text)
        let json = String(decoding: metadata.json(content: target), as: UTF8.self)
        for (name, value) in [
            ("base", base), ("target", target), ("encoding", metadata.encoding.rawValue),
            ("metadata", json),
        ] {
            try database.run(
                #"INSERT INTO "update" (name, value) VALUES (?, ?)"#, .text(name), .text(value))
        }
        try resources.write(to: database)
        let file = try database.finish()
        return TilePackageUpdateSummary(
            changedCount: counts.changed, removedCount: counts.removed,
            byteCount: file.byteCount, sha256: file.sha256, base: base, target: target)
    }

    /// Passes the base's tiles up to one, which it returns where the base has it.
    private func take(_ tile: TileAddress) throws(Failure) -> PackedTile? {
        if let last, last >= tile {
            throw Failure(
                .invalidParameter,
                "\(tile.text) comes after \(last.text): expected ascending tiles, none twice")
        }
        last = tile
        try advance(to: tile)
        guard let (present, packed) = old, present == tile else { return nil }
        before.add(present, packed.plain)
        old = try cursor.next()
        return packed
    }

    private func advance(to tile: TileAddress?) throws(Failure) {
        while let (present, packed) = old, tile.map({ present < $0 }) ?? true {
            guard metadata.levels.contains(present.level) else {
                throw Failure(
                    .invalidParameter,
                    "\(present.text) stays, but is not of the update's levels")
            }
            before.add(present, packed.plain)
            after.add(present, packed.plain)
            old = try cursor.next()
        }
    }
}
