// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
import CairnTesting
import Foundation
import Testing

/// Renderers, and what the engine of geometries says.
@Suite struct SymbolTests {
    private static let red = SimpleMarkerSymbol(style: .square, color: .red, size: 20)
    private static let blue = SimpleMarkerSymbol(style: .square, color: .blue, size: 20)
    private static let white = SimpleMarkerSymbol(style: .square, color: .white, size: 6)

    private static func graphic(_ attributes: [String: any Sendable]) -> Graphic {
        Graphic(
            geometry: Point(x: 0, y: 0, spatialReference: .webMercator), attributes: attributes)
    }

    /// The color in the middle of a picture of one graphic, and that beside it.
    private func colors(
        _ renderer: Renderer?, _ graphic: Graphic
    ) async throws -> [SymbolColor] {
        let overlay = GraphicsOverlay(graphics: [graphic])
        overlay.renderer = renderer
        let map = Map(spatialReference: .webMercator)
        let view = MapViewProxy(map: map, size: CGSize(width: 60, height: 60))
        view.graphicsOverlays = [overlay]
        let center = Point(x: 0, y: 0, spatialReference: .webMercator)
        _ = await view.setViewpoint(Viewpoint(center: center, scale: 10_000))
        let picture = try await view.exportRaster()
        return [picture.pixel(30, 30), picture.pixel(37, 30)]
    }

    @Test func `values have their symbols, whatever types they have`() async throws {
        let renderer = UniqueValueRenderer(
            fieldNames: ["kind", "level"],
            uniqueValues: [
                UniqueValue(label: "old", symbol: Self.red, values: ["old", 2]),
                UniqueValue(label: "new", symbol: Self.blue, values: ["new", 2]),
            ])
        let old = Self.graphic(["kind": "old", "level": Int32(2)])
        #expect(try await colors(renderer, old)[0] == .red)
        let new = Self.graphic(["kind": "new", "level": 2.0])
        #expect(try await colors(renderer, new)[0] == .blue)
        let nothing = try await colors(nil, Graphic())[0]
        #expect(nothing != .red && nothing != .blue)
        let other = Self.graphic(["kind": "old", "level": 3])
        #expect(try await colors(renderer, other)[0] == nothing)
        #expect(try await colors(renderer, Self.graphic(["kind": "old"]))[0] == nothing)
        new.symbol = Self.red
        #expect(try await colors(renderer, new)[0] == .red)
    }

    @Test func `ranges have their symbols, an end belongs to the first`() async throws {
        let renderer = ClassBreaksRenderer(
            fieldName: "height",
            classBreaks: [
                ClassBreak(minValue: 0, maxValue: 10, symbol: Self.red),
                ClassBreak(minValue: 10, maxValue: 20, symbol: Self.blue),
            ], defaultSymbol: Self.white)
        for (height, color) in [
            (0.0, SymbolColor.red), (10, .red), (10.5, .blue), (20, .blue), (20.1, .white),
            (-.infinity, .white), (.nan, .white),
        ] {
            let graphic = Self.graphic(["height": height])
            #expect(try await colors(renderer, graphic)[0] == color, "\(height)")
        }
    }

    @Test func `parts of a symbol lie over each other`() async throws {
        let symbol = CompositeSymbol(symbols: [Self.blue, Self.white])
        let renderer = SimpleRenderer(symbol: symbol)
        #expect(try await colors(renderer, Self.graphic([:])) == [.white, .blue])
    }

    @Test func `distances on the ellipsoid are those of the surveyors`() throws {
        func degrees(_ whole: Double, _ minutes: Double, _ seconds: Double) -> Double {
            whole + minutes / 60 + seconds / 3_600
        }
        // Flinders Peak to Buninyong (Geodetic datum of Australia, technical manual).
        let first = Point(
            x: degrees(144, 25, 29.52440), y: -degrees(37, 57, 3.72030), spatialReference: .wgs84)
        let second = Point(
            x: degrees(143, 55, 35.38390), y: -degrees(37, 39, 10.15610), spatialReference: .wgs84)
        let found = try #require(GeometryEngine.geodeticDistance(from: first, to: second))
        #expect(abs(found.distance.value - 54_972.271) < 0.001)
        #expect(abs(found.azimuth1.value - degrees(306, 52, 5.37)) < 1e-5)
        #expect(abs(found.azimuth2.value - degrees(127, 10, 25.07)) < 1e-5)
        let kilometers = try #require(
            GeometryEngine.geodeticDistance(
                from: first, to: try GeometryEngine.project(second, into: .webMercator),
                distanceUnit: .kilometers, azimuthUnit: .radians))
        #expect(abs(kilometers.distance.value - 54.972_271) < 1e-6)
        // A degree of the equator.
        let degree = try #require(
            GeometryEngine.geodeticDistance(
                from: Point(x: 0, y: 0, spatialReference: .wgs84),
                to: Point(x: 1, y: 0, spatialReference: .wgs84)))
        #expect(abs(degree.distance.value - 6_378_137 * .pi / 180) < 1e-6)
        #expect(abs(degree.azimuth1.value - 90) < 1e-9)
        let opposite = Point(x: 179.9, y: 0.1, spatialReference: .wgs84)
        let origin = Point(x: 0, y: 0, spatialReference: .wgs84)
        #expect(GeometryEngine.geodeticDistance(from: origin, to: opposite) == nil)
        #expect(GeometryEngine.geodeticDistance(from: origin, to: origin)?.distance.value == 0)
        let nowhere = Point(x: .nan, y: 0, spatialReference: .wgs84)
        #expect(GeometryEngine.geodeticDistance(from: origin, to: nowhere) == nil)
    }

    @Test func `a point on a border is not within`() {
        let area = Envelope(xMin: 0, yMin: 0, xMax: 4, yMax: 4, spatialReference: .wgs84)
        func point(_ x: Double, _ y: Double) -> Point {
            Point(x: x, y: y, spatialReference: .wgs84)
        }
        #expect(GeometryEngine.isGeometry(point(2, 2), within: area))
        for (x, y) in [(0.0, 2.0), (4, 4), (2, 0), (0, 0), (5, 2)] {
            #expect(!GeometryEngine.isGeometry(point(x, y), within: area), "\(x), \(y)")
        }
    }

    // MARK: Symbols

    /// The picture of one symbol at the middle of 60 by 60 pixels, where a pixel is a point.
    private func picture(
        _ symbol: Symbol, _ geometry: Geometry? = nil, rotation: Double = 0
    ) async throws -> Raster {
        let view = MapViewProxy(
            map: Map(spatialReference: .webMercator), size: CGSize(width: 60, height: 60), dpi: 72)
        let center = Point(x: 0, y: 0, spatialReference: .webMercator)
        view.graphicsOverlays = [
            GraphicsOverlay(graphics: [Graphic(geometry: geometry ?? center, symbol: symbol)])
        ]
        // A pixel is one metre.
        _ = await view.setViewpoint(
            Viewpoint(center: center, scale: 72 / 0.0254, rotation: rotation))
        return try await view.exportRaster()
    }

    /// Around the pixels that are not empty: left, top, right, bottom.
    private func box(_ raster: Raster) -> [Int] {
        var box = [Int.max, Int.max, Int.min, Int.min]
        for y in 0..<raster.height {
            for x in 0..<raster.width where raster.pixel(x, y).alpha > 0 {
                box = [min(box[0], x), min(box[1], y), max(box[2], x), max(box[3], y)]
            }
        }
        return box
    }

    @Test func `a text lies beside its place by its alignments`() async throws {
        let text = TextSymbol(
            text: "HI", color: .blue, size: 20, horizontalAlignment: .left,
            verticalAlignment: .bottom)
        let right = box(try await picture(text))
        #expect(right[0] >= 29 && right[3] <= 30 && right[2] > 36 && right[1] < 24)
        text.horizontalAlignment = .right
        text.verticalAlignment = .top
        let left = box(try await picture(text))
        #expect(left[2] <= 31 && left[1] >= 29 && left[0] < 24 && left[3] > 36)
        text.horizontalAlignment = .center
        text.verticalAlignment = .middle
        let middle = box(try await picture(text))
        #expect(abs(middle[0] + middle[2] - 59) <= 2)
        // Turned by a right angle, and moved by its offsets.
        text.angle = 90
        let turned = box(try await picture(text))
        #expect(abs((turned[3] - turned[1]) - (middle[2] - middle[0])) <= 2)
        text.angle = 0
        text.offsetX = 10
        text.offsetY = 5
        let moved = box(try await picture(text))
        #expect(moved[0] - middle[0] == 10 && moved[1] - middle[1] == -5)
    }

    @Test func `every letter has strokes of its own, and lines lie below each other`() async throws
    {
        var pictures: Set<[UInt8]> = []
        let signs =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
            + "!\"#$%&()*+,-./:;<=>?@[]^_{|}~ÄÖÜäéñç"
        for sign in signs {
            let found = try await picture(TextSymbol(text: String(sign), size: 40))
            #expect(found.bytes.contains { $0 > 0 }, "\(sign)")
            pictures.insert(found.bytes)
        }
        #expect(pictures.count == signs.count)
        let one = box(try await picture(TextSymbol(text: "H", size: 12, verticalAlignment: .top)))
        let two = box(
            try await picture(TextSymbol(text: "H\nH", size: 12, verticalAlignment: .top)))
        #expect(two[1] == one[1] && two[3] == one[3] + 12)
        let nothing = try await picture(TextSymbol(text: " \n", size: 12))
        #expect(nothing.bytes.allSatisfy { $0 == 0 })
    }

    @Test func `a halo and a background lie behind the letters`() async throws {
        let text = TextSymbol(text: "H", color: .white, size: 30)
        text.haloColor = .black
        text.haloWidth = 2
        text.backgroundColor = .yellow
        let found = try await picture(text)
        // Through both strokes of the letter, below the one between them.
        let colors = Set((0..<60).map { found.pixel($0, 33) })
        #expect(colors.isSuperset(of: [.white, .black, .yellow]))
        #expect(found.pixel(30, 20) == .yellow && found.pixel(5, 33) == .clear)
    }

    /// A PNG of 2 by 2 pixels: red, green over blue, white.
    private static let png =
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAYAAABytg0kAAAAFklEQVR4nGP4z8DwHwQZGBqA"
                + "5P///wA8wQf6t1PIZAAAAABJRU5ErkJggg==") ?? Data()

    @Test func `a picture is drawn in its size, at its place`() async throws {
        let view = MapViewProxy(
            map: Map(spatialReference: .webMercator), size: CGSize(width: 4, height: 4), dpi: 72)
        let center = Point(x: 0, y: 0, spatialReference: .webMercator)
        let red = SimpleMarkerSymbol(style: .square, color: .red, size: 8)
        view.graphicsOverlays = [
            GraphicsOverlay(graphics: [Graphic(geometry: center, symbol: red)])
        ]
        let bytes = try await view.exportImage()
        let symbol = PictureMarkerSymbol(imageData: bytes)
        #expect(symbol.width == 0 && symbol.loadStatus == .notLoaded)
        try await symbol.load()
        #expect(symbol.width == 3 && symbol.height == 3)
        (symbol.width, symbol.height) = (20, 10)
        #expect(box(try await picture(symbol)) == [20, 25, 39, 34])
        symbol.angle = 90
        #expect(box(try await picture(symbol)) == [25, 20, 34, 39])
        symbol.angle = 0
        (symbol.offsetX, symbol.offsetY) = (5, 5)
        #expect(box(try await picture(symbol)) == [25, 20, 44, 29])
        symbol.opacity = 0.5
        #expect(try await picture(symbol).pixel(30, 25).alpha == 128)
        let bad = PictureMarkerSymbol(imageData: Data("GIF89a".utf8))
        let error = await #expect(throws: CairnError.self) { try await bad.load() }
        #expect(error?.kind == .invalidDocument)
        #expect(try await picture(bad).bytes.allSatisfy { $0 == 0 })
    }

    @Test func `a picture by its URL is asked once, and again after a failure`() async throws {
        let server = StubServer()
        let png = try await MapViewProxy(
            map: Map(spatialReference: .webMercator), size: CGSize(width: 2, height: 2)
        ).exportImage()
        server.on("/pin.png", inTurn: [.error(404, "gone"), .bytes(png, type: "image/png")])
        let symbol = PictureMarkerSymbol(url: server.url.appending(path: "pin.png"))
        _ = try await picture(symbol)
        #expect(symbol.loadStatus == .failed)
        _ = try await picture(CompositeSymbol(symbols: [symbol, symbol]))
        _ = try await picture(symbol)
        #expect(symbol.loadStatus == .loaded && server.requests("/pin.png").count == 2)
    }

    @Test func `lines have patterns, areas hatches, marks outlines`() async throws {
        func length(_ style: SimpleLineSymbol.Style) async throws -> Int {
            let line = Polyline(
                points: [Point(x: -25, y: 0), Point(x: 25, y: 0)], spatialReference: .webMercator)
            let found = try await picture(
                SimpleLineSymbol(style: style, color: .black, width: 2), line)
            return (0..<60).count { found.pixel($0, 30).alpha > 127 }
        }
        let solid = try await length(.solid)
        #expect(49...51 ~= solid)
        // Of 14 metres 8 are drawn, of 8 metres 2.
        #expect(try await length(.dash) == 3 * 8 + 8)
        #expect(try await length(.dot) == 6 * 2 + 2)
        #expect(try await length(.null) == 0)
        let area = Envelope(
            xMin: -20, yMin: -20, xMax: 20, yMax: 20, spatialReference: .webMercator)
        func cover(_ style: SimpleFillSymbol.Style) async throws -> Int {
            let found = try await picture(SimpleFillSymbol(style: style, color: .red), area)
            return found.bytes.indices.count { $0 % 4 == 3 && found.bytes[$0] > 127 }
        }
        #expect(try await cover(.solid) == 1_600)
        #expect(try await cover(.horizontal) == 200)
        #expect(try await cover(.vertical) == 200)
        #expect(try await cover(.cross) == 375)
        #expect(try await cover(.forwardDiagonal) == 200)
        #expect(try await cover(.noFill) == 0)
        let mark = SimpleMarkerSymbol(style: .square, color: .white, size: 20)
        mark.outline = SimpleLineSymbol(color: .black, width: 2)
        let found = try await picture(mark)
        #expect(found.pixel(30, 30) == .white && found.pixel(20, 30) == .black)
        mark.color = .blue
        #expect(try await picture(mark).pixel(30, 30) == .blue)
    }

    @Test func `symbols go through their JSON`() throws {
        let text = TextSymbol(
            text: "a\nb", color: .white, size: 12, horizontalAlignment: .right,
            verticalAlignment: .top)
        (text.haloColor, text.haloWidth, text.fontWeight) = (.black, 2, .bold)
        (text.angle, text.offsetX, text.fontFamily) = (30, 4, "Noto Sans")
        text.backgroundColor = .yellow
        let read = try TextSymbol.fromJSON(text.toJSON())
        #expect(read.toJSON() == text.toJSON() && read.angle == 30 && read.text == "a\nb")
        #expect(text.toJSON().contains(#""angle":-30"#))
        let mark = SimpleMarkerSymbol(style: .triangle, color: .orange, size: 9)
        mark.outline = SimpleLineSymbol(style: .dashDotDot, color: .purple, width: 3)
        let fill = SimpleFillSymbol(style: .diagonalCross, color: .cyan, outline: mark.outline)
        let picture = PictureMarkerSymbol(imageData: Self.png)
        (picture.width, picture.height, picture.offsetY) = (10, 12, 5)
        let remote = PictureMarkerSymbol(url: URL(string: "https://example.org/x.png")!)
        for symbol in [mark, fill, picture, remote, CompositeSymbol(symbols: [mark, text])] {
            let back = try Symbol.fromJSON(symbol.toJSON())
            #expect(type(of: back) == type(of: symbol) && back.toJSON() == symbol.toJSON())
        }
        #expect(
            (try Symbol.fromJSON(picture.toJSON()) as? PictureMarkerSymbol)?.imageData == Self.png)
        #expect(throws: CairnError.self) { try TextSymbol.fromJSON(mark.toJSON()) }
        #expect(throws: CairnError.self) { try Symbol.fromJSON(#"{"type":"cim"}"#) }
        #expect(throws: CairnError.self) { try Symbol.fromJSON("[") }
    }

    @Test func `renderers change, and go through their JSON`() throws {
        let renderer = UniqueValueRenderer(fieldNames: ["kind"])
        #expect(renderer.symbol(for: Self.graphic(["kind": "old"])) == nil)
        let old = UniqueValue(label: "old", symbol: Self.red, values: ["old"])
        renderer.addUniqueValue(old)
        renderer.addUniqueValues([UniqueValue(label: "none", symbol: Self.blue, values: ["<Null>"])]
        )
        #expect(renderer.symbol(for: Self.graphic(["kind": "old"])) === Self.red)
        #expect(renderer.symbol(for: Self.graphic([:])) === Self.blue)
        old.symbol = Self.white
        #expect(renderer.symbol(for: Self.graphic(["kind": "old"])) === Self.white)
        renderer.addFieldName("level")
        old.values = ["old", 2]
        let read = try UniqueValueRenderer.fromJSON(renderer.toJSON())
        #expect(read.toJSON() == renderer.toJSON() && read.fieldNames == ["kind", "level"])
        let two = Self.graphic(["kind": "old", "level": Int16(2)])
        #expect(read.symbol(for: two)?.toJSON() == Self.white.toJSON())
        renderer.removeUniqueValue(old)
        renderer.defaultSymbol = Self.blue
        #expect(renderer.uniqueValues.map(\.label) == ["none"])
        #expect(renderer.symbol(for: two) === Self.blue)

        let breaks = ClassBreaksRenderer(fieldName: "height")
        breaks.addClassBreak(ClassBreak(label: "low", minValue: 0, maxValue: 10, symbol: Self.red))
        breaks.addClassBreaks([ClassBreak(minValue: 10, maxValue: 20, symbol: Self.blue)])
        let again = try Renderer.fromJSON(breaks.toJSON())
        #expect(again.toJSON() == breaks.toJSON())
        #expect(again.symbol(for: Self.graphic(["height": 12]))?.toJSON() == Self.blue.toJSON())
        // Esri's form gives the least number of the first class alone.
        let esri = try ClassBreaksRenderer.fromJSON(
            #"""
            {"type":"classBreaks","field":"height","minValue":1,"classBreakInfos":[
            {"classMaxValue":5,"symbol":{"type":"esriSMS","color":[255,0,0,255]}},
            {"classMaxValue":9,"symbol":{"type":"esriSMS","color":[0,0,255]}}]}
            """#)
        #expect(esri.classBreaks.map(\.minValue) == [1, 5])
        #expect(esri.symbol(for: Self.graphic(["height": 0.5])) == nil)
        let simple = SimpleRenderer(symbol: Self.red)
        simple.label = "red"
        #expect(try SimpleRenderer.fromJSON(simple.toJSON()).label == "red")
        #expect(throws: CairnError.self) { try Renderer.fromJSON(#"{"type":"heatmap"}"#) }
    }

    @Test func `a swatch is a picture of the symbol`() async throws {
        func swatch(_ symbol: Symbol, _ scale: Double = 1) async throws -> Raster {
            let marker = PictureMarkerSymbol(imageData: try await symbol.makeSwatch(scale: scale))
            try await marker.load()
            // A pixel of the swatch is a pixel.
            (marker.width, marker.height) = (32, 32)
            return try await picture(marker)
        }
        let mark = SimpleMarkerSymbol(style: .square, color: .red, size: 16)
        #expect(box(try await swatch(mark)) == [22, 22, 37, 37])
        #expect(box(try await swatch(mark, 2)) == [22, 22, 37, 37])
        let fill = SimpleFillSymbol(color: .blue)
        #expect(box(try await swatch(fill)) == [18, 18, 41, 41])
        let both = CompositeSymbol(symbols: [fill, mark])
        #expect(try await swatch(both).pixel(30, 30) == .red)
        #expect(box(try await swatch(SimpleLineSymbol(width: 2))) == [18, 29, 41, 30])
        let bad = PictureMarkerSymbol(imageData: Data())
        await #expect(throws: CairnError.self) { try await bad.makeSwatch() }
    }
}
