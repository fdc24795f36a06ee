// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Geometry
internal import Platform

/// An update package that is read.
final class TileChanges {
    private let database: PackageDatabase.Reading
    /// The identity of the tiles before.
    let base: String
    /// The identity of the tiles after.
    let target: String
    /// Of the package after the update.
    let metadata: TilePackageMetadata

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
        guard version == TilePackageUpdateWriter.version else {
            throw Failure(
                .newerVersion,
                "the update '\(path)' is of version \(version): expected "
                    + "\(TilePackageUpdateWriter.version)")
        }
        try PackageDatabase.checkLength(file)
        database = try PackageDatabase.Reading(path)
        var values: [String: String] = [:]
        for row in try database.rows(#"SELECT name, value FROM "update""#, columns: 2) {
            if let name = row[0], let value = row[1] { values[name] = value }
        }
        guard let base = values["base"], let target = values["target"],
            let metadata = values["metadata"].flatMap({ JSONTree(Array($0.utf8)) })
                .flatMap(TilePackageMetadata.init)
        else { throw Failure.damaged(path, "its identities or its metadata cannot be read") }
        (self.base, self.target, self.metadata) = (base, target, metadata)
    }

    /// Every change in ascending order; nil for a tile that is no more.
    func forEach(
        _ body: (TileAddress, PackedTile?) throws(Failure) -> Void
    ) throws(Failure) {
        var last: TileAddress?
        try database.changes { level, column, row, bytes throws(Failure) in
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
            try body(tile, packed)
        }
    }
}
