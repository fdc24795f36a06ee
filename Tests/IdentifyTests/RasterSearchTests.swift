// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Geometry
import Identify
import TestKit
import Testing

@Suite struct RasterSearchTests {
    private let fixture: RasterFixture
    private let engine: IdentifyEngine
    private let directory: String

    init() throws {
        fixture = try RasterFixture()
        let directory = fixture.directory + "/rasters"
        self.directory = directory
        engine = IdentifyEngine { id throws(Failure) in
            throw Failure(.notFound, "\(id)")
        } rasters: { id throws(Failure) in
            try RasterFile(id, in: directory)
        }
    }

    private func layer(_ id: LayerID, _ path: String) throws -> LayerDescription {
        let raster = try RasterImport.importFile(path: path, into: directory)
        return LayerDescription(
            id: id, name: raster.name, parent: nil, children: [],
            kind: .layer(source: .raster(raster.raster)), isVisible: true, scaleRange: .unlimited,
            definitionExpression: nil, displayField: nil, loadStatus: .loaded, loadError: nil,
            properties: raster.properties)
    }

    private func rows(_ count: Int) -> [[Double]] {
        (0..<count).map { row in (0..<count).map { Double(row * count + $0 + 1) } }
    }

    @Test func `in a map of another spatial reference the pixel is that of gdallocationinfo`()
        throws
    {
        let path = try fixture.geoTIFF(
            "relief", rows: rows(40), origin: (x: 6e5, y: 6.4e6), cell: 5000, wkid: 2154)
        let map = makeMap([try layer(0, path)])
        var random = SeededGenerator(seed: 1)
        let places = (0..<300).map { _ in
            (
                x: Double.random(in: 1.5...4.5, using: &random),
                y: Double.random(in: 44.5...46.8, using: &random)
            )
        }

        let expected = try fixture.values(path, band: 1, at: places, isWGS84: true)

        #expect(expected.count { $0 != nil } > 100 && expected.contains { $0 == nil })
        for (place, value) in zip(places, expected) {
            let answer = try engine.identify(
                makeRequest(.point(Coordinate(x: place.x, y: place.y)), tolerance: 3), in: map)
            #expect(answer.results.first?.attributes["Pixel Value"] == value.map { .real($0) })
        }
    }

    @Test func `the middle of a polygon does not depend on how its rings are wound`() throws {
        let path = try fixture.geoTIFF(
            "wound", rows: rows(10), origin: (x: 0, y: 0), cell: 10, wkid: 4326, type: "Int32")
        let map = makeMap([try layer(0, path)])
        func ring(_ left: Double, _ low: Double, _ right: Double, _ high: Double) -> [Coordinate] {
            [(left, low), (right, low), (right, high), (left, high), (left, low)].map {
                Coordinate(x: $0.0, y: $0.1)
            }
        }
        // A hole removes the right half except for its border.
        let (shell, hole) = (ring(0, 40, 40, 60), ring(20, 41, 39, 59))
        func asked(_ rings: [[Coordinate]]) throws -> Shape? {
            try engine.identify(makeRequest(.polygon(rings: rings)), in: map).results.first?
                .geometry
        }
        let expected = try #require(try asked([shell, hole.reversed()]))
        #expect(expected.envelope.minX < 16)
        for rings in [[shell, hole], [shell.reversed(), hole.reversed()], [hole, shell]] {
            let found = try #require(try asked(rings))
            #expect(abs(found.envelope.minX - expected.envelope.minX) < 1e-9)
        }
        // Two nearly equal lobes, wound against each other.
        let bow = [(20.0, 20.0), (60, 60), (60, 20), (20, 60.001), (20, 20)].map {
            Coordinate(x: $0.0, y: $0.1)
        }
        let place = try #require(try asked([bow])).envelope.center
        #expect(Envelope(minX: 20, minY: 20, maxX: 60, maxY: 60.001).contains(place))
    }

    @Test func `a result is the pixel at the middle of what was asked`() throws {
        let path = try fixture.geoTIFF(
            "grid", rows: rows(10), origin: (x: 0, y: 0), cell: 10, wkid: 4326, type: "Int32",
            noData: 7)
        let map = makeMap([try layer(0, path)])
        func ask(_ shape: Shape) throws -> [IdentifyResult] {
            try engine.identify(makeRequest(shape), in: map).results
        }
        let results = try ask(.point(Coordinate(x: 25, y: 25)))
        #expect(
            results.map(\.attributes) == [
                Attributes([.init(name: "Pixel Value", value: .integer(73))])
            ])
        #expect(results[0].displayFieldName == "Pixel Value" && results[0].value == .integer(73))
        #expect(results[0].objectID == 73 && results[0].distance == 0)
        #expect(results[0].geometry == .point(Coordinate(x: 25, y: 25)))

        let ring = [
            Coordinate(x: 0, y: 0), Coordinate(x: 60, y: 0), Coordinate(x: 0, y: 60),
            Coordinate(x: 0, y: 0),
        ]
        // The centroid of the triangle is (20, 20), a corner: the pixel to the right and below.
        #expect(try ask(.polygon(rings: [ring])).first?.objectID == 83)
        #expect(
            try ask(.envelope(Envelope(minX: 10, minY: 40, maxX: 40, maxY: 60))).first?.objectID
                == 53)
        let path2 = Shape.polyline(paths: [[Coordinate(x: 0, y: 5), Coordinate(x: 70, y: 5)]])
        #expect(try ask(path2).first?.objectID == 94)
        // Pixel 7 has no data, and neither has the outside.
        #expect(try ask(.point(Coordinate(x: 65, y: 95))).isEmpty)
        #expect(try ask(.point(Coordinate(x: 100, y: 50))).isEmpty)
        #expect(try ask(.point(Coordinate(x: 0, y: 100))).first?.objectID == 1)
    }

    @Test func `a raster covers what lies below it, where it has data`() throws {
        let path = try fixture.geoTIFF(
            "grid", rows: [[1, -1], [1, 1]], origin: (x: 0, y: 0), cell: 10, wkid: 4326, noData: -1)
        let below = LayerDescription.graphics(
            0,
            [
                Graphic(
                    id: 1, shape: .point(Coordinate(x: 15, y: 15)), attributes: Attributes([]),
                    zIndex: 0),
                Graphic(
                    id: 2, shape: .point(Coordinate(x: 5, y: 5)), attributes: Attributes([]),
                    zIndex: 0),
            ])
        let map = makeMap([below, try layer(1, path)])
        func top(_ x: Double, _ y: Double) throws -> [LayerID] {
            let request = makeRequest(.point(Coordinate(x: x, y: y)), tolerance: 1) {
                $0.layers = LayerSelection(.top)
            }
            return try engine.identify(request, in: map).results.map(\.layerID)
        }

        #expect(try top(5, 5) == [1])
        #expect(try top(15, 15) == [0])
    }

    @Test func `a damaged raster fails by name`() throws {
        let path = try fixture.geoTIFF(
            "grid", rows: rows(4), origin: (x: 0, y: 0), cell: 10, wkid: 4326)
        let layer = try layer(0, path)
        guard case .layer(.raster(let id)) = layer.kind else { return }
        try fixture.run(["truncate", "-s", "100", directory + "/\(id)/raster.tif"])

        let answer = try engine.identify(
            makeRequest(.point(Coordinate(x: 5, y: 5))), in: makeMap([layer]))

        let failure = try #require(answer.failures?.first)
        #expect(failure.layerID == 0)
        #expect(failure.error.code == .corrupt && failure.error.message.contains("raster.tif"))
    }
}
