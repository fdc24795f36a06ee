// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Geometry
import Identify
import PROJ
import TestKit
import Testing

extension LayerDescription {
    /// A loaded layer of client-drawn shapes.
    static func graphics(
        _ id: LayerID, _ graphics: [Graphic], wkid: Int = 4326
    ) -> LayerDescription {
        let reference = SpatialReference(wkid: wkid)
        return LayerDescription(
            id: id, name: "drawn \(id)", parent: nil, children: [],
            kind: .layer(source: .graphics(GraphicsSource(spatialReference: reference))),
            isVisible: true, scaleRange: .unlimited, definitionExpression: nil, displayField: nil,
            loadStatus: .loaded, loadError: nil,
            properties: LayerProperties(
                extent: nil, spatialReference: reference, geometryType: nil, fields: [],
                featureCount: 0),
            graphics: graphics)
    }
}

@Suite struct GraphicsSearchTests {
    private func graphic(
        _ id: Int64, _ shape: Shape, _ attributes: [Attributes.Entry] = [], z: Int = 0
    ) -> Graphic {
        Graphic(id: id, shape: shape, attributes: Attributes(attributes), zIndex: z)
    }

    private func square(_ x: Double, _ y: Double, _ size: Double) -> Shape {
        .polygon(rings: [
            [
                Coordinate(x: x, y: y), Coordinate(x: x + size, y: y),
                Coordinate(x: x + size, y: y + size), Coordinate(x: x, y: y + size),
                Coordinate(x: x, y: y),
            ]
        ])
    }

    @Test func `a clause decides on graphics as on features`() throws {
        let place = Shape.point(Coordinate(x: 5, y: 5))
        let values: [AttributeValue] = [.integer(1), .real(2.5), .null]
        let graphics = values.enumerated().map { index, value in
            graphic(
                Int64(index + 1), place,
                [
                    .init(name: index == 0 ? "Size" : "SIZE", value: value),
                    .init(name: "note", value: .string("n\(index)")),
                ])
        }
        let map = makeMap([.graphics(0, graphics)])
        let engine = try Site().engine()
        func answer(_ clause: String) throws -> IdentifyAnswer {
            try engine.identify(
                makeRequest(place) {
                    $0.layerDefinitions = [0: clause]
                    $0.explain = true
                }, in: map)
        }
        let expected: [(String, Set<Int64>)] = [
            ("size > 1", [2]), ("SIZE IS NULL", [3]), ("note = 'n0' OR OBJECTID = 3", [1, 3]),
            ("1 = 0", []), (" ", [1, 2, 3]),
        ]
        for (clause, ids) in expected {
            let answer = try answer(clause)
            #expect(Set(answer.results.map(\.objectID)) == ids, "\(clause)")
            let told = answer.explanation?.layers.first?.excludedByDefinition
            #expect(told == 3 - ids.count, "\(clause)")
        }
        for bad in ["colour = 'red'", "size >", "note > 3"] {
            let error = #expect(throws: Failure.self) { _ = try answer(bad) }
            #expect(error?.message.hasPrefix("layerDefs of layer 0 'drawn 0'") == true)
        }
    }

    @Test(arguments: [(4326, 4326), (4326, 3857), (2154, 4326)])
    func `drawn shapes are found as a scan finds them`(drawn: Int, map: Int) throws {
        var random = SeededGenerator(seed: UInt64(drawn + map))
        let origin = drawn == 4326 ? Coordinate(x: 2, y: 45) : Coordinate(x: 7e5, y: 6.5e6)
        let size = drawn == 4326 ? 4.0 : 4e5
        func place() -> Coordinate {
            Coordinate(
                x: origin.x + .random(in: 0...size, using: &random),
                y: origin.y + .random(in: 0...size, using: &random))
        }
        let graphics = (1...400).map { number -> Graphic in
            let ring = (0..<4).map { _ in place() }
            let shape: Shape =
                switch number % 4 {
                case 0: .point(place())
                case 1: .multipoint([place(), place()])
                case 2: .polyline(paths: [[place(), place(), place()]])
                default: .polygon(rings: [ring + [ring[0]]])
                }
            return graphic(Int64(number), shape)
        }
        let transform = try CoordinateTransform(
            from: SpatialReference(wkid: drawn), to: SpatialReference(wkid: map))
        let shapes = try graphics.map { PreparedShape(try transform.forward($0.shape)) }
        let world = makeMap([.graphics(0, graphics, wkid: drawn)], wkid: map)
        let engine = try Site().engine()
        let sizes: [Int: Double] = [4326: 0.04, 3857: 4e3]
        let pixel = try #require(sizes[map])
        for _ in 0..<25 {
            let query = try transform.forward(Shape.point(place()))
            let request = makeRequest(query, tolerance: 3) {
                $0.mapExtent = Envelope(minX: 0, minY: 0, maxX: pixel * 100, maxY: pixel * 100)
            }

            let results = try engine.identify(request, in: world).results

            let asked = PreparedShape(query)
            let expected = shapes.enumerated().compactMap { index, shape in
                shape.distance(to: asked, within: 3 * pixel).map { (Int64(index + 1), $0) }
            }
            #expect(
                Set(results.map(\.objectID)) == Set(expected.map(\.0)), "seed \(drawn + map)")
            #expect(results.map(\.distance) == expected.map(\.1).sorted())
        }
    }

    @Test func `the upper of two drawings at one place comes first, and names itself`() throws {
        let graphics = [
            graphic(1, square(0, 0, 10), [.init(name: "n", value: .integer(7))], z: 2),
            graphic(
                2, square(0, 0, 10),
                [.init(name: "n", value: .integer(1)), .init(name: "title", value: .string("B"))]),
            graphic(3, square(0, 0, 10)),
            graphic(4, square(20, 20, 10)),
        ]
        let map = makeMap([.graphics(0, graphics)])

        let results = try Site().engine()
            .identify(makeRequest(.point(Coordinate(x: 5, y: 5))), in: map).results

        #expect(results.map(\.objectID) == [1, 3, 2])
        #expect(results.map(\.displayFieldName) == ["OBJECTID", "OBJECTID", "title"])
        #expect(results[2].value == .string("B"))
        #expect(results[0].attributes.entries.map(\.name) == ["OBJECTID", "n"])
        #expect(results[0].geometry == square(0, 0, 10) && results[0].geometryType == .polygon)
    }

    @Test func `one engine follows a map whose drawings change`() throws {
        let engine = try Site().engine()
        let request = makeRequest(.point(Coordinate(x: 5, y: 5)))
        let first = makeMap([.graphics(0, [graphic(1, square(0, 0, 10))])])
        let second = makeMap([.graphics(0, [graphic(1, square(50, 50, 10))])])

        #expect(try engine.identify(request, in: first).results.count == 1)
        #expect(try engine.identify(request, in: second).results.isEmpty)
        #expect(try engine.identify(request, in: first).results.count == 1)
    }

    @Test func `drawings lie above and below layers of datasets`() throws {
        let site = try Site()
        let dataset = try site.importFeatures([
            #"{"type":"Feature","id":1,"properties":{},"geometry":{"type":"Polygon","coordinates":[[[0,0],[10,0],[10,10],[0,10],[0,0]]]}}"#
        ])
        let map = makeMap([.feature(0, dataset), .graphics(1, [graphic(9, square(0, 0, 10))])])
        var request = makeRequest(.point(Coordinate(x: 5, y: 5)))

        #expect(try site.engine().identify(request, in: map).results.map(\.layerID) == [1, 0])
        request.layers = LayerSelection(.top)
        #expect(try site.engine().identify(request, in: map).results.map(\.layerID) == [1])
    }
}
