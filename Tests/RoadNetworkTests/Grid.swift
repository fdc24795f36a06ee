// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import RoadNetwork

/// Streets in a grid, 0.001° apart: node 100 × row + column, one way for each street; the way of row
/// r is r, that of column c is 100 + c.
enum Grid {
    static let mode = NetworkMode(
        name: "car", kind: .automobile,
        travelModes: [NetworkMode.TravelMode(name: "Driving Time", minimises: .time)],
        turns: TurnCosts(
            obeysRestrictions: true, right: [[0, 0], [180, 4]], left: [[0, 0], [180, 6]], back: 20))

    static func draft(
        side: Int, modes: [NetworkMode] = [mode], restrictions: [RoadDraft.Restriction] = []
    ) -> RoadDraft {
        var draft = RoadDraft(modes: modes)
        for row in 0..<side {
            for column in 0..<side {
                draft.nodes.append(
                    RoadDraft.Node(
                        id: Int64(100 * row + column), x: Int32(10_000 * column),
                        y: Int32(10_000 * row)))
            }
        }
        var traits = RoadDraft.WayTraits()
        traits.roadClass = "residential"
        traits.forward = modes.map { _ in RoadDraft.Passage(access: .open, speed: 36) }
        traits.backward = traits.forward
        draft.traits = [traits]
        func add(_ id: Int, _ nodes: [Int]) {
            draft.ways.append(
                RoadDraft.Way(
                    id: Int64(id), traits: 0, first: draft.wayNodes.count, count: nodes.count))
            draft.wayNodes += nodes.map(UInt32.init)
        }
        for row in 0..<side { add(row, (0..<side).map { side * row + $0 }) }
        for column in 0..<side { add(100 + column, (0..<side).map { side * $0 + column }) }
        draft.restrictions = restrictions
        return draft
    }
}
