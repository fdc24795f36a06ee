// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Platform
import Synchronization
import Testing

@testable import Gateway

@Suite struct VectorTileTests {
    private let site: SimulatedSite
    private let service: GatewayService

    init() throws {
        site = SimulatedSite(map: try Samples.map())
        service = GatewayService(backend: site)
    }

    private func ask(_ path: String, noneMatch: String = "") async -> GatewayResponse {
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            .map(String.init)
        let request = GatewayRequest(
            path: Array("/arcgis/rest/services/City/VectorTileServer\(parts[0])".utf8),
            query: Array((parts.count > 1 ? parts[1] : "").utf8), noneMatch: noneMatch)
        return await service.answer(request).selected(by: request)
    }

    private func json(_ path: String) async throws -> JSONTree {
        let body = await ask(path).body
        return try #require(JSONTree(body), "\(String(decoding: body, as: UTF8.self))")
    }

    @Test func `a tile is made once for as long as the map stays as it is`() async throws {
        let first = await ask("/tile/3/2/5.pbf")
        #expect(first.status == 200 && first.body == Array("3/2/5".utf8))
        #expect(first.contentType == "application/vnd.mapbox-vector-tile")
        let tag = try #require(first.headers["ETag"])
        #expect(await ask("/tile/3/2/5.pbf", noneMatch: tag).status == 304)
        #expect(await ask("/tile/3/2/5").body == first.body)
        #expect(site.inner.withLock { $0.exportCount } == 1)
    }

    @Test func `a tile without a feature has no content, one outside the scheme is not found`()
        async
    {
        #expect(await ask("/tile/5/2/5.pbf").status == 204)
        #expect(await ask("/tile/2/4/0.pbf").status == 404)
        #expect(await ask("/tile/24/0/0.pbf").status == 404)
        let past = await ask("/tile/0/0/0.pbf?at=3")
        #expect(String(decoding: past.body, as: UTF8.self).contains("as it is now"))
    }

    @Test func `the service says where its tiles and its style are`() async throws {
        let root = try await json("?f=json")
        #expect(root["tiles"]?.elements.compactMap(\.text) == ["tile/{z}/{y}/{x}.pbf"])
        #expect(root["defaultStyles"]?.text == "resources/styles")
        let lods = root["tileInfo"]?["lods"]?.elements ?? []
        #expect(lods.count == 24 && root["maxLOD"]?.whole == 23)
        #expect(root["tileMap"] == nil)
        for lod in lods {
            let resolution = try #require(lod["resolution"]?.number)
            let scale = try #require(lod["scale"]?.number)
            // 96 dots per inch, with Esri's inches per metre.
            #expect(abs(scale / (resolution * 96 * 39.37) - 1) < 1e-4)
        }
    }

    @Test(arguments: ["/resources/styles", "/resources/styles/root.json", "/style.json"])
    func `a style has the layers of the tiles, by their names`(_ path: String) async throws {
        let style = try await json(path)
        #expect(style["version"]?.whole == 8)
        let source = try #require(style["sources"]?["esri"])
        #expect(source["type"]?.text == "vector")
        if path == "/style.json" {
            #expect(source["tiles"]?.elements.first?.text?.hasSuffix("{z}/{y}/{x}.pbf") == true)
        } else {
            #expect(source["url"]?.text == "../../")
        }
        let tiles = try await json("/tilejson.json")
        let names = Set((tiles["vector_layers"]?.elements ?? []).compactMap { $0["id"]?.text })
        let layers = style["layers"]?.elements ?? []
        #expect(!layers.isEmpty)
        #expect(Set(layers.compactMap { $0["source-layer"]?.text }) == names)
        #expect(Set(layers.compactMap { $0["id"]?.text }).count == layers.count)
        #expect(layers.allSatisfy { ["fill", "line", "circle"].contains($0["type"]?.text) })
    }
}
