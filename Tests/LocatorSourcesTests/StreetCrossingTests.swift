// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Geometry
import Locator
import LocatorSources
import TestKit
import Testing

/// Streets that cross without a vertex in common.
@Suite struct StreetCrossingTests {
    private struct Line {
        var name: String
        /// Metres east and north of (10°, 50°).
        var vertices: [(x: Double, y: Double)]

        var edges: [(start: (x: Double, y: Double), end: (x: Double, y: Double))] {
            zip(vertices, vertices.dropFirst()).map { ($0, $1) }
        }
    }

    private static func cross(
        _ a: (x: Double, y: Double), _ b: (x: Double, y: Double), _ c: (x: Double, y: Double)
    ) -> Double { (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) }

    /// A crossing, and how far off it may be found where a third street crosses so near that
    /// vertices of its crossings count as one, within 1 m: the farther the smaller the angle.
    private struct Crossing {
        var location: Coordinate
        var toleranceMeters: Double
    }

    /// The crossings of two lines, by testing all their edges; nil where one nearly touches the
    /// other, so that rounding decides.
    private static func crossings(_ one: Line, _ other: Line) -> [Crossing]? {
        var result: [Crossing] = []
        for first in one.edges {
            for second in other.edges {
                let sides = [
                    cross(first.start, first.end, second.start),
                    cross(first.start, first.end, second.end),
                    cross(second.start, second.end, first.start),
                    cross(second.start, second.end, first.end),
                ]
                let length = hypot(first.end.x - first.start.x, first.end.y - first.start.y)
                let otherLength = hypot(
                    second.end.x - second.start.x, second.end.y - second.start.y)
                let distances = zip(sides, [length, length, otherLength, otherLength]).map {
                    abs($0 / $1)
                }
                let doCross = sides[0] * sides[1] < 0 && sides[2] * sides[3] < 0
                if let least = distances.min(), least < 2 { return nil }
                guard doCross else { continue }
                let share = sides[2] / (sides[2] - sides[3])
                let sine = abs(sides[0] - sides[1]) / length / otherLength
                result.append(
                    Crossing(
                        location: GridCity.location(
                            first.start.x + share * (first.end.x - first.start.x),
                            first.start.y + share * (first.end.y - first.start.y)),
                        toleranceMeters: 0.05 + 1.03 / sine))
            }
        }
        return result
    }

    private static func lines(_ count: Int, using random: inout SeededGenerator) -> [Line] {
        let syllables = ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu"]
        var names: Set<String> = []
        while names.count < count {
            names.insert(
                (0..<5).map { _ in syllables.randomElement(using: &random) ?? "" }.joined()
                    .capitalized + " Road")
        }
        return names.sorted().map { name in
            Line(
                name: name,
                vertices: (0..<Int.random(in: 2...4, using: &random)).map { _ in
                    (
                        Double.random(in: 0...3_000, using: &random),
                        Double.random(in: 0...3_000, using: &random)
                    )
                })
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `streets meet where their lines cross, and nowhere else`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        print("seed \(random.seed)")
        let lines = Self.lines(16, using: &random)
        let collection = GeoJSON.collection(
            lines.map { line in
                GeoJSON.line(
                    line.vertices.map { GridCity.location($0.x, $0.y) }, ["FULLNAME": line.name])
            })
        let (_, locator) = try Scratch.build([try Scratch.file(collection, "lines.geojson")])
        var (met, apart) = (0, 0)
        var exact = 0
        var all = 0
        for (number, one) in lines.enumerated() {
            for other in lines[(number + 1)...] {
                guard let expected = Self.crossings(one, other) else { continue }
                let found = try locator.geocode(
                    GeocodeRequest(singleLine: "\(one.name) & \(other.name)", maxLocations: 50)
                ).candidates.filter {
                    $0.text("StAddr") == "\(one.name) & \(other.name)"
                }
                if expected.isEmpty { apart += 1 } else { met += 1 }
                #expect(found.isEmpty == expected.isEmpty, "\(one.name), \(other.name)")
                all += found.count
                exact += found.count { candidate in
                    expected.contains { candidate.meters(to: $0.location) < 0.1 }
                }
                for candidate in found {
                    #expect(
                        expected.contains {
                            candidate.meters(to: $0.location) < $0.toleranceMeters
                        },
                        "\(one.name), \(other.name): \(expected.map { candidate.meters(to: $0.location) }) \(expected.map(\.toleranceMeters))"
                    )
                }
                // Crossings within 25 m of each other are one.
                for crossing in expected {
                    #expect(
                        found.contains { $0.meters(to: crossing.location) < 30 },
                        "\(one.name), \(other.name)")
                }
            }
        }
        #expect(met > 20)
        #expect(exact * 10 >= all * 9, "\(exact) of \(all)")
        #expect(apart > 10)
    }

    /// Distance of a position from the nearest of some edges; longitudes and latitudes as stored.
    private static func meters(
        from vertex: (x: Double, y: Double), to line: Line
    ) -> (meters: Double, at: (x: Double, y: Double)) {
        var best = (meters: Double.infinity, at: (x: 0.0, y: 0.0))
        for edge in line.edges {
            let (dx, dy) = (edge.end.x - edge.start.x, edge.end.y - edge.start.y)
            let share =
                ((vertex.x - edge.start.x) * dx + (vertex.y - edge.start.y) * dy)
                / (dx * dx + dy * dy)
            let inside = min(1, max(0, share))
            let at = (x: edge.start.x + inside * dx, y: edge.start.y + inside * dy)
            let meters = hypot(vertex.x - at.x, vertex.y - at.y)
            if meters < best.meters { best = (meters, at) }
        }
        return best
    }

    /// Parallel main roads, and lanes that end or bend near one of them.
    ///
    /// On it, on it but for rounding, a little before it, or well before it. The expected junctions
    /// follow from testing all pairs.
    @Test(arguments: [4, 5] as [UInt64])
    func `a line that ends on another's meets it there`(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        print("seed \(random.seed)")
        let named = Self.lines(46, using: &random)
        var lines: [Line] = []
        for (number, line) in named.prefix(6).enumerated() {
            let y = 400.0 * Double(number)
            lines.append(
                Line(
                    name: line.name,
                    vertices: [
                        (0, y), (900, y + Double.random(in: -60...60, using: &random)),
                        (2_000, y + 30),
                    ]))
        }
        let roads = lines
        for (number, line) in named.dropFirst(6).enumerated() {
            let road = roads[number % roads.count]
            let edge = road.edges[number % 2]
            let share = Double.random(in: 0.05...0.95, using: &random)
            let (dx, dy) = (edge.end.x - edge.start.x, edge.end.y - edge.start.y)
            let length = hypot(dx, dy)
            let short = [0, 0.3, 0.8, 2, 15][number % 5]
            let end = (
                x: edge.start.x + share * dx - short * dy / length,
                y: edge.start.y + share * dy + short * dx / length
            )
            let far = (
                x: end.x + Double.random(in: -80...80, using: &random) - 150 * dy / length,
                y: end.y + 150 * dx / length
            )
            // Drawn to the road, from it, or to it and back.
            let vertices = [[far, end], [end, far], [far, end, (x: far.x + 90, y: far.y + 5)]]
            lines.append(Line(name: line.name, vertices: vertices[number % 3]))
        }
        let collection = GeoJSON.collection(
            lines.map { line in
                GeoJSON.line(
                    line.vertices.map { GridCity.location($0.x, $0.y) }, ["FULLNAME": line.name])
            })
        let (_, locator) = try Scratch.build([try Scratch.file(collection, "lines.geojson")])
        var (met, apart) = (0, 0)
        for (number, one) in lines.enumerated() {
            for other in lines[(number + 1)...] {
                let touches =
                    one.vertices.map { Self.meters(from: $0, to: other) }
                    + other.vertices.map { Self.meters(from: $0, to: one) }
                let crossings = Self.strictCrossings(one, other)
                // So near the limit that rounding decides.
                if crossings.isEmpty, touches.contains(where: { 0.9...1.05 ~= $0.meters }) {
                    continue
                }
                let expected =
                    touches.filter { $0.meters < 0.9 }.map { GridCity.location($0.at.x, $0.at.y) }
                    + crossings
                let found = try locator.geocode(
                    GeocodeRequest(singleLine: "\(one.name) & \(other.name)", maxLocations: 50)
                ).candidates.filter { $0.text("StAddr") == "\(one.name) & \(other.name)" }
                if expected.isEmpty { apart += 1 } else { met += 1 }
                #expect(found.isEmpty == expected.isEmpty, "\(one.name), \(other.name)")
                for candidate in found {
                    // Vertices within 1 m of each other are one.
                    #expect(
                        expected.contains { candidate.meters(to: $0) < 2 },
                        "\(one.name), \(other.name)")
                }
                for location in expected {
                    #expect(
                        found.contains { $0.meters(to: location) < 30 },
                        "\(one.name), \(other.name)")
                }
            }
        }
        #expect(met >= 20)
        #expect(apart > 500)
        // The roads keep their location, at a vertex of their own.
        for road in roads {
            let street = try #require(try locator.first("\(road.name), Gridham"))
            #expect(
                road.vertices.contains {
                    street.meters(to: GridCity.location($0.x, $0.y)) < 0.1
                })
        }
    }

    /// The crossings of edges of two lines, each with its ends on both sides of the other.
    private static func strictCrossings(_ one: Line, _ other: Line) -> [Coordinate] {
        var result: [Coordinate] = []
        for first in one.edges {
            for second in other.edges {
                let (a, b) = (
                    cross(first.start, first.end, second.start),
                    cross(first.start, first.end, second.end)
                )
                let (c, d) = (
                    cross(second.start, second.end, first.start),
                    cross(second.start, second.end, first.end)
                )
                guard a * b < 0, c * d < 0 else { continue }
                let share = c / (c - d)
                result.append(
                    GridCity.location(
                        first.start.x + share * (first.end.x - first.start.x),
                        first.start.y + share * (first.end.y - first.start.y)))
            }
        }
        return result
    }

    @Test func `the nearest crossing of a location is found as well`() throws {
        let lines = [
            Line(name: "Alder Street", vertices: [(0, 0), (500, 0)]),
            Line(name: "First Avenue", vertices: [(210, -300), (210, 300)]),
        ]
        let collection = GeoJSON.collection(
            lines.map { line in
                GeoJSON.line(
                    line.vertices.map { GridCity.location($0.x, $0.y) }, ["FULLNAME": line.name])
            })
        let (built, locator) = try Scratch.build([try Scratch.file(collection, "lines.geojson")])
        #expect(built.segmentCount == 2)
        var request = ReverseGeocodeRequest(
            location: GridCity.location(200, 20), maxDistanceMeters: 100)
        request.featureTypes = ["StreetInt"]
        let found = try #require(try locator.reverse(request).candidate)
        #expect(found.meters(to: GridCity.location(210, 0)) < 0.1)
        // The street keeps its location without the crossing: at a vertex of its own.
        let street = try #require(try locator.first("Alder Street, Gridham"))
        #expect(street.meters(to: GridCity.location(500, 0)) < 0.1)
    }

    @Test(arguments: [
        ("", true), ("bridge=no", true), ("layer=0", true), ("tunnel=no", true),
        ("bridge=yes", false), ("bridge=viaduct", false), ("tunnel=yes", false), ("layer=1", false),
        ("layer=-1", false), ("layer=below", false),
    ])
    func `a way on a bridge, in a tunnel or on a layer crosses nothing`(
        _ tag: String, _ doesMeet: Bool
    ) throws {
        let parts = tag.split(separator: "=").map(String.init)
        let mark = parts.count == 2 ? "<tag k=\"\(parts[0])\" v=\"\(parts[1])\"/>" : ""
        func way(_ id: Int, _ refs: [Int], _ name: String, _ mark: String) -> String {
            "<way id=\"\(id)\">" + refs.map { "<nd ref=\"\($0)\"/>" }.joined()
                + "<tag k=\"highway\" v=\"residential\"/><tag k=\"name\" v=\"\(name)\"/>\(mark)</way>\n"
        }
        let extract = """
            <?xml version="1.0" encoding="UTF-8"?>
            <osm version="0.6">
            <node id="1" lat="50" lon="10"/><node id="2" lat="50" lon="10.004"/>
            <node id="3" lat="49.999" lon="10.001"/><node id="4" lat="50.001" lon="10.001"/>
            <node id="5" lat="49.999" lon="10.003"/><node id="6" lat="50.001" lon="10.003"/>
            <node id="7" lat="50" lon="10.003"/>
            <node id="8" lat="50" lon="10.002"/><node id="9" lat="49.999" lon="10.0021"/>
            <node id="90" lat="50.001" lon="10.001"><tag k="place" v="town"/>
              <tag k="name" v="Mitte"/></node>
            \(way(1, [1, 7, 2], "Ahornweg", mark))\(way(2, [3, 4], "Birkenweg", ""))
            \(way(3, [5, 7, 6], "Lindenweg", ""))\(way(4, [9, 8], "Eschenweg", ""))
            </osm>
            """
        let (built, locator) = try Scratch.build(
            [try Scratch.file(extract, "ways.osm")], constants: [])
        #expect(built.rejectedCount == 0)
        let crossing = try locator.first("Ahornweg & Birkenweg, Mitte")
        #expect((crossing?.text("Addr_type") == "StreetInt") == doesMeet, "\(tag)")
        if doesMeet {
            #expect(crossing?.meters(to: Coordinate(x: 10.001, y: 50)) ?? .infinity < 0.1)
        }
        // A way that ends on it meets it as one that crosses it does.
        let end = try locator.first("Ahornweg & Eschenweg, Mitte")
        #expect((end?.text("Addr_type") == "StreetInt") == doesMeet, "\(tag)")
        if doesMeet {
            #expect(end?.meters(to: Coordinate(x: 10.002, y: 50)) ?? .infinity < 0.1)
        }
        // A vertex in common counts all the same.
        let corner = try #require(try locator.first("Ahornweg & Lindenweg, Mitte"))
        #expect(corner.text("Addr_type") == "StreetInt")
        #expect(corner.meters(to: Coordinate(x: 10.003, y: 50)) < 0.1)
    }
}
