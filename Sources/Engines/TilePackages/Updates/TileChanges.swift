// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Geometry
internal import Platform

/// An update package that is read.
final class TileChanges {
    /// What an update states of the tiles that it applies to.
    enum Base {
        /// The identities of the tiles before and after.
        case tiles(before: String, after: String)
        /// The provenance of the package before, and the digest of the changes themselves.
        case provenance([ProvenanceEntry], digest: String)
    }

    /// A change of one tile.
    struct Change {
        var tile: TileAddress
        /// Its bytes; nil for a tile that is no more.
        var packed: PackedTile?
        /// ``TileDigest/state(_:)`` before; nil where the update does not state it.
        var before: [UInt8]?
    }

    private let database: PackageDatabase.Reading
    /// What it applies to.
    let base: Base
    /// Of the package after the update.
    let metadata: TilePackageMetadata
    /// Files that the style refers to, those that the base has excepted.
    let resources: [String: [UInt8]]

    init(_ path: String) throws(Failure) {
        let file: MappedFile
        do throws(MappingError) { file = try MappedFile(path: path) } catch {
            throw Failure(error.isNotFound ? .notFound : .unreadable, error.description)
        }
        let head = file.copy(0..<100)
        guard head.count == 100, head.starts(with: Array("SQLite format 3\0".utf8)),
            head[68..<72].reduce(0, { $0 << 8 | Int($1) })
                == TilePackageUpdateWriter.applicationID
        else { throw Failure(.unreadable, "'\(path)' is no update of a tile package") }
        let version = head[60..<64].reduce(0) { $0 << 8 | Int($1) }
        let (first, last) = (TilePackageUpdateWriter.version, TileChangeWriter.version)
        guard first...last ~= version else {
            throw Failure(
                .newerVersion,
                "the update '\(path)' is of version \(version): expected \(first) or \(last)")
        }
        try PackageDatabase.checkLength(file)
        database = try PackageDatabase.Reading(path)
        var values: [String: String] = [:]
        for row in try database.rows(#"SELECT name, value FROM "update""#, columns: 2) {
            if let name = row[0], let value = row[1] { values[name] = value }
        }
        guard
            let metadata = values["metadata"].flatMap({ JSONTree(Array($0.utf8)) })
                .flatMap(TilePackageMetadata.init),
            let base = Self.base(values, isFirst: version == first)
        else { throw Failure.damaged(path, "its identities or its metadata cannot be read") }
        (self.base, self.metadata) = (base, metadata)
        resources = try UpdateResources(values, path).files
    }

    private static func base(_ values: [String: String], isFirst: Bool) -> Base? {
        if isFirst {
            guard let before = values["base"], let after = values["target"] else { return nil }
            return .tiles(before: before, after: after)
        }
        guard let digest = values["changes"],
            let list = values["base"].flatMap({ JSONTree(Array($0.utf8)) }),
            let provenance = [ProvenanceEntry](list)
        else { return nil }
        return .provenance(provenance, digest: digest)
    }

    /// Every change in ascending order.
    func forEach(_ body: (Change) throws(Failure) -> Void) throws(Failure) {
        var last: TileAddress?
        let statesBefore = if case .provenance = base { true } else { false }
        try database.changes(statesBefore: statesBefore) {
            level, column, row, bytes, before throws(Failure) in
            guard
                let tile = TileAddress(
                    level: Int(clamping: level), row: Int(clamping: row),
                    column: Int(clamping: column)),
                last.map({ $0 < tile }) ?? true
            else { throw Failure.damaged(database.path, "its tiles are not in ascending order") }
            last = tile
            let packed = try bytes.map { bytes throws(Failure) in
                try PackedTile(stored: bytes, metadata.encoding, tile)
            }
            try body(Change(tile: tile, packed: packed, before: before))
        }
    }
}
