// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// The cost of every arc of a topology.
struct Customization {
    private let topology: RouteTopology
    private var up: [UInt32]
    private var down: [UInt32]

    /// Customizes for weights that fit the topology.
    init(_ topology: RouteTopology, _ weights: RouteWeights, threads: Int) {
        self.topology = topology
        up = [UInt32](repeating: RouteWeights.infinity, count: topology.arcCount)
        down = up
        for edge in 0..<topology.edgeCount {
            for turn in topology.turns(edge) {
                let code = topology.turnArc(turn)
                guard code != RouteTopology.none else { continue }
                let cost = RouteWeights.sum(weights.edges[edge], weights.turns[turn])
                if code & 1 == 0 { up[Int(code / 2)] = cost } else { down[Int(code / 2)] = cost }
            }
        }
        var pass = CustomizationPass(topology)
        pass.run(customizeSubtrees(threads: threads), from: 0, &up, &down)
    }

    /// From the lower rank of each arc to the higher, and back.
    var numbers: (up: ForkedNumbers, down: ForkedNumbers) {
        let lists = ForkedNumbers.lists([up, down])
        return (lists[0], lists[1])
    }

    /// Customizes subtrees of the elimination tree on threads of their own, and waits for them; the
    /// ranks that are left, rising.
    ///
    /// A subtree's ranks are contiguous, and so are its arcs: each is done in a copy of its part.
    private mutating func customizeSubtrees(threads: Int) -> [Int] {
        let all = Array(0..<topology.edgeCount)
        guard threads > 1, !all.isEmpty else { return all }
        var parts = [[Range<Int>]](repeating: [], count: min(threads, 64))
        var loads = [Int](repeating: 0, count: parts.count)
        for subtree in topology.subtrees(upTo: topology.edgeCount / (8 * parts.count)) {
            let least = loads.indices.min { loads[$0] < loads[$1] } ?? 0
            parts[least].append(subtree)
            loads[least] += topology.arcs(of: subtree).count
        }
        let (topology, up, down) = (topology, up, down)
        let running = parts.map { subtrees in
            try? BackgroundThread("customize") {
                var pass = CustomizationPass(topology)
                return subtrees.map { ranks in
                    let arcs = topology.arcs(of: ranks)
                    var (up, down) = (Array(up[arcs]), Array(down[arcs]))
                    pass.run(ranks, from: arcs.lowerBound, &up, &down)
                    return (ranks: ranks, up: up, down: down)
                }
            }
        }
        var isDone = [Bool](repeating: false, count: all.count)
        for thread in running {
            // What a thread could not do is left.
            for part in (try? thread?.value()) ?? [] {
                let arcs = topology.arcs(of: part.ranks)
                self.up.replaceSubrange(arcs, with: part.up)
                self.down.replaceSubrange(arcs, with: part.down)
                for rank in part.ranks { isDone[rank] = true }
            }
        }
        return all.filter { !isDone[$0] }
    }
}

extension RouteTopology {
    /// The largest subtrees of the elimination tree of at most so many ranks.
    fileprivate func subtrees(upTo limit: Int) -> [Range<Int>] {
        var sizes = [Int](repeating: 1, count: edgeCount)
        for rank in 0..<edgeCount {
            if let parent = parent(rank) { sizes[parent] += sizes[rank] }
        }
        return (0..<edgeCount).compactMap { rank in
            let isLargest = parent(rank).map { sizes[$0] > limit } ?? true
            return isLargest && sizes[rank] <= limit ? rank + 1 - sizes[rank]..<rank + 1 : nil
        }
    }

    /// The arcs that go up from some ranks.
    fileprivate func arcs(of ranks: Range<Int>) -> Range<Int> {
        Int(upStarts[ranks.lowerBound])..<Int(upStarts[ranks.upperBound])
    }
}

/// Lets each arc be no dearer than the two lower sides of its triangles, from below.
struct CustomizationPass {
    private let topology: RouteTopology
    /// The arc from the present rank to each rank that it is joined to.
    private var slots: [UInt32]

    init(_ topology: RouteTopology) {
        self.topology = topology
        slots = [UInt32](repeating: 0, count: topology.edgeCount)
    }

    /// Passes over rising ranks, those below each of them before it.
    ///
    /// `up` and `down` begin with the arc `base`, and hold the turns' own costs.
    mutating func run(
        _ ranks: some Sequence<Int>, from base: Int, _ up: inout [UInt32], _ down: inout [UInt32]
    ) {
        let topology = topology
        let (heads, starts) = (topology.heads, topology.upStarts)
        let (downArcs, lows) = (topology.downArcs, topology.lows)
        var up = up.mutableSpan
        var down = down.mutableSpan
        var slots = slots.mutableSpan
        for rank in ranks {
            for arc in topology.arcs(up: rank) {
                slots[Int(heads[arc])] = UInt32(truncatingIfNeeded: arc - base)
            }
            for place in topology.places(down: rank) {
                let low = Int(lows[place])
                let side = downArcs[place, from: low]
                let (toLow, fromLow) = (down[side - base], up[side - base])
                if min(toLow, fromLow) == RouteWeights.infinity { continue }
                for other in side + 1..<Int(starts[low + 1]) {
                    let arc = Int(slots[Int(heads[other])])
                    up[arc] = min(up[arc], toLow &+ up[other - base])
                    down[arc] = min(down[arc], fromLow &+ down[other - base])
                }
            }
        }
    }
}
