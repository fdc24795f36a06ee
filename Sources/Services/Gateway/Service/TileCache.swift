// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Codecs
internal import FoundationEssentials
internal import Geometry
internal import Platform
internal import Synchronization

/// Cache of drawn tiles in memory, by version of their map.
///
/// The least recently used block is evicted first. Concurrent requests for a block share one
/// drawing. Callable on any thread; nothing in it waits but for a drawing.
final class TileCache: Sendable {
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

    /// What it has done, and holds.
    struct Figures: Hashable, Sendable {
        /// Requests answered by a kept block.
        var keptCount = 0
        /// Requests for which a block was drawn, or that waited for one.
        var madeCount = 0
        /// Memory of the kept blocks.
        var byteCount = 0
    }

    /// What requests change, each time within one lock.
    private struct State: ~Copyable {
        private let byteBound: Int
        private var versions: [MapName: Version] = [:]
        private var blocks: [Key: (block: Block, lastUse: Int, drawn: ContinuousClock.Instant)] =
            [:]
        /// Uses of blocks in their order; those before `firstUse`, and all of a block but its last,
        /// are past.
        private var uses: [(key: Key, number: Int)] = []
        private var firstUse = 0
        var drawings: [Key: Task<Result<Block, Failure>, Never>] = [:]
        private(set) var figures = Figures()
        /// Counter of uses and versions.
        private var clock = 0

        init(byteBound: Int) { self.byteBound = byteBound }

        /// The key of a map's present state, whose last state's tiles are evicted.
        mutating func key(_ content: Content, of map: MapDescription) -> Key {
            Key(version: version(of: map), content: content)
        }

        /// The key of a map's present state, where tiles of that state were asked for before.
        func knownKey(_ content: Content, of map: MapDescription) -> Key? {
            var state = map
            state.sequence = 0
            guard let known = versions[map.name], known.map == state else { return nil }
            return Key(version: known.number, content: content)
        }

        /// A kept block that is not too old, as used now.
        mutating func use(_ key: Key, at time: ContinuousClock.Instant) -> Block? {
            guard let known = blocks[key] else { return nil }
            guard !known.block.hasRemote || known.drawn.duration(to: time) < TileCache.remoteAge
            else {
                remove(key)
                return nil
            }
            touch(key)
            figures.keptCount += 1
            return known.block
        }

        mutating func countMade() { figures.madeCount += 1 }

        mutating func keep(_ block: Block, _ key: Key, at time: ContinuousClock.Instant) {
            // The map may have changed meanwhile.
            guard versions.values.contains(where: { $0.number == key.version }) else { return }
            remove(key)
            blocks[key] = (block, 0, time)
            figures.byteCount += block.byteCount
            touch(key)
            while figures.byteCount > byteBound, firstUse < uses.count {
                let use = uses[firstUse]
                firstUse += 1
                if blocks[use.key]?.lastUse == use.number { remove(use.key) }
            }
        }

        private mutating func touch(_ key: Key) {
            clock += 1
            blocks[key]?.lastUse = clock
            uses.append((key, clock))
            guard uses.count > 4 * blocks.count + 64 else { return }
            uses = uses[firstUse...].filter { blocks[$0.key]?.lastUse == $0.number }
            firstUse = 0
        }

        private mutating func version(of map: MapDescription) -> Int {
            clock += 1
            var state = map
            state.sequence = 0
            if let known = versions[map.name], known.map == state {
                versions[map.name]?.lastUse = clock
                return known.number
            }
            if let old = versions.removeValue(forKey: map.name) { drop(old.number) }
            if versions.count >= TileCache.mapBound,
                let least = versions.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                versions[least.key] = nil
                drop(least.value.number)
            }
            versions[map.name] = Version(map: state, number: clock, lastUse: clock)
            return clock
        }

        private mutating func drop(_ version: Int) {
            for key in blocks.keys where key.version == version { remove(key) }
        }

        private mutating func remove(_ key: Key) {
            figures.byteCount -= blocks.removeValue(forKey: key)?.block.byteCount ?? 0
        }
    }

    /// How a request gets its block.
    private enum Way {
        case kept(Block)
        case waiting(Task<Result<Block, Failure>, Never>)
        case drawing(Task<Result<Block, Failure>, Never>, Key)
        case refused
    }

    private let state: Mutex<State>
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter now: Clock for the age of blocks.
    init(
        byteBound: Int = TileCache.byteBound,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        state = Mutex(State(byteBound: byteBound))
        self.now = now
    }

    var figures: Figures { state.withLock { $0.figures } }

    /// The block of a map in its present state; nil where it is not kept.
    func kept(_ content: Content, of map: MapDescription) -> Block? {
        let time = now()
        return state.withLock { state in
            guard let key = state.knownKey(content, of: map) else { return nil }
            return state.use(key, at: time)
        }
    }

    /// The block of a map in its present state, drawn if it is not cached.
    ///
    /// A drawing continues when the caller's task is cancelled: others may wait for it, and it is
    /// cached. Throws `busy` beyond ``drawingBound``, and the failures of `draw`.
    func block(
        _ content: Content, of map: MapDescription,
        draw: @escaping @Sendable () async throws(Failure) -> Block
    ) async throws(Failure) -> Block {
        let time = now()
        let way = state.withLock { state -> Way in
            let key = state.key(content, of: map)
            if let block = state.use(key, at: time) { return .kept(block) }
            if let drawing = state.drawings[key] {
                state.countMade()
                return .waiting(drawing)
            }
            guard state.drawings.count < Self.drawingBound else { return .refused }
            let drawing = Task { () async -> Result<Block, Failure> in
                do throws(Failure) {
                    return .success(try await draw())
                } catch {
                    return .failure(error)
                }
            }
            state.drawings[key] = drawing
            state.countMade()
            return .drawing(drawing, key)
        }
        switch way {
        case .kept(let block): return block
        case .waiting(let drawing): return try await drawing.value.get()
        case .refused:
            throw Failure(.busy, "\(Self.drawingBound) blocks of tiles are being drawn already")
        case .drawing(let drawing, let key):
            let result = await drawing.value
            let time = now()
            state.withLock { state in
                state.drawings[key] = nil
                guard case .success(let drawn) = result, !drawn.isStale, drawn.missing.isEmpty
                else { return }
                state.keep(drawn, key, at: time)
            }
            return try result.get()
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
