// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import RoadNetwork
import TestKit
import Testing

/// Restrictions of turns on the arcs of a network, against a search that remembers its whole path.
struct RestrictionTests {
    /// The cheapest cost of a path of edges that no forbidden sequence is part of: every path up to
    /// a number of edges is tried.
    private func cheapest(
        _ network: RoadNetwork, from start: Int, to end: Int, most: Int
    ) -> Int? {
        let forbidden = (0..<network.restrictionCount).map { network.restriction($0) }
            .filter(\.condition.isEmpty).flatMap(\.sequences)
        var best: Int?
        func extend(_ path: [Int], _ cost: Int) {
            guard cost < best ?? .max else { return }
            if path.last == end { best = cost }
            guard path.count < most, let last = path.last else { return }
            let turns = network.turns(fromArc: last)
            // Where no choice is, turning costs nothing.
            let isJunction = turns.count { !$0.flags.contains(.back) } > 1
            for turn in turns {
                let next = network.edge(ofArc: turn.target)
                let longer = path + [next]
                guard !forbidden.contains(where: { Array(longer.suffix($0.count)) == $0 }) else {
                    continue
                }
                let own: UInt32 =
                    turn.flags.contains(.back)
                    ? 20_000 : isJunction ? angleCost(turn.angle) : 0
                extend(longer, cost + Int(own) + Int(network.duration(of: next, mode: 0)))
            }
        }
        extend([start], Int(network.duration(of: start, mode: 0)))
        return best
    }

    private func angleCost(_ angle: Int) -> UInt32 {
        UInt32((Double(abs(angle)) * (angle < 0 ? 6 : 4) / 180 * 1000).rounded())
    }

    @Test func `sequences over ways are forbidden, and nothing else is`() throws {
        let made: [RoadDraft.Restriction] = [
            // East along row 0, north along column 101, west along row 1.
            .init(id: 1, kind: .no, modes: 1, from: [10], via: .ways([11]), to: [12]),
            .init(id: 2, kind: .no, modes: 1, from: [13], via: .node(1), to: [11]),
            .init(id: 3, kind: .only, modes: 1, from: [15], via: .node(101), to: [16]),
            .init(id: 4, kind: .no, modes: 1, from: [10], via: .ways([11]), to: [16]),
            .init(id: 5, kind: .no, modes: 1, from: [99], via: .node(1), to: [11]),
        ]
        let network = try BuiltNetwork(Pieces.draft(restrictions: made)).network
        #expect(network.restrictionCount == 4)
        #expect(network.arcCount > network.edgeCount)
        for start in 0..<network.edgeCount {
            for end in 0..<network.edgeCount where end != start {
                let expected = cheapest(network, from: start, to: end, most: 8)
                let search = ReferenceSearch(network: network, mode: 0, cost: .time)
                let found = search.route(
                    from: [.init(edge: start, offset: 0)],
                    to: [.init(edge: end, offset: network.length(of: end))])
                #expect(found?.cost == expected, "\(start) to \(end)")
            }
        }
    }

    @Test func `a restriction at times forbids nothing, and names its turns`() throws {
        let network = try BuiltNetwork(
            Pieces.draft(restrictions: [
                .init(
                    id: 2, kind: .no, modes: 1, from: [13], via: .node(1), to: [11],
                    condition: "(Mo-Fr)")
            ])
        ).network
        let restriction = network.restriction(0)
        #expect(restriction.condition == "(Mo-Fr)" && restriction.turns.count == 1)
        #expect(network.turnDuration(restriction.turns[0], mode: 0) != RoadNetwork.unreachable)
    }
}

/// A block of streets, each piece a way of its own: 10 from node 0 to 1, 13 from 1 to 2, 11 from 1
/// to 101, 12 from 100 to 101, 16 from 101 to 102, 15 from 101 to 201, 14 from 0 to 100.
private enum Pieces {
    static func draft(restrictions: [RoadDraft.Restriction]) -> RoadDraft {
        var draft = Grid.draft(side: 3, restrictions: restrictions)
        let index = Dictionary(
            uniqueKeysWithValues: draft.nodes.enumerated().map { ($0.element.id, $0.offset) })
        draft.ways = []
        draft.wayNodes = []
        let ways: [(Int64, Int64, Int64)] = [
            (10, 0, 1), (11, 1, 101), (12, 100, 101), (13, 1, 2), (14, 0, 100), (15, 101, 201),
            (16, 101, 102),
        ]
        for (id, from, to) in ways {
            draft.ways.append(
                RoadDraft.Way(id: id, traits: 0, first: draft.wayNodes.count, count: 2))
            draft.wayNodes += [from, to].map { UInt32(index[$0] ?? 0) }
        }
        return draft
    }
}
