// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The tables of a network by mode: how long each edge takes, whether it may be used, and which
/// edges can be reached from one another.
struct ModeTables {
    /// Milliseconds of each edge, mode after mode; ``RoadNetwork/unreachable`` where it is closed.
    private(set) var durations: [UInt32] = []
    /// Microseconds that are missing to them.
    private(set) var remainders: [Int16] = []
    private(set) var access: [UInt8] = []
    /// Components, by mode, of edges: the largest is 0; ``NetworkLayout/none`` for closed ones.
    private(set) var components: [UInt32] = []

    init(_ draft: RoadDraft, _ topology: NetworkTopology, _ turns: TurnTable) {
        var lengths = [Double](repeating: 0, count: draft.ways.count)
        for link in topology.links { lengths[link.way] += link.length }
        let rules = topology.vertexNodes.map {
            draft.nodeRules[Int(draft.nodes[Int($0)].rule)]
        }
        for mode in draft.modes.indices {
            let first = durations.count
            var mayOpen: [Bool] = []
            for edge in topology.edges {
                let link = topology.links[Int(edge.link)]
                let way = draft.ways[link.way]
                let traits = draft.traits[Int(way.traits)]
                let passages = edge.isBackward ? traits.backward : traits.forward
                let passage = passages.indices.contains(mode) ? passages[mode] : .closed
                let ends = rules[Int(edge.tail)].endsOnly | rules[Int(edge.head)].endsOnly
                let isForEnds = passage.access == .open && ends & 1 << UInt8(mode) != 0
                mayOpen.append(
                    traits.variants.contains { variant in
                        let passages = edge.isBackward ? variant.backward : variant.forward
                        return passages.indices.contains(mode) && passages[mode].access == .open
                    })
                access.append((isForEnds ? RoadAccess.endsOnly : passage.access).rawValue)
                guard passage.access != .closed else {
                    durations.append(RoadNetwork.unreachable)
                    remainders.append(0)
                    continue
                }
                let seconds =
                    if let whole = way.seconds, lengths[link.way] > 0 {
                        whole * link.length / lengths[link.way]
                    } else {
                        link.length * 3.6 / passage.speed
                    }
                let milliseconds = (seconds * 1000).rounded()
                let isShort = milliseconds < Double(RoadNetwork.unreachable)
                durations.append(isShort ? UInt32(milliseconds) : RoadNetwork.unreachable - 1)
                remainders.append(
                    isShort ? Int16(((seconds * 1000 - milliseconds) * 1000).rounded()) : 0)
            }
            let connected = Self.components(
                mode, durations[first...], topology.edges.count, turns)
            components += connected
            let enclosed = EnclosedRoads(
                mode, access[first...], mayOpen: mayOpen, connected, turns)
            for edge in enclosed.edges {
                access[first + edge] = RoadAccess.endsOnly.rawValue
            }
        }
    }

    private static func components(
        _ mode: Int, _ durations: ArraySlice<UInt32>, _ edgeCount: Int, _ turns: TurnTable
    ) -> [UInt32] {
        let base = durations.startIndex
        let found = StrongComponents(
            count: turns.arcEdges.count,
            isIncluded: { durations[base + Int(turns.arcEdges[$0])] != RoadNetwork.unreachable },
            degree: { Int(turns.turnStarts[$0 + 1] - turns.turnStarts[$0]) },
            successor: { arc, place in
                let turn = Int(turns.turnStarts[arc]) + place
                let turnClass = turns.classes[Int(turns.turnClasses[turn])]
                return turnClass.costs[mode] == RoadNetwork.unreachable
                    ? nil : Int(turns.turnTargets[turn])
            })
        // Largest first; of equal ones that with the first edge.
        var sizes: [UInt32: (count: Int, first: Int)] = [:]
        for edge in 0..<edgeCount where found.numbers[edge] != NetworkLayout.none {
            sizes[found.numbers[edge], default: (0, edge)].count += 1
        }
        let order = sizes.sorted {
            ($1.value.count, $0.value.first) < ($0.value.count, $1.value.first)
        }
        var ranks: [UInt32: UInt32] = [:]
        for (rank, entry) in order.enumerated() { ranks[entry.key] = UInt32(rank) }
        return found.numbers.prefix(edgeCount).map { ranks[$0] ?? NetworkLayout.none }
    }
}
