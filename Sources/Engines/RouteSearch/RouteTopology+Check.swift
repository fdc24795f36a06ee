// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Platform

/// What is wrong with a file of topologies.
struct TopologyDamage: Error {
    var what: String
    var code = Failure.Code.corrupt
    init(_ what: String, code: Failure.Code = .corrupt) { (self.what, self.code) = (what, code) }
}

extension RouteTopology {
    /// Whether every number is one that the search can follow, and the arcs are those of an
    /// elimination.
    func check() throws(TopologyDamage) {
        let count = edgeCount
        for edge in 0..<count {
            guard ranks[edge] < count, Int(edges[Int(ranks[edge])]) == edge else {
                throw TopologyDamage("edge \(edge) has no rank of its own")
            }
        }
        guard rise(turnStarts, to: turnCount), rise(upStarts, to: arcCount),
            rise(downStarts, to: arcCount)
        else { throw TopologyDamage("the starts of turns or arcs do not rise") }
        for rank in 0..<count { try check(rank) }
        // The ranks below one in the elimination tree are those just before it.
        var sizes = [Int](repeating: 1, count: count)
        var firsts = Array(0..<count)
        for rank in 0..<count {
            guard rank + 1 - firsts[rank] == sizes[rank] else {
                throw TopologyDamage("the ranks below rank \(rank) are not together")
            }
            guard let parent = parent(rank) else { continue }
            sizes[parent] += sizes[rank]
            firsts[parent] = min(firsts[parent], firsts[rank])
        }
        var places = [UInt32](repeating: 0, count: count)
        for rank in 0..<count { places[rank] = downStarts[rank] }
        for rank in 0..<count {
            for arc in arcs(up: rank) {
                let head = Int(heads[arc])
                guard places[head] < downStarts[head + 1],
                    lows[Int(places[head])] == rank,
                    downArcs[Int(places[head]), from: rank] == arc
                else { throw TopologyDamage("arc \(arc) does not come up to rank \(head)") }
                places[head] += 1
            }
        }
        var lastEdges = [Int](repeating: -1, count: count)
        for edge in 0..<count {
            for turn in turns(edge) {
                let target = Int(turnTargets[turn])
                guard target < count, lastEdges[target] != edge else {
                    throw TopologyDamage("edge \(edge) turns twice into edge \(target)")
                }
                lastEdges[target] = edge
                guard turnArc(turn) == arcCode(from: edge, to: target) else {
                    throw TopologyDamage("turn \(turn) is not the arc between its edges")
                }
            }
        }
    }

    private func rise(_ starts: MappedNumbers, to end: Int) -> Bool {
        var before: UInt32 = 0
        for start in starts {
            guard start >= before else { return false }
            before = start
        }
        return starts.first == 0 && Int(before) == end
    }

    /// The arcs of a rank rise, and what it is joined to above its parent the parent is joined to
    /// as well.
    private func check(_ rank: Int) throws(TopologyDamage) {
        let arcs = arcs(up: rank)
        var before = rank
        for arc in arcs {
            guard heads[arc] > before, heads[arc] < edgeCount else {
                throw TopologyDamage("the arcs of rank \(rank) do not rise")
            }
            before = Int(heads[arc])
        }
        guard let first = arcs.first else { return }
        var above = self.arcs(up: Int(heads[first]))
        for arc in arcs.dropFirst() {
            while let next = above.first, heads[next] < heads[arc] { above = above.dropFirst() }
            guard let next = above.first, heads[next] == heads[arc] else {
                throw TopologyDamage("rank \(rank) and its parent do not form a triangle")
            }
        }
    }

    /// The number in ``turnArcs`` of a turn.
    private func arcCode(from edge: Int, to target: Int) -> UInt32 {
        let (from, to) = (Int(ranks[edge]), Int(ranks[target]))
        guard from != to, let arc = arc(min(from, to), max(from, to)) else { return Self.none }
        return UInt32(2 * arc + (from < to ? 0 : 1))
    }
}
