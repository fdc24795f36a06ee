// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Geometry
internal import Platform

/// Cache of drawn tiles in memory, by version of their map.
///
/// The least recently used block is evicted first. Concurrent requests for a block share one
/// drawing.
actor TileCache {
    struct Tile: Sendable {
        var bytes: [UInt8]
        /// Entity tag of the bytes: HTTP's `ETag`, with its quotation marks.
        var entityTag: String
        /// The bytes compressed with gzip; nil where that is not less, and of pictures, which are
        /// compressed.
        var zipped: [UInt8]?
        /// Entity tag of ``zipped``.
        var zippedTag: String { entityTag.dropLast() + "-gzip\"" }
    }

    /// Tiles drawn together, row by row.
    struct Block: Sendable {
        var tiles: [Tile]
        var sequence: Int64
        var isStale: Bool
        /// Whether it includes layers on other servers.
        var hasRemote = false
        /// Failures of those layers.
        var missing: [LayerFailure] = []

        fileprivate var byteCount: Int {
            tiles.reduce(512) { $0 + $1.bytes.count + ($1.zipped?.count ?? 0) + 128 }
        }
    }

    /// Maximum total size of the tiles in bytes.
    static let byteBound = 64 << 20
    /// Maximum number of maps with cached tiles.
    static let mapBound = 64
    /// Maximum number of concurrent drawings.
    static let drawingBound = 64
    /// Lifetime of a block with remote layers, which change without notice.
    static let remoteAge = Duration.seconds(60)

    /// What is made and kept together.
    enum Content: Hashable, Sendable {
        case pictures(PictureBlock)
        case vector(TileAddress)
        case styleResource(StyleResource)
    }

    private struct Key: Hashable {
        var version: Int
        var content: Content
    }

    /// The state of a map that determines its tiles.
    private struct Version {
        var map: MapDescription
        var number: Int
        var lastUse: Int
    }

    private let byteBound: Int
    private var versions: [MapName: Version] = [:]
    private var blocks: [Key: (block: Block, lastUse: Int, drawn: ContinuousClock.Instant)] = [:]
    private var byteCount = 0
    private var drawings: [Key: Task<Result<Block, Failure>, Never>] = [:]
    /// Counter of uses and versions.
    private var clock = 0

    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter now: Clock for the age of blocks.
    init(
        byteBound: Int = TileCache.byteBound,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.byteBound = byteBound
        self.now = now
    }

    /// The block of a map in its present state, drawn if it is not cached.
    ///
    /// A drawing continues when the caller's task is cancelled: others may wait for it, and it is
    /// cached. Throws `busy` beyond ``drawingBound``, and the failures of `draw`.
    func block(
        _ content: Content, of map: MapDescription,
        draw: @escaping @Sendable () async throws(Failure) -> Block
    ) async throws(Failure) -> Block {
        clock += 1
        let key = Key(version: version(of: map), content: content)
        if let known = blocks[key] {
            if !known.block.hasRemote || known.drawn.duration(to: now()) < Self.remoteAge {
                blocks[key]?.lastUse = clock
                return known.block
            }
            remove(key)
        }
        if let drawing = drawings[key] { return try await drawing.value.get() }
        guard drawings.count < Self.drawingBound else {
            throw Failure(.busy, "\(Self.drawingBound) blocks of tiles are being drawn already")
        }
        let drawing = Task { () async -> Result<Block, Failure> in
            do throws(Failure) {
                return .success(try await draw())
            } catch {
                return .failure(error)
            }
        }
        drawings[key] = drawing
        let result = await drawing.value
        drawings[key] = nil
        let drawn = try result.get()
        if !drawn.isStale, drawn.missing.isEmpty { keep(drawn, key) }
        return drawn
    }

    /// Version number of the map's present state; tiles of the last one are evicted.
    private func version(of map: MapDescription) -> Int {
        var state = map
        state.sequence = 0
        if let known = versions[map.name], known.map == state {
            versions[map.name]?.lastUse = clock
            return known.number
        }
        if let old = versions.removeValue(forKey: map.name) { drop(old.number) }
        if versions.count >= Self.mapBound,
            let least = versions.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            versions[least.key] = nil
            drop(least.value.number)
        }
        versions[map.name] = Version(map: state, number: clock, lastUse: clock)
        return clock
    }

    private func drop(_ version: Int) {
        for key in blocks.keys where key.version == version { remove(key) }
    }

    private func remove(_ key: Key) {
        byteCount -= blocks.removeValue(forKey: key)?.block.byteCount ?? 0
    }

    private func keep(_ block: Block, _ key: Key) {
        // The map may have changed meanwhile.
        guard versions.values.contains(where: { $0.number == key.version }) else { return }
        remove(key)
        blocks[key] = (block, clock, now())
        byteCount += block.byteCount
        while byteCount > byteBound,
            let oldest = blocks.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            remove(oldest.key)
        }
    }
}

extension TileCache.Tile {
    fileprivate init(_ bytes: [UInt8]) {
        self.bytes = bytes
        entityTag = "\"\(SHA256.digest(bytes).hexadecimal.prefix(32))\""
    }
}

extension TileCache.Block {
    /// A vector tile, or a file of its style.
    init(_ answer: VectorTileAnswer) {
        var tile = TileCache.Tile(Array(answer.bytes))
        let zipped = Gzip.compress(tile.bytes)
        if zipped.count < tile.bytes.count { tile.zipped = zipped }
        tiles = [tile]
        sequence = answer.head.sequence
        isStale = answer.head.isStale
    }

    /// Cuts a picture that was drawn in pieces; throws `corrupt` for any other.
    init(_ picture: ExportedPicture) throws(Failure) {
        tiles = try picture.pieces().map { TileCache.Tile($0) }
        sequence = picture.head.sequence
        isStale = picture.head.isStale
        hasRemote = picture.head.hasRemote ?? false
        missing = picture.head.missing ?? []
    }
}
