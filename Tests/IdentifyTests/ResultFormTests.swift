// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Dataset
import Foundation
import Geometry
import Identify
import TestKit
import Testing

@Suite struct ResultFormTests {
    let site: Site

    init() throws { site = try Site() }

    private func ask(
        _ layer: LayerDescription, _ change: (inout IdentifyRequest) -> Void
    ) throws -> IdentifyResult {
        let request = makeRequest(.point(Coordinate(x: 5, y: 5)), tolerance: 50, change)
        return try #require(
            try site.engine().identify(request, in: makeMap([layer])).results.first)
    }

    @Test func `Z and M come with the coordinates they belong to`() throws {
        var generator = SeededGenerator(seed: 3)
        // Z and M follow from the position of each coordinate, so the answer shows which were kept.
        func ring(_ x: Double, _ count: Int) -> [Coordinate] {
            let ring = (0..<count).map { number in
                let angle = Double(number) / Double(count) * 2 * .pi
                let radius = Double.random(in: 3...5, using: &generator)
                return Coordinate(x: x + radius * cos(angle), y: 5 + radius * sin(angle))
            }
            return ring + [ring[0]]
        }
        let rings = [ring(5, 60), ring(25, 40)]
        let text = rings.map { ring in
            "(("
                + ring.map { "\($0.x) \($0.y) \($0.x + $0.y) \($0.x - $0.y)" }
                .joined(separator: ",") + "))"
        }
        let path = site.directory + "/heights.csv"
        try "id,wkt\n1,\"MULTIPOLYGON ZM (\(text.joined(separator: ",")))\"\n"
            .write(toFile: path, atomically: true, encoding: .utf8)
        let layer = LayerDescription.feature(0, try site.importFile(path))

        for offset in [nil, 0, 0.3, 1, 100] as [Double?] {
            let result = try ask(layer) {
                $0.returnZ = true
                $0.returnM = true
                $0.maxAllowableOffset = offset
            }

            guard case .polygon(let kept)? = result.geometry else {
                Issue.record("no polygon")
                return
            }
            let coordinates = kept.flatMap { $0 }
            #expect(coordinates.count == (offset ?? 0 > 0 ? coordinates.count : 102))
            #expect(result.zValues?.count == coordinates.count)
            for (place, coordinate) in coordinates.enumerated() {
                let (z, m) = (result.zValues?[place] ?? .nan, result.mValues?[place] ?? .nan)
                #expect(abs(z - (coordinate.x + coordinate.y)) < 1e-9)
                #expect(abs(m - (coordinate.x - coordinate.y)) < 1e-9)
            }
            if let offset, offset >= 1 { #expect(coordinates.count < 102) }
        }

        let plain = try ask(layer) { $0.returnZ = false }
        #expect(plain.zValues == nil && plain.mValues == nil && plain.geometry != nil)
        let none = try ask(layer) {
            $0.returnZ = true
            $0.returnGeometry = false
        }
        #expect(none.zValues == nil && none.geometry == nil)
        let projected = try ask(layer) {
            $0.returnZ = true
            $0.spatialReference = .webMercator
            $0.mapExtent = Envelope(minX: 0, minY: 0, maxX: 1e6, maxY: 1e6)
            $0.geometrySpatialReference = .wgs84
        }
        #expect(projected.zValues?.first == rings[0][0].x + rings[0][0].y)
        #expect(projected.mValues == nil)
    }

    @Test func `a result without Z has nil, not a number`() throws {
        let path = site.directory + "/mixed.csv"
        try "id,wkt\n1,\"POINT Z (80 80 4)\"\n2,\"POINT (5 5)\"\n"
            .write(toFile: path, atomically: true, encoding: .utf8)
        let result = try ask(.feature(0, try site.importFile(path))) { $0.returnZ = true }
        #expect(result.objectID == 2 && result.zValues == [nil])
    }

    private func named() throws -> ImportedLayer {
        try site.importFeatures([
            """
            {"type":"Feature","id":7,"properties":{"NAME":"Å","area":2.5,"whole":3.0,"big":12,
            "seen":"2020-09-13T12:26:40.500Z","none":null},
            "geometry":{"type":"Point","coordinates":[5,5]}}
            """
        ])
    }

    @Test func `attributes are named by alias unless field names are asked for`() throws {
        let layer = LayerDescription.feature(0, try named()).with {
            $0.fieldAliases = ["area": "Area (km²)", "NAME": "big", "OBJECTID": "Number"]
        }
        func names(_ byField: Bool) throws -> [String] {
            try ask(layer) { $0.returnFieldName = byField }.attributes.entries.map(\.name)
        }
        let fields = ["OBJECTID", "NAME", "area", "whole", "big", "seen", "none"]

        #expect(try names(true) == fields)
        // An alias that another field is called by would hide it, and the object id keeps its name.
        #expect(
            try names(false)
                == ["OBJECTID", "NAME", "Area (km²)", "whole", "big", "seen", "none"])
        #expect(try ask(layer) { $0.returnFieldName = false }.displayFieldName == "NAME")
    }

    @Test func `values are typed, or text as people read it`() throws {
        let layer = LayerDescription.feature(0, try named())
        let typed = try ask(layer) { _ in }
        #expect(
            typed.attributes.entries.map(\.value) == [
                .integer(7), .string("Å"), .real(2.5), .real(3), .integer(12),
                .date(1_600_000_000_500), .null,
            ])

        let text = try ask(layer) { $0.returnUnformattedValues = false }
        #expect(
            text.attributes.entries.map(\.value) == [
                .string("7"), .string("Å"), .string("2.5"), .string("3"), .string("12"),
                .string("2020-09-13T12:26:40.500Z"), .null,
            ])
        #expect(text.value == .string("Å"))
    }
}
