// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Codecs
public import Geometry

/// What a format finds in a file; a place is a number by which it finds a tile's bytes again.
protocol TileSource: AnyObject {
    var metadata: TilePackageMetadata { get }
    /// The identity of the tiles, where the package states it.
    var content: String? { get }
    /// Every tile and its place, in any order.
    func list(
        _ body: (_ tile: TileAddress, _ place: UInt64) throws(Failure) -> Void
    ) throws(Failure)
    func bytes(of tile: TileAddress) throws(Failure) -> [UInt8]?
    func bytes(at place: UInt64) throws(Failure) -> [UInt8]
    /// The paths of files that a style refers to.
    var resourcePaths: [String] { get }
    func resource(_ path: String) throws(Failure) -> [UInt8]?
}

extension TileSource {
    var resourcePaths: [String] { [] }
    func resource(_ path: String) -> [UInt8]? { nil }
}

/// Reads a tile package; made by ``TilePackage/open(_:scratch:)``.
///
/// Used from one thread.
public final class TilePackageReader {
    /// The file.
    public let path: String
    /// Its format.
    public let format: TilePackageFormat
    let source: any TileSource
    private let scratch: String

    init(
        _ path: String, _ format: TilePackageFormat, _ source: any TileSource, scratch: String
    ) {
        self.path = path
        self.format = format
        self.source = source
        self.scratch = scratch
    }

    /// Its metadata; of packages of other programs, what their formats define.
    public var metadata: TilePackageMetadata { source.metadata }

    /// The identity of its tiles as the package states it, see ``TilePackageSummary/content``; nil
    /// for packages of other programs.
    public var statedContent: String? { source.content }

    /// The paths of the fonts and symbols that a VTPK has beside its style, sorted.
    public var resourcePaths: [String] { source.resourcePaths.sorted() }

    /// A file of ``resourcePaths``; nil for any other path.
    public func resource(_ path: String) throws(Failure) -> [UInt8]? {
        try source.resource(path)
    }

    /// A tile's bytes, those of vector tiles without gzip; nil where there is none.
    ///
    /// Throws `corrupt` where they cannot be read.
    public func tile(_ tile: TileAddress) throws(Failure) -> [UInt8]? {
        try storedTile(tile).map { stored throws(Failure) in try packed(tile, stored).plain }
    }

    /// A tile's bytes as they are in the package: vector tiles as gzip; nil where there is none.
    public func storedTile(_ tile: TileAddress) throws(Failure) -> [UInt8]? {
        guard let bytes = try source.bytes(of: tile) else { return nil }
        return try checked(tile, bytes)
    }

    /// Every tile in ascending order (level, row, column); vector tiles without gzip.
    public func forEach(
        _ body: (TileAddress, [UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        var cursor = try cursor()
        while let (tile, packed) = try cursor.next() { try body(tile, packed.plain) }
    }

    /// Reads every tile; throws `corrupt` unless they are the tiles that were written.
    ///
    /// Packages of other programs state nothing of it: theirs need only be readable.
    ///
    /// - Returns: The identity of the tiles.
    @discardableResult
    public func verify() throws(Failure) -> String {
        var digest = TileDigest(metadata.encoding)
        try forEach { tile, bytes throws(Failure) in digest.add(tile, bytes) }
        guard statedContent == nil || statedContent == digest.text else {
            throw Failure.damaged(path, "its tiles are not those that it states")
        }
        return digest.text
    }

    func cursor() throws(Failure) -> TileCursor {
        let sorter = RowSorter(scratch: scratch)
        try source.list { [path] tile, place throws(Failure) in
            guard sorter.count < TilePackage.tileLimit else {
                throw Failure(
                    .tooLarge, "'\(path)' has more than \(TilePackage.tileLimit) tiles")
            }
            try sorter.add(SortableRow(first: tile.sortKey, second: place))
        }
        return TileCursor(self, try sorter.sorted())
    }

    fileprivate func checked(_ tile: TileAddress, _ bytes: [UInt8]) throws(Failure) -> [UInt8] {
        guard !bytes.isEmpty, bytes.count <= TilePackage.tileByteLimit else {
            throw Failure.damaged(path, "\(tile.text) has \(bytes.count) bytes")
        }
        return bytes
    }

    fileprivate func packed(
        _ tile: TileAddress, _ stored: [UInt8]
    ) throws(Failure) -> PackedTile {
        do throws(Failure) {
            return try PackedTile(stored: stored, metadata.encoding, tile)
        } catch { throw Failure.damaged(path, error.message) }
    }
}

/// The tiles of a package in ascending order.
struct TileCursor {
    private let reader: TilePackageReader
    private var rows: MergedRows
    private var last: UInt64?

    init(_ reader: TilePackageReader, _ rows: MergedRows) {
        self.reader = reader
        self.rows = rows
    }

    /// The next tile.
    mutating func next() throws(Failure) -> (TileAddress, PackedTile)? {
        guard let (tile, place) = try nextPlace() else { return nil }
        return (
            tile,
            try reader.packed(tile, try reader.checked(tile, try reader.source.bytes(at: place)))
        )
    }

    /// The next tile, whose bytes are not read.
    mutating func nextPlace() throws(Failure) -> (TileAddress, UInt64)? {
        guard let row = try rows.next(), let tile = TileAddress(sortKey: row.first) else {
            return nil
        }
        guard last != row.first else {
            throw Failure.damaged(reader.path, "it has \(tile.text) twice")
        }
        last = row.first
        return (tile, row.second)
    }
}
