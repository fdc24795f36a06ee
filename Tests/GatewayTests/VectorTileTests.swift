// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Codecs
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

    private func ask(
        _ path: String, noneMatch: String = "", encoding: String = "", range: String = ""
    ) async -> GatewayResponse {
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            .map(String.init)
        let request = GatewayRequest(
            path: Array("/arcgis/rest/services/City/VectorTileServer\(parts[0])".utf8),
            query: Array((parts.count > 1 ? parts[1] : "").utf8), acceptEncoding: encoding,
            noneMatch: noneMatch, range: range)
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

    @Test func `a client that takes gzip gets the same tile, compressed, under a tag of its own`()
        async throws
    {
        // What is not less is not compressed.
        let small = await ask("/tile/3/2/5.pbf", encoding: "gzip")
        #expect(small.headers["Content-Encoding"] == nil && small.body == Array("3/2/5".utf8))
        #expect(small.headers["Vary"] == "Accept-Encoding")

        let plain = await ask("/tile/6/2/5.pbf")
        let zipped = await ask("/tile/6/2/5.pbf", encoding: "deflate, gzip;q=0.8, br")
        #expect(plain.headers["Content-Encoding"] == nil)
        #expect(zipped.headers["Content-Encoding"] == "gzip")
        #expect(zipped.body.count < plain.body.count)
        #expect(Gzip.expand(zipped.body, limit: 1 << 20) == plain.body)
        #expect(plain.headers["Vary"] == "Accept-Encoding")
        #expect(zipped.headers["Vary"] == "Accept-Encoding")
        let (own, other) = (
            try #require(zipped.headers["ETag"]), try #require(plain.headers["ETag"])
        )
        #expect(own != other && own.hasSuffix("-gzip\""))
        // Each form is revalidated by its own tag.
        let known = await ask("/tile/6/2/5.pbf", noneMatch: own, encoding: "gzip")
        #expect(known.status == 304 && known.headers["Vary"] == "Accept-Encoding")
        #expect(await ask("/tile/6/2/5.pbf", noneMatch: other).status == 304)
        #expect(await ask("/tile/6/2/5.pbf", noneMatch: other, encoding: "gzip").status == 200)
        #expect(await ask("/tile/6/2/5.pbf", noneMatch: own).status == 200)
        // A range is one of the bytes that are sent.
        let part = await ask("/tile/6/2/5.pbf", encoding: "gzip", range: "bytes=0-9")
        #expect(part.status == 206 && part.body == Array(zipped.body.prefix(10)))
        #expect(site.inner.withLock { $0.exportCount } == 2)
    }

    @Test(arguments: [
        ("gzip", true), ("x-gzip", true), ("deflate, GZIP ;q=0.5", true), ("*", true),
        ("", false), ("br", false), ("gzip;q=0", false), ("*;q=0", false),
        ("identity;q=1, gzip;q=0.5", false), ("identity;q=0.5, gzip;q=1.0", true),
        ("gzip;q=x", false), ("*, gzip;q=0", false), (",;,", false),
    ])
    func `gzip is sent to clients that ask for it`(_ header: String, _ isTaken: Bool) {
        #expect(AcceptedEncodings.takeGzip(header) == isTaken)
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
        let (glyphs, sprite) = (style["glyphs"]?.text ?? "", style["sprite"]?.text ?? "")
        #expect(glyphs.hasSuffix("/fonts/{fontstack}/{range}.pbf"))
        #expect(sprite.hasSuffix("/sprites/sprite"))
        if path != "/style.json" { #expect(glyphs.hasPrefix("../") && sprite.hasPrefix("../")) }
    }

    @Test(arguments: ["/resources/info", "/resources/info/root.json"])
    func `every file of the style that is listed is served`(_ path: String) async throws {
        let listed = try await json(path)["resourceInfo"]?.elements.compactMap(\.text) ?? []
        #expect(
            listed.prefix(3) == [
                "resources/styles/root.json", "resources/info/root.json",
                "resources/sprites/sprite.json",
            ])
        for file in listed {
            #expect(await ask("/" + file.replacing(" ", with: "%20")).status == 200, "\(file)")
        }
        // 256 files for each text-font of the style.
        let fonts = try await Set(
            (json("/resources/styles")["layers"]?.elements ?? []).compactMap {
                $0["layout"]?["text-font"]?.elements.compactMap(\.text).joined(separator: ",")
            })
        #expect(listed.count == 6 + 256 * fonts.count)
    }

    @Test func `glyphs are drawn once, and have an entity tag`() async throws {
        let path = "/resources/fonts/DejaVu%20Sans%20Bold,Arial/256-511.pbf"
        let first = await ask(path)
        #expect(first.status == 200 && first.contentType == "application/x-protobuf")
        // Fonts by the names that they have in styles.
        #expect(first.body == Array("DejaVu Sans Bold,Arial Bold 256-511".utf8))
        let tag = try #require(first.headers["ETag"])
        #expect(await ask(path, noneMatch: tag).status == 304)
        #expect(await ask(path.replacing(".pbf", with: "")).body == first.body)
        #expect(site.inner.withLock { $0.exportCount } == 1)
        let other = await ask("/resources/fonts/Arial%20Regular/256-511.pbf")
        #expect(other.headers["ETag"] != tag)
    }

    @Test(arguments: [
        "DejaVu%20Sans/0-254.pbf", "DejaVu%20Sans/100-355.pbf", "DejaVu%20Sans/65536-65791.pbf",
        "DejaVu%20Sans/x.pbf", "DejaVu%20Sans/0-255.png", "%00/0-255.pbf", ",/0-255.pbf",
    ])
    func `glyphs of no range or no fonts are a bad request`(_ path: String) async {
        let answer = await ask("/resources/fonts/" + path)
        #expect(answer.status == 400)
        #expect(String(decoding: answer.body, as: UTF8.self).contains("expected"))
        #expect(site.inner.withLock { $0.exportCount } == 0)
    }

    @Test func `symbols are served in two sizes, drawn once`() async throws {
        for (name, scale) in [("sprite", 1), ("sprite@2x", 2)] {
            let index = await ask("/resources/sprites/\(name).json")
            #expect(index.body == Array("{}".utf8))
            let picture = await ask("/resources/sprites/\(name).png")
            #expect(picture.contentType == "image/png")
            #expect(picture.body == Array("sprite \(scale)".utf8))
            let tag = try #require(picture.headers["ETag"])
            #expect(await ask("/resources/sprites/\(name).png", noneMatch: tag).status == 304)
        }
        #expect(site.inner.withLock { $0.exportCount } == 2)
    }
}
