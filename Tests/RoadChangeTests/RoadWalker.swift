// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import RoadNetwork

/// Follows a path on the ways as they were read from the source, and says what forbids it.
///
/// None of the network's tables of costs, access and turns is used: ways, nodes and restrictions
/// are those of the draft. Where a restriction needs resolving (ways between, ways that pass its
/// node), the sequences of edges that the network states for it count.
struct RoadWalker {
    private let draft: RoadDraft
    private let roads: RoadNetwork
    private let mode: Int
    private var pieces: [Int64: [RoadDraft.Way]] = [:]
    /// The turns at nodes that ways end at.
    private var forbidden: Set<Turn> = []
    /// The only ways on, of those that come from a way to a node at its end.
    private var only: [Approach: Set<Int64>] = [:]
    /// The sequences that are forbidden, by their last edge.
    private var sequences: [Int: [[Int]]] = [:]

    private struct Approach: Hashable {
        var way: Int64
        var node: Int64
    }

    private struct Turn: Hashable {
        var from: Int64
        var node: Int64
        var to: Int64
    }

    /// How many restrictions are checked on the ways, and how many by their sequences.
    private(set) var restrictionCounts = (ways: 0, sequences: 0)

    init(_ draft: RoadDraft, _ roads: RoadNetwork, mode: Int) {
        (self.draft, self.roads, self.mode) = (draft, roads, mode)
        for way in draft.ways { pieces[way.id, default: []].append(way) }
        for restriction in draft.restrictions
        where restriction.modes & 1 << UInt8(mode) != 0 && restriction.condition.isEmpty {
            guard case .node(let node) = restriction.via,
                restriction.from.allSatisfy({ ends($0, at: node) != nil }),
                restriction.to.allSatisfy({ leaves($0, node) })
            else { continue }
            restrictionCounts.ways += 1
            for from in restriction.from {
                if restriction.kind == .only {
                    only[Approach(way: from, node: node), default: []].formUnion(restriction.to)
                } else {
                    for to in restriction.to {
                        forbidden.insert(Turn(from: from, node: node, to: to))
                    }
                }
            }
        }
        for number in 0..<roads.restrictionCount {
            let restriction = roads.restriction(number)
            guard restriction.condition.isEmpty, restriction.modes.contains(mode) else { continue }
            restrictionCounts.sequences += 1
            for sequence in restriction.sequences {
                guard let last = sequence.last else { continue }
                sequences[last, default: []].append(sequence)
            }
        }
    }

    /// Whether a way of one piece ends at a node, and passes it nowhere else: true at its last node.
    private func ends(_ id: Int64, at node: Int64) -> Bool? {
        guard let all = pieces[id], all.count == 1 else { return nil }
        let nodes = nodes(of: all[0])
        guard nodes.count(where: { $0.id == node }) == 1 else { return nil }
        return nodes.last?.id == node ? true : nodes.first?.id == node ? false : nil
    }

    /// Whether a way ends at a node and may be driven from there.
    private func leaves(_ id: Int64, _ node: Int64) -> Bool {
        guard let isAtLast = ends(id, at: node), let way = pieces[id]?.first else { return false }
        return passage(of: way, isBackward: isAtLast).access != .closed
    }

    private func nodes(of way: RoadDraft.Way) -> [RoadDraft.Node] {
        draft.wayNodes[way.first..<way.first + way.count].map { draft.nodes[Int($0)] }
    }

    private func passage(of way: RoadDraft.Way, isBackward: Bool) -> RoadDraft.Passage {
        let traits = draft.traits[Int(way.traits)]
        return isBackward ? traits.backward[mode] : traits.forward[mode]
    }

    private func isPassable(_ node: RoadDraft.Node) -> Bool {
        let rule = draft.nodeRules[Int(node.rule)]
        return rule.endsOnly & 1 << UInt8(mode) == 0
            && (rule.delays.isEmpty || rule.delays[mode] != .max)
    }

    /// The nodes of an edge by its name, in its direction; nil where the draft has none such.
    private func nodes(of name: RoadEdge, count: Int) -> (RoadDraft.Way, [RoadDraft.Node])? {
        let found = pieces[name.way]?.last { $0.segment <= name.segment }
        guard let way = found else { return nil }
        let first = Int(name.segment - way.segment)
        guard first + count <= way.count else { return nil }
        let nodes = Array(nodes(of: way)[first..<first + count])
        return (way, name.isBackward ? nodes.reversed() : nodes)
    }

    /// What forbids a path of whole edges; nil for nothing.
    ///
    /// - Parameters:
    ///   - closed: Edges that a change of roads has closed.
    ///   - banned: Turns that one has forbidden.
    func fault(
        _ edges: [Int], closed: Set<RoadEdge> = [], banned: Set<RoadChange.Turn> = []
    ) -> String? {
        var before: (name: RoadEdge, last: RoadDraft.Node)?
        for (place, edge) in edges.enumerated() {
            let (name, points) = (roads.name(of: edge), roads.points(of: edge))
            guard let (way, nodes) = nodes(of: name, count: points.count),
                let first = nodes.first, let last = nodes.last,
                zip(nodes, points).allSatisfy({ $0.x == $1.x && $0.y == $1.y })
            else { return "\(name) is no stretch of a way" }
            if passage(of: way, isBackward: name.isBackward).access != .open {
                return "\(name) is not open in its direction"
            }
            if closed.contains(name) { return "\(name) is closed" }
            if let node = nodes.dropFirst().dropLast().first(where: { !isPassable($0) }) {
                return "node \(node.id) cannot be passed"
            }
            if let before {
                guard before.last.id == first.id else { return "\(name) does not follow" }
                // To turn back in front of a barrier is not to pass it.
                let isBack =
                    before.name.way == name.way && before.name.segment == name.segment
                guard isBack || isPassable(first) else {
                    return "node \(first.id) cannot be passed"
                }
                let turn = Turn(from: before.name.way, node: first.id, to: name.way)
                if forbidden.contains(turn) { return "the turn \(turn) is forbidden" }
                if let others = only[Approach(way: turn.from, node: turn.node)],
                    !others.contains(name.way)
                {
                    return "the turn \(turn) is not the only one allowed"
                }
                if banned.contains(RoadChange.Turn(from: before.name, to: name)) {
                    return "the turn from \(before.name) into \(name) is banned"
                }
            }
            for sequence in sequences[edge] ?? []
            where edges[...place].suffix(sequence.count).elementsEqual(sequence) {
                return "the edges \(sequence) are forbidden in a row"
            }
            before = (name, last)
        }
        return nil
    }
}
