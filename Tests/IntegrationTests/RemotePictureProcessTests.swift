// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairo
import Foundation
import TestKit
import Testing

/// Pictures and tiles with layers of other servers, as real processes draw them, while the server
/// is there, gone and back.
@Suite(.serialized, .timeLimit(.minutes(5)), .processes) struct RemotePictureProcessTests {
    private let site: SmallSite

    init() throws { site = try SmallSite() }

    private struct Picture {
        var head: String
        var bytes: Data
        var width = 0
        var pixels: [UInt8] = []

        subscript(x: Int, y: Int) -> [UInt8] {
            let start = (y * width + x) * 4
            return pixels[start + 3] == 0 ? [0, 0, 0, 0] : Array(pixels[start..<start + 4])
        }
    }

    /// The ground's colour in the played servers' pictures.
    private func ground(_ x: Double, _ y: Double) -> [UInt8] {
        func wrapped(_ number: Int, _ size: Int) -> Int { ((number % size) + size) % size }
        let (i, j) = (Int((x / 1e5).rounded(.down)), Int((y / 1e5).rounded(.down)))
        if wrapped(i + 2 * j, 7) == 0 { return [0, 0, 0, 0] }
        return [
            UInt8(wrapped(i * 53, 256)), UInt8(wrapped(j * 97, 256)),
            UInt8(wrapped((i + j) * 31, 256)), 255,
        ]
    }

    private func run(_ text: String) async throws -> [[String: Any]] {
        let outcome = try await site.run(text)
        try #require(outcome.status == 0, "\(text): \(outcome.errors)")
        return outcome.objects
    }

    /// A picture, its head in lower case.
    private func fetch(_ port: Int, _ path: String) async throws -> Picture {
        var picture = try await answer(port, "World", path)
        try #require(picture.head.contains("image/png"), "\(picture.head)")
        let canvas = try Canvas(png: Array(picture.bytes))
        (picture.width, picture.pixels) = (canvas.width, try canvas.rgba())
        return picture
    }

    private func answer(_ port: Int, _ map: String, _ path: String) async throws -> Picture {
        let connection = try #require(Loopback(port: port))
        let bytes: [UInt8]? = await withCheckedContinuation { continuation in
            // A blocking read has no place on the threads that tasks share.
            Thread.detachNewThread {
                connection.get(
                    "/arcgis/rest/services/\(map)/MapServer/" + path,
                    headers: ["Connection": "close"])
                var bytes: [UInt8] = []
                while let more = connection.read(), !more.isEmpty { bytes += more }
                continuation.resume(returning: bytes)
            }
        }
        let whole = Data(try #require(bytes))
        let end = try #require(whole.firstRange(of: Data("\r\n\r\n".utf8)))
        let head = String(decoding: whole[..<end.lowerBound], as: UTF8.self).lowercased()
        return Picture(head: head, bytes: Data(whole[end.upperBound...]))
    }

    private static let size = (width: 120, height: 90)
    private static let extent = (left: -4e5, top: 5.9e6, pixel: 1e4)

    private func export(_ port: Int, _ layers: String) async throws -> Picture {
        let (left, top) = (Self.extent.left, Self.extent.top)
        let right = left + Double(Self.size.width) * Self.extent.pixel
        let bottom = top - Double(Self.size.height) * Self.extent.pixel
        return try await fetch(
            port,
            "export?f=image&format=png32&transparent=true&bboxSR=3857&imageSR=3857&timeout=60"
                + "&size=\(Self.size.width),\(Self.size.height)"
                + "&bbox=\(left),\(bottom),\(right),\(top)&layers=show:\(layers)")
    }

    /// Pixels that are not the ground's.
    private func wrong(
        _ picture: Picture, left: Double, top: Double, pixel: Double, width: Int, height: Int
    ) -> Int {
        var wrong = 0
        for row in 0..<height {
            for column in 0..<width {
                let (x, y) = (
                    left + (Double(column) + 0.5) * pixel, top - (Double(row) + 0.5) * pixel
                )
                // Beside a border rounding decides.
                let depth = [x, y].map { abs($0 / 1e5 - ($0 / 1e5).rounded()) }.min() ?? 0
                if depth > 1e-6, picture[column, row] != ground(x, y) { wrong += 1 }
            }
        }
        return wrong
    }

    private func isGround(_ picture: Picture) -> Bool {
        wrong(
            picture, left: Self.extent.left, top: Self.extent.top, pixel: Self.extent.pixel,
            width: Self.size.width, height: Self.size.height) == 0
    }

    /// A tile in the middle of the service's stated extent.
    private static let tile = (level: 7, row: 44, column: 64)

    private func isGroundTile(_ picture: Picture) -> Bool {
        let half = 20_037_508.342789244
        let side = 2 * half / Double(1 << Self.tile.level)
        return wrong(
            picture, left: Double(Self.tile.column) * side - half,
            top: half - Double(Self.tile.row) * side, pixel: side / 256, width: 256, height: 256)
            == 0
    }

    private func worker() async throws -> Int {
        let status = try await run("status --json")
        let worker = status.first {
            $0["role"] as? String == "identify" && $0["state"] as? String == "running"
        }
        return try #require(worker?["pid"] as? Int)
    }

    /// A site that is up, with the map `World`: a square below, a web map service and a map
    /// service.
    private func start(_ port: Int, _ url: String) async throws {
        let square =
            #"{"type":"Feature","properties":{"name":"here"},"geometry":{"type":"Polygon","#
            + #""coordinates":[[[-5,41],[10,41],[10,52],[-5,52],[-5,41]]]}}"#
        try site.write("square", [square])
        _ = try await run("up --create --detach --port \(port) --identify-workers 1")
        _ = try await run("import \(site.folder)/square.geojson --map World")
        _ = try await run("map add-wms World roads \(url)/wms --layer roads")
        _ = try await run("map add-service World service \(url)/arcgis/MapServer")
        let end = ContinuousClock.now + .seconds(120)
        while true {
            let map = try #require(try await run("map show World --json").first)
            let layers = try #require(map["layers"] as? [[String: Any]])
            let states = layers.compactMap { $0["loadStatus"] as? String }
            if states == ["loaded", "loaded", "loaded"] { return }
            try #require(ContinuousClock.now < end, "\(states)")
        }
    }

    /// The pictures of the layers of a map, layer by layer, in base 64.
    private func legend(_ port: Int, _ map: String) async throws -> (head: String, [[String]]) {
        struct Legend: Decodable {
            struct Layer: Decodable { var legend: [Entry] }
            struct Entry: Decodable { var imageData: String }
            var layers: [Layer]
        }
        let answer = try await answer(port, map, "legend?f=json&timeout=60")
        let legend = try JSONDecoder().decode(Legend.self, from: answer.bytes)
        return (answer.head, legend.layers.map { $0.legend.map(\.imageData) })
    }

    @Test func `the legend of a map that shows another is that one's, while it is there`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        defer { site.remove() }
        let port = try Loopback.freePort()
        let server = try PlayedServer()
        try await start(port, server.url)
        let (head, own) = try await legend(port, "World")
        #expect(!head.contains("x-cairn-missing: "))
        // The played map service has one picture and four, the other server one, the square one.
        #expect(own.map(\.count) == [5, 1, 1])

        // The site is its own other server.
        let address = "http://127.0.0.1:\(port)/arcgis/rest/services/World/MapServer"
        _ = try await run("map create Mirror")
        _ = try await run("map add-service Mirror world \(address)")
        let end = ContinuousClock.now + .seconds(120)
        var mirrored = try await legend(port, "Mirror")
        while mirrored.1 != [own.flatMap { $0 }] {
            try #require(ContinuousClock.now < end, "\(mirrored)")
            mirrored = try await legend(port, "Mirror")
        }
        #expect(!mirrored.head.contains("x-cairn-missing: "))
        #expect(try await site.run("down").status == 0)
    }

    @Test func `a server that dies is missing from pictures and tiles until it is back`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        defer { site.remove() }
        let port = try Loopback.freePort()
        let server = try PlayedServer()
        try await start(port, server.url)
        let worker = try await worker()
        let path = "tile/\(Self.tile.level)/\(Self.tile.row)/\(Self.tile.column)"

        let wms = try await export(port, "1")
        #expect(isGround(wms) && !wms.head.contains("x-cairn-missing: "))
        let service = try await export(port, "2")
        #expect(isGround(service) && !service.head.contains("x-cairn-missing: "))
        // All that is opaque on the ground hides the square; below what is clear it is seen.
        _ = try await run("map hide World square")
        let tile = try await fetch(port, path)
        #expect(isGroundTile(tile) && !tile.head.contains("x-cairn-missing: "))
        _ = try await run("map show-layer World square")
        let alone = try await export(port, "0")

        server.kill()
        let without = try await export(port, "0,1,2")
        #expect(without.head.contains("x-cairn-missing: "))
        for layer in ["1;reason=", "2;reason="] { #expect(without.head.contains(layer)) }
        #expect(without.bytes == alone.bytes)
        // The map has changed since the tile was kept: the square is shown again.
        let gap = try await fetch(port, path)
        #expect(gap.head.contains("x-cairn-missing: ") && !gap.head.contains("etag: "))
        #expect(try await self.worker() == worker)

        let again = try PlayedServer(port: server.port)
        #expect(again.port == server.port)
        // It is left alone for a while; nothing of its absence was kept.
        var back = without
        let end = ContinuousClock.now + .seconds(180)
        while back.head.contains("x-cairn-missing: ") {
            try #require(ContinuousClock.now < end)
            back = try await export(port, "1")
        }
        #expect(back.bytes == wms.bytes)
        var whole = gap
        while whole.head.contains("x-cairn-missing: ") {
            try #require(ContinuousClock.now < end)
            whole = try await fetch(port, path)
        }
        #expect(whole.head.contains("etag: ") && whole.bytes != gap.bytes)
        #expect(try await self.worker() == worker)
        #expect(try await site.run("down").status == 0)
    }
}
