// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Synchronization
import Testing

/// Pictures of vector tiles.
///
/// At zoom 0 a pixel of a view of 512 is 8 cells of the one tile.
@Suite struct VectorTilePictureTests {
    private typealias Feature = TileBytes.Feature

    private static let red = SymbolColor.red
    private static let lime = SymbolColor(red: 0, green: 255, blue: 0)

    /// Two squares of a class each, the second with a hole.
    private var squares: TileBytes {
        var tile = TileBytes()
        tile.add(
            "areas",
            [
                Feature(
                    kind: .polygon, parts: [TileBytes.square((1024, 1024), (2048, 2048))],
                    attributes: ["class": .text("water"), "rank": .whole(1)], id: 7),
                Feature(
                    kind: .polygon,
                    parts: [
                        TileBytes.square((2048, 2048), (3072, 3072)),
                        TileBytes.square((2304, 2304), (2816, 2816)).reversed(),
                    ], attributes: ["class": .text("park"), "rank": .number(2.5)]),
            ])
        return tile
    }

    private static let classes =
        VectorService.background
        + VectorService.layer(
            "fill",
            #"""
            "filter":["==","class","water"],"paint":{"fill-color":"#0000ff"}
            """#) + ","
        + VectorService.layer(
            "fill",
            #"""
            "filter":["==",["get","class"],"park"],"paint":{"fill-color":
            ["match",["get","class"],["wood","park"],"lime","red"]}
            """#)

    @Test func `areas lie where they are, in the color of their filter, at two zooms`()
        async throws
    {
        let service = VectorService(style: Self.classes)
        service.on(0, 0, 0, squares)
        let whole = try await service.picture()
        #expect(whole.pixel(130, 130) == .blue && whole.pixel(254, 254) == .blue)
        #expect(whole.pixel(126, 130) == .white && whole.pixel(258, 250) == .white)
        #expect(whole.pixel(258, 258) == Self.lime && whole.pixel(382, 382) == Self.lime)
        #expect(whole.pixel(385, 385) == .white)
        // The hole.
        #expect(whole.pixel(320, 320) == .white && whole.pixel(286, 320) == Self.lime)
        // Deeper than the deepest level, its tiles are drawn larger.
        let near = try await service.picture(zoom: 1)
        #expect(near.pixel(2, 2) == .blue && near.pixel(254, 254) == .blue)
        #expect(near.pixel(258, 258) == Self.lime && near.pixel(400, 100) == .white)
        #expect(near.pixel(384, 384) == .white)
        #expect(service.server.requests.filter { $0.path.contains("/tile/") }.count == 1)
        #expect(service.layer.undrawnStyleParts.isEmpty)
    }

    @Test func `the level is that whose tiles have 512 pixels or more`() async throws {
        let service = VectorService(levels: 0...3, style: Self.classes)
        for (zoom, level) in [(0.0, 0), (0.9, 0), (1, 1), (1.99, 1), (2, 2), (5, 3)] {
            _ = try await service.picture(zoom: zoom, size: 64)
            let asked = service.server.requests.last { $0.path.contains("/tile/") }
            #expect(asked?.path.contains("/tile/\(level)/") == true, "zoom \(zoom)")
            #expect(asked != nil)
        }
        // Twice as many dots are no other zoom.
        let fine = VectorService(levels: 0...3, style: Self.classes)
        fine.on(0, 0, 0, squares)
        let view = VectorService.view(of: fine.layer, size: 1024, dpi: 192)
        let picture = try await view.exportRaster()
        #expect(picture.pixel(260, 260) == .blue && picture.pixel(508, 508) == .blue)
        #expect(fine.server.requests.filter { $0.path.contains("/tile/") }.count == 1)
    }

    @Test func `a turned view has the same areas, and no tile draws over its side`()
        async throws
    {
        let service = VectorService(levels: 0...1, style: Self.classes)
        // Each tile has all of the area around the middle, also what is its neighbours'.
        for row in 0...1 {
            for column in 0...1 {
                var tile = TileBytes()
                let (x, y) = (4096 * (1 - column), 4096 * (1 - row))
                tile.add(
                    "areas",
                    [
                        Feature(
                            kind: .polygon,
                            parts: [TileBytes.square((x - 800, y - 800), (x + 800, y + 800))],
                            attributes: ["class": .text("water")])
                    ])
                service.on(1, row, column, tile)
            }
        }
        let style = VectorService.style(
            VectorService.background
                + VectorService.layer(
                    "fill", ##""paint":{"fill-color":"#0000ff","fill-opacity":0.5}"##))
        service.server.on("/Tiles/VectorTileServer/resources/styles/root.json", json: style)
        for rotation in [0.0, 30, 90, 200] {
            let picture = try await service.picture(zoom: 1, rotation: rotation, size: 256)
            // A square of 200 pixels around the middle: half a blue over white, nowhere twice.
            var colors: [SymbolColor: Int] = [:]
            for y in 60..<196 {
                for x in 60..<196 { colors[picture.pixel(x, y), default: 0] += 1 }
            }
            #expect(colors.count == 1, "\(rotation): \(colors)")
            #expect(
                colors.keys.first.map { 127...128 ~= $0.red && $0.blue == 255 } == true,
                "\(colors)")
            let corner = picture.pixel(10, 10)
            #expect(corner == .white)
        }
        // Turned by 45 degrees, a corner of the square is to the right of the middle.
        let turned = try await service.picture(zoom: 1, rotation: 45, size: 320)
        #expect(turned.pixel(160 + 138, 160) != .white && turned.pixel(160 + 145, 160) == .white)
        #expect(turned.pixel(160 + 90, 160 + 90) == .white)
    }

    @Test func `a line has its width, its dashes and its opacity`() async throws {
        var tile = TileBytes()
        tile.add(
            "roads",
            [
                Feature(
                    kind: .line, parts: [[(-400, 1024), (4500, 1024)]],
                    attributes: ["lanes": .whole(3)]),
                Feature(kind: .line, parts: [[(0, 3072), (2048, 3072), (4096, 3072)]]),
            ])
        let service = VectorService(
            style: VectorService.background
                + VectorService.layer(
                    "line",
                    #"""
                    "filter":["has","lanes"],"paint":{"line-color":"red",
                    "line-width":["*",2,["get","lanes"]]}
                    """#, from: "roads") + ","
                + VectorService.layer(
                    "line",
                    #"""
                    "filter":["!has","lanes"],"layout":{"line-cap":"round"},"paint":
                    {"line-color":"black","line-opacity":0.5,"line-width":{"stops":[[0,10],[2,30]]}}
                    """#, from: "roads"))
        service.on(0, 0, 0, tile)
        let picture = try await service.picture()
        for x in [0, 100, 511] {
            let reds = (0..<256).filter { picture.pixel(x, $0) == Self.red }
            #expect(reds == Array(125..<131), "\(x): \(reds)")
        }
        // The bend in the middle is not darker than the rest.
        for x in [100, 255, 256, 257] {
            let grays = (300..<500).filter { picture.pixel(x, $0).red < 200 }
            #expect(grays == Array(379..<389), "\(x): \(grays)")
            #expect(Set(grays.map { picture.pixel(x, $0).red }).isSubset(of: [127, 128]))
        }
        // At zoom 1 the stops have 20.
        let near = try await service.picture(zoom: 1, size: 1024)
        #expect((600..<1000).count { near.pixel(500, $0).red < 200 } == 20)

        let dashed = VectorService(
            style: VectorService.background
                + VectorService.layer(
                    "line",
                    #""paint":{"line-color":"red","line-width":8,"line-dasharray":[2,1]}"#,
                    from: "roads"))
        dashed.on(0, 0, 0, tile)
        let dashes = try await dashed.picture()
        let row = (0..<512).map { dashes.pixel($0, 384) == Self.red }
        #expect(zip(row, row.dropFirst()).count { $0 != $1 } == 2 * 512 / 24)
    }

    @Test func `dots without a length are drawn by their round ends`() async throws {
        var tile = TileBytes()
        tile.add("roads", [Feature(kind: .line, parts: [[(0, 2048), (4096, 2048)]])])
        let service = VectorService(
            style: VectorService.background
                + VectorService.layer(
                    "line",
                    #"""
                    "layout":{"line-cap":"round"},
                    "paint":{"line-color":"red","line-width":8,"line-dasharray":[0,4]}
                    """#, from: "roads"))
        service.on(0, 0, 0, tile)
        let picture = try await service.picture()
        let row = (16..<496).map { picture.pixel($0, 256).green < 100 }
        #expect(zip(row, row.dropFirst()).count { $0 != $1 } == 30)
        #expect(row.count { $0 } == 15 * 8)
    }

    @Test func `circles have their radius and rim, drawn by the tile that has the point`()
        async throws
    {
        let service = VectorService(
            levels: 1...1,
            style: VectorService.background
                + VectorService.layer(
                    "circle",
                    #"""
                    "paint":{"circle-radius":10,"circle-color":"blue","circle-opacity":0.5,
                    "circle-stroke-width":4,"circle-stroke-color":"red"}
                    """#, from: "places"))
        for row in 0...1 {
            for column in 0...1 {
                var tile = TileBytes()
                // The middle of the world, which is the last tile's.
                let middle = (4096 * (1 - column), 4096 * (1 - row))
                tile.add("places", [Feature(kind: .point, parts: [[middle]])])
                service.on(1, row, column, tile)
            }
        }
        let picture = try await service.picture(zoom: 1, size: 64)
        #expect(picture.pixel(32, 32).red.distance(to: 127).magnitude <= 1)
        #expect(picture.pixel(32, 20) == Self.red && picture.pixel(44, 32) == Self.red)
        #expect(picture.pixel(32, 17) == .white && picture.pixel(47, 32) == .white)
    }

    @Test func `texts are drawn at their places, once, and where there is room`() async throws {
        let style =
            VectorService.background
            + VectorService.layer(
                "symbol",
                #"""
                "layout":{"text-field":"{name}","text-size":20},
                "paint":{"text-color":"red"}
                """#, from: "places")
        func feature(_ x: Int, _ y: Int, _ name: String) -> Feature {
            Feature(kind: .point, parts: [[(x, y)]], attributes: ["name": .text(name)])
        }
        func reds(_ picture: Raster, _ columns: Range<Int>, _ rows: Range<Int>) -> Int {
            rows.reduce(0) { sum, y in
                sum
                    + columns.count { x in
                        let color = picture.pixel(x, y)
                        return color.red > 200 && color.green < 120
                    }
            }
        }
        func drawn(_ features: [Feature], _ style: String) async throws -> Raster {
            let service = VectorService(style: style)
            var tile = TileBytes()
            tile.add("places", features)
            service.on(0, 0, 0, tile)
            return try await service.picture()
        }
        let one = try await drawn([feature(2048, 2048, "HELLO")], style)
        let inside = reds(one, 200..<312, 236..<276)
        #expect(inside > 40)
        #expect(reds(one, 0..<512, 0..<512) == inside)
        // Centered: about as much on either side.
        let (left, right) = (reds(one, 0..<256, 0..<512), reds(one, 256..<512, 0..<512))
        #expect(left > 10 && right > 10)
        // Beside the tile, in another's, and empty texts are not drawn.
        let none = try await drawn(
            [feature(-8, 2048, "HELLO"), feature(4096, 10, "HELLO"), feature(99, 99, " ")], style)
        #expect(reds(none, 0..<512, 0..<512) == 0)
        // Two at one place: the second has no room.
        let crowd = try await drawn(
            [feature(2048, 2048, "HELLO"), feature(2048, 2050, "HELLO")], style)
        #expect(reds(crowd, 0..<512, 0..<512) == inside)
        let both = try await drawn(
            [feature(2048, 2048, "HELLO"), feature(2048, 2080, "HELLO")],
            style.replacingOccurrences(
                of: "\"text-size\"", with: #""text-allow-overlap":true,"text-size""#))
        #expect(reds(both, 0..<512, 0..<512) > inside)
        // Beside an anchor at the left, and over it with one at the bottom.
        let beside = try await drawn(
            [feature(2048, 2048, "HELLO")],
            style.replacingOccurrences(
                of: "\"text-size\"", with: #""text-anchor":"bottom-left","text-size""#))
        #expect(reds(beside, 254..<512, 0..<256) == reds(beside, 0..<512, 0..<512))
        #expect(reds(beside, 0..<512, 0..<512) > 40)
    }

    @Test func `texts along a line follow it`() async throws {
        let service = VectorService(
            style: VectorService.background
                + VectorService.layer(
                    "symbol",
                    #"""
                    "layout":{"text-field":["get","name"],"symbol-placement":"line",
                    "symbol-spacing":1000,"text-size":16},"paint":{"text-color":"red"}
                    """#, from: "roads"))
        var tile = TileBytes()
        tile.add(
            "roads",
            [
                Feature(
                    kind: .line, parts: [[(2048, 0), (2048, 4096)]],
                    attributes: ["name": .text("HILL ROAD")])
            ])
        service.on(0, 0, 0, tile)
        let picture = try await service.picture()
        var (columns, rows) = (Set<Int>(), Set<Int>())
        for y in 0..<512 {
            for x in 0..<512 where picture.pixel(x, y).green < 120 {
                columns.insert(x)
                rows.insert(y)
            }
        }
        let (wide, high) = (
            (columns.max() ?? 0) - (columns.min() ?? 0), (rows.max() ?? 0) - (rows.min() ?? 0)
        )
        #expect(high > 3 * wide && wide > 4, "\(wide) by \(high)")
    }

    @Test func `the first layer is at the bottom, zooms and visibility hold, the layer fades`()
        async throws
    {
        func fill(_ color: String, _ members: String = "") -> String {
            VectorService.layer(
                "fill",
                #""layout":{"visibility":"visible"},\#(members)"paint":{"fill-color":"\#(color)"}"#)
        }
        let service = VectorService(
            style: [
                fill("red"), fill("lime"), fill("blue", #""minzoom":1,"#),
                fill("black", #""maxzoom":0,"#),
                fill("black").replacingOccurrences(of: #""visible""#, with: #""none""#),
            ].joined(separator: ","))
        service.on(0, 0, 0, squares)
        #expect(try await service.picture().pixel(200, 200) == Self.lime)
        #expect(try await service.picture(zoom: 0.99).pixel(100, 100) == Self.lime)
        #expect(try await service.picture(zoom: 1).pixel(100, 100) == .blue)
        service.layer.opacity = 0.5
        let faded = try await service.picture().pixel(200, 200)
        #expect(faded.green == 255 && 127...128 ~= faded.alpha)
        #expect(try await service.picture().pixel(5, 5).alpha == 0)
    }

    @Test func `what is not understood is named, and the rest is drawn`() async throws {
        let log = Noted()
        CairnEnvironment.log = { log.add($1, $2) }
        defer { CairnEnvironment.log = nil }
        func named(_ id: String, _ layer: String) -> String {
            layer.replacingOccurrences(of: #""fill of areas""#, with: "\"\(id)\"")
        }
        let service = VectorService(
            style: [
                named("plain", VectorService.layer("fill", #""paint":{"fill-color":"lime"}"#)),
                named("hatched", VectorService.layer("fill", #""paint":{"fill-pattern":"x"}"#)),
                named("far", VectorService.layer("fill", #""filter":["within",{}],"paint":{}"#)),
                named(
                    "odd",
                    VectorService.layer("fill", #""paint":{"fill-color":["spin",["zoom"]]}"#)),
                named(
                    "moved",
                    VectorService.layer(
                        "fill", #""filter":["==","a",1],"paint":{"fill-translate":[1,1]}"#)),
                #"{"id":"relief","type":"hillshade","source":"dem"}"#,
                VectorService.layer("symbol", #""layout":{"icon-image":"pin"}"#),
            ].joined(separator: ","))
        service.on(0, 0, 0, squares)
        #expect(try await service.picture().pixel(200, 200) == Self.lime)
        #expect(
            service.layer.undrawnStyleParts == [
                "hatched: fill-pattern", "far: within", "odd: fill-color: spin",
                "moved: fill-translate", "relief: hillshade",
                "symbol of areas: icon-image (2 features)",
            ])
        #expect(log.texts.contains { $0.contains("odd: fill-color: spin") })
    }

    private final class Noted: Sendable {
        private let all = Mutex<[String]>([])
        var texts: [String] { all.withLock { $0 } }
        func add(_ text: String, _ fields: [String: String]) {
            all.withLock { $0.append("\(text) \(fields)") }
        }
    }

    @Test func `a tile that is not there is empty, one that fails leaves the layer out`()
        async throws
    {
        let answers: [StubAnswer?] = [
            .bytes(Data(), type: "application/x-protobuf", status: 204),
            .bytes(Data(), type: "application/x-protobuf"), .error(404, "no such tile"), nil,
        ]
        for answer in answers {
            let service = VectorService(levels: 1...1, style: Self.classes)
            for (row, column) in [(0, 1), (1, 0), (1, 1)] {
                service.on(1, row, column, TileBytes())
            }
            var tile = TileBytes()
            tile.add(
                "areas",
                [
                    Feature(
                        kind: .polygon, parts: [TileBytes.square((0, 0), (4096, 4096))],
                        attributes: ["class": .text("water")])
                ])
            service.on(1, 0, 1, tile)
            if let answer { service.server.on(service.path(1, 0, 0), answer) }
            let picture = try await service.picture(zoom: 1, size: 64)
            #expect(picture.pixel(10, 10) == .white && picture.pixel(50, 10) == .blue)
            #expect(picture.pixel(32, 10) == .blue && picture.pixel(31, 10) == .white)
        }
        for answer in [
            StubAnswer.error(500, "out of order"),
            .bytes(Data([0x1a, 5, 1]), type: "application/x-protobuf"),
        ] {
            let service = VectorService(style: Self.classes)
            service.server.on(service.path(0, 0, 0), answer)
            #expect(try await service.picture(size: 64).pixel(10, 10).alpha == 0)
        }
    }

    @Test func `tiles and style are asked once, and a cancelled picture ends their requests`()
        async throws
    {
        let service = VectorService(style: Self.classes)
        service.on(0, 0, 0, squares)
        for _ in 0..<3 { _ = try await service.picture(size: 64) }
        #expect(service.server.requests.filter { $0.path.contains("/tile/") }.count == 1)
        #expect(service.server.requests.filter { $0.path.contains("/styles/") }.count == 1)

        let slow = VectorService(style: Self.classes)
        let gate = StubGate()
        slow.server.on(
            slow.path(0, 0, 0),
            StubAnswer.bytes(squares.data, type: "application/x-protobuf").held(by: gate))
        let picture = Task { try await slow.picture(size: 64) }
        while slow.server.requests(slow.path(0, 0, 0)).isEmpty { await Task.yield() }
        picture.cancel()
        await #expect(throws: CancellationError.self) { try await picture.value }
    }

    @Test func `a basemap, a web map and a group draw vector tiles, and only in their reference`()
        async throws
    {
        let service = VectorService(style: Self.classes)
        service.on(0, 0, 0, squares)
        func picture(_ map: Map) async throws -> Raster {
            map.initialViewpoint = Viewpoint(
                center: Point(x: 0, y: 0, spatialReference: .webMercator),
                scale: VectorService.resolution * 96 / 0.0254)
            return try await MapViewProxy(map: map, size: CGSize(width: 512, height: 512))
                .exportRaster()
        }
        let map = Map(basemap: Basemap(baseLayer: service.layer))
        #expect(try await picture(map).pixel(200, 200) == .blue)
        #expect(try await picture(Map.fromJSON(map.toJSON())).pixel(200, 200) == .blue)
        let group = Map(spatialReference: .webMercator)
        let layer = ArcGISVectorTiledLayer(url: service.layer.url)
        group.addOperationalLayer(GroupLayer(childLayers: [layer]))
        #expect(try await picture(group).pixel(200, 200) == .blue)
        let degrees = Map(spatialReference: .wgs84)
        degrees.addOperationalLayer(ArcGISVectorTiledLayer(url: service.layer.url))
        let view = MapViewProxy(map: degrees, size: CGSize(width: 64, height: 64))
        #expect(try await view.exportRaster().pixel(30, 30).alpha == 0)
    }

    @Test func `a view at a scale that no tile can have leaves the layer out`() async throws {
        let service = VectorService(style: Self.classes)
        service.on(0, 0, 0, squares)
        for scale in [1e-300, 1e-9, 1] {
            let map = Map(spatialReference: .webMercator)
            map.addOperationalLayer(service.layer)
            map.initialViewpoint = Viewpoint(
                center: Point(x: -2_000_000, y: 2_000_000, spatialReference: .webMercator),
                scale: scale, rotation: scale < 1e-6 ? 0 : 20)
            let picture = try await MapViewProxy(map: map, size: CGSize(width: 16, height: 16))
                .exportRaster()
            #expect(picture.pixel(8, 8).alpha == (scale < 1e-6 ? 0 : 255))
            map.removeAllOperationalLayers()
        }
    }

    @Test func `a package is drawn from its file, with the style that it has`() async throws {
        let folder = try PackageFiles.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "tiles.vtpk")
        let root = VectorService.description(levels: 0...0)
        let style = VectorService.style(Self.classes)
        try PackageFiles.vectorTiles(squares.data, root: root, style: style).write(to: file)
        let layer = ArcGISVectorTiledLayer(url: file)
        let picture = try await VectorService.view(of: layer).exportRaster()
        #expect(picture.pixel(200, 200) == .blue && picture.pixel(260, 260) == Self.lime)
        #expect(try await layer.styleJSON() == style)
        // The style of the item resources is before it.
        let other = VectorService.style(
            VectorService.layer("fill", #""paint":{"fill-color":"red"}"#))
        try other.write(
            to: folder.appending(path: "root.json"), atomically: true, encoding: .utf8)
        let styled = ArcGISVectorTiledLayer(
            vectorTileCache: VectorTileCache(fileURL: file),
            itemResourceCache: ItemResourceCache(fileURL: folder))
        let red = try await VectorService.view(of: styled).exportRaster()
        #expect(red.pixel(200, 200) == .red && red.pixel(5, 5).alpha == 0)
    }
}
