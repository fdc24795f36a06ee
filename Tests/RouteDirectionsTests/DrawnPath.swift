// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnCore
import Geometry
import RouteDirections

/// A path of one leg, drawn in metres around 0° 0°; 1 mm takes 1/10 ms.
struct DrawnPath {
    var edges: [TraversedEdge] = []
    var place = (x: 0.0, y: 0.0)
    var means = TravelMeans.car
    var side: VehicleSide?

    static func position(_ x: Double, _ y: Double) -> Coordinate {
        Coordinate(x: x / 111_195, y: y / 111_195)
    }

    /// An edge by way of all positions, each relative to the one before.
    mutating func go(
        _ steps: (Double, Double)..., name: String = "", ref: String = "",
        class road: RoadClass = .residential, traits: RoadTraits = [],
        signs: RoadSigns = RoadSigns()
    ) {
        var shape = [Self.position(place.x, place.y)]
        var length = 0.0
        for (x, y) in steps {
            place = (place.x + x, place.y + y)
            length += (x * x + y * y).squareRoot()
            shape.append(Self.position(place.x, place.y))
        }
        edges.append(
            TraversedEdge(
                shape: shape, length: Int64(length * 1_000), duration: Int64(length * 100),
                name: name, ref: ref, roadClass: road, traits: traits, signs: signs))
    }

    /// Another way at the end of the last edge.
    mutating func branch(
        _ bearing: Double, name: String = "", class road: RoadClass = .residential,
        _ traits: RoadTraits = [], isUsable: Bool = true
    ) {
        edges[edges.count - 1].branches.append(
            Branch(
                bearing: bearing, roadClass: road, traits: traits, name: name,
                isUsable: isUsable))
    }

    var path: RoutePath {
        RoutePath(
            stops: [
                RouteStop(name: "A", location: edges.first?.shape.first ?? Self.position(0, 0)),
                RouteStop(
                    name: "B", location: Self.position(place.x, place.y), side: side),
            ], legs: [edges], means: means)
    }

    func directions() throws -> Directions { try Directions(path) }

    /// Kind and direction of all maneuvers but the first and the last.
    func maneuvers() throws -> [String] {
        try directions().maneuvers.dropFirst().dropLast().map { maneuver in
            maneuver.kind.rawValue + (maneuver.modifier.map { " " + $0.rawValue } ?? "")
        }
    }

    func lines(_ language: String = "en") throws -> [String] {
        try directions().written(in: .named(language)).lines.map(\.text)
    }
}
