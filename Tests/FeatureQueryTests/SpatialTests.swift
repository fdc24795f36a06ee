// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import GEOS
import Geometry
import TestKit
import Testing

@testable import FeatureQuery

/// Random shapes on a coarse grid, so that touching and sharing borders happens often.
private struct ShapeGenerator {
    var random: SeededGenerator

    private mutating func coordinate() -> Coordinate {
        Coordinate(
            x: Double(Int.random(in: 0...8, using: &random)),
            y: Double(Int.random(in: 0...8, using: &random)))
    }

    mutating func shape(_ kind: Int) -> Shape {
        switch kind {
        case 0: return .point(coordinate())
        case 1: return .multipoint((0..<3).map { _ in coordinate() })
        case 2:
            var path = [coordinate()]
            while path.count < 4 {
                let next = coordinate()
                if next != path.last { path.append(next) }
            }
            return .polyline(paths: [path])
        default:
            let (a, b) = (coordinate(), coordinate())
            let (w, h) = (
                Double(Int.random(in: 1...5, using: &random)),
                Double(Int.random(in: 1...5, using: &random))
            )
            if kind == 3 {
                return .envelope(Envelope(minX: a.x, minY: a.y, maxX: a.x + w, maxY: a.y + h))
            }
            let ring = [
                a, Coordinate(x: a.x + w, y: a.y), Coordinate(x: a.x + b.x / 3, y: a.y + h), a,
            ]
            return .polygon(rings: [ring])
        }
    }
}

extension Shape {
    fileprivate var text: (type: String, json: String, wkt: String) {
        func json(_ list: [Coordinate]) -> String {
            "[" + list.map { "[\($0.x),\($0.y)]" }.joined(separator: ",") + "]"
        }
        func wkt(_ list: [Coordinate]) -> String {
            "(" + list.map { "\($0.x) \($0.y)" }.joined(separator: ",") + ")"
        }
        switch self {
        case .point(let place):
            return ("Point", "[\(place.x),\(place.y)]", "POINT" + wkt([place]))
        case .multipoint(let places):
            return ("MultiPoint", json(places), "MULTIPOINT" + wkt(places))
        case .polyline(let paths):
            return (
                "MultiLineString", "[" + paths.map(json).joined(separator: ",") + "]",
                "MULTILINESTRING(" + paths.map(wkt).joined(separator: ",") + ")"
            )
        case .polygon(let rings):
            return (
                "Polygon", "[" + rings.map(json).joined(separator: ",") + "]",
                "POLYGON(" + rings.map(wkt).joined(separator: ",") + ")"
            )
        case .envelope(let box):
            let ring = [
                Coordinate(x: box.minX, y: box.minY), Coordinate(x: box.maxX, y: box.minY),
                Coordinate(x: box.maxX, y: box.maxY), Coordinate(x: box.minX, y: box.maxY),
                Coordinate(x: box.minX, y: box.minY),
            ]
            return Shape.polygon(rings: [ring]).text
        }
    }
}

@Suite struct SpatialTests {
    @Test(.slow, arguments: [0, 1, 2, 4])
    func `every relation is that of a scan with GEOS`(kind: Int) throws {
        var generator = ShapeGenerator(random: SeededGenerator(seed: UInt64(100 + kind)))
        let shapes = (0..<120).map { _ in generator.shape(kind) }
        let site = try QueriedSite(
            shapes.enumerated().map { index, shape in
                #"{"type":"Feature","id":\#(index + 1),"properties":{},"geometry":{"type":"#
                    + #""\#(shape.text.type)","coordinates":\#(shape.text.json)}}"#
            })
        let others = try shapes.map { try Oracle($0.text.wkt) }
        var hits: [QuerySpatialFilter.Relation: Int] = [:]
        for round in 0..<25 {
            let query = generator.shape(round % 5)
            let oracle = try Oracle(query.text.wkt)
            for relation in QuerySpatialFilter.Relation.allCases where relation != .pattern {
                let predicate: GEOSRelation.Predicate? =
                    switch relation {
                    case .intersects: .intersects
                    case .contains: .contains
                    case .within: .within
                    case .crosses: .crosses
                    case .overlaps: .overlaps
                    case .touches: .touches
                    case .envelopeIntersects, .indexIntersects, .pattern: nil
                    }
                let expected = try others.indices.filter { index in
                    guard let predicate else {
                        let (a, b) = (query.envelope, shapes[index].envelope)
                        return a.minX <= b.maxX && b.minX <= a.maxX && a.minY <= b.maxY
                            && b.minY <= a.maxY
                    }
                    return try oracle.geometry.relates(predicate, to: others[index].geometry)
                }.map { $0 + 1 }

                let found = try site.ids {
                    $0.result = .objectIDs
                    $0.spatialFilter = QuerySpatialFilter(geometry: query, relation: relation)
                }.ids

                #expect(found == expected, "kind \(kind) round \(round) \(relation)")
                hits[relation, default: 0] += found.count
            }
        }
        #expect(hits[.intersects, default: 0] > 50 && hits[.touches, default: 0] > 5)
    }

    /// Patterns for the matrix of two geometries, each with whether disjoint ones may match.
    private static let patterns = [
        "T********", "FF*FF****", "T*F**FFF*", "T*****FF*", "FFFTTT***", "*1*******", "F0*******",
        "*********", "2FF******", "T*T***T**", "FF2FF1212", "FFFFFFFFF",
    ]

    @Test(.slow, arguments: [0, 1, 2, 4])
    func `a pattern holds where the matrix has it`(kind: Int) throws {
        var generator = ShapeGenerator(random: SeededGenerator(seed: UInt64(200 + kind)))
        let shapes = (0..<80).map { _ in generator.shape(kind) }
        let site = try QueriedSite(
            shapes.enumerated().map { index, shape in
                #"{"type":"Feature","id":\#(index + 1),"properties":{},"geometry":{"type":"#
                    + #""\#(shape.text.type)","coordinates":\#(shape.text.json)}}"#
            })
        let others = try shapes.map { try Oracle($0.text.wkt) }
        var hits: [String: Int] = [:]
        for round in 0..<15 {
            let query = generator.shape(round % 5)
            let oracle = try Oracle(query.text.wkt)
            let matrices = try others.map { try oracle.geometry.matrix(with: $0.geometry) }
            for pattern in Self.patterns {
                let expected = matrices.indices.filter { Self.has(matrices[$0], pattern) }

                let found = try site.ids {
                    $0.result = .objectIDs
                    $0.spatialFilter = QuerySpatialFilter(
                        geometry: query, relation: .pattern, pattern: pattern)
                }.ids

                #expect(found == expected.map { $0 + 1 }, "kind \(kind) round \(round) \(pattern)")
                hits[pattern, default: 0] += found.count
            }
        }
        #expect(hits["T********", default: 0] > 5 && hits["FF*FF****", default: 0] > 50)
        #expect(hits["*********"] == 15 * 80 && hits["FFFFFFFFF"] == 0)
    }

    private static func has(_ matrix: String, _ pattern: String) -> Bool {
        zip(matrix, pattern).allSatisfy { found, wanted in
            wanted == "*" || wanted == found || wanted == "T" && found != "F"
        }
    }

    @Test(arguments: [nil, "", "T*******", "T*********", "t********", "3********", "T*******é"])
    func `text that is no pattern of a relation is refused`(pattern: String?) throws {
        let site = try QueriedSite([
            #"{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[1,2]}}"#
        ])
        func code(_ relation: QuerySpatialFilter.Relation, _ pattern: String?) -> Failure.Code? {
            let request = site.request {
                $0.spatialFilter = QuerySpatialFilter(
                    geometry: .point(Coordinate(x: 1, y: 2)), relation: relation, pattern: pattern)
            }
            do throws(Failure) { _ = try site.engine.answer(request, in: site.map) } catch {
                return error.message.hasPrefix("relationParam: ") ? error.code : nil
            }
            return nil
        }

        #expect(code(.pattern, pattern) == .invalidParameter)
        #expect(code(.touches, "T********") == .invalidParameter)
    }

    private final class Oracle {
        let geometry: GEOSGeometry
        init(_ wkt: String) throws { geometry = try GEOSGeometry(wkt: wkt) }
    }

    /// Metres on a sphere; within 0.6 % of those on the ellipsoid.
    private static func meters(_ a: Coordinate, _ b: Coordinate) -> Double {
        let radians = Double.pi / 180
        let (lat, lat2) = (a.y * radians, b.y * radians)
        let half = (
            sin((lat2 - lat) / 2), sin((b.x - a.x) * radians / 2)
        )
        let chord = half.0 * half.0 + cos(lat) * cos(lat2) * half.1 * half.1
        return 2 * 6_371_008.8 * asin(min(1, chord.squareRoot()))
    }

    @Test(.slow, arguments: [4326, 3857, 2154])
    func `a distance is one on the ground, whatever the references`(wkid: Int) throws {
        var random = SeededGenerator(seed: UInt64(wkid))
        let places = (0..<200).map { _ in
            Coordinate(
                x: .random(in: -1...6, using: &random), y: .random(in: 43...50, using: &random))
        }
        let site = try QueriedSite(
            places.enumerated().map { index, place in
                #"{"type":"Feature","id":\#(index + 1),"properties":{},"geometry":{"type":"#
                    + #""Point","coordinates":[\#(place.x),\#(place.y)]}}"#
            })
        site.map.spatialReference = SpatialReference(wkid: wkid)
        for round in 0..<20 {
            let centre = Coordinate(
                x: .random(in: -1...6, using: &random), y: .random(in: 43...50, using: &random))
            let meters = Double.random(in: 1000...700_000, using: &random)

            let found = Set(
                try site.ids {
                    $0.spatialFilter = QuerySpatialFilter(
                        geometry: .point(centre), spatialReference: .wgs84, distanceMeters: meters)
                }.ids)

            for (index, place) in places.enumerated() {
                let distance = Self.meters(centre, place)
                guard abs(distance - meters) > meters * 0.006 else { continue }
                #expect(found.contains(index + 1) == (distance < meters), "round \(round)")
            }
        }
    }

    @Test func `across the antimeridian and at the poles distances hold too`() throws {
        let places = [(179.9, 10.0), (-179.9, 10), (0, 89.9), (180, 89.9), (0, 0)]
        let site = try QueriedSite(
            places.enumerated().map { index, place in
                #"{"type":"Feature","id":\#(index + 1),"properties":{},"geometry":{"type":"#
                    + #""Point","coordinates":[\#(place.0),\#(place.1)]}}"#
            })
        func near(_ x: Double, _ y: Double, _ meters: Double) throws -> [Int] {
            try site.ids {
                $0.spatialFilter = QuerySpatialFilter(
                    geometry: .point(Coordinate(x: x, y: y)), distanceMeters: meters)
            }.ids
        }
        #expect(try near(179.95, 10, 20_000) == [1, 2])
        #expect(try near(90, 89.9, 20_000) == [3, 4])
        #expect(try near(0.1, 0, 20_000) == [5])
    }

    /// The relations of a disc of a radius in metres around a place to a feature, computed from the
    /// feature's dense coordinates; nil for a near miss of another relation.
    private static func relations(
        of feature: DiscFeature, to centre: Coordinate, _ meters: Double
    ) -> Set<QuerySpatialFilter.Relation>? {
        let distances = feature.coordinates.map { Self.meters(centre, $0) }
        guard let near = distances.min(), let far = distances.max(),
            abs(near - meters) > meters * 0.01, abs(far - meters) > meters * 0.01
        else { return nil }
        let isAround = feature.type == "Polygon" && feature.envelope.contains(centre)
        let meets = isAround || near < meters
        var relations: Set<QuerySpatialFilter.Relation> = meets ? [.intersects] : [.pattern]
        if far < meters { relations.insert(.contains) }
        if isAround, near > meters { relations.insert(.within) }
        if feature.type == "LineString", near < meters, meters < far { relations.insert(.crosses) }
        if feature.type == "Polygon", meets, relations.isDisjoint(with: [.contains, .within]) {
            relations.insert(.overlaps)
        }
        return relations
    }

    /// A point, or the sides or the diagonal of a rectangle of degrees.
    private struct DiscFeature {
        var type: String
        var envelope: Envelope
        var coordinates: [Coordinate]

        init(_ type: String, _ random: inout SeededGenerator) {
            self.type = type
            let x = Double.random(in: -1...6, using: &random)
            let y = Double.random(in: 43...50, using: &random)
            let isPoint = type == "Point"
            envelope = Envelope(
                minX: x, minY: y, maxX: isPoint ? x : x + .random(in: 0.1...5, using: &random),
                maxY: isPoint ? y : y + .random(in: 0.1...3, using: &random))
            let corners = [
                Coordinate(x: x, y: y), Coordinate(x: envelope.maxX, y: y),
                Coordinate(x: envelope.maxX, y: envelope.maxY), Coordinate(x: x, y: envelope.maxY),
                Coordinate(x: x, y: y),
            ]
            let turns =
                switch type {
                case "Point": [corners[0], corners[0]]
                case "LineString": [corners[0], corners[2]]
                default: corners
                }
            coordinates = zip(turns, turns.dropFirst()).flatMap { a, b in
                (0..<(isPoint ? 1 : 100)).map { piece in
                    let part = Double(piece) / 100
                    return Coordinate(x: a.x + (b.x - a.x) * part, y: a.y + (b.y - a.y) * part)
                }
            }
            if !isPoint { coordinates.append(turns.last ?? corners[0]) }
        }

        func json(_ id: Int) -> String {
            let places = coordinates.map { "[\($0.x),\($0.y)]" }.joined(separator: ",")
            let text =
                switch type {
                case "Point": places
                case "LineString": "[\(places)]"
                default: "[[\(places)]]"
                }
            return #"{"type":"Feature","id":\#(id),"properties":{},"geometry":{"type":"\#(type)","#
                + #""coordinates":\#(text)}}"#
        }
    }

    @Test(.slow, arguments: [("Point", 4326), ("LineString", 2154), ("Polygon", 3857)])
    func `a relation with a distance is one to everything within it`(
        type: String, wkid: Int
    ) throws {
        var random = SeededGenerator(seed: UInt64(wkid))
        let features = (0..<50).map { _ in DiscFeature(type, &random) }
        let site = try QueriedSite(features.enumerated().map { $1.json($0 + 1) })
        site.map.spatialReference = SpatialReference(wkid: wkid)
        var seen: Set<QuerySpatialFilter.Relation> = []
        for round in 0..<8 {
            let centre = Coordinate(
                x: .random(in: 0...7, using: &random), y: .random(in: 44...51, using: &random))
            let meters = exp(Double.random(in: log(20_000)...log(500_000), using: &random))
            let expected = features.map { Self.relations(of: $0, to: centre, meters) }
            for relation in [
                QuerySpatialFilter.Relation.intersects, .contains, .within, .crosses, .overlaps,
                .touches, .pattern,
            ] {
                let found = Set(
                    try site.ids {
                        $0.spatialFilter = QuerySpatialFilter(
                            geometry: .point(centre), spatialReference: .wgs84, relation: relation,
                            pattern: relation == .pattern ? "FF*FF****" : nil,
                            distanceMeters: meters)
                    }.ids)
                for (index, relations) in expected.enumerated() {
                    guard let relations else { continue }
                    #expect(
                        found.contains(index + 1) == relations.contains(relation),
                        "round \(round), feature \(index + 1), \(relation)")
                    if relations.contains(relation) { seen.insert(relation) }
                }
            }
        }
        let always: Set<QuerySpatialFilter.Relation> = [.intersects, .contains, .pattern]
        let own: Set<QuerySpatialFilter.Relation> =
            switch type {
            case "Point": []
            case "LineString": [.crosses]
            default: [.within, .overlaps]
            }
        #expect(seen == always.union(own))
    }

    @Test func `the area within a distance of a position is a circle but for 0.008 %`() throws {
        let near = try GEOSRelation(
            wkb: WellKnownBytes(.point(Coordinate(x: 0, y: 0))).bytes, buffer: 1)
        for step in 0..<1000 {
            let angle = Double(step) / 1000 * 2 * .pi
            for (radius, isNear) in [(1 - 0.00008, true), (1 + 1e-9, false)] {
                let place = Coordinate(x: radius * cos(angle), y: radius * sin(angle))
                #expect(
                    try near.holds(.intersects, wkb: WellKnownBytes(.point(place)).bytes)
                        == isNear, "\(angle)")
            }
        }
    }

    @Test func `rectangles around what is near have its sides`() throws {
        // Ten kilometres north and ten east, and thirteen east.
        let site = try QueriedSite([
            #"{"type":"Feature","id":1,"properties":{},"geometry":{"type":"Point","coordinates":[0.09,0.09]}}"#,
            #"{"type":"Feature","id":2,"properties":{},"geometry":{"type":"Point","coordinates":[0.12,0]}}"#,
        ])
        func found(_ relation: QuerySpatialFilter.Relation, _ meters: Double) throws -> [Int] {
            try site.ids {
                $0.spatialFilter = QuerySpatialFilter(
                    geometry: .point(Coordinate(x: 0, y: 0)), relation: relation,
                    distanceMeters: meters)
            }.ids
        }
        #expect(try found(.intersects, 12_000) == [])
        #expect(try found(.envelopeIntersects, 12_000) == [1])
        #expect(try found(.indexIntersects, 12_000) == [1])
        #expect(try found(.envelopeIntersects, 13_500) == [1, 2])
        #expect(try found(.envelopeIntersects, 9_000) == [])
    }

    @Test func `a geometry that has no place among the features is met where it is`() throws {
        // A rectangle of the whole world, which a conic projection does not hold.
        let site = try QueriedSite(
            [
                #"{"type":"Feature","id":1,"properties":{},"geometry":{"type":"Point","coordinates":[700000,6600000]}}"#
            ], wkid: 2154, mapWkid: 2154)
        for relation in [QuerySpatialFilter.Relation.intersects, .envelopeIntersects, .contains] {
            let found = try site.ids {
                $0.spatialFilter = QuerySpatialFilter(
                    geometry: .envelope(Envelope(minX: -180, minY: -90, maxX: 180, maxY: 90)),
                    spatialReference: .wgs84, relation: relation)
            }
            #expect(found.ids == [1], "\(relation)")
        }
    }
}
