// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
internal import METIS

extension RouteTopology {
    /// The most arcs of a topology.
    public static let largestArcCount = 1 << 30

    /// Builds the topology of all turns of a graph as ``RouteTopologies`` does for modes.
    public init(
        _ graph: RoadGraph, arcLimit: Int = largestArcCount
    ) throws(Failure) {
        let all = [Bool](repeating: true, count: graph.turnCount)
        let bytes = try RouteTopologies.build(graph, turns: [all], arcLimit: arcLimit)
        self = try RouteTopologies(bytes: bytes)[0]
    }
}

/// The arrays of a topology of some turns of a graph: its edges, ordered by nested dissection, and
/// what eliminating them in that order gives.
struct BuiltTopology {
    let arcCount: Int
    /// Those of ``RouteTopology`` from `ranks` on, in the order of its properties, but for the
    /// turns.
    let arrays: [[UInt32]]

    /// Throws `tooLarge` above `arcLimit` arcs.
    init(_ graph: RoadGraph, turns: [Bool], arcLimit: Int) throws(Failure) {
        let neighbours = Neighbours(graph, turns)
        let (edges, ranks) = Elimination.order(try Self.dissect(neighbours), neighbours)
        let elimination = try Elimination(
            edges, ranks, neighbours,
            arcLimit: min(arcLimit, RouteTopology.largestArcCount))
        let turnArcs = (0..<graph.edgeCount).flatMap { edge in
            (graph.turnStarts[edge]..<graph.turnStarts[edge + 1]).map { turn in
                elimination.code(
                    from: ranks[edge], to: ranks[Int(graph.turnTargets[Int(turn)])])
            }
        }
        let (downStarts, downArcs, lows) = elimination.down
        arcCount = elimination.heads.count
        arrays = [
            ranks, edges, turnArcs, elimination.starts, elimination.heads, downStarts, downArcs,
            lows,
        ]
    }

    /// The vertices in an order of elimination: those without neighbours, then the others as METIS
    /// orders them.
    private static func dissect(_ neighbours: Neighbours) throws(Failure) -> [Int32] {
        let count = neighbours.starts.count - 1
        var order = (0..<count).filter { neighbours[$0].isEmpty }.map { Int32($0) }
        let joined = (0..<count).filter { !neighbours[$0].isEmpty }
        var numbers = [Int32](repeating: -1, count: count)
        for (number, vertex) in joined.enumerated() { numbers[vertex] = Int32(number) }
        // A vertex without neighbours has no entries, so the targets are as many.
        let starts = joined.map { neighbours.starts[$0] } + [Int32(neighbours.targets.count)]
        do {
            let dissected = try NestedDissection.order(
                starts: starts, neighbours: neighbours.targets.map { numbers[Int($0)] })
            order += dissected.map { Int32(joined[Int($0)]) }
            return order
        } catch { throw Failure(.internal, error.description) }
    }
}

/// The undirected graph whose vertices are a road graph's edges, joined where one can follow the
/// other by one of some turns.
private struct Neighbours {
    var starts: [Int32]
    /// Rising for each vertex.
    var targets: [Int32] = []

    init(_ graph: RoadGraph, _ turns: [Bool]) {
        let count = graph.edgeCount
        var ends = [Int](repeating: 0, count: count + 1)
        for edge in 0..<count {
            for turn in graph.turnStarts[edge]..<graph.turnStarts[edge + 1] where turns[Int(turn)] {
                ends[edge + 1] += 1
                ends[Int(graph.turnTargets[Int(turn)]) + 1] += 1
            }
        }
        for edge in 0..<count { ends[edge + 1] += ends[edge] }
        var all = [Int32](repeating: 0, count: ends[count])
        var places = ends
        for edge in 0..<count {
            for turn in graph.turnStarts[edge]..<graph.turnStarts[edge + 1] where turns[Int(turn)] {
                let target = Int(graph.turnTargets[Int(turn)])
                all[places[edge]] = Int32(target)
                places[edge] += 1
                all[places[target]] = Int32(edge)
                places[target] += 1
            }
        }
        starts = [0]
        starts.reserveCapacity(count + 1)
        targets.reserveCapacity(all.count)
        for edge in 0..<count {
            var before = Int32(edge)
            for target in all[ends[edge]..<ends[edge + 1]].sorted()
            where target != before && target != edge {
                targets.append(target)
                before = target
            }
            starts.append(Int32(targets.count))
        }
    }

    subscript(vertex: Int) -> ArraySlice<Int32> {
        targets[Int(starts[vertex])..<Int(starts[vertex + 1])]
    }
}

/// The chordal graph of an elimination: the arcs that go up from each rank.
private struct Elimination {
    var starts: [UInt32] = [0]
    var heads: [UInt32] = []

    /// Vertices by rank and ranks of vertices: the given order with the elimination tree's subtrees
    /// made contiguous, which changes none of the arcs but keeps together what is used together.
    static func order(
        _ dissected: [Int32], _ neighbours: Neighbours
    ) -> (vertices: [UInt32], ranks: [UInt32]) {
        let none = RouteTopology.none
        let count = dissected.count
        var places = [UInt32](repeating: 0, count: count)
        for (place, vertex) in dissected.enumerated() { places[Int(vertex)] = UInt32(place) }
        // The tree by Liu's algorithm, with shortened paths to the roots.
        var parents = [UInt32](repeating: none, count: count)
        var ancestors = parents
        for place in 0..<count {
            for neighbour in neighbours[Int(dissected[place])] {
                var below = Int(places[Int(neighbour)])
                while below < place {
                    let next = ancestors[below]
                    ancestors[below] = UInt32(place)
                    if next == none { parents[below] = UInt32(place) }
                    if next == none || next == place { break }
                    below = Int(next)
                }
            }
        }
        // Children before their parents, each subtree on its own.
        var (first, next) = (parents.map { _ in none }, parents.map { _ in none })
        var roots: [Int] = []
        for place in (0..<count).reversed() {
            if parents[place] == none {
                roots.append(place)
            } else {
                next[place] = first[Int(parents[place])]
                first[Int(parents[place])] = UInt32(place)
            }
        }
        var vertices: [UInt32] = []
        vertices.reserveCapacity(count)
        for root in roots.reversed() {
            var place = root
            while true {
                while first[place] != none { place = Int(first[place]) }
                vertices.append(UInt32(dissected[place]))
                if place == root { break }
                let parent = Int(parents[place])
                if next[place] != none {
                    place = Int(next[place])
                } else {
                    place = parent
                    first[place] = none
                }
            }
        }
        var ranks = places
        for (rank, vertex) in vertices.enumerated() { ranks[Int(vertex)] = UInt32(rank) }
        return (vertices, ranks)
    }

    init(
        _ vertices: [UInt32], _ ranks: [UInt32], _ neighbours: Neighbours, arcLimit: Int
    ) throws(Failure) {
        let none = RouteTopology.none
        let count = vertices.count
        var (first, next) = ([UInt32](repeating: none, count: count), [UInt32]())
        next = first
        var seen = first
        var joined: [UInt32] = []
        for rank in 0..<count {
            joined.removeAll(keepingCapacity: true)
            seen[rank] = UInt32(rank)
            func take(_ other: UInt32) {
                guard other > rank, seen[Int(other)] != rank else { return }
                seen[Int(other)] = UInt32(rank)
                joined.append(other)
            }
            for neighbour in neighbours[Int(vertices[rank])] { take(ranks[Int(neighbour)]) }
            var child = first[rank]
            while child != none {
                for arc in starts[Int(child)]..<starts[Int(child) + 1] { take(heads[Int(arc)]) }
                child = next[Int(child)]
            }
            guard heads.count + joined.count <= arcLimit else {
                throw Failure(
                    .tooLarge,
                    "route topology: more than \(arcLimit) arcs at edge \(rank) of \(count)")
            }
            joined.sort()
            heads += joined
            starts.append(UInt32(heads.count))
            if let parent = joined.first {
                next[rank] = first[Int(parent)]
                first[Int(parent)] = UInt32(rank)
            }
        }
    }

    /// The number in ``RouteTopology/turnArcs`` of a turn between two ranks.
    func code(from: UInt32, to: UInt32) -> UInt32 {
        guard from != to else { return RouteTopology.none }
        let (low, high) = (min(from, to), max(from, to))
        var arcs = Int(starts[Int(low)])..<Int(starts[Int(low) + 1])
        while arcs.count > 1 {
            let middle = arcs.lowerBound + arcs.count / 2
            arcs = heads[middle] <= high ? middle..<arcs.upperBound : arcs.lowerBound..<middle
        }
        guard let arc = arcs.first, heads[arc] == high else { return RouteTopology.none }
        return UInt32(2 * arc + (from < to ? 0 : 1))
    }

    /// ``RouteTopology/downStarts``, ``RouteTopology/downArcs`` and ``RouteTopology/lows``.
    var down: (starts: [UInt32], arcs: [UInt32], lows: [UInt32]) {
        var ends = [UInt32](repeating: 0, count: starts.count)
        for head in heads { ends[Int(head) + 1] += 1 }
        for rank in 1..<max(1, ends.count) { ends[rank] += ends[rank - 1] }
        var arcs = [UInt32](repeating: 0, count: heads.count)
        var lows = arcs
        var places = ends
        for rank in 0..<starts.count - 1 {
            for arc in starts[rank]..<starts[rank + 1] {
                let head = Int(heads[Int(arc)])
                arcs[Int(places[head])] = arc - starts[rank]
                lows[Int(places[head])] = UInt32(rank)
                places[head] += 1
            }
        }
        return (ends, arcs, lows)
    }
}
