// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Cairo
import Dataset
import Foundation
import Geometry
import Identify
import PROJ
import Rendering
import Synchronization
import TestKit
import Testing

@Suite struct MapPictureTests {
    // MARK: Against identify

    /// Rings around places, with holes in some, that overlap each other.
    private static func blobs(
        _ random: inout SeededGenerator, count: Int
    ) -> [[[(Double, Double)]]] {
        (0..<count).map { _ in
            let (x, y) = (
                Double.random(in: 0...100, using: &random),
                Double.random(in: 0...100, using: &random)
            )
            let radius = Double.random(in: 5...40, using: &random)
            func ring(_ scale: Double) -> [(Double, Double)] {
                let corners = Int.random(in: 3...24, using: &random)
                let ring = (0..<corners).map { corner in
                    let angle = 2 * Double.pi * Double(corner) / Double(corners)
                    let reach = radius * scale * Double.random(in: 0.6...1, using: &random)
                    return (x + reach * cos(angle), y + reach * sin(angle))
                }
                return ring + [ring[0]]
            }
            return Bool.random(using: &random) ? [ring(1), ring(0.4)] : [ring(1)]
        }
    }

    @Test(arguments: Seeds.chosen(4))
    func `a pixel shows as many areas as identify finds there`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let scene = try Scene()
        let blobs = Self.blobs(&random, count: 9)
        let map = makeMap([try scene.layer(5, blobs.map(polygon))])
        let size = 200
        let engine = scene.engine()
        let pixels = try scene.draw(makeRequest(size: size), map)
        func found(_ x: Double, _ y: Double) throws -> Set<Int64> {
            let request = IdentifyRequest(
                map: world, geometry: .point(Coordinate(x: x, y: y)),
                layers: LayerSelection(.all), tolerance: 0,
                mapExtent: Envelope(minX: 0, minY: 0, maxX: 100, maxY: 100),
                imageDisplay: ImageDisplay(width: 200, height: 200), returnGeometry: false)
            var result: Set<Int64> = []
            try engine.identify(request, in: map).forEachResult { result.insert($0.objectID) }
            return result
        }
        var compared = 0
        var seen: Set<Int> = []
        for _ in 0..<250 {
            let (column, row) = (
                Int.random(in: 0..<size, using: &random), Int.random(in: 0..<size, using: &random)
            )
            let unit = 100 / Double(size)
            let (x, y) = ((Double(column) + 0.5) * unit, 100 - (Double(row) + 0.5) * unit)
            let here = try found(x, y)
            // Far enough from every border.
            let around = [(-2, -2), (-2, 0), (-2, 2), (0, -2), (0, 2), (2, -2), (2, 0), (2, 2)]
            guard
                try around.allSatisfy({
                    try found(x + Double($0.0) * unit, y + Double($0.1) * unit) == here
                })
            else { continue }
            compared += 1
            seen.insert(here.count)
            #expect(
                isNear(pixels[column, row], areaColor(5, times: here.count)),
                "seed \(seed): pixel \(column), \(row) is \(pixels[column, row]) with \(here)")
        }
        #expect(compared > 60 && seen.count > 1, "seed \(seed): \(compared) compared, \(seen)")
    }

    // MARK: Shapes

    @Test func `holes are holes, islands in them are not`() throws {
        let scene = try Scene()
        let shape =
            #"{"type":"MultiPolygon","coordinates":[\#(text([square(10, 90), square(30, 70)])),\#(text([square(45, 55)]))]}"#
        let pixels = try scene.draw(makeRequest(), makeMap([try scene.layer(0, [shape])]))

        #expect(pixels[5, 50] == white)
        #expect(isNear(pixels[20, 50], areaColor(0, times: 1)))
        #expect(pixels[38, 50] == white)
        #expect(isNear(pixels[50, 50], areaColor(0, times: 1)))
    }

    @Test func `parts of one feature that overlap are painted once`() throws {
        let scene = try Scene()
        let shape =
            #"{"type":"MultiPolygon","coordinates":[\#(text([square(10, 60)])),\#(text([square(40, 90).reversed()]))]}"#
        let pixels = try scene.draw(makeRequest(), makeMap([try scene.layer(0, [shape])]))

        #expect(isNear(pixels[50, 50], areaColor(0, times: 1)))
        #expect(isNear(pixels[25, 75], areaColor(0, times: 1)))
        #expect(isNear(pixels[75, 25], areaColor(0, times: 1)))
    }

    @Test func `a shape that reaches far beyond the picture is cut where it belongs`() throws {
        let scene = try Scene()
        let far = 1e11
        let map = makeMap([
            try scene.layer(
                0, [polygon([[(50, 50), (far, 50), (far, far), (50, far), (50, 50)]])]),
            try scene.layer(
                1,
                [
                    #"{"type":"LineString","coordinates":[[\#(-far),\#(-far + 20)],[\#(far),\#(far + 20)]]}"#
                ]),
        ])
        let pixels = try scene.draw(
            makeRequest { $0.extent = Envelope(minX: 0, minY: 0, maxX: 100, maxY: 100) }, map)

        #expect(isNear(pixels[90, 30], areaColor(0, times: 1)))
        #expect(pixels[90, 70] == white && pixels[30, 10] == white)
        // The line is y = x + 20.
        guard case .line(let stroke) = LayerSymbol(standard: 1, .polyline).form else {
            Issue.record("no line")
            return
        }
        #expect(
            isNear(
                pixels[10, 69],
                [stroke.color.red, stroke.color.green, stroke.color.blue].map(Double.init)))
    }

    @Test func `a disc is as large as its symbol at any resolution`() throws {
        let scene = try Scene()
        let map = makeMap([try scene.layer(3, [#"{"type":"Point","coordinates":[50,50]}"#])])
        guard case .marker(let marker) = LayerSymbol(standard: 3, .point).form,
            let outline = marker.outline
        else {
            Issue.record("no disc")
            return
        }
        for dpi in [96.0, 288.0] {
            let pixels = try scene.draw(makeRequest { $0.dpi = dpi }, map)
            let covered = (0..<100).count { pixels[$0, 50] != white }
            let expected = (marker.sizePoints + outline.widthPoints) / 72 * dpi
            #expect(abs(Double(covered) - expected) <= 2, "\(covered) pixels at \(dpi)")
            let color = marker.color
            #expect(isNear(pixels[50, 50], [color.red, color.green, color.blue].map(Double.init)))
        }
    }

    // MARK: Spatial references

    private static func triangles(_ random: inout SeededGenerator) -> [[Coordinate]] {
        (0..<12).map { _ in
            let (x, y) = (
                Double.random(in: 1...5, using: &random), Double.random(in: 44...48, using: &random)
            )
            let ring = (0..<3).map { corner in
                let angle = 2 * Double.pi * Double(corner) / 3
                return Coordinate(x: x + 0.5 * cos(angle), y: y + 0.4 * sin(angle))
            }
            return ring + [ring[0]]
        }
    }

    @Test(arguments: [3857, 32_631, 2154])
    func `a dataset looks the same in whichever reference it is kept`(wkid: Int) throws {
        var random = SeededGenerator(seed: 11)
        let scene = try Scene()
        let triangles = Self.triangles(&random)
        let reference = SpatialReference(wkid: wkid)
        let transform = try CoordinateTransform(from: .wgs84, to: reference)
        let projected = try triangles.map { try $0.map { try transform.forward($0) } }
        func layer(_ rings: [[Coordinate]], _ wkid: Int) throws -> MapDescription {
            makeMap(
                [try scene.layer(0, rings.map { polygon([$0.map { ($0.x, $0.y) }]) }, wkid: wkid)],
                wkid: 4326)
        }
        let request = makeRequest(size: 300) {
            $0.extent = Envelope(minX: 1, minY: 44, maxX: 5, maxY: 48)
            $0.imageReference = reference
        }

        let plain = try scene.draw(request, try layer(projected, wkid))
        let way = try scene.draw(request, try layer(triangles, 4326))

        #expect(plain.differing(from: way, tolerance: 8) == 0)
        #expect((0..<300).contains { plain[$0, 150] != white })
    }

    @Test func `a shape behind the earth is not drawn around everything`() throws {
        let scene = try Scene()
        // Around the south pole: in this conical projection a ring around the whole picture.
        let antarctica = polygon([
            [(-180, -90), (180, -90), (180, -65), (-180, -65), (-180, -90)]
        ])
        let map = makeMap([try scene.layer(0, [antarctica], wkid: 4326)], wkid: 4326)

        let pixels = try scene.draw(
            makeRequest {
                $0.extent = Envelope(minX: -6, minY: 41, maxX: 10, maxY: 52)
                $0.imageReference = SpatialReference(wkid: 2154)
            }, map)

        #expect(pixels.bytes.allSatisfy { $0 == 255 })
    }

    // MARK: Below and beside

    @Test func `a transparent picture has nothing below it, any other has white`() throws {
        let scene = try Scene()
        let map = makeMap([try scene.layer(0, [polygon([square(40, 60)])])])

        #expect(try scene.draw(makeRequest { $0.isTransparent = true }, map)[0, 0] == [0, 0, 0, 0])
        #expect(try scene.draw(makeRequest(), map)[0, 0] == white)
        #expect(
            try scene.draw(makeRequest(), makeMap([], wkid: nil)).bytes.allSatisfy { $0 == 255 })
    }

    @Test(arguments: [(400, 100), (100, 400), (123, 77)])
    func `an extent is grown to the picture's proportions around its middle`(
        width: Int, height: Int
    ) throws {
        let scene = try Scene()
        let given = Envelope(minX: 10, minY: 20, maxX: 70, maxY: 50)
        let picture = try MapPicture.draw(
            makeRequest {
                ($0.extent, $0.width, $0.height, $0.format) = (given, width, height, nil)
            }, of: PreparedMap(makeMap([])), by: scene.engine())
        let extent = picture.head.extent

        let unit = max(60 / Double(width), 30 / Double(height))
        #expect(abs(extent.width - unit * Double(width)) < 1e-9)
        #expect(abs(extent.height - unit * Double(height)) < 1e-9)
        #expect(abs(extent.center.x - 40) < 1e-9 && abs(extent.center.y - 35) < 1e-9)
        #expect(try abs(#require(picture.head.scale) / (unit * 96 * 39.37) - 1) < 1e-12)
        #expect(picture.bytes.isEmpty)
    }

    @Test func `a map's scale takes the place of an extent's size`() throws {
        let scene = try Scene()
        let picture = try MapPicture.draw(
            makeRequest { ($0.mapScale, $0.dpi) = (5_000, 120) }, of: PreparedMap(makeMap([])),
            by: scene.engine())

        #expect(abs((picture.head.scale ?? 0) - 5_000) < 1e-6)
        #expect(abs(picture.head.extent.width - 100 * 5_000 / (120 * 39.37)) < 1e-9)
        #expect(abs(picture.head.extent.center.x - 50) < 1e-9)
    }

    // MARK: Which layers and features

    static let choices: [(DrawnLayers, [Bool])] = [
        (DrawnLayers(), [true, false, true]), (DrawnLayers(.show, ids: [1]), [false, true, false]),
        (DrawnLayers(.hide, ids: [2]), [true, true, false]),
        (DrawnLayers(.include, ids: [1]), [true, true, true]),
        (DrawnLayers(.exclude, ids: [0]), [false, false, true]),
        (DrawnLayers(.show, ids: [9]), [false, false, false]),
    ]

    @Test(arguments: choices)
    func `layers are chosen as Esri chooses them`(
        layers: DrawnLayers, expected: [Bool]
    ) throws {
        let scene = try Scene()
        let map = makeMap([
            try scene.layer(0, [polygon([square(5, 25)])]),
            try scene.layer(1, [polygon([square(35, 60)])]) { $0.isVisible = false },
            try scene.layer(2, [polygon([square(70, 95)])]),
            try scene.layer(3, [polygon([square(0, 100)])]) {
                $0.scaleRange = ScaleRange(minScale: 1_000, maxScale: 0)
            },
        ])
        let pixels = try scene.draw(makeRequest { $0.layers = layers }, map)

        #expect([15, 47, 82].map { pixels[$0, 99 - $0] != white } == expected)
    }

    @Test func `a layer is drawn inside its scale range only`() throws {
        let scene = try Scene()
        let layer = try scene.layer(0, [polygon([square(0, 100)])]) {
            $0.scaleRange = ScaleRange(minScale: 4_000, maxScale: 2_000)
        }
        // A unit to a pixel is 1 : 3,779.5 at 96 dots per inch.
        for (dpi, isDrawn) in [(96.0, true), (120.0, false), (48.0, false)] {
            let pixels = try scene.draw(makeRequest { $0.dpi = dpi }, makeMap([layer]))
            #expect((pixels[50, 50] != white) == isDrawn, "\(dpi)")
        }
    }

    @Test func `clauses of the layer and of the request both count`() throws {
        let scene = try Scene()
        let squares = [
            polygon([square(5, 25)]), polygon([square(35, 60)]), polygon([square(70, 95)]),
        ]
        let map = makeMap([try scene.layer(0, squares) { $0.definitionExpression = "RANK > 1" }])

        let pixels = try scene.draw(makeRequest { $0.layerDefinitions = [0: "RANK < 3"] }, map)

        #expect([15, 47, 82].map { pixels[$0, 99 - $0] != white } == [false, true, false])
        #expect(throws: Failure.self) {
            try scene.draw(makeRequest { $0.layerDefinitions = [0: "NOWHERE = 1"] }, map)
        }
    }

    @Test func `graphics are drawn in their order, whatever their shapes`() throws {
        let scene = try Scene()
        var layer = try scene.layer(4, [polygon([square(0, 1)])])
        layer.kind = .layer(source: .graphics(GraphicsSource(spatialReference: .webMercator)))
        layer.graphics = [
            Graphic(
                id: 1, shape: .point(Coordinate(x: 50, y: 50)), attributes: Attributes([]),
                zIndex: 2),
            Graphic(
                id: 2,
                shape: .polygon(rings: [square(20, 80).map { Coordinate(x: $0.0, y: $0.1) }]),
                attributes: Attributes([]), zIndex: 1),
        ]
        let pixels = try scene.draw(makeRequest(), makeMap([layer]))
        guard case .marker(let marker) = LayerSymbol(standard: 4, .point).form else { return }
        let color = marker.color

        #expect(isNear(pixels[50, 50], [color.red, color.green, color.blue].map(Double.init)))
        #expect(isNear(pixels[30, 50], areaColor(4, times: 1)))
    }

    @Test func `clauses of a request choose among graphics`() throws {
        let scene = try Scene()
        var layer = try scene.layer(4, [polygon([square(0, 1)])])
        layer.kind = .layer(source: .graphics(GraphicsSource(spatialReference: .webMercator)))
        let places = [15.0, 47, 82]
        layer.graphics = places.enumerated().map { number, place in
            Graphic(
                id: Int64(number + 1), shape: .point(Coordinate(x: place, y: place)),
                attributes: Attributes([.init(name: "RANK", value: .integer(Int64(number + 1)))]),
                zIndex: 0)
        }
        let map = makeMap([layer])
        func drawn(_ clause: String?) throws -> [Bool] {
            let pixels = try scene.draw(
                makeRequest { $0.layerDefinitions = clause.map { [4: $0] } ?? [:] }, map)
            return places.map { pixels[Int($0), 99 - Int($0)] != white }
        }

        #expect(try drawn(nil) == [true, true, true])
        #expect(try drawn("RANK < 3") == [true, true, false])
        #expect(try drawn("RANK % 2 = 0") == [false, true, false])
        #expect(try drawn("rank IS NULL") == [false, false, false])
        #expect(throws: Failure.self) { try drawn("NOWHERE = 1") }
    }

    // MARK: Pieces

    @Test(arguments: [PictureFormat.png, .jpg])
    func `pieces make up the picture, and pictures side by side a larger one`(
        format: PictureFormat
    ) throws {
        var random = SeededGenerator(seed: 5)
        let scene = try Scene()
        let map = makeMap([
            try scene.layer(0, Self.blobs(&random, count: 9).map(polygon)),
            try scene.layer(
                1,
                (0..<40).map { _ in
                    let places = (0..<2).map { _ in Int.random(in: 0...100, using: &random) }
                    return #"{"type":"Point","coordinates":\#(places)}"#
                }),
        ])
        var request = makeRequest(size: 200) { $0.format = .png }
        let whole = try scene.draw(request, map)
        request.division = 4
        (request.format, request.isTransparent) = (format, false)
        let cut = try MapPicture.draw(request, of: PreparedMap(map), by: scene.engine())
        let counts = try #require(cut.head.pieceByteCounts)
        #expect(counts.count == 16 && counts.reduce(0, +) == cut.bytes.count)
        guard format == .png else { return }
        var rest = Array(cut.bytes)[...]
        for (number, count) in counts.enumerated() {
            let piece = try Pixels(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
            #expect(piece.width == 50 && piece.height == 50)
            for y in 0..<50 {
                for x in 0..<50 where piece[x, y] != whole[number % 4 * 50 + x, number / 4 * 50 + y]
                {
                    Issue.record("piece \(number) differs at \(x), \(y)")
                    return
                }
            }
        }
        // The left half and the right half by themselves.
        for (left, start) in [(0.0, 0), (50.0, 100)] {
            let half = try scene.draw(
                makeRequest {
                    $0.extent = Envelope(minX: left, minY: 0, maxX: left + 50, maxY: 100)
                    ($0.width, $0.height) = (100, 200)
                }, map)
            // Cut edges are rounded at other places: shades of a few pixels differ by a little.
            var (differing, greatest) = (0, 0)
            for y in 0..<200 {
                for x in 0..<100 {
                    let difference =
                        zip(half[x, y], whole[start + x, y]).map { abs(Int($0) - Int($1)) }.max()
                    if difference ?? 0 > 8 { differing += 1 }
                    greatest = max(greatest, difference ?? 0)
                }
            }
            #expect(differing <= 20 && greatest < 40, "\(differing) pixels, by \(greatest)")
        }
    }

    // MARK: Refusals

    static let hostile: [(String, @Sendable (inout ExportRequest) -> Void)] = [
        ("bbox", { $0.extent.minX = .nan }), ("bbox", { $0.extent.maxX = .infinity }),
        ("bbox", { $0.extent.maxY = 1e300 }), ("bbox", { $0.extent.maxX = $0.extent.minX }),
        ("bbox", { $0.extent = .empty }),
        ("bbox", { $0.extent = Envelope(minX: 1e9, minY: 0, maxX: 1e9 + 1e-6, maxY: 1e-6) }),
        ("size", { $0.width = 0 }), ("size", { $0.height = -1 }), ("size", { $0.width = 4_097 }),
        ("division", { $0.division = 0 }), ("division", { $0.division = 17 }),
        ("division", { $0.division = 3 }), ("dpi", { $0.dpi = 0 }), ("dpi", { $0.dpi = .nan }),
        ("dpi", { $0.dpi = 1e9 }),
        ("mapScale", { $0.mapScale = 0 }), ("mapScale", { $0.mapScale = .infinity }),
        ("imageSR", { $0.imageReference = SpatialReference(wkid: 999_999) }),
        ("bboxSR", { $0.extentReference = SpatialReference(wkid: 999_999) }),
        ("layers", { $0.layers = DrawnLayers(.show, ids: Array(0...10_000)) }),
        (
            "bbox",
            {
                $0.extentReference = .wgs84
                $0.imageReference = SpatialReference(wkid: 2154)
                $0.extent = Envelope(minX: 1e6, minY: 1e6, maxX: 2e6, maxY: 2e6)
            }
        ),
    ]

    @Test(arguments: hostile.indices)
    func `a request that cannot be drawn is refused by the parameter's name`(index: Int) throws {
        let (name, change) = Self.hostile[index]
        let scene = try Scene()
        let failure = #expect(throws: Failure.self) {
            try scene.draw(makeRequest(change), makeMap([]))
        }
        #expect(failure?.message.contains(name) == true, "\(String(describing: failure))")
    }

    @Test func `drawing stops when nobody waits for it`() throws {
        let scene = try Scene()
        let map = PreparedMap(
            makeMap([try scene.layer(0, (0..<500).map { _ in polygon([square(0, 100)]) })]))
        let asked = Mutex(0)
        let failure = #expect(throws: Failure.self) {
            try MapPicture.draw(makeRequest(), of: map, by: scene.engine(), remotes: nil) {
                asked.withLock { count in
                    count += 1
                    return count > 4
                }
            }
        }
        #expect(failure?.code == .cancelled)
        #expect(asked.withLock { $0 } == 5)
    }

    @Test func `a picture has no more bytes than it may`() throws {
        let canvas = try Canvas(width: 64, height: 64, hasAlpha: true)
        let bytes = try #require(try canvas.png(atMost: 10_000))

        #expect(try canvas.png(atMost: bytes.count - 1) == nil)
        #expect(try canvas.png(atMost: bytes.count) == bytes)
    }

    @Test func `JPEG has the colours of PNG, nearly`() throws {
        let scene = try Scene()
        let map = PreparedMap(makeMap([try scene.layer(0, [polygon([square(20, 80)])])]))
        let jpeg = try MapPicture.draw(
            makeRequest { $0.format = .jpg }, of: map, by: scene.engine())

        #expect(Array(jpeg.bytes.prefix(3)) == [0xFF, 0xD8, 0xFF])
        let path = scene.directory + "/picture.jpg"
        try jpeg.bytes.write(to: URL(fileURLWithPath: path))
        let values = try RasterPixels.values(path, column: 50, row: 50)
        #expect(isNear(values, areaColor(0, times: 1)), "\(values)")
    }
}
