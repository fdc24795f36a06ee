// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import RoadNetwork
import Testing

/// Open roads behind private ones and behind gates: places on them are reached, and no route passes
/// through.
@Suite struct EnclosedRoadTests {
    /// A grid, and south of it a road of two stretches whose ends are joined to the grid's south
    /// corners.
    private func network(
        gate: RoadDraft.NodeRule? = nil, isPrivate: Bool = true, isOneway: Bool = false
    ) throws -> BuiltNetwork {
        var draft = Grid.draft(side: 5)
        let corner = draft.nodes[4].id
        let first = draft.nodes.count
        if let gate { draft.nodeRules.append(gate) }
        for number in 0..<3 {
            draft.nodes.append(
                RoadDraft.Node(
                    id: Int64(9_000 + number), x: Int32(10_000 * (number + 1)), y: -5_000,
                    rule: gate != nil && number != 1 ? 1 : 0))
        }
        var joint = draft.traits[0]
        if isPrivate { joint.forward = [RoadDraft.Passage(access: .endsOnly, speed: 36)] }
        joint.backward = joint.forward
        draft.traits.append(joint)
        var open = draft.traits[0]
        if isOneway { open.backward = [.closed] }
        draft.traits.append(open)
        func add(_ id: Int64, _ traits: UInt32, _ nodes: [Int]) {
            draft.ways.append(
                RoadDraft.Way(
                    id: id, traits: traits, first: draft.wayNodes.count, count: nodes.count))
            draft.wayNodes += nodes.map(UInt32.init)
        }
        #expect(corner == 4)
        add(500, 1, [0, first])
        add(501, 2, [first, first + 1])
        add(502, 2, [first + 1, first + 2])
        add(503, 1, [first + 2, 4])
        return try BuiltNetwork(draft)
    }

    private func check(_ built: BuiltNetwork) throws {
        let network = built.network
        let inside = [501, 502].flatMap { network.edges(ofWay: $0) }
        #expect(inside.allSatisfy { network.access(of: $0, mode: 0) == .endsOnly })
        let outside = (0..<5).flatMap { network.edges(ofWay: Int64($0)) }
        #expect(outside.allSatisfy { network.access(of: $0, mode: 0) == .open })
        let search = ReferenceSearch(network: network, mode: 0, cost: .distance)
        func place(_ edge: Int) -> ReferenceSearch.Place {
            ReferenceSearch.Place(edge: edge, offset: network.length(of: edge) / 2)
        }
        for edge in inside {
            #expect(search.route(from: [place(edge)], to: [place(outside[0])]) != nil)
            #expect(search.route(from: [place(outside[0])], to: [place(edge)]) != nil)
        }
        // The first and the last column meet the road at its ends: the way through it is shorter.
        let (west, east) = (network.edges(ofWay: 100), network.edges(ofWay: 104))
        let through = try #require(
            search.route(from: [place(west[1])], to: [place(east[0])]))
        #expect(Set(through.edges).isDisjoint(with: inside))
    }

    @Test func `an open road behind private ones is reached, and not passed through`() throws {
        try check(network())
        try check(network(isOneway: true))
    }

    @Test func `a road behind gates for its users is reached, and not passed through`() throws {
        try check(network(gate: RoadDraft.NodeRule(endsOnly: 1), isPrivate: false))
    }

    @Test func `a road that is open at both ends stays open`() throws {
        let network = try network(isPrivate: false).network
        let edges = (0..<network.edgeCount).map { network.access(of: $0, mode: 0) }
        #expect(edges.allSatisfy { $0 == .open })
    }
}
