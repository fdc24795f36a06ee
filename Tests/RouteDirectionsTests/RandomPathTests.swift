// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import RouteDirections
import TestKit
import Testing

/// What holds of every path.
@Suite struct RandomPathTests {
    private static func edge(
        from start: Coordinate, _ random: inout SeededGenerator
    ) -> TraversedEdge {
        var shape = [start]
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let last = shape[shape.count - 1]
            let reach: Double = [0, 1e-5, 1e-4, 1e-3].randomElement(using: &random) ?? 0
            shape.append(
                Coordinate(
                    x: last.x + Double.random(in: -reach...reach, using: &random),
                    y: last.y + Double.random(in: -reach...reach, using: &random)))
        }
        let names = ["", "", "Rue A", "Avenue B", "C-Straße", "a"]
        let bits = UInt16.random(in: 0...255, using: &random)
        let few = bits & UInt16.random(in: 0...255, using: &random)
        return TraversedEdge(
            shape: shape, length: Int64.random(in: 0...200_000, using: &random),
            duration: Int64.random(in: 0...100_000, using: &random),
            name: names.randomElement(using: &random) ?? "",
            ref: ["", "", "A 1", "A 1;E 5", ";", " "].randomElement(using: &random) ?? "",
            roadClass: RoadClass.allCases.randomElement(using: &random) ?? .path,
            traits: RoadTraits(rawValue: few & UInt16.random(in: 0...255, using: &random)),
            signs: RoadSigns(
                destinations: Bool.random(using: &random) ? ["Ulm", ""] : [],
                refs: Bool.random(using: &random) ? ["B 2"] : [],
                exit: Bool.random(using: &random) ? "7" : ""),
            branches: (0..<Int.random(in: 0...3, using: &random)).map { _ in
                Branch(
                    bearing: Double.random(in: -400...400, using: &random),
                    roadClass: RoadClass.allCases.randomElement(using: &random) ?? .path,
                    traits: RoadTraits(rawValue: UInt16.random(in: 0...3, using: &random)),
                    name: names.randomElement(using: &random) ?? "",
                    isUsable: Bool.random(using: &random))
            })
    }

    private static func path(_ random: inout SeededGenerator) -> RoutePath {
        var place = Coordinate(x: 9, y: 48)
        var stops = [RouteStop(name: "P", location: place)]
        var legs: [[TraversedEdge]] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            var leg: [TraversedEdge] = []
            for _ in 0..<Int.random(in: 0...25, using: &random) {
                leg.append(edge(from: place, &random))
                place = leg[leg.count - 1].shape.last ?? place
            }
            legs.append(leg)
            let name = Bool.random(using: &random) ? "Q" : ""
            stops.append(
                RouteStop(
                    name: name, location: place, side: Bool.random(using: &random) ? .left : nil))
        }
        let means = TravelMeans.allCases.randomElement(using: &random) ?? .car
        return RoutePath(stops: stops, legs: legs, means: means)
    }

    @Test func `sums are exact, stretches follow each other, texts are whole`() throws {
        var random = SeededGenerator(seed: 44)
        for round in 0..<150 {
            let path = Self.path(&random)
            let edges = path.legs.joined()
            let directions = try Directions(path)
            let maneuvers = directions.maneuvers
            #expect(directions.length == edges.reduce(0) { $0 + $1.length })
            #expect(directions.duration == edges.reduce(0) { $0 + $1.duration })
            #expect(maneuvers.count { $0.kind == .depart } == path.legs.count)
            #expect(maneuvers.count { $0.kind == .arrive } == path.legs.count)
            #expect(maneuvers.flatMap(\.edges) == Array(0..<edges.count))
            #expect(maneuvers.first?.points.lowerBound == 0)
            #expect(maneuvers.last?.points.upperBound == directions.shape.count)
            for (one, next) in zip(maneuvers, maneuvers.dropFirst()) {
                #expect(
                    next.points.lowerBound == one.points.upperBound - 1, "round \(round)")
            }
            for (leg, expected) in path.legs.enumerated() {
                let length = maneuvers.filter { $0.leg == leg }.reduce(0) { $0 + $1.length }
                #expect(length == expected.reduce(0) { $0 + $1.length })
            }
            for language in DirectionsLanguage.all {
                let lines = directions.written(in: language).lines
                #expect(lines.reduce(0) { $0 + $1.length } == directions.length)
                #expect(lines.reduce(0) { $0 + $1.duration } == directions.duration)
                for line in lines {
                    let text = line.text
                    #expect(
                        !text.isEmpty && !text.contains { "{}[]|".contains($0) }
                            && !text.contains("  ") && text.last != " ",
                        "round \(round), \(language.code): \(text)")
                    #expect(directions.shape(of: line).count >= 2)
                }
            }
        }
    }

    @Test func `one path has one result`() throws {
        var random = SeededGenerator(seed: 45)
        for _ in 0..<50 {
            let path = Self.path(&random)
            #expect(try Directions(path) == Directions(path))
        }
    }
}
