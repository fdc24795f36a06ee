// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Cairo
import Foundation
import Geometry
import Identify
import Remote
import Rendering
import TestKit
import Testing

/// Layers of played servers in pictures: against the ground of the servers, and against the same
/// features drawn from the map itself.
@Suite(.timeLimit(.minutes(5))) struct RemotePictureTests {
    private static let half = 20_037_508.342789244

    /// Red, green, blue and alpha of the ground, as the played server draws it.
    private func ground(_ x: Double, _ y: Double, _ cell: Double) -> [UInt8] {
        func wrapped(_ number: Int, _ size: Int) -> Int { ((number % size) + size) % size }
        let (i, j) = (Int((x / cell).rounded(.down)), Int((y / cell).rounded(.down)))
        return [
            UInt8(wrapped(i * 53, 256)), UInt8(wrapped(j * 97, 256)),
            UInt8(wrapped((i + j) * 31, 256)), wrapped(i + 2 * j, 7) == 0 ? 0 : 255,
        ]
    }

    /// Distance of a place from the nearest border of a cell.
    private func depth(_ x: Double, _ y: Double, _ cell: Double) -> Double {
        [x, y].map { abs($0 / cell - ($0 / cell).rounded()) * cell }.min() ?? 0
    }

    private func request(
        _ extent: Envelope, _ width: Int, _ height: Int, wkid: Int
    ) throws -> ExportRequest {
        let reference = SpatialReference(wkid: wkid)
        return ExportRequest(
            map: try MapName(parsing: "World"), extent: extent, extentReference: reference,
            imageReference: reference, width: width, height: height, isTransparent: true)
    }

    private struct Drawn {
        var head: ExportedPicture.Head
        var bytes: [UInt8]
        var width: Int
        var pixels: [UInt8]

        subscript(x: Int, y: Int) -> [UInt8] {
            let start = (y * width + x) * 4
            return pixels[start + 3] == 0 ? [0, 0, 0, 0] : Array(pixels[start..<start + 4])
        }
    }

    private func draw(
        _ request: ExportRequest, _ layers: [LayerDescription], _ fixture: RemoteFixture
    ) throws -> Drawn {
        let map = PreparedMap(try fixture.map(layers, wkid: 3857))
        let picture = try MapPicture.draw(
            request, of: map, by: fixture.engine,
            remotes: { [services = fixture.services] questions in
                let inquiry = services.draw(questions)
                return { inquiry.answer(at: $0) }
            })
        let canvas = try Canvas(png: Array(picture.bytes))
        return Drawn(
            head: picture.head, bytes: Array(picture.bytes), width: canvas.width,
            pixels: try canvas.rgba())
    }

    /// Number of pixels that differ from the ground, of those whose centre is farther than `slack`
    /// from a border.
    ///
    /// `tolerance` is for lossy picture formats; these have no alpha.
    private func wrong(
        _ drawn: Drawn, _ request: ExportRequest, cell: Double, slack: Double,
        tolerance: Int = 0,
        _ place: (Double, Double) -> (Double, Double) = { ($0, $1) }
    ) -> (wrong: Int, seen: Int) {
        let extent = drawn.head.extent
        var (wrong, seen) = (0, 0)
        for row in 0..<request.height {
            for column in 0..<request.width {
                let (x, y) = place(
                    extent.minX + (Double(column) + 0.5) * extent.width / Double(request.width),
                    extent.maxY - (Double(row) + 0.5) * extent.height / Double(request.height))
                guard depth(x, y, cell) >= slack else { continue }
                seen += 1
                var wanted = ground(x, y, cell)
                if tolerance > 0 {
                    wanted[3] = 255
                } else if wanted[3] == 0 {
                    wanted = [0, 0, 0, 0]
                }
                let isRight = zip(drawn[column, row], wanted).allSatisfy {
                    abs(Int($0) - Int($1)) <= tolerance
                }
                if !isRight { wrong += 1 }
            }
        }
        return (wrong, seen)
    }

    // MARK: Web Map Services

    @Test func `a web map service is drawn in the picture's own reference, pixel by pixel`() throws
    {
        let fixture = try RemoteFixture()
        let layer = try fixture.wms(0, "/wms", ["roads", "ns:towns"])
        let request = try request(
            Envelope(minX: -4e5, minY: 5e6, maxX: 8e5, maxY: 5.9e6), 120, 90, wkid: 3857)

        let drawn = try draw(request, [layer], fixture)

        let result = wrong(drawn, request, cell: 1e5, slack: 0)
        #expect(result.wrong == 0 && result.seen == 120 * 90)
        #expect(drawn.head.missing == nil && drawn.head.hasRemote == true)
        let asked = try #require(try fixture.server.log().last { $0.contains("GetMap") })
        #expect(asked.contains("LAYERS=roads,ns:towns&STYLES=,&CRS=EPSG:3857"))
        #expect(layer.properties?.service?.attribution == "Road office")
    }

    @Test(arguments: ["1.3.0", "1.1.1"])
    func `degrees are asked in the order of the version`(version: String) throws {
        let fixture = try RemoteFixture()
        let path = version == "1.3.0" ? "/wms" : "/wms111"
        let layer = try fixture.wms(0, path, version: version)
        let request = try request(
            Envelope(minX: -3, minY: 42, maxX: 9, maxY: 48), 120, 60, wkid: 4326)

        let result = wrong(try draw(request, [layer], fixture), request, cell: 1, slack: 0)

        #expect(result.wrong == 0 && result.seen == 120 * 60)
    }

    @Test
    func `a picture in a reference that a service lacks is asked for in one it has, and projected`()
        throws
    {
        let fixture = try RemoteFixture()
        let layer = try fixture.wms(0, "/wms111")
        let request = try request(
            Envelope(minX: -3e5, minY: 5.2e6, maxX: 9e5, maxY: 6.1e6), 240, 180, wkid: 3857)

        let drawn = try draw(request, [layer], fixture)

        // Spherical Mercator (EPSG 9.0 guidance note 7-2, 3.5.1), backwards.
        let radius = 6_378_137.0
        let pixel = 1.2e6 / 240 / 111_319
        let result = wrong(drawn, request, cell: 1, slack: 2 * pixel) { x, y in
            (x / radius * 180 / .pi, (2 * atan(exp(y / radius)) - .pi / 2) * 180 / .pi)
        }
        #expect(result.seen > 20_000)
        #expect(result.wrong == 0)
    }

    /// Blocks of JPEG have 16 pixels where colours are kept in less detail.
    private static let forms = [("webp", 0.0, 0), ("jpeg", 16.0, 6)]

    @Test(.slow, arguments: forms)
    func `a service without PNG is asked for what it has`(
        form: String, slackPixels: Double, tolerance: Int
    ) throws {
        let fixture = try RemoteFixture()
        let layer = try fixture.wms(0, "/" + form)
        let request = try request(
            Envelope(minX: -2e5, minY: 5.2e6, maxX: 4e5, maxY: 5.65e6), 400, 300, wkid: 3857)

        let drawn = try draw(request, [layer], fixture)

        #expect(drawn.head.missing == nil)
        let result = wrong(
            drawn, request, cell: 1e5, slack: slackPixels * 1_500, tolerance: tolerance)
        #expect(result.wrong == 0 && result.seen > 20_000)
        let asked = try #require(try fixture.server.log().last { $0.contains("GetMap") })
        #expect(asked.contains("FORMAT=image%2F" + form))
    }

    // MARK: ArcGIS

    @Test func `a map service is asked once for all that is shown of it`() throws {
        let fixture = try RemoteFixture()
        let layer = try fixture.layer(
            4,
            .mapService(
                ArcGISSource(url: fixture.server.url + "/arcgis/MapServer", layers: [0, 3])))
        var request = try request(
            Envelope(minX: -4e5, minY: 5e6, maxX: 8e5, maxY: 5.9e6), 120, 90, wkid: 3857)
        request.layerDefinitions[4] =
            "(POP>.5 or not KIND in (1,2)) AND upper(NAME) like 'A!_\"''%' escape '!' AND 1=1"
        request.time = TimeExtent(from: 1_000, to: nil)
        request.dpi = 192

        let result = wrong(try draw(request, [layer], fixture), request, cell: 1e5, slack: 0)

        #expect(result.wrong == 0 && result.seen == 120 * 90)
        let asked = try fixture.server.log().filter { $0.contains("/export") }
        #expect(asked.count == 1)
        let body = try #require(asked.first?.split(separator: "|").last)
        let items =
            try #require(
                URLComponents(string: "http://x/?" + body.trimmingCharacters(in: .whitespaces))
            )
            .queryItems ?? []
        let values = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
        #expect(values["layers"] == "show:0,3" && values["transparent"] == "true")
        #expect(values["time"] == "1000,null" && values["dpi"] == "192")
        let clauses = try JSONDecoder().decode(
            [String: String].self, from: Data((values["layerDefs"] ?? "").utf8))
        // Rewritten from the clause, not copied.
        let clause =
            "((POP > 0.5) OR (NOT (KIND IN (1, 2)))) AND (UPPER(NAME) LIKE 'A!_\"''%' ESCAPE '!')"
            + " AND (1 = 1)"
        #expect(clauses == ["0": clause, "3": clause])
    }

    private static let unwritten = [
        "SEEN > DATE '2001-01-01'", "POP + 1 > 2", "NAME = 'a\\'", "NAME LIKE 'a[b]%'",
        "\"POP; DROP TABLE x\" = 1", "POP = 1 OR UPPER(UPPER(NAME)) = 'X'", "POP > 1e300",
        "NAME LIKE UPPER(NAME)", "NAME = 'a\tb'",
        "POP = 1) OR (1=1", "POP = 1; DROP TABLE x", "POP = 1 -- x", "POP = 1 /* x", "POP = ", "'",
    ]

    @Test(.slow, arguments: unwritten)
    func `a clause that cannot be written for every server keeps a map service from the picture`(
        _ clause: String
    ) throws {
        let fixture = try RemoteFixture()
        let layer = try fixture.layer(
            4, .mapService(ArcGISSource(url: fixture.server.url + "/arcgis/MapServer")))
        var request = try request(
            Envelope(minX: -4e5, minY: 5e6, maxX: 8e5, maxY: 5.9e6), 12, 9, wkid: 3857)
        request.layerDefinitions[4] = clause

        let drawn = try draw(request, [layer], fixture)

        let missing = try #require(drawn.head.missing)
        #expect(missing.map(\.layerID) == [4] && missing[0].error.code == .invalidParameter)
        #expect(missing[0].error.message.contains("layer 4 'remote 4'"))
        #expect(drawn.pixels.allSatisfy { $0 == 0 })
        #expect(try !fixture.server.log().contains { $0.contains("/export") })
    }

    @Test func `where no feature counts a map service is not asked`() throws {
        let fixture = try RemoteFixture()
        let layer = try fixture.layer(
            4, .mapService(ArcGISSource(url: fixture.server.url + "/arcgis/MapServer")))
        var request = try request(
            Envelope(minX: -4e5, minY: 5e6, maxX: 8e5, maxY: 5.9e6), 12, 9, wkid: 3857)
        request.layerDefinitions[4] = "1 = 0"

        let drawn = try draw(request, [layer], fixture)

        #expect(drawn.head.missing == nil && drawn.pixels.allSatisfy { $0 == 0 })
        #expect(try !fixture.server.log().contains { $0.contains("/export") })
    }

    @Test(arguments: ["KIND + 0 = 1", "KIND = 1", "NOT (KIND * 2 = 0)"])
    func `the map's definition decides which features are drawn, sent or not`(
        _ definition: String
    ) throws {
        let fixture = try RemoteFixture()
        let url = fixture.server.url + "/arcgis/paged/FeatureServer/0"
        var layer = try fixture.layer(2, .featureService(ArcGISSource(url: url)))
        layer.definitionExpression = definition
        layer.drawing = LayerDrawing(.simple(.init(LayerSymbol(standard: 2, .point))))
        var own = fixture.drawn(2, wkid: 3857)
        own.drawing = layer.drawing
        own.graphics = (0..<400).filter { $0 % 2 == 1 }.map { number in
            let place = Coordinate(
                x: Double(number % 20) * 1_000, y: 6e6 + Double(number / 20) * 1_000)
            return Graphic(
                id: Int64(number + 1), shape: .point(place), attributes: Attributes([]), zIndex: 0)
        }
        let request = try request(
            Envelope(minX: -2_000, minY: 5.998e6, maxX: 21_000, maxY: 6.021e6), 230, 230,
            wkid: 3857)

        let drawn = try draw(request, [layer], fixture)

        #expect(drawn.head.missing == nil)
        #expect(drawn.bytes == (try draw(request, [own], fixture)).bytes)
        let asked = try fixture.server.log().filter { $0.contains("/query") }
        #expect(!asked.isEmpty && asked.allSatisfy { !$0.contains("NOT") })
    }

    @Test(arguments: [false, true])
    func `features are drawn as those of the map itself, page by page`(isPaged: Bool) throws {
        let fixture = try RemoteFixture()
        let path = isPaged ? "/arcgis/paged/FeatureServer/0" : "/arcgis/FeatureServer/0"
        let layer = try fixture.layer(
            2, .featureService(ArcGISSource(url: fixture.server.url + path)))
        var own = fixture.drawn(2, wkid: 3857)
        own.graphics = (0..<400).map { number in
            let place = Coordinate(
                x: Double(number % 20) * 1_000, y: 6e6 + Double(number / 20) * 1_000)
            return Graphic(
                id: Int64(number + 1), shape: .point(place),
                attributes: Attributes([
                    .init(name: "KIND", value: .integer(Int64(number % 2)))
                ]), zIndex: 0)
        }
        if isPaged {
            // As in the server's description.
            let odd = LayerSymbol.Marker(
                .square, LayerSymbol.Color(200, 0, 80), sizePoints: 6)
            let even = LayerSymbol.Marker(
                .circle, LayerSymbol.Color(0, 90, 200), sizePoints: 9)
            own.drawing = LayerDrawing(
                .uniqueValues(
                    FeatureRenderer.UniqueValues(
                        fields: ["KIND"], delimiter: ",",
                        values: [.init("1", .init(LayerSymbol(.marker(odd)), label: "odd"))],
                        others: .init(LayerSymbol(.marker(even))))))
        }
        let request = try request(
            Envelope(minX: -2_000, minY: 5.998e6, maxX: 21_000, maxY: 6.021e6), 230, 230,
            wkid: 3857)

        let drawn = try draw(request, [layer], fixture)

        #expect(drawn.bytes == (try draw(request, [own], fixture)).bytes)
        let asked = try fixture.server.log().filter { $0.contains("/query") }
        #expect(asked.count == 3 && drawn.head.missing == nil)
        if isPaged { #expect(layer.properties?.service?.attribution == "Played surveyors") }
    }

    // MARK: Tiles

    @Test
    func `tiles of the level's own scale are what they are; other scales are mixed from them`()
        throws
    {
        let fixture = try RemoteFixture()
        let layer = try fixture.layer(
            0, .tiles(TileSource(url: fixture.server.url + "/xyz/{z}/{x}/{y}.png")))
        let pixel = 2 * Self.half / 256 / 64
        let left = -Self.half + 100 * pixel * 50
        let top = Self.half - 60 * pixel * 50
        let own = try request(
            Envelope(minX: left, minY: top - 150 * pixel, maxX: left + 200 * pixel, maxY: top),
            200, 150, wkid: 3857)
        // Whole pixels of the level: mixed from one each.
        let result = wrong(try draw(own, [layer], fixture), own, cell: 1e5, slack: pixel)
        #expect(result.seen > 10_000 && result.wrong == 0)

        let other = try request(
            Envelope(minX: -5.1e6, minY: 2.9e6, maxX: -3.1e6, maxY: 4.4e6), 320, 240, wkid: 3857)
        let mixed = wrong(try draw(other, [layer], fixture), other, cell: 1e5, slack: 3 * pixel)
        #expect(mixed.seen > 10_000 && mixed.wrong == 0)
    }

    @Test(arguments: forms)
    func `tiles of other forms are what they are`(
        form: String, slackPixels: Double, tolerance: Int
    ) throws {
        let fixture = try RemoteFixture()
        let layer = try fixture.layer(
            0, .tiles(TileSource(url: fixture.server.url + "/xyz/{z}/{x}/{y}." + form)))
        let pixel = 2 * Self.half / 256 / 512
        let left = -Self.half + 100 * pixel * 450
        let top = Self.half - 60 * pixel * 450
        let request = try request(
            Envelope(minX: left, minY: top - 240 * pixel, maxX: left + 320 * pixel, maxY: top),
            320, 240, wkid: 3857)

        let drawn = try draw(request, [layer], fixture)

        #expect(drawn.head.missing == nil)
        let result = wrong(
            drawn, request, cell: 1e5, slack: max(slackPixels, 1) * pixel, tolerance: tolerance)
        #expect(result.wrong == 0 && result.seen > 20_000)
    }

    @Test func `a cached map service is drawn from its tiles, in its own scheme`() throws {
        let fixture = try RemoteFixture()
        let layer = try fixture.layer(
            0, .tiles(TileSource(url: fixture.server.url + "/arcgis/cached/MapServer")))
        // Pixels of the level 7, beside its borders.
        let fine = try request(
            Envelope(minX: -5.5e5, minY: 5.1e6, maxX: -1.5e5, maxY: 5.4e6), 400, 300, wkid: 3857)
        let whole = wrong(try draw(fine, [layer], fixture), fine, cell: 1e5, slack: 1_000)
        #expect(whole.wrong == 0 && whole.seen > 100_000)
        let asked = try fixture.server.log().filter { $0.contains("/tile/") }
        // Columns are 160 pixels wide from -1,500,000 on, rows 100 pixels high from 7,300,000 down.
        let wanted = (19...21).flatMap { row in (5...8).map { "/tile/7/\(row)/\($0) " } }
        #expect(asked.count == wanted.count)
        #expect(wanted.allSatisfy { tile in asked.contains { $0.contains(tile) } })

        // Pixels of level 5, where one column of tiles is missing: from -220,000 to 420,000.
        let coarse = try request(
            Envelope(minX: -9e5, minY: 5.2e6, maxX: 1e6, maxY: 6.8e6), 475, 400, wkid: 3857)
        let drawn = try draw(coarse, [layer], fixture)
        #expect(drawn.head.missing == nil)
        let gap = (170...329)
        #expect(gap.dropFirst().dropLast().allSatisfy { drawn[$0, 200] == [0, 0, 0, 0] })
        var (wrongCount, seen) = (0, 0)
        for row in 0..<400 {
            for column in 0..<475 where column < 169 || column > 331 {
                let (x, y) = (
                    -9e5 + (Double(column) + 0.5) * 4_000, 6.8e6 - (Double(row) + 0.5) * 4_000
                )
                guard depth(x, y, 1e5) >= 4_000 else { continue }
                seen += 1
                var color = ground(x, y, 1e5)
                if color[3] == 0 { color = [0, 0, 0, 0] }
                if drawn[column, row] != color { wrongCount += 1 }
            }
        }
        #expect(wrongCount == 0 && seen > 80_000)
    }

    @Test
    func
        `a tile that is not there is clear, a level that is not there is drawn from a coarser one`()
        throws
    {
        let fixture = try RemoteFixture()
        let layer = try fixture.layer(
            0, .tiles(TileSource(url: fixture.server.url + "/xyz/{z}/{x}/{y}.png")))
        // Level 3, around the first meridian in row 2.
        let side = 2 * Self.half / 8
        let gap = try request(
            Envelope(
                minX: -side / 2, minY: Self.half - 3 * side, maxX: side / 2,
                maxY: Self.half - 2 * side), 256, 256, wkid: 3857)
        let drawn = try draw(gap, [layer], fixture)
        #expect(drawn.head.missing == nil)
        #expect((0..<256).allSatisfy { drawn[200, $0] == [0, 0, 0, 0] })
        #expect((0..<256).contains { drawn[50, $0] != [0, 0, 0, 0] })

        // Pixels of level 11.
        let pixel = 2 * Self.half / 256 / 2048
        let near = try request(
            Envelope(
                minX: -4e6, minY: 3e6, maxX: -4e6 + 300 * pixel, maxY: 3e6 + 300 * pixel), 300, 300,
            wkid: 3857)
        let result = wrong(
            try draw(near, [layer], fixture), near, cell: 1e5, slack: 8 * pixel)
        #expect(result.seen > 50_000 && result.wrong == 0)
    }

    // MARK: Trouble

    @Test(.slow)
    func `a service that fails, hangs or answers wrongly is named, and the rest is drawn`()
        throws
    {
        let fixture = try RemoteFixture(askTimeout: .seconds(4))
        let good = try fixture.wms(1)
        var bad = try ["/exception", "/lying", "/garbage", "/cut", "/half", "/trickle", "/flood"]
            .enumerated().map { try fixture.wms(LayerID(10 + $0.offset), $0.element) }
        bad.append(try fixture.wms(20, "/wms", credential: nil))
        bad[7].kind = .layer(
            source: .wms(
                WMSSource(url: fixture.server.url + "/wms", layers: ["roads"], credential: "lost")))
        bad[7].name = "without its credential"
        let request = try request(
            Envelope(minX: -4e5, minY: 5e6, maxX: 8e5, maxY: 5.9e6), 60, 45, wkid: 3857)

        let drawn = try draw(request, Array(bad[..<4]) + [good] + Array(bad[4...]), fixture)

        #expect(drawn.bytes == (try draw(request, [good], fixture)).bytes)
        let missing = try #require(drawn.head.missing)
        #expect(Set(missing.map(\.layerID)) == Set(bad.map(\.id)))
        for failure in missing {
            #expect(!failure.error.message.isEmpty && !failure.error.message.contains("secret"))
        }
        let codes = Dictionary(missing.map { ($0.layerID, $0.error.code) }) { first, _ in first }
        #expect(codes[10] == .unreadable && codes[11] == .unreadable && codes[12] == .unreadable)
        #expect(codes[13] == .unreadable && codes[14] == .timedOut && codes[16] == .tooLarge)
        let lie = missing.first { $0.layerID == 11 }
        #expect(lie?.error.message.contains("100000 pixels wide") == true)
        // The failures are known without the picture, too.
        var plan = request
        plan.format = nil
        let map = PreparedMap(try fixture.map(bad, wkid: 3857))
        let told = try MapPicture.draw(
            plan, of: map, by: fixture.engine,
            remotes: { [services = fixture.services] questions in
                let inquiry = services.draw(questions)
                return { inquiry.answer(at: $0) }
            })
        #expect(Set((told.head.missing ?? []).map(\.layerID)) == Set(bad.map(\.id)))
    }

    @Test func `layers lie in the map's order, under their own transparency and scale ranges`()
        throws
    {
        let fixture = try RemoteFixture()
        var remote = try fixture.wms(1)
        remote.drawing = LayerDrawing(transparency: 50)
        var below = fixture.drawn(0, wkid: 3857)
        let corners = [(-1e6, 4e6), (1e6, 4e6), (1e6, 7e6), (-1e6, 7e6), (-1e6, 4e6)]
        below.graphics?[0].shape = .polygon(
            rings: [corners.map { Coordinate(x: $0.0, y: $0.1) }])
        let red = LayerSymbol.Fill(LayerSymbol.Color(255, 0, 0))
        below.drawing = LayerDrawing(.simple(.init(LayerSymbol(.fill(red)))))
        let request = try request(
            Envelope(minX: -4e5, minY: 5e6, maxX: 8e5, maxY: 5.9e6), 12, 9, wkid: 3857)

        let drawn = try draw(request, [below, remote], fixture)
        for (column, row) in [(0, 0), (5, 4), (11, 8)] {
            let seen = ground(-3.5e5 + Double(column) * 1e5, 5.85e6 - Double(row) * 1e5, 1e5)
            let wanted = (0..<3).map { channel in
                let low = channel == 0 ? 255.0 : 0
                return seen[3] == 0 ? low : (Double(seen[channel]) + low) / 2
            }
            #expect(
                zip(drawn[column, row], wanted).allSatisfy { abs(Double($0) - $1) <= 2 })
        }
        // The other way round the server's layer is hidden; out of its range it is not requested.
        let covered = try draw(request, [remote, below], fixture)
        #expect((0..<12).allSatisfy { covered[$0, 4] == [255, 0, 0, 255] })
        let count = try fixture.server.log().count { $0.contains("GetMap") }
        remote.scaleRange = ScaleRange(minScale: 1_000, maxScale: 0)
        let without = try draw(request, [below, remote], fixture)
        #expect((0..<12).allSatisfy { without[$0, 4] == [255, 0, 0, 255] })
        #expect(without.head.hasRemote == nil)
        #expect(try fixture.server.log().count { $0.contains("GetMap") } == count)
    }
}
