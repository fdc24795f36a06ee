// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import RouteDirections
import Testing

/// Ramps, exits, merges and forks of motorways.
@Suite struct HighwayTests {
    @Test func `onto a motorway, off it, and what signs say`() throws {
        var path = DrawnPath()
        path.go((0, 500), name: "Main Road", class: .primary)
        path.branch(0, name: "Main Road", class: .primary)
        path.go(
            (150, 100), (300, 20), class: .motorway, traits: .link,
            signs: RoadSigns(destinations: ["Ulm", "Munich"], refs: ["A 8"]))
        path.branch(80, class: .motorway, .link, isUsable: false)
        path.go((2_000, 0), ref: "A 8", class: .motorway)
        path.branch(90, class: .motorway)
        path.go(
            (400, -60), class: .motorway, traits: .link,
            signs: RoadSigns(destinations: ["Airport"], exit: "53a"))
        path.branch(0, name: "B 27", class: .primary)
        path.go((0, -300), ref: "B 27", class: .primary)
        #expect(
            try path.maneuvers() == [
                "rampOn slight right", "merge slight left", "rampOff slight right",
                "endOfRoad right",
            ])
        #expect(
            try path.lines() == [
                "Start at A", "Go north on Main Road",
                "Take the ramp on the right to A 8 toward Ulm, Munich", "Merge left onto A 8",
                "Take exit 53a on the right toward Airport",
                "At the end of the road, turn right on B 27", "Finish at B",
            ])
        let types = try path.directions().written(in: .named("en")).lines.map(\.type)
        #expect(
            types == [
                .depart, .straight, .rampRight, .highwayMerge, .highwayExit, .turnRight, .stop,
            ])
    }

    @Test func `a motorway is silent at its exits`() throws {
        var path = DrawnPath()
        for _ in 0..<5 {
            path.go((0, 1_000), ref: "A 8", class: .motorway)
            path.branch(10, class: .motorway, .link)
        }
        path.go((0, 1_000), ref: "A 8", class: .motorway)
        #expect(try path.maneuvers() == [])
    }

    @Test func `an exit on the left of the road is on the left`() throws {
        var path = DrawnPath()
        path.go((0, 1_000), ref: "A 8", class: .motorway)
        path.branch(8, class: .motorway)
        path.go((0, 500), class: .motorway, traits: .link)
        #expect(try path.maneuvers() == ["rampOff slight left"])
    }

    @Test func `two motorways part at a fork`() throws {
        var path = DrawnPath()
        path.go((0, 1_000), ref: "A 8", class: .motorway)
        path.branch(350, class: .motorway)
        path.go((100, 1_000), ref: "A 8", class: .motorway)
        #expect(try path.maneuvers() == ["fork slight right"])
        #expect(try path.lines()[2] == "Keep right at the fork on A 8")
        // Within a junction.
        var ramps = DrawnPath()
        ramps.go((0, 300), class: .motorway, traits: .link)
        ramps.branch(20, class: .motorway, .link)
        ramps.go((-50, 300), class: .motorway, traits: .link)
        #expect(try ramps.maneuvers() == ["fork slight left"])
    }

    @Test func `traffic on the left merges to the right`() throws {
        var path = DrawnPath()
        path.go((0, 300), class: .motorway, traits: [.link, .leftHand])
        path.branch(180, class: .motorway, isUsable: false)
        path.go((0, 300), ref: "M4", class: .motorway, traits: .leftHand)
        #expect(try path.maneuvers() == ["merge slight right"])
    }
}
