// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import RouteDirections
import Testing

/// Maneuvers near each other.
@Suite struct ShortStretchTests {
    @Test func `a slip road is one turn`() throws {
        var path = DrawnPath()
        path.go((0, 300), name: "Main Road", class: .primary)
        path.branch(0, name: "Main Road", class: .primary)
        path.go((30, 30), (20, 5), class: .primary, traits: .link)
        path.branch(270, name: "Cross Road", class: .primary)
        path.go((300, 0), name: "Cross Road", class: .primary)
        #expect(try path.maneuvers() == ["turn right"])
        #expect(try path.lines()[2] == "Turn right on Cross Road")
    }

    @Test func `a turn over a divided road's middle is a U-turn`() throws {
        for middle in ["", "Cross Street"] {
            var path = DrawnPath()
            path.go((0, 300), name: "Main Road", class: .primary)
            path.branch(0, name: "Main Road", class: .primary)
            path.go((-15, 0), name: middle)
            path.branch(270, name: "Cross Street")
            path.go((0, -300), name: "Main Road", class: .primary)
            #expect(try path.maneuvers() == ["stay uturn"])
        }
    }

    @Test func `an offset crossing is silent where the street goes on`() throws {
        var path = DrawnPath()
        path.go((0, 300), name: "Mill Lane")
        path.branch(270, name: "Main Road")
        path.go((20, 0))
        path.branch(90, name: "Main Road")
        path.go((0, 300), name: "Mill Lane")
        #expect(try path.maneuvers() == [])
    }

    @Test func `two turns near each other are one line`() throws {
        var path = DrawnPath()
        path.go((0, 300), name: "Mill Lane")
        path.branch(270, name: "Main Road")
        path.go((20, 0), name: "Main Road")
        path.branch(90, name: "Main Road")
        path.go((0, 300), name: "Church Lane")
        #expect(try path.maneuvers() == ["endOfRoad right", "turn left"])
        let directions = try path.directions()
        let lines = directions.written(in: .named("en")).lines
        #expect(
            lines[2].text
                == "At the end of the road, turn right on Main Road, then turn left on Church Lane"
        )
        #expect(lines[2].type == .turnRightLeft)
        #expect(lines[2].length == 320_000)
        #expect(lines[2].points.count == 3)
    }

    @Test func `two turns far from each other are two lines`() throws {
        var path = DrawnPath()
        path.go((0, 300), name: "Mill Lane")
        path.branch(0)
        path.go((40, 0), name: "Main Road")
        path.branch(90, name: "Main Road")
        path.go((0, 300), name: "Church Lane")
        #expect(try path.lines().count == 5)
    }
}
