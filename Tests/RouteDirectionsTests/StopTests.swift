// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnCore
import Geometry
import RouteDirections
import Testing

/// Several stops, their sides, and paths that are refused.
@Suite struct StopTests {
    private func route() -> RoutePath {
        var first = DrawnPath()
        first.go((0, 200), name: "Main Road")
        first.branch(90)
        first.go((0, 150), name: "Main Road")
        var second = DrawnPath()
        second.place = first.place
        second.go((0, 50), name: "Main Road")
        second.branch(0)
        second.go((300, 0), name: "Side Road")
        let stops = [
            RouteStop(name: "A", location: DrawnPath.position(0, 0)),
            RouteStop(name: "B", location: DrawnPath.position(0, 350), side: .right),
            RouteStop(name: "C", location: DrawnPath.position(300, 400), side: .left),
        ]
        return RoutePath(stops: stops, legs: [first.edges, second.edges], means: .car)
    }

    @Test func `a stop on the way is an arrival and a departure`() throws {
        let directions = try Directions(route())
        let lines = directions.written(in: .named("en")).lines
        #expect(
            lines.map(\.text) == [
                "Start at A", "Go north on Main Road", "Arrive at B, on the right", "Depart B",
                "Go north on Main Road", "Turn right on Side Road", "Finish at C, on the left",
            ])
        #expect(lines.map(\.leg) == [0, 0, 0, 1, 1, 1, 1])
        #expect(lines.map(\.length) == [0, 350_000, 0, 0, 50_000, 300_000, 0])
        #expect(directions.length == 700_000 && directions.duration == 70_000)
        #expect(directions.shape.count == 5)
        #expect(
            directions.maneuvers.map(\.osrmType) == [
                "depart", "arrive", "depart", "turn", "arrive",
            ])
        #expect(
            directions.maneuvers.map(\.osrmModifier) == [nil, "right", nil, "right", "left"])
        #expect(directions.maneuvers.map(\.stop) == [0, 1, 1, nil, 2])
        let turn = directions.maneuvers[3]
        #expect(abs(turn.bearingAfter - 90) < 0.01)
        #expect(min(turn.bearingBefore, 360 - turn.bearingBefore) < 0.01)
        #expect(turn.edges == 3..<4)
        #expect(lines[0].type.name == "esriDMTDepart" && lines[6].type.name == "esriDMTStop")
        let end = directions.shape(of: lines[6])
        #expect(end.count == 2 && end[0] == end[1])
    }

    @Test func `two stops at one place have a leg without edges`() throws {
        var route = route()
        route.stops.insert(route.stops[1], at: 1)
        route.legs.insert([], at: 1)
        let directions = try Directions(route)
        #expect(
            directions.written(in: .named("en")).lines.map(\.text)[2...5] == [
                "Arrive at B, on the right", "Depart B", "Arrive at B, on the right", "Depart B",
            ])
        #expect(directions.shape.count == 5)
        let alone = RoutePath(stops: [route.stops[0], route.stops[0]], legs: [[]], means: .foot)
        let nothing = try Directions(alone)
        #expect(nothing.maneuvers.map(\.kind) == [.depart, .arrive])
        #expect(nothing.shape(of: nothing.maneuvers[0]).count == 2)
    }

    @Test func `what is no path is refused`() {
        var none = route()
        none.stops.removeLast()
        var empty = route()
        empty.legs[0][0].shape = []
        var negative = route()
        negative.legs[1][0].length = -1
        var huge = route()
        huge.legs[1][0].duration = .max
        var beyond = route()
        beyond.legs[1][1].shape[1].y = 91
        var unknown = route()
        unknown.legs[0][0].branches[0].bearing = .nan
        var nowhere = route()
        nowhere.stops[2].location.x = .infinity
        for path in [none, empty, negative, huge, beyond, unknown, nowhere] {
            #expect(throws: Failure.self) { try Directions(path) }
        }
    }
}
