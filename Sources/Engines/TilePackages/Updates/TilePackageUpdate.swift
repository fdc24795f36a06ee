// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Geometry

/// Update packages: what turns a package of some tiles into one of others.
///
/// An update is an SQLite database, `application_id` `CTPU`, `user_version` 1 or 2. Its table
/// `update` (name, value) has `encoding`, `metadata`, that of the target as JSON, and what it
/// applies to. Its table `tiles` (zoom_level, tile_column, tile_row, tile_data; rows from the top)
/// has, in ascending order, each tile that is new or has other bytes, and with NULL each that is no
/// more. Vector tiles are gzip. Files that the style of a VTPK refers to, fonts and symbols, are
/// further rows of `update`, `resource PATH`, in base64: all that the base may lack.
///
/// An update of version 1 is made of two packages. `base` and `target` are the identities of the
/// tiles before and after (``TilePackageSummary/content``): it belongs to tiles, not to a file, and
/// applies to a package of any format with the tiles of its base.
///
/// One of version 2 is made without them (``TileChangeWriter``). `base` is the provenance of the
/// package that it applies to, as JSON, `changes` the identity of its own tiles, and the column
/// `tile_before` has the SHA-256 of each tile before, a zero byte for one that was none, NULL where
/// that is not known.
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
        for path in target.resourcePaths {
            guard let bytes = try target.resource(path), try base.resource(path) != bytes else {
                continue
            }
            try writer.add(resource: path, bytes)
        }
        return try writer.finish()
    }

    /// Writes the package that a base becomes, in the base's format: the bytes that an export of
    /// its tiles and metadata has.
    ///
    /// Throws `conflict` for an update of another base, or of another format's package where the
    /// update is of version 2, `corrupt` for a damaged base or update;
    /// then nothing is at `path`. Tiles that have not changed are copied as they are; so where base
    /// and update come of different builds of zlib, vector tiles may be compressed otherwise than
    /// in an export anew, with the same content.
    @discardableResult
    public static func apply(
        _ update: String, to base: TilePackageReader, at path: String
    ) throws(Failure) -> TilePackageSummary {
        let changes = try TileChanges(update)
        try check(changes, of: update, against: base)
        let writer = try TilePackage.writer(base.format, at: path, changes.metadata)
        var digest = TileDigest(base.metadata.encoding)
        var listed = TileDigest(base.metadata.encoding)
        var cursor = try base.cursor()
        var old = try cursor.next()
        func copy(before tile: TileAddress?) throws(Failure) {
            while let (kept, packed) = old, tile.map({ kept < $0 }) ?? true {
                digest.add(kept, packed.plain)
                try writer.add(kept, packed)
                old = try cursor.next()
            }
        }
        try changes.forEach { change throws(Failure) in
            try copy(before: change.tile)
            var replaced: [UInt8]?
            if let (kept, packed) = old, kept == change.tile {
                digest.add(kept, packed.plain)
                replaced = packed.plain
                old = try cursor.next()
            }
            if let before = change.before, before != TileDigest.state(replaced) {
                throw Failure(
                    .conflict,
                    "the update '\(update)' is for another \(change.tile.text) than "
                        + "'\(base.path)' has")
            }
            listed.add(change.tile, change.before, change.packed?.plain)
            if let packed = change.packed { try writer.add(change.tile, packed) }
        }
        try copy(before: nil)
        switch changes.base {
        case .tiles(let before, let after):
            guard digest.text == before else {
                throw otherBase(update, base, digest.text, before)
            }
            guard writer.content == after else { throw Self.damage(update) }
        case .provenance(_, let stated):
            guard digest.text == base.statedContent ?? digest.text else {
                throw Failure.damaged(base.path, "its tiles are not those that it states")
            }
            guard listed.text == stated else { throw Self.damage(update) }
        }
        for path in writer.resourcePaths {
            var bytes = changes.resources[path]
            if bytes == nil { bytes = try base.resource(path) }
            if let bytes {
                try writer.add(resource: path, bytes)
            } else if case .provenance = changes.base {
                throw Failure(
                    .conflict,
                    "neither the update '\(update)' nor '\(base.path)' has \(path)")
            }
        }
        return try writer.finish()
    }

    private static func damage(_ update: String) -> Failure {
        Failure.damaged(update, "its tiles are not those that it states")
    }

    /// Throws `conflict` where the package cannot be the update's base.
    private static func check(
        _ changes: TileChanges, of update: String, against base: TilePackageReader
    ) throws(Failure) {
        let metadata = base.metadata
        switch changes.base {
        case .tiles(let before, _):
            if let stated = base.statedContent, stated != before {
                throw otherBase(update, base, stated, before)
            }
        case .provenance(let wanted, _):
            guard metadata.provenance == wanted else {
                let entry = wanted.first { !metadata.provenance.contains($0) }
                let other = metadata.provenance.first { !wanted.contains($0) }
                throw Failure(
                    .conflict,
                    "the update '\(update)' is for a package made of "
                        + "\(entry.map { "\($0.name) \($0.value)" } ?? "less"), but "
                        + "'\(base.path)' is of "
                        + "\(other.map { "\($0.name) \($0.value)" } ?? "less")")
            }
        }
        guard changes.metadata.encoding == metadata.encoding else {
            throw Failure(
                .conflict,
                "the update '\(update)' has \(changes.metadata.encoding.rawValue) tiles, "
                    + "'\(base.path)' \(metadata.encoding.rawValue)")
        }
    }

    private static func otherBase(
        _ update: String, _ base: TilePackageReader, _ content: String, _ wanted: String
    ) -> Failure {
        Failure(
            .conflict,
            "the update '\(update)' is for tiles \(wanted.prefix(16))…, but '\(base.path)' "
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
