// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Geometry
import Synchronization
import Testing

@testable import Gateway

@Suite struct TileTests {
    private let site: SimulatedSite
    private let service: GatewayService

    init() throws {
        site = SimulatedSite(map: try Samples.map())
        service = GatewayService(backend: site)
    }

    private func ask(_ tile: String, noneMatch: String = "") async -> GatewayResponse {
        let parts = tile.split(separator: "?", maxSplits: 1).map(String.init)
        let request = GatewayRequest(
            path: Array("/arcgis/rest/services/City/MapServer/tile/\(parts[0])".utf8),
            query: Array((parts.count > 1 ? parts[1] : "").utf8), noneMatch: noneMatch)
        return await service.answer(request).selected(by: request)
    }

    private var drawingCount: Int { site.inner.withLock { $0.exportCount } }

    // MARK: The scheme

    @Test(arguments: [0, 1, 2, 3, 9, 23])
    func `a tile is where the scheme's resolution and origin put it`(level: Int) async throws {
        let last = 1 << level - 1
        for (row, column) in [(0, 0), (last, last), (last / 2, last / 3)] {
            let address = try #require(TileAddress(level: level, row: row, column: column))
            let block = PictureBlock(containing: address)
            let request = block.request(map: try MapName(parsing: "City"), minSequence: 3)
            let pieces = try #require(request.division)
            // Counted from the block's corner, tile by tile.
            let width = request.extent.width / Double(pieces)
            let index = block.index(of: address)
            let (down, across) = (index / pieces, index % pieces)
            let left = request.extent.minX + Double(across) * width
            let top = request.extent.maxY - Double(down) * width
            // Esri's numbers, as the reference has them.
            let resolution = 156_543.03392800014 / Double(1 << level)
            #expect(abs(width / 256 / resolution - 1) < 1e-9)
            #expect(abs(left - (-20_037_508.342787 + Double(column) * 256 * resolution)) < 0.01)
            #expect(abs(top - (20_037_508.342787 - Double(row) * 256 * resolution)) < 0.01)
            #expect(request.width == 256 * pieces && request.minSequence == 3)
        }
    }

    @Test(arguments: ["24/0/0", "3/8/0", "3/0/8", "-1/0/0", "3/-1/0", "63/0/0"])
    func `a tile outside the scheme is not found`(tile: String) async {
        #expect(await ask(tile).status == 404)
        #expect(drawingCount == 0)
    }

    @Test func `a path that is no tile, or a tile of another time, is an error`() async throws {
        for path in ["3/0", "a/0/0", "3/0/0/0"] {
            let response = await ask(path)
            #expect(response.contentType.hasPrefix("application/json"))
        }
        let past = String(decoding: await ask("0/0/0?at=3").body, as: UTF8.self)
        #expect(past.contains("tiles are of the map as it is now"))
        #expect(drawingCount == 0)
    }

    @Test func `the map says where its tiles are`() async throws {
        let response = await service.answer(
            GatewayRequest(path: Array("/arcgis/rest/services/City/MapServer".utf8)))
        struct Level: Decodable { var level: Int, resolution: Double, scale: Double }
        struct Info: Decodable { var rows: Int, cols: Int, lods: [Level] }
        struct Root: Decodable { var singleFusedMapCache: Bool, tileInfo: Info }
        let root = try CairnJSON.decode(Root.self, from: Data(response.body))
        let info = root.tileInfo
        #expect(!root.singleFusedMapCache && info.rows == 256 && info.cols == 256)
        #expect(info.lods.map(\.level) == Array(0...23))
        // The scale at 96 dots per inch, with Esri's inches per metre.
        for lod in info.lods {
            #expect(abs(lod.scale / (lod.resolution * 96 * 39.37) - 1) < 1e-5)
        }
    }

    // MARK: The cache

    @Test func `tiles of a block are drawn once, until the map changes`() async throws {
        let first = await ask("3/0/0")
        let second = await ask("3/3/2")
        #expect(first.status == 200 && first.contentType == "image/png")
        #expect(first.body != second.body && drawingCount == 1)
        #expect(await ask("3/0/0").body == first.body && drawingCount == 1)
        _ = await ask("3/4/0")
        #expect(drawingCount == 2)

        // A change of another map is none here.
        site.change { $0.map.sequence += 1 }
        _ = await ask("3/0/0")
        #expect(drawingCount == 2)
        site.change { $0.map.layers[0].isVisible.toggle() }
        _ = await ask("3/0/0")
        #expect(drawingCount == 3)
        site.change { $0.map.layers[0].drawing = LayerDrawing(transparency: 10) }
        _ = await ask("3/0/0")
        #expect(drawingCount == 4)
    }

    @Test func `a client that has the tile is told so`() async throws {
        let first = await ask("3/0/0")
        let tag = try #require(first.headers["ETag"])
        for known in [tag, "\"other\", \(tag)", "W/\(tag)", "*"] {
            let again = await ask("3/0/0", noneMatch: known)
            #expect(again.status == 304 && again.body.isEmpty && again.headers["ETag"] == tag)
        }
        for unknown in ["\"other\"", "", String(tag.dropLast(3))] {
            #expect(await ask("3/0/0", noneMatch: unknown).status == 200)
        }
    }

    @Test func `a tile drawn while the log is out of reach is not kept`() async {
        site.change { $0.isStale = true }
        let tile = await ask("3/0/0")
        _ = await ask("3/0/0")
        #expect(tile.isStale && drawingCount == 2)
    }

    @Test func `a tile that lacks a layer of another server says so, and is not kept`() async {
        let failure = Failure(.timedOut, "http://there: there was no answer")
        site.change {
            $0.hasRemote = true
            $0.missing = [LayerFailure(layerID: 3, layerName: "roads", error: failure)]
        }
        let tile = await ask("3/0/0")
        #expect(tile.missing.map(\.layerID) == [3] && tile.headers.isEmpty && tile.status == 200)
        _ = await ask("3/0/0")
        #expect(drawingCount == 2)
        // Whole again, it is kept.
        site.change { $0.missing = nil }
        #expect(await ask("3/0/0").headers["ETag"] != nil && drawingCount == 3)
        _ = await ask("3/0/0")
        #expect(drawingCount == 3)
    }

    @Test func `layers of other servers are kept for a minute, those of the site for good`()
        async throws
    {
        let clock = Mutex(ContinuousClock.now)
        let cache = TileCache(now: { clock.withLock { $0 } })
        let map = try Samples.map()
        let drawn = Drawn()
        func ask(_ column: Int, isRemote: Bool) async throws {
            let block = try Samples.block(column)
            _ = try await cache.block(.pictures(block), of: map) { () async throws(Failure) in
                var block = drawn.block(byteCount: 9)
                block.hasRemote = isRemote
                return block
            }
        }
        try await ask(0, isRemote: true)
        try await ask(1, isRemote: false)
        clock.withLock { $0 += .seconds(59) }
        try await ask(0, isRemote: true)
        #expect(drawn.value == 2)
        clock.withLock { $0 += .seconds(2) }
        try await ask(1, isRemote: false)
        #expect(drawn.value == 2)
        try await ask(0, isRemote: true)
        try await ask(0, isRemote: true)
        #expect(drawn.value == 3)
    }

    /// Counts drawings, from any thread.
    private final class Drawn: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }

        func block(byteCount: Int) -> TileCache.Block {
            count.withLock { $0 += 1 }
            let tile = TileCache.Tile(
                bytes: [UInt8](repeating: 0, count: byteCount), entityTag: "")
            return TileCache.Block(tiles: [tile], sequence: 1, isStale: false)
        }
    }

    @Test func `the cache keeps what was asked for last, within its bytes`() async throws {
        let cache = TileCache(byteBound: 10_000)
        let map = try Samples.map()
        let drawn = Drawn()
        // The cache has two places; a third entry evicts the least recently used.
        for (column, count) in [(0, 1), (1, 2), (0, 2), (2, 3), (0, 3), (1, 4)] {
            let block = try Samples.block(column)
            _ = try await cache.block(.pictures(block), of: map) { () async throws(Failure) in
                drawn.block(byteCount: 3_500)
            }
            #expect(drawn.value == count, "column \(column)")
        }
    }

    @Test func `simultaneous requests for a tile wait for one drawing`() async throws {
        let cache = TileCache()
        let map = try Samples.map()
        let drawn = Drawn()
        let (gate, open) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let asking = (0..<20).map { _ in
            Task {
                try await cache.block(.pictures(try Samples.block(0)), of: map) {
                    () async throws(Failure) in
                    for await _ in gate {}
                    return drawn.block(byteCount: 9)
                }
            }
        }
        open.finish()
        for each in asking { #expect(try await each.value.tiles.count == 1) }
        #expect(drawn.value == 1)
    }
}

extension Samples {
    /// A block of level 9, in the northernmost row.
    fileprivate static func block(_ column: Int) throws -> PictureBlock {
        let tile = TileAddress(level: 9, row: 0, column: column * PictureBlock.count)
        return PictureBlock(containing: try #require(tile))
    }
}
