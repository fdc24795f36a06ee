// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Geometry
import TestKit
import Testing

@testable import Commands

@Suite struct GeometryTextTests {
    private static func at(_ x: Double, _ y: Double) -> Coordinate { Coordinate(x: x, y: y) }
    static let square = [at(0, 0), at(2, 0), at(2, 2), at(0, 2), at(0, 0)]
    static let hole = [at(0.5, 0.5), at(1, 0.5), at(1, 1), at(0.5, 0.5)]

    static let shapes: [(String, Shape)] = [
        ("1,2", .point(at(1, 2))),
        ("-1.5e1, 2", .point(at(-15, 2))),
        ("0,1,2,3", .envelope(Envelope(minX: 0, minY: 1, maxX: 2, maxY: 3))),
        ("2,3,0,1", .envelope(Envelope(minX: 0, minY: 1, maxX: 2, maxY: 3))),
        ("POINT(1 2)", .point(at(1, 2))),
        ("  point Z ( 1 2 3 ) ", .point(at(1, 2))),
        ("POINT(1 2 3 4)", .point(at(1, 2))),
        ("LINESTRING(0 0,1 1)", .polyline(paths: [[at(0, 0), at(1, 1)]])),
        (
            "MULTILINESTRING((0 0,1 1),(2 2,3 3))",
            .polyline(paths: [[at(0, 0), at(1, 1)], [at(2, 2), at(3, 3)]])
        ),
        ("MULTIPOINT((1 2),(3 4))", .multipoint([at(1, 2), at(3, 4)])),
        ("MULTIPOINT(1 2,3 4)", .multipoint([at(1, 2), at(3, 4)])),
        (
            "POLYGON((0 0,2 0,2 2,0 2,0 0),(.5 .5,1 .5,1 1,.5 .5))",
            .polygon(rings: [square, hole])
        ),
        ("MULTIPOLYGON(((0 0,2 0,2 2,0 2,0 0)))", .polygon(rings: [square])),
        ("ENVELOPE(0, 2, 1, 3)", .envelope(Envelope(minX: 0, minY: 1, maxX: 2, maxY: 3))),
        (#"{"type":"Point","coordinates":[1,2,3]}"#, .point(at(1, 2))),
        (
            #"{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[1,2]}}"#,
            .point(at(1, 2))
        ),
        (
            #"{"type":"MultiPolygon","coordinates":[[[[0,0],[2,0],[2,2],[0,2],[0,0]]]]}"#,
            .polygon(rings: [square])
        ),
        (#"{"x":1,"y":2}"#, .point(at(1, 2))),
        (#"{"paths":[[[0,0],[1,1]]]}"#, .polyline(paths: [[at(0, 0), at(1, 1)]])),
        (#"{"rings":[[[0,0],[2,0],[2,2],[0,2],[0,0]]]}"#, .polygon(rings: [square])),
        (
            #"{"xmin":0,"ymin":1,"xmax":2,"ymax":3}"#,
            .envelope(Envelope(minX: 0, minY: 1, maxX: 2, maxY: 3))
        ),
        (
            #"{"xmin":2,"ymin":3,"xmax":0,"ymax":1}"#,
            .envelope(Envelope(minX: 0, minY: 1, maxX: 2, maxY: 3))
        ),
    ]

    @Test(arguments: shapes.indices)
    func `geometry text of every form is read`(row: Int) throws {
        #expect(try GeometryText.parse(Self.shapes[row].0).shape == Self.shapes[row].1)
    }

    @Test func `the spatial reference comes with the text where it has one`() throws {
        let esri = try GeometryText.parse(#"{"x":1,"y":2,"spatialReference":{"wkid":102100}}"#)
        let geo = try GeometryText.parse(#"{"type":"Point","coordinates":[1,2]}"#)

        #expect(esri.spatialReference == SpatialReference(wkid: 102_100))
        #expect(geo.spatialReference == .wgs84)
        #expect(try GeometryText.parse("1,2").spatialReference == nil)
    }

    static let faults: [(String, String)] = [
        ("", "the geometry is empty"),
        ("1,2,3", "expected WKT"),
        ("nan,2", "'nan' is not a finite number"),
        ("inf,2", "'inf' is not a finite number"),
        ("POINT(1)", "WKT: Expected number but encountered ')'"),
        ("POINT(nan 2)", "a coordinate that is not finite"),
        ("POINT(1 2", "encountered end of stream"),
        ("POINT(1 2) POINT(1 2)", "byte 12: expected the end"),
        ("POINT EMPTY", "the geometry is empty"),
        ("CIRCLE(1 2)", "WKT: Unknown type: 'CIRCLE'"),
        ("LINESTRING(0 0)", "point array must contain 0 or >1 elements"),
        ("POLYGON((0 0,1 0,1 1))", "do not form a closed linestring"),
        ("SRID=4326;POINT(1 2)", "Unknown type: 'SRID=4326;POINT'"),
        ("POINT(1e999 2)", "a coordinate that is not finite"),
        ("POINT(1.2.3 2)", "encountered word: '1.2.3'"),
        ("POINT(1 2)\0", "byte 11: expected the end"),
        ("ENVELOPE(0, 2, 1)", "expected ENVELOPE(xmin, xmax, ymin, ymax)"),
        ("GEOMETRYCOLLECTION(POINT(1 2))", "collections are not read"),
        (String(repeating: "GEOMETRYCOLLECTION(", count: 100_000), "byte 76: nested too deeply"),
        (#"{"type":"Circle"}"#, "GeoJSON type 'Circle' is not read here"),
        (#"{"type":"Point","coordinates":[1]}"#, "a position has fewer than two numbers"),
        (#"{"type":"Point","coordinates":"#, "geometry JSON"),
        (#"{"a":1}"#, "neither GeoJSON"),
        (#"{"x":"1","y":2}"#, "'x': expected a number"),
        (#"{"paths":[[[0,0]]]}"#, "every path needs two coordinates or more"),
        (#"{"rings":[[[0,0],[1,1]]]}"#, "every ring needs three coordinates or more"),
        (#"{"rings":7}"#, "'rings': expected a list of lists of [x, y]"),
        (#"{"points":[7]}"#, "a position is not a list of numbers"),
        (
            #"{"type":"Polygon","coordinates":7}"#, "'coordinates': expected those of a Polygon"
        ),
        (#"{"type":7}"#, "'type': expected text"),
        (String(repeating: "[", count: 100_000).replacingFirst(with: "{"), "nested too deeply"),
    ]

    @Test(arguments: faults.indices)
    func `geometry text that is wrong is refused in one sentence`(row: Int) {
        let failure = #expect(throws: Failure.self) { try GeometryText.parse(Self.faults[row].0) }
        let text = failure?.message ?? ""
        #expect(text.contains(Self.faults[row].1), "\(text)")
        #expect(!text.contains("\n"))
    }

    @Test func `a text has at most 200,000 coordinates`() throws {
        func text(_ count: Int) -> String {
            "MULTIPOINT(" + repeatElement("1 2", count: count).joined(separator: ",") + ")"
        }

        #expect(try GeometryText.parse(text(200_000)).shape.coordinateCount == 200_000)
        #expect(
            throws: Failure(.tooLarge, "the geometry has more than 200000 coordinates")
        ) { try GeometryText.parse(text(200_001)) }
    }

    @Test func `geometry text of any bytes is read or refused`() {
        var random = SeededGenerator(seed: .random(in: .min ... .max))
        print("\(#function): seed \(random.seed)")
        let alphabet = Array("POINTLINEGY()., -1e5{}[]\"xytype:ZM".unicodeScalars)
        for _ in 0..<3_000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...30, using: &random) {
                if let scalar = alphabet.randomElement(using: &random) {
                    text.unicodeScalars.append(scalar)
                }
            }
            do throws(Failure) {
                let shape = try GeometryText.parse(text).shape
                #expect(shape.coordinateCount > 0 && shape.envelope.isFinite, "\(text)")
            } catch {
                #expect(error.code == .invalidParameter, "\(text)")
            }
        }
    }

    @Test func `geometry text that was written is read back`() throws {
        for (_, shape) in Self.shapes {
            #expect(try GeometryText.parse(WellKnownText.text(of: shape)).shape == shape)
        }
    }
}

extension String {
    fileprivate func replacingFirst(with first: Character) -> String {
        String(first) + dropFirst()
    }
}
