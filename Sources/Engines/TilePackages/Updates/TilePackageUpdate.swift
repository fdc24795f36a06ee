// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Geometry

/// Update packages: what turns a package of some tiles into one of others.
///
/// An update is an SQLite database, `application_id` `CTPU`, `user_version` 1. Its table `update`
/// (name, value) has `base` and `target`, the identities of the tiles before and after
/// (``TilePackageSummary/content``), `encoding`, and `metadata`, that of the target as JSON. Its
/// table `tiles` (zoom_level, tile_column, tile_row, tile_data; rows from the top) has, in
/// ascending order, each tile that is new or has other bytes, and with NULL each that is no more.
/// Vector tiles are gzip.
///
/// An update belongs to tiles, not to a file: it applies to a package of any format with the tiles
/// of its base.
public enum TilePackageUpdate {
    /// Writes the update that leads from one package to another of the same encoding.
    @discardableResult
    public static func make(
        from base: TilePackageReader, to target: TilePackageReader, at path: String
    ) throws(Failure) -> TilePackageUpdateSummary {
        let writer = try TilePackageUpdateWriter(
            at: path, base: base, metadata: target.metadata)
        var before = try base.cursor()
        var after = try target.cursor()
        var old = try before.nextPlace()?.0
        var new = try after.next()
        while old != nil || new != nil {
            if let gone = old, new.map({ gone < $0.0 }) ?? true {
                try writer.remove(gone)
                old = try before.nextPlace()?.0
            } else if let (tile, packed) = new {
                try writer.put(tile, packed)
                if old == tile { old = try before.nextPlace()?.0 }
                new = try after.next()
            }
        }
        return try writer.finish()
    }

    /// Writes the package that a base becomes, in the base's format: the bytes that an export of
    /// its tiles and metadata has.
    ///
    /// Throws `conflict` for an update of another base, `corrupt` for a damaged base or update;
    /// then nothing is at `path`. Tiles that have not changed are copied as they are; so where base
    /// and update come of different builds of zlib, vector tiles may be compressed otherwise than
    /// in an export anew, with the same content.
    @discardableResult
    public static func apply(
        _ update: String, to base: TilePackageReader, at path: String
    ) throws(Failure) -> TilePackageSummary {
        let changes = try TileChanges(update)
        if let stated = base.statedContent, stated != changes.base {
            throw Self.otherBase(update, base, stated, changes)
        }
        guard changes.metadata.encoding == base.metadata.encoding else {
            throw Failure(
                .conflict,
                "the update '\(update)' has \(changes.metadata.encoding.rawValue) tiles, "
                    + "'\(base.path)' \(base.metadata.encoding.rawValue)")
        }
        let writer = try TilePackage.writer(base.format, at: path, changes.metadata)
        var digest = TileDigest(base.metadata.encoding)
        var cursor = try base.cursor()
        var old = try cursor.next()
        func copy(before tile: TileAddress?) throws(Failure) {
            while let (kept, packed) = old, tile.map({ kept < $0 }) ?? true {
                digest.add(kept, packed.plain)
                try writer.add(kept, packed)
                old = try cursor.next()
            }
        }
        try changes.forEach { tile, packed throws(Failure) in
            try copy(before: tile)
            if let (kept, packed) = old, kept == tile {
                digest.add(kept, packed.plain)
                old = try cursor.next()
            }
            if let packed { try writer.add(tile, packed) }
        }
        try copy(before: nil)
        guard digest.text == changes.base else {
            throw Self.otherBase(update, base, digest.text, changes)
        }
        guard writer.content == changes.target else {
            throw Failure.damaged(update, "its tiles are not those that it states")
        }
        return try writer.finish()
    }

    private static func otherBase(
        _ update: String, _ base: TilePackageReader, _ content: String, _ changes: TileChanges
    ) -> Failure {
        Failure(
            .conflict,
            "the update '\(update)' is for tiles \(changes.base.prefix(16))…, but '\(base.path)' "
                + "has \(content.prefix(16))…")
    }
}

/// A finished update.
public struct TilePackageUpdateSummary: Hashable, Sendable {
    /// Tiles that are new or have other bytes.
    public let changedCount: Int
    /// Tiles that are no more.
    public let removedCount: Int
    /// Bytes of the file.
    public let byteCount: Int64
    /// SHA-256 of the file, 64 hexadecimal digits.
    public let sha256: String
    /// The identity of the base's tiles.
    public let base: String
    /// The identity of the tiles after the update.
    public let target: String
}
