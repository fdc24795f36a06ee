// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Cairn
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
}
