// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FeatureQuery
import Foundation
import Geometry
import TestKit
import Testing

/// A geometry of Esri's JSON as chains of positions.
private func chains(_ geometry: Any?) throws -> [[[Double]]] {
    let members = try #require(geometry as? [String: Any])
    if let x = members["x"] as? Double, let y = members["y"] as? Double { return [[[x, y]]] }
    if let points = members["points"] as? [[Double]] { return [points] }
    return try #require((members["paths"] ?? members["rings"]) as? [[[Double]]])
}

/// The decoding of a quantised answer, by Esri's reference.
private struct Transform {
    var isUpperLeft: Bool
    var scale: [Double]
    var translate: [Double]

    init(_ answer: [String: Any]) throws {
        let members = try #require(answer["transform"] as? [String: Any])
        let position = try #require(members["originPosition"] as? String)
        isUpperLeft = position == "upperLeft"
        #expect(isUpperLeft || position == "lowerLeft")
        scale = try #require(members["scale"] as? [Double])
        translate = try #require(members["translate"] as? [Double])
    }

    func decoded(_ chain: [[Double]]) -> [[Double]] {
        var (column, row) = (0.0, 0.0)
        return chain.map { step in
            #expect(step.allSatisfy { $0 == $0.rounded() })
            column += step[0]
            row += step[1]
            return [
                translate[0] + column * scale[0],
                translate[1] + (isUpperLeft ? -row : row) * scale[1],
            ]
        }
    }
}

@Suite struct QuantizationTests {
    /// Chains of every kind, none of which is small.
    private static func feature(_ type: String, _ random: inout SeededGenerator) -> String {
        func position(_ x: Double, _ y: Double) -> String { "[\(x),\(y)]" }
        func walk(_ count: Int) -> [String] {
            var (x, y) = (
                Double.random(in: -50...50, using: &random),
                Double.random(in: -50...50, using: &random)
            )
            return (0..<count).map { _ in
                x += .random(in: -0.2...0.3, using: &random)
                y += .random(in: -0.3...0.2, using: &random)
                return position(x, y)
            }
        }
        func ring() -> String {
            let (x, y) = (
                Double.random(in: -50...50, using: &random),
                Double.random(in: -50...50, using: &random)
            )
            let corners = (0..<60).map { index in
                let angle = Double(index) / 60 * 2 * .pi
                let radius = Double.random(in: 2...3, using: &random)
                return position(x + radius * cos(angle), y + radius * sin(angle))
            }
            return "[" + (corners + corners.prefix(1)).joined(separator: ",") + "]"
        }
        let coordinates =
            switch type {
            case "Point": walk(1)[0]
            case "MultiPoint": "[" + walk(20).joined(separator: ",") + "]"
            case "MultiLineString":
                "["
                    + (0..<3).map { _ in "[" + walk(40).joined(separator: ",") + "]" }
                    .joined(separator: ",") + "]"
            default: "[" + (0..<2).map { _ in "[\(ring())]" }.joined(separator: ",") + "]"
            }
        return
            #"{"type":"Feature","properties":{},"geometry":{"type":"\#(type)","coordinates":\#(coordinates)}}"#
    }

    @Test(arguments: ["Point", "MultiPoint", "MultiLineString", "MultiPolygon"], Seeds.chosen(2))
    func `a quantised geometry is off by half a cell at most, and has every corner`(
        type: String, seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let site = try QueriedSite((0..<12).map { _ in Self.feature(type, &random) })
        let screen = Envelope(minX: -20, minY: -10, maxX: 20, maxY: 30)
        for (reference, tolerance, origin, extent) in [
            (SpatialReference.wgs84, 0.15, .upperLeft, nil),
            (.wgs84, 0.01, .lowerLeft, screen), (.webMercator, 10_000, .upperLeft, nil),
            (.wgs84, nil, .lowerLeft, nil),
        ] as [(SpatialReference, Double?, QueryQuantization.Origin, Envelope?)] {
            let plain = try site.json { $0.outReference = reference }
            let answer = try site.json {
                $0.outReference = reference
                var quantization = QueryQuantization()
                quantization.tolerance = tolerance
                quantization.origin = origin
                quantization.extent = extent
                $0.quantization = quantization
            }
            let transform = try Transform(answer)
            if let tolerance { #expect(transform.scale == [tolerance, tolerance]) }
            if let extent { #expect(transform.translate == [extent.minX, extent.minY]) }
            let half = transform.scale[0] * 0.500001
            let features = try #require(plain["features"] as? [[String: Any]])
            let quantized = try #require(answer["features"] as? [[String: Any]])
            #expect(features.count == 12 && quantized.count == 12)
            for (feature, told) in zip(features, quantized) {
                let expected = try chains(feature["geometry"])
                let found = try chains(told["geometry"]).map(transform.decoded)
                #expect(expected.count == found.count)
                for (corners, cells) in zip(expected, found) {
                    // In their order each corner is in the cell of the one before, or in the next.
                    var place = 0
                    for corner in corners {
                        func isNear(_ cell: [Double]) -> Bool {
                            abs(cell[0] - corner[0]) <= half && abs(cell[1] - corner[1]) <= half
                        }
                        if !isNear(cells[place]), place + 1 < cells.count { place += 1 }
                        #expect(
                            isNear(cells[place]), "\(type) seed \(seed) \(corner) \(cells[place])")
                    }
                    #expect(place == cells.count - 1)
                }
            }
        }
    }

    private static func site() throws -> QueriedSite {
        try QueriedSite([
            """
            {"type":"Feature","id":2,"properties":{},"geometry":{"type":"Polygon","coordinates":
            [[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[6,4],[6,6.5],[4,4]]]}}
            """,
            """
            {"type":"Feature","id":1,"properties":{},
            "geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}
            """,
        ])
    }

    @Test func `rings that enclose no cell are left out`() throws {
        let text = try Self.site().text {
            var quantization = QueryQuantization()
            quantization.tolerance = 5
            $0.quantization = quantization
            $0.returnCentroid = true
        }

        #expect(
            text.contains(
                #""spatialReference":{"wkid":4326,"latestWkid":4326},"transform":{"originPosition":"upperLeft","#
                    + #""scale":[5,5],"translate":[0,10]},"fields""#))
        #expect(
            text.hasSuffix(
                #""features":[{"attributes":{"OBJECTID":1},"geometry":{"rings":[]},"centroid":{"x":0,"y":2}},"#
                    + #"{"attributes":{"OBJECTID":2},"geometry":{"rings":[[[0,2],[0,-2],[2,0],[0,2],[-2,0]]]},"#
                    + #""centroid":{"x":1,"y":1}}]}"#))
    }

    @Test func `a line in one cell stays a line`() throws {
        let site = try QueriedSite([
            #"{"type":"Feature","properties":{},"geometry":{"type":"LineString","coordinates":[[0,0],[1,1]]}}"#
        ])
        let text = try site.text {
            var quantization = QueryQuantization()
            quantization.tolerance = 10
            $0.quantization = quantization
        }
        #expect(text.contains(#""geometry":{"paths":[[[0,0],[0,0]]]}"#))
    }

    @Test func `the corner tells nothing of features that are hidden`() throws {
        let site = try QueriedSite(
            [(1, 1.0, 2.0), (2, 3.0, 4.0), (9, 55.5, 44.5), (9, -77.5, -33.5)].map {
                #"{"type":"Feature","properties":{"level":\#($0.0)},"geometry":"#
                    + #"{"type":"Point","coordinates":[\#($0.1),\#($0.2)]}}"#
            })
        site.map.layers[0].definitionExpression = "level < 5"
        for (clause, ids) in [(nil, nil), ("level = 1", nil), (nil, [2])] as [(String?, [Int64]?)] {
            let answer = try site.json {
                $0.clause = clause
                $0.objectIDs = ids
                $0.quantization = QueryQuantization()
            }
            let transform = try Transform(answer)
            #expect(transform.translate == [1, 4])
            #expect(transform.scale == [2 / 10_000.0, 2 / 10_000.0])
        }
        site.map.layers[0].definitionExpression = "level > 99"
        let none = try Transform(try site.json { $0.quantization = QueryQuantization() })
        #expect(none.translate == [0, 0])
    }

    @Test func `quantisation leaves other forms and other answers as they are`() throws {
        let site = try Self.site()
        func asked(_ isQuantized: Bool, _ change: (inout QueryRequest) -> Void) throws -> String {
            try site.text {
                if isQuantized { $0.quantization = QueryQuantization() }
                change(&$0)
            }
        }
        let changes: [(inout QueryRequest) -> Void] = [
            { $0.form = .geoJSON }, { $0.result = .extent }, { $0.result = .objectIDs },
            { $0.returnGeometry = false }, { $0.returnDistinctValues = true },
        ]
        for change in changes {
            #expect(try asked(true, change) == asked(false, change))
        }
    }

    @Test func `a grid that cannot be is refused`() throws {
        let site = try Self.site()
        func refusal(_ change: (inout QueryQuantization) -> Void) -> Failure? {
            site.failure {
                var quantization = QueryQuantization()
                change(&quantization)
                $0.quantization = quantization
            }
        }
        #expect(refusal { $0.tolerance = 1e-300 }?.message.contains("too small") == true)
        #expect(refusal { $0.tolerance = 0 }?.code == .invalidParameter)
        #expect(refusal { $0.tolerance = .nan }?.code == .invalidParameter)
        let other = refusal {
            $0.extent = Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1)
            $0.spatialReference = .webMercator
        }
        #expect(other?.message.contains("outSR") == true)
    }
}
