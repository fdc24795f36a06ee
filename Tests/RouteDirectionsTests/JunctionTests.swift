// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import RouteDirections
import Testing

/// What is said, and not said, at junctions drawn by hand.
@Suite struct JunctionTests {
    /// A crossroads reached northwards, left towards `to`.
    private func crossroads(
        to: (Double, Double), from: String = "Old Street", name: String = "New Street",
        others: [Double]
    ) -> DrawnPath {
        var path = DrawnPath()
        path.go((0, 200), name: from)
        for bearing in others { path.branch(bearing, name: "Side Street") }
        path.go(to, name: name)
        return path
    }

    @Test(arguments: [
        (-200.0, -200.0, "sharp left"), (-200, 0, "left"), (-150, 150, "slight left"),
        (150, 150, "slight right"), (200, 0, "right"), (200, -200, "sharp right"),
    ])
    func `a turn into another street has its direction`(
        x: Double, y: Double, modifier: String
    ) throws {
        let path = crossroads(to: (x, y), others: [0])
        #expect(try path.maneuvers() == ["turn " + modifier])
    }

    @Test func `a street that goes on is silent at crossings`() throws {
        let path = crossroads(to: (10, 200), name: "Old Street", others: [90, 270])
        #expect(try path.maneuvers() == [])
    }

    @Test func `a street that merely bends is silent`() throws {
        var path = DrawnPath()
        path.go((0, 200), name: "Old Street")
        path.go((200, 0), name: "Old Street")
        path.branch(0, name: "Drive", class: .service)
        path.go((0, -200), name: "Old Street")
        path.branch(30, name: "Yard", isUsable: false)
        path.go((-120, -200), name: "Old Street")
        #expect(try path.maneuvers() == [])
    }

    @Test func `a street that turns where another leads straight on is said`() throws {
        let path = crossroads(to: (200, 0), name: "Old Street", others: [0])
        #expect(try path.maneuvers() == ["stay right"])
        #expect(try path.lines()[2] == "Turn right to stay on Old Street")
        let bend = crossroads(to: (150, 150), name: "Old Street", others: [0])
        #expect(try bend.maneuvers() == ["stay slight right"])
    }

    @Test func `a road number makes one street of two names`() throws {
        var path = DrawnPath()
        path.go((0, 200), name: "Upper Road", ref: "B 27;B 10", class: .primary)
        path.branch(90)
        path.go((0, 200), name: "Lower Road", ref: "B 10", class: .primary)
        #expect(try path.maneuvers() == [])
    }

    @Test func `a new name is said at a junction, and only there`() throws {
        let junction = crossroads(to: (0, 200), others: [90])
        #expect(try junction.maneuvers() == ["newName straight"])
        let bend = crossroads(to: (0, 200), others: [])
        #expect(try bend.maneuvers() == [])
    }

    @Test func `a name is kept through a nameless stretch`() throws {
        var path = crossroads(to: (0, 80), name: "", others: [90])
        path.branch(270)
        path.go((0, 200), name: "Old Street")
        #expect(try path.maneuvers() == [])
    }

    @Test func `a street that resumes its name after a bridge is silent`() throws {
        var path = crossroads(to: (0, 40), name: "The Bridge", others: [])
        path.branch(90)
        path.go((0, 200), name: "Old Street")
        #expect(try path.maneuvers() == [])
        // A bridge that was announced is not the street that was announced.
        var said = crossroads(to: (0, 40), name: "The Bridge", others: [90])
        said.branch(90)
        said.go((0, 200), name: "Old Street")
        #expect(try said.maneuvers() == ["newName straight", "newName straight"])
    }

    @Test func `a nameless stretch after a turn takes the name that follows`() throws {
        var path = crossroads(to: (60, 0), name: "", others: [0, 270])
        path.branch(0)
        path.go((300, 0), name: "New Street")
        let directions = try path.directions()
        #expect(directions.maneuvers.map(\.kind) == [.depart, .turn, .arrive])
        #expect(directions.maneuvers[1].street.name == "New Street")
    }

    @Test func `the end of a road is said, and a side street is not one`() throws {
        #expect(try crossroads(to: (-200, 0), others: [90]).maneuvers() == ["endOfRoad left"])
        #expect(try crossroads(to: (200, 0), others: [270]).maneuvers() == ["endOfRoad right"])
        #expect(try crossroads(to: (200, 0), others: [270, 0]).maneuvers() == ["turn right"])
        #expect(try crossroads(to: (200, 0), others: [20]).maneuvers() == ["turn right"])
    }

    @Test func `a way back on the same street is a U-turn`() throws {
        let path = crossroads(to: (1, -200), name: "Old Street", others: [90])
        #expect(try path.maneuvers() == ["stay uturn"])
        #expect(try path.lines()[2] == "Make a U-turn and go back on Old Street")
        var deadEnd = DrawnPath()
        deadEnd.go((0, 100))
        deadEnd.go((0, -100))
        #expect(try deadEnd.maneuvers() == ["turn uturn"])
        // Another street beside the one that led here.
        #expect(
            try crossroads(to: (10, -200), others: [90]).maneuvers() == ["turn sharp right"])
    }

    @Test func `minor roads do not compete, roads of one class do`() throws {
        var path = DrawnPath()
        path.go((0, 200), class: .tertiary)
        path.branch(0, class: .service)
        path.go((100, 150), class: .tertiary)
        #expect(try path.maneuvers() == [])
        path.edges[0].branches[0].roadClass = .tertiary
        #expect(try path.maneuvers() == ["turn slight right"])
        path.edges[0].branches[0].isUsable = false
        #expect(try path.maneuvers() == [])
    }

    @Test func `a Y of equal roads is a fork`() throws {
        let right = crossroads(to: (100, 170), others: [330])
        #expect(try right.maneuvers() == ["fork slight right"])
        let left = crossroads(to: (-100, 170), others: [30])
        #expect(try left.maneuvers() == ["fork slight left"])
        let center = crossroads(to: (0, 200), others: [345, 15])
        #expect(try center.maneuvers() == ["fork straight"])
    }

    @Test func `kinks of the digitised line count for nothing`() throws {
        var path = DrawnPath()
        path.go((0, 200), (2, 1), name: "Old Street")
        path.branch(90)
        path.go((-2, 1), (0, 200), name: "Old Street")
        #expect(try path.maneuvers() == [])
    }

    @Test func `ferries, stairs and pushed bicycles are said`() throws {
        var path = DrawnPath()
        path.go((0, 200), name: "Harbour Road")
        path.go((0, 2_000), name: "Red Line", traits: .ferry)
        path.go((0, 200), name: "Pier Road")
        #expect(try path.maneuvers() == ["boardFerry straight", "leaveFerry straight"])
        #expect(
            try path.lines()[2...3] == [
                "Take the ferry Red Line", "Leave the ferry and go on Pier Road",
            ])
        #expect(
            try path.directions().written(in: .named("en")).lines.map(\.type.name).dropFirst(2)
                .dropLast() == ["esriDMTFerry", "esriDMTEndOfFerry"])

        var walk = DrawnPath(means: .foot)
        walk.go((0, 50), class: .footway)
        walk.go((0, 20), class: .footway, traits: .stairs)
        walk.go((0, 50), class: .footway)
        #expect(try walk.maneuvers() == ["stairs straight"])

        var ride = DrawnPath(means: .bicycle)
        ride.go((0, 50), name: "Lane")
        ride.go((0, 50), name: "Lane", traits: .pushed)
        ride.branch(0)
        ride.go((90, 0), name: "Road")
        #expect(try ride.maneuvers() == ["dismount straight", "turn right"])
        #expect(try ride.lines()[3] == "Turn right on Road, then ride on")
    }
}
