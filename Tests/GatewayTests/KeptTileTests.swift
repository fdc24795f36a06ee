// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Daemon
import Foundation
import Site
import Synchronization
import TestKit
import Testing

@testable import Gateway

/// Tiles that are kept, answered without a task and without the HTTP library.
@Suite struct KeptTileTests {
    private static let root = "/arcgis/rest/services/City/"
    private static let picture = root + "MapServer/tile/3/2/5"
    private static let vector = root + "VectorTileServer/tile/6/2/5.pbf"
    private static let tiles = [
        picture, vector, root + "VectorTileServer/tile/6/2/5",
        root + "VectorTileServer/tile/5/2/5.pbf",
        "/ogc/City/map/tiles/WebMercatorQuad/3/2/5", "/ogc/City/vector/tiles/WebMercatorQuad/6/2/5",
    ]

    private let site: SimulatedSite
    private let service: GatewayService

    init() throws {
        site = SimulatedSite(map: try Samples.map())
        site.change { $0.hasAnswersAtHand = true }
        service = GatewayService(backend: site)
    }

    private static func get(_ url: String, _ headers: String = "") -> String {
        "GET \(url) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n"
    }

    private func kept(_ url: String, _ headers: String = "") -> GatewayResponse? {
        guard let plain = FastTileRequest(Array(Self.get(url, headers).utf8)) else { return nil }
        return service.keptTile(plain, RequestClient(), by: service.access.snapshot)?.response
    }

    /// The answer of the general path.
    private func ask(
        _ url: String, noneMatch: String = "", encoding: String = ""
    ) async -> GatewayResponse {
        let parts = url.split(separator: "?", maxSplits: 1).map(String.init)
        let request = GatewayRequest(
            path: Array(parts[0].utf8), query: Array((parts.count > 1 ? parts[1] : "").utf8),
            acceptEncoding: encoding, noneMatch: noneMatch)
        return await service.answer(request).selected(by: request)
    }

    private var drawingCount: Int { site.inner.withLock { $0.exportCount } }

    private func expectSame(_ one: GatewayResponse?, _ other: GatewayResponse, _ what: String) {
        #expect(one?.status == other.status, "\(what)")
        #expect(one?.body == other.body, "\(what)")
        #expect(one?.headers == other.headers, "\(what)")
        #expect(one?.contentType == other.contentType, "\(what)")
        #expect(one?.sequence == other.sequence, "\(what)")
        #expect(one?.user == other.user && one?.isStale == other.isStale, "\(what)")
        #expect(one?.failureCode == other.failureCode, "\(what)")
    }

    // MARK: The answers

    @Test(arguments: Self.tiles)
    func `a kept tile is answered as it was when it was made`(url: String) async throws {
        #expect(kept(url) == nil)
        let made = await ask(url)
        let count = drawingCount
        expectSame(kept(url), made, url)
        for encoding in ["gzip", "gzip;q=0", "br"] {
            expectSame(
                kept(url, "Accept-Encoding: \(encoding)\r\n"),
                await ask(url, encoding: encoding), url + encoding)
        }
        let tag = try #require(made.headers["ETag"])
        for known in [tag, "\"other\", \(tag)", "*", "\"other\""] {
            let answer = kept(url, "If-None-Match: \(known)\r\n")
            expectSame(answer, await ask(url, noneMatch: known), url + known)
        }
        let several = kept(url, "If-None-Match: \"other\"\r\nIf-None-Match: \(tag)\r\n")
        #expect(several?.status == (made.status == 204 ? 204 : 304))
        #expect(drawingCount == count)
    }

    @Test func `after a change of the map no tile of before is answered`() async throws {
        for url in [Self.picture, Self.vector] {
            _ = await ask(url)
            #expect(kept(url) != nil)
            site.change { $0.map.sequence += 1 }
            #expect(kept(url) != nil, "a change of another map is none here")
            site.change { $0.map.layers[0].isVisible.toggle() }
            #expect(kept(url) == nil)
            let count = drawingCount
            _ = await ask(url)
            #expect(drawingCount == count + 1 && kept(url) != nil)
        }
    }

    @Test func `a map that is not known so far is waited for`() async throws {
        _ = await ask(Self.vector)
        let sequence = site.inner.withLock { $0.map.sequence }
        #expect(kept(Self.vector + "?minSequence=\(sequence)") != nil)
        #expect(kept(Self.vector + "?minSequence=\(sequence + 1)") == nil)
        site.change { $0.hasAnswersAtHand = false }
        #expect(kept(Self.vector) == nil)
    }

    @Test(arguments: [
        "?at=3", "?f=png", "?minSequence=x", "?historicMoment=0", "?token=%zz", "/1", "?f=pbf",
    ])
    func `what could be refused is left to the library`(more: String) async throws {
        for url in [Self.picture, Self.vector] {
            _ = await ask(url)
            #expect(kept(url + more) == nil || more == "?token=%zz")
        }
    }

    @Test(arguments: [
        "Range: bytes=0-3\r\n", "If-Range: \"x\"\r\n", "Cookie: a=b\r\n", "TE: trailers\r\n",
        "Connection: close\r\n", "Accept: text/html\r\n", "Content-Length: 0\r\n",
    ])
    func `headers that may change the answer are left to the library`(headers: String) {
        #expect(FastTileRequest(Array(Self.get(Self.picture, headers).utf8)) == nil)
    }

    @Test func `only one whole GET of a tile is read`() {
        let whole = Self.get(Self.vector + "?token=a")
        let request = FastTileRequest(Array(whole.utf8))
        #expect(request.map { String(decoding: $0.path, as: UTF8.self) } == Self.vector)
        #expect(request.map { String(decoding: $0.query, as: UTF8.self) } == "token=a")
        for count in 0..<whole.utf8.count {
            #expect(FastTileRequest(Array(whole.utf8.prefix(count))) == nil)
        }
        for text in [
            whole + "G", whole + whole, whole.replacing("1.1", with: "1.0"),
            whole.replacing("GET", with: "HEAD"), whole.replacing("GET", with: "POST"),
            Self.get("/healthz"), Self.get("/a?/tile"),
            Self.get("/tile" + String(repeating: "1", count: FastIdentifyRequest.byteLimit)),
        ] {
            #expect(FastTileRequest(Array(text.utf8)) == nil)
        }
        var random = SeededGenerator(seed: 0x711E)
        for _ in 0..<5_000 {
            var bytes = Array(whole.utf8)
            for _ in 0..<Int.random(in: 1..<5, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(
                    in: 0...255, using: &random)
            }
            if let request = FastTileRequest(bytes) {
                _ = service.keptTile(request, RequestClient(), by: service.access.snapshot)
            }
        }
    }

    // MARK: Over connections

    @Test func `the short way answers as the library does, header by header`() async throws {
        for url in Self.tiles { _ = await ask(url) }
        let ruled = try RuledSite([:], anonymous: [.init(.query)])
        for access in [nil, ruled.store] {
            for origins in [[], ["https://a.example"]] {
                try await Served.serving(site, access: access) {
                    $0.allowedOrigins = origins
                } _: { port in
                    let connection = try Connection(port: port)
                    func ask(_ url: String, _ headers: String) throws -> String {
                        connection.send(Self.get(url, headers))
                        return try #require(connection.receive(answers: 1).first)
                    }
                    for url in Self.tiles {
                        // Made, or kept; a header that the fast path does not accept.
                        let first = try ask(url, "TE: trailers\r\n")
                        let tag = try #require(first.firstMatch(of: /(?i)etag: ([^\r]*)/)?.1)
                        for more in [
                            "", "If-None-Match: \(tag)\r\n", "Origin: https://b.example\r\n",
                        ] {
                            let short = try ask(url, more)
                            let long = try ask(url, more + "TE: trailers\r\n")
                            #expect(short.contains("\r\ncontent-type: "), "\(url)")
                            #expect(Self.parts(short).0 == Self.parts(long).0)
                            #expect(Self.parts(short).1 == Self.parts(long).1)
                        }
                    }
                }
            }
        }
    }

    private static func parts(_ answer: String) -> (Set<String>, String) {
        let parts = answer.components(separatedBy: "\r\n\r\n")
        let lines = parts[0].components(separatedBy: "\r\n").map { line in
            let name = line.prefix { $0 != ":" }
            return name.lowercased()
                + (name.lowercased() == "date" ? "" : line.dropFirst(name.count))
        }
        return (Set(lines), parts[1])
    }

    @Test func `a kept tile is for those alone that may read the map`() async throws {
        let ruled = try RuledSite(["anna": [.init(.query, on: "City")], "berta": []])
        try await Served.serving(site, access: ruled.store) { port in
            let connection = try Connection(port: port)
            func ask(_ url: String, _ headers: String = "") throws -> String {
                connection.send(Self.get(url, headers))
                return try #require(connection.receive(answers: 1).first)
            }
            func token(_ user: String) throws -> String {
                let form = "username=\(user)&password=password"
                connection.send(
                    "POST /arcgis/tokens/generateToken HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)\r\n\r\n"
                        + form)
                let answer = try #require(connection.receive(answers: 1).first)
                return String(try #require(answer.firstMatch(of: /"token":"([^"]*)"/)?.1))
            }
            let (anna, berta) = (try token("anna"), try token("berta"))
            let fresh = try Connection(port: port)
            func both(_ url: String, _ headers: String) throws -> (short: String, long: String) {
                fresh.send(Self.get(url, headers))
                let short = try #require(fresh.receive(answers: 1).first)
                fresh.send(Self.get(url, headers + "TE: trailers\r\n"))
                return (short, try #require(fresh.receive(answers: 1).first))
            }
            for url in Self.tiles {
                _ = try ask(url, "Authorization: Bearer \(anna)\r\n")
                for (secret, isAdmitted) in [
                    (anna, true), (berta, false), ("", false), ("x", false),
                ] {
                    let header = secret.isEmpty ? "" : "Authorization: Bearer \(secret)\r\n"
                    let (short, long) = try both(url, header)
                    #expect(Self.parts(short).0 == Self.parts(long).0, "\(url) \(secret)")
                    #expect(Self.parts(short).1 == Self.parts(long).1)
                    #expect(short.contains("error") != isAdmitted || short.contains("HTTP/1.1 4"))
                    #expect(short.contains("private, no-cache") == isAdmitted)
                }
                let (short, _) = try both(url + "?token=\(anna)", "")
                #expect(short.contains("private, no-cache"))
            }
        }
    }

    // MARK: Bounds and counts

    @Test func `a gateway that keeps no tiles makes each anew`() async throws {
        var service = service
        service.tiles = TileCache(byteBound: 0)
        let request = GatewayRequest(path: Array(Self.vector.utf8))
        let first = await service.answer(request)
        let again = await service.answer(request)
        #expect(first.body == again.body && drawingCount == 2)
        #expect(service.tiles.figures == .init(keptCount: 0, madeCount: 2, byteCount: 0))
    }

    @Test func `figures say what was kept and made, and the memory stays within its bound`()
        async throws
    {
        var service = service
        service.tiles = TileCache(byteBound: 20_000)
        for round in 0..<3 {
            for column in 0..<64 {
                _ = await service.answer(
                    GatewayRequest(
                        path: Array((Self.root + "VectorTileServer/tile/6/0/\(column)").utf8)))
                #expect(service.tiles.figures.byteCount <= 20_000, "\(round)")
            }
        }
        let figures = service.tiles.figures
        #expect(figures.madeCount == drawingCount && figures.keptCount + figures.madeCount == 192)
        #expect(figures.byteCount > 10_000)
        service.watch.metrics.show(
            connections: 0, followers: 0, droppedLines: 0, lostAudit: 0, tiles: figures,
            health: GatewayHealth(sequence: 1, isStale: false))
        let text = await service.watch.metrics.registry.text()
        #expect(text.contains("cairn_gateway_tile_total{by=\"worker\"} \(figures.madeCount)\n"))
        #expect(text.contains("cairn_gateway_tile_bytes \(figures.byteCount)\n"))
    }
}
