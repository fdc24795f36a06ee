// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import RouteDirections
import Testing

/// Exits counted, also where a path begins or ends in the ring.
@Suite struct RoundaboutTests {
    /// From the south into a ring of four arms, traffic on the right, out at an exit.
    private func path(
        exit: Int?, radius: Double = 30, entersFrom start: Int = 0, ring: String = "",
        isLeftHand: Bool = false
    ) -> DrawnPath {
        var path = DrawnPath()
        let hand: RoadTraits = isLeftHand ? .leftHand : []
        let sign = isLeftHand ? -1.0 : 1.0
        if start == 0 {
            path.go((0, 200), name: "South Street", traits: hand)
        }
        let arms = ["South Street", "East Street", "North Street", "West Street"]
        func rim(_ arm: Double) -> (Double, Double) {
            let angle = (arm * 90 - 90) * .pi / 180
            return (radius * cos(angle) * sign, radius * sin(angle))
        }
        let last = exit ?? 3
        for arm in start..<max(start, last) {
            var steps: [(Double, Double)] = []
            for part in 0..<6 {
                let (from, to) = (
                    rim(Double(arm) + Double(part) / 6), rim(Double(arm) + Double(part + 1) / 6)
                )
                steps.append((to.0 - from.0, to.1 - from.1))
            }
            path.go(
                steps[0], steps[1], steps[2], steps[3], steps[4], steps[5], name: ring,
                traits: [.roundabout, hand])
            guard arm + 1 < last || exit == nil else { break }
            path.branch(Double(180 - 90 * (arm + 1) * Int(sign) + 360), name: arms[(arm + 1) % 4])
        }
        if let exit {
            path.branch(0, [.roundabout])
            let out = rim(Double(exit))
            path.go((out.0 * 8, out.1 * 8), name: arms[exit % 4], traits: hand)
        }
        return path
    }

    @Test(arguments: 1...4) func `exits are counted from where the ring is entered`(
        exit: Int
    ) throws {
        for isLeftHand in [false, true] {
            let directions = try path(exit: exit, isLeftHand: isLeftHand).directions()
            #expect(directions.maneuvers.map(\.kind) == [.depart, .roundabout, .arrive])
            #expect(directions.maneuvers[1].roundaboutExit == exit)
        }
        let street = ["East", "North", "West", "South"][exit - 1]
        let number = ["1st", "2nd", "3rd", "4th"][exit - 1]
        #expect(
            try path(exit: exit).lines()[2]
                == "At the roundabout, take the \(number) exit on \(street) Street")
    }

    @Test func `the direction over the whole roundabout is said to programs`() throws {
        let modifiers = try (1...4).map { try path(exit: $0).directions().maneuvers[1].modifier }
        #expect(modifiers == [.right, .straight, .left, .uturn])
    }

    @Test func `exits that the mode cannot take are not counted`() throws {
        var path = path(exit: 3)
        path.edges[1].branches[0].isUsable = false
        #expect(try path.directions().maneuvers[1].roundaboutExit == 2)
    }

    @Test func `a path that begins in the ring leaves it at the counted exit`() throws {
        let path = path(exit: 3, entersFrom: 1)
        #expect(try path.maneuvers() == ["leaveRoundabout right"])
        #expect(
            try path.lines()[2] == "Leave the roundabout at the 2nd exit on West Street")
    }

    @Test func `a path that ends in the ring enters it`() throws {
        #expect(try path(exit: nil).maneuvers() == ["enterRoundabout straight"])
        #expect(try path(exit: nil).lines()[2] == "Enter the roundabout")
        #expect(try path(exit: nil, entersFrom: 2).maneuvers() == [])
    }

    @Test func `a ring with a name of its own is called by it`() throws {
        let directions = try path(exit: 2, ring: "Mercury Circle").directions()
        #expect(directions.maneuvers[1].osrmType == "rotary")
        #expect(
            directions.written(in: .named("en")).lines[2].text
                == "At Mercury Circle, take the 2nd exit on North Street")
        #expect(
            try path(exit: 2, ring: "North Street").directions().maneuvers[1].osrmType
                == "roundabout")
    }

    @Test(arguments: zip(1...4, ["right", "straight", "left", "uturn"]))
    func `a small ring is a turn`(exit: Int, modifier: String) throws {
        let path = path(exit: exit, radius: 8)
        let kind = exit == 4 ? "roundabout" : "roundaboutTurn"
        #expect(try path.maneuvers() == ["\(kind) \(modifier)"])
    }

    @Test func `two rings in a row are two instructions`() throws {
        var path = path(exit: 2)
        path.edges.removeLast()
        path.place = (0, 260)
        // The second ring touches the first one.
        path.edges[path.edges.count - 1].branches = []
        path.branch(270, [.roundabout])
        path.go((15, 6), (6, 15), (0, 18), (-6, 15), traits: [.roundabout])
        path.branch(300, [.roundabout])
        path.go((200, 200), name: "Far Street")
        let found = try path.directions().maneuvers
        #expect(found.map(\.kind) == [.depart, .roundabout, .roundabout, .arrive])
        #expect(found.compactMap(\.roundaboutExit) == [2, 1])
    }
}
