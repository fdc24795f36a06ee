// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Finds the edges of restrictions.
struct RestrictionResolver {
    let draft: RoadDraft
    let topology: NetworkTopology
    private var linksOfWay: [Int64: Range<Int>] = [:]
    private let vertexOfNode: [Int64: UInt32]

    /// A restriction whose edges are known: each sequence is the edge before, those between, and
    /// the one behind the turn.
    struct Resolved {
        var restriction: Int
        var sequences: [[UInt32]]
    }

    /// The reason why a restriction has no edges.
    struct Unresolved: Error {
        var reason: String
        init(_ reason: String) { self.reason = reason }
    }

    init(_ draft: RoadDraft, _ topology: NetworkTopology) {
        self.draft = draft
        self.topology = topology
        var wanted: Set<Int64> = []
        var nodes: Set<Int64> = []
        for restriction in draft.restrictions {
            wanted.formUnion(restriction.from)
            wanted.formUnion(restriction.to)
            switch restriction.via {
            case .node(let id): nodes.insert(id)
            case .ways(let ids): wanted.formUnion(ids)
            }
        }
        for (number, link) in topology.links.enumerated() {
            let id = draft.ways[link.way].id
            guard wanted.contains(id) else { continue }
            linksOfWay[id] = (linksOfWay[id]?.lowerBound ?? number)..<number + 1
        }
        var vertices: [Int64: UInt32] = [:]
        if !nodes.isEmpty {
            for (vertex, node) in topology.vertexNodes.enumerated() {
                let id = draft.nodes[Int(node)].id
                if nodes.contains(id) { vertices[id] = UInt32(vertex) }
            }
        }
        vertexOfNode = vertices
    }

    /// The forbidden sequences of a restriction.
    func resolve(_ number: Int) throws(Unresolved) -> Resolved {
        let restriction = draft.restrictions[number]
        let paths: [[UInt32]] =
            switch restriction.via {
            case .node(let id): try paths(restriction, node: id)
            case .ways(let ids): [try path(restriction, ways: ids)]
            }
        guard restriction.kind == .only else {
            return Resolved(restriction: number, sequences: paths)
        }
        // The one path is the only way on: every other one from its last edge but one is forbidden.
        var sequences: [[UInt32]] = []
        for path in paths {
            let before = Array(path.dropLast())
            guard let last = before.last, let target = path.last else { continue }
            for edge in topology.edges(leaving: topology.edges[Int(last)].head) where edge != target
            {
                sequences.append(before + [edge])
            }
        }
        return Resolved(restriction: number, sequences: sequences)
    }

    private func edges(of way: Int64) throws(Unresolved) -> [UInt32] {
        guard let links = linksOfWay[way] else {
            throw Unresolved("way \(way) is not among the roads")
        }
        return links.flatMap { [topology.linkEdges[2 * $0], topology.linkEdges[2 * $0 + 1]] }
            .filter { $0 != NetworkLayout.none }
    }

    /// Whether a mode of the restriction may use an edge.
    private func isUsable(_ edge: UInt32, _ modes: UInt8) -> Bool {
        let known = topology.edges[Int(edge)]
        let traits = draft.traits[
            Int(draft.ways[topology.links[Int(known.link)].way].traits)]
        return draft.modes.indices.contains { mode in
            modes & 1 << UInt8(mode) != 0 && traits.isOpen(mode, isBackward: known.isBackward)
        }
    }

    private func paths(
        _ restriction: RoadDraft.Restriction, node: Int64
    ) throws(Unresolved) -> [[UInt32]] {
        guard let vertex = vertexOfNode[node] else {
            throw Unresolved("node \(node) is not on a road")
        }
        var (from, to): ([[UInt32]], [[UInt32]]) = ([], [])
        for way in restriction.from {
            from.append(
                try edges(of: way).filter {
                    topology.edges[Int($0)].head == vertex && isUsable($0, restriction.modes)
                })
        }
        for way in restriction.to {
            to.append(
                try edges(of: way).filter {
                    topology.edges[Int($0)].tail == vertex && isUsable($0, restriction.modes)
                })
        }
        guard !from.contains([]) else {
            throw Unresolved("a way 'from' does not lead to node \(node)")
        }
        guard !to.contains([]) else {
            throw Unresolved("a way 'to' does not lead on from node \(node)")
        }
        // Turning back on a way is clear on either side of a node that the way passes.
        if restriction.kind == .noUTurn, restriction.from == restriction.to {
            let back = from.joined().compactMap { edge in
                topology.opposite(edge).map { [edge, $0] }
            }
            guard !back.isEmpty else { throw Unresolved("the way cannot be driven back") }
            return back
        }
        guard from.allSatisfy({ $0.count == 1 }), to.allSatisfy({ $0.count == 1 }) else {
            throw Unresolved("a way passes through node \(node), so the side is not clear")
        }
        return from.joined().flatMap { before in to.joined().map { [before, $0] } }
    }

    /// The shortest path from the one way over the others to the last, by number of edges.
    private func path(
        _ restriction: RoadDraft.Restriction, ways: [Int64]
    ) throws(Unresolved) -> [UInt32] {
        guard restriction.from.count == 1, restriction.to.count == 1 else {
            throw Unresolved("expected one way 'from' and one 'to' with ways between")
        }
        // Which of the ways, in order, each edge is of; an edge may be of several.
        let order = [restriction.from[0]] + ways + [restriction.to[0]]
        var stages: [Set<UInt32>] = []
        for way in order {
            stages.append(Set(try edges(of: way).filter { isUsable($0, restriction.modes) }))
        }
        struct Step {
            var edge: UInt32
            var stage: Int
            var before: Int
            /// The edge it began with.
            var root: UInt32
        }
        var steps = stages[0].sorted().map { Step(edge: $0, stage: 0, before: -1, root: $0) }
        var seen: Set<[UInt32]> = []
        var (next, generationEnd, depth) = (0, steps.count, 1)
        var found: [[UInt32]] = []
        while next < steps.count, depth < TurnPatterns.longest, found.isEmpty {
            for index in next..<generationEnd {
                let step = steps[index]
                let back = topology.opposite(step.edge)
                for edge in topology.edges(leaving: topology.edges[Int(step.edge)].head) {
                    let isLastStage = step.stage == stages.count - 2
                    for stage in [step.stage, step.stage + 1]
                    where stage > 0 && stages[stage].contains(edge) {
                        // A turn back is only meant as the last one.
                        if edge == back, !(stage == stages.count - 1 && isLastStage) { continue }
                        if stage == stages.count - 1 {
                            guard isLastStage else { continue }
                            var path = [edge]
                            var at = index
                            while at >= 0 {
                                path.append(steps[at].edge)
                                at = steps[at].before
                            }
                            found.append(path.reversed())
                        } else if seen.insert([step.root, edge, UInt32(stage)]).inserted {
                            steps.append(
                                Step(edge: edge, stage: stage, before: index, root: step.root))
                        }
                    }
                }
            }
            next = generationEnd
            generationEnd = steps.count
            depth += 1
        }
        guard found.count == 1 else {
            throw Unresolved(
                found.isEmpty
                    ? "its ways do not lead from 'from' to 'to'"
                    : "its ways lead from 'from' to 'to' in more than one way")
        }
        return found[0]
    }
}
