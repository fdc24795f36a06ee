// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import Codecs
public import Geometry

/// What a format does with tiles that were checked: in ascending order, none twice, none empty.
protocol TileSink: AnyObject {
    func put(_ tile: TileAddress, _ stored: [UInt8]) throws(Failure)
    /// Keeps a file that the style refers to, where the format has any.
    func put(resource name: String, _ bytes: [UInt8]) throws(Failure)
    /// Writes the rest and gives the file its name; called once.
    func finish(
        _ metadata: TilePackageMetadata, content: String
    ) throws(Failure) -> (byteCount: Int64, sha256: String)
}

extension TileSink {
    func put(resource name: String, _ bytes: [UInt8]) {}
}

/// Writes a tile package; made by ``TilePackage/writer(_:at:_:)``.
///
/// Equal metadata and equal tiles give equal bytes, with one build of zlib and SQLite. Memory stays
/// below some 100 MiB for any number of tiles. A writer that is dropped before it is finished
/// leaves nothing behind. Used from one thread.
public final class TilePackageWriter {
    /// The package's format.
    public let format: TilePackageFormat
    /// The package's metadata.
    public let metadata: TilePackageMetadata
    private let sink: any TileSink
    private var digest: TileDigest
    private var needs: StyleNeeds?
    private var last: TileAddress?
    private var isFinished = false

    init(_ format: TilePackageFormat, _ metadata: TilePackageMetadata, _ sink: any TileSink) {
        self.format = format
        self.metadata = metadata
        self.sink = sink
        digest = TileDigest(metadata.encoding)
        if format == .vtpk { needs = StyleNeeds(style: metadata.style) }
    }

    /// The glyphs that the labels of the tiles so far need, in order; none in formats without files
    /// beside the tiles.
    public var glyphNeeds: [GlyphNeed] { needs.map { $0.glyphs.sorted() } ?? [] }

    /// The paths of all files that the style refers to, with the tiles so far.
    var resourcePaths: [String] { needs?.paths ?? [] }

    /// Adds a file that the style refers to; formats other than VTPK keep none.
    ///
    /// - Parameter name: Its path below the package's resources; none twice.
    public func add(resource name: String, _ bytes: [UInt8]) throws(Failure) {
        guard !isFinished else { throw Failure(.conflict, "the tile package is finished") }
        try sink.put(resource: name, bytes)
    }

    /// Adds a tile: after all that are less (by level, row, column), none twice.
    ///
    /// A vector tile may be plain or gzip already, which is then kept as it is. No bytes are no
    /// tile. Throws `invalidParameter` for a tile out of order or of another level, `tooLarge` for
    /// one beyond ``TilePackage/tileByteLimit``, `noSpace` on a full disk; then the writer is of no
    /// further use.
    public func add(_ tile: TileAddress, _ bytes: [UInt8]) throws(Failure) {
        let packed = try PackedTile(bytes, metadata.encoding, tile)
        try add(tile, packed)
    }

    func add(_ tile: TileAddress, _ packed: PackedTile) throws(Failure) {
        guard !isFinished else { throw Failure(.conflict, "the tile package is finished") }
        if let last, last >= tile {
            throw Failure(
                .invalidParameter,
                "\(tile.text) comes after \(last.text): expected ascending tiles, none twice")
        }
        guard metadata.levels.contains(tile.level) else {
            throw Failure(
                .invalidParameter,
                "\(tile.text): the package has levels \(metadata.levels.lowerBound) to "
                    + "\(metadata.levels.upperBound)")
        }
        last = tile
        guard !packed.plain.isEmpty else { return }
        guard digest.count < TilePackage.tileLimit else {
            throw Failure(.tooLarge, "a tile package has at most \(TilePackage.tileLimit) tiles")
        }
        try needs?.take(packed.plain)
        digest.add(tile, packed.plain)
        try sink.put(tile, packed.stored)
    }

    /// Writes the rest and gives the file its name, durably.
    ///
    /// Throws `noSpace` on a full disk; then nothing is left.
    @discardableResult
    public func finish() throws(Failure) -> TilePackageSummary {
        guard !isFinished else { throw Failure(.conflict, "the tile package is finished") }
        isFinished = true
        let content = digest.text
        let file = try sink.finish(metadata, content: content)
        return TilePackageSummary(
            tileCount: digest.count, byteCount: file.byteCount, sha256: file.sha256,
            content: content)
    }

    /// The identity of the tiles so far.
    var content: String { digest.text }
}

/// A finished package.
public struct TilePackageSummary: Hashable, Sendable {
    /// Number of tiles.
    public let tileCount: Int
    /// Bytes of the file.
    public let byteCount: Int64
    /// SHA-256 of the file, 64 hexadecimal digits.
    public let sha256: String
    /// The identity of the tiles, 64 hexadecimal digits: SHA-256 over their addresses and bytes
    /// before gzip, the same in every format.
    public let content: String
}

/// A tile's bytes, as clients get them and as packages keep them: vector tiles as gzip.
struct PackedTile {
    let plain: [UInt8]
    let stored: [UInt8]

    init(_ bytes: [UInt8], _ encoding: TileEncoding, _ tile: TileAddress) throws(Failure) {
        // A vector tile begins with the tag of a layer, 0x1a.
        if encoding == .mvt, Gzip.isGzip(bytes) {
            self = try PackedTile(stored: bytes, encoding, tile)
            return
        }
        guard bytes.count <= TilePackage.expandedByteLimit else {
            throw Failure(.tooLarge, "\(tile.text) has \(bytes.count) bytes")
        }
        plain = bytes
        stored = encoding == .mvt && !bytes.isEmpty ? Gzip.compress(bytes) : bytes
        guard stored.count <= TilePackage.tileByteLimit else {
            throw Failure(
                .tooLarge,
                "\(tile.text) has \(stored.count) bytes: expected at most "
                    + "\(TilePackage.tileByteLimit)")
        }
    }

    /// Of the bytes in a package.
    init(stored: [UInt8], _ encoding: TileEncoding, _ tile: TileAddress) throws(Failure) {
        self.stored = stored
        guard encoding == .mvt, Gzip.isGzip(stored) else {
            plain = stored
            return
        }
        guard let plain = Gzip.expand(stored, limit: TilePackage.expandedByteLimit) else {
            throw Failure(.corrupt, "\(tile.text) is no whole gzip, or expands to too many bytes")
        }
        self.plain = plain
    }
}
