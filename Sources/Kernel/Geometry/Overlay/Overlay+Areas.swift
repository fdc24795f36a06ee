// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension Overlay {
    /// The area of all places for which the predicate holds, as connected parts: the outer ring,
    /// then its holes.
    ///
    /// Rings are closed; outer ones run clockwise, holes counterclockwise. No ring meets itself,
    /// and rings meet each other in vertices alone.
    ///
    /// - Parameter isWanted: Of a place that is in the first input's area or not, and in the
    ///   second's or not; false for a place in neither.
    public func area(where isWanted: (Bool, Bool) -> Bool) -> [[[Coordinate]]] {
        let isIn = graph.windings.map { winding in
            let (first, second) = insides(winding)
            return isWanted(first, second)
        }
        let border = isIn.indices.map { isIn[$0] && !isIn[$0 ^ 1] }
        guard border.contains(true) else { return [] }
        return gathered(border, regions { isIn[$0] != isIn[$0 ^ 1] }).map(\.rings)
    }

    /// The first input's area cut along the second input's lines, as connected parts like those of
    /// ``area(where:)``, each with whether it is on the left or the right of a line.
    public func cutArea() -> [(rings: [[Coordinate]], isLeft: Bool, isRight: Bool)] {
        let isIn = graph.windings.map { insides($0).0 }
        let edges = graph.edges
        let areas = regions { half in
            isIn[half] != isIn[half ^ 1] || isIn[half] && edges[half >> 1].lines != 0
        }
        var isLeft: Set<Int> = []
        var isRight: Set<Int> = []
        for path in paths[1] {
            for (a, b) in zip(path, path.dropFirst()) {
                guard let half = half(from: a, to: b), isIn[half], isIn[half ^ 1] else { continue }
                let (left, right) = (areas.find(half), areas.find(half ^ 1))
                guard left != right else { continue }
                isLeft.insert(left)
                isRight.insert(right)
            }
        }
        let border = isIn.indices.map { half in
            isIn[half] && (!isIn[half ^ 1] || areas.find(half) != areas.find(half ^ 1))
        }
        return gathered(border, areas).map { region, rings in
            (rings, isLeft.contains(region), isRight.contains(region))
        }
    }

    /// Whether the first input's rings border an area as they are: none crosses or covers another
    /// or itself, outer ones run counterclockwise and holes clockwise.
    ///
    /// Of an input whose rule is `positive`.
    public var isSimpleArea: Bool {
        isCutFree && graph.windings.allSatisfy { 0...1 ~= $0.x }
    }

    /// Which half-edges have one connected region on their left, where edges are passed unless they
    /// separate.
    private func regions(separates: (Int) -> Bool) -> Sets {
        let sets = Sets(count: graph.around.count)
        for half in graph.around.indices {
            sets.join(half, Int(graph.next(Int32(half))))
            if half & 1 == 0, !separates(half) { sets.join(half, half ^ 1) }
        }
        for link in graph.links where link.outer >= 0 {
            sets.join(Int(link.inner), Int(link.outer))
        }
        return sets
    }

    /// The rings along half-edges that have the area on their left, by the region they border.
    private func gathered(
        _ border: [Bool], _ areas: Sets
    ) -> [(region: Int, rings: [[Coordinate]])] {
        var isDone = Array(repeating: false, count: border.count)
        var result: [(region: Int, rings: [[Coordinate]])] = []
        var indices: [Int: Int] = [:]
        /// Where on the way each node is, or -1.
        var steps = Array(repeating: Int32(-1), count: graph.places.count)
        for start in border.indices where border[start] && !isDone[start] {
            let region = areas.find(start)
            var index = indices[region] ?? -1
            if index < 0 {
                index = result.count
                indices[region] = index
                result.append((region, []))
            }
            var way: [Int32] = []
            var half = Int32(start)
            func cut(at node: Int32) {
                // The way has been here: the loop since is a ring of its own.
                let first = Int(steps[Int(node)])
                let ring = Array(way[first...])
                for node in ring { steps[Int(node)] = -1 }
                way.removeSubrange(first...)
                let closed = (ring + [ring[0]]).reversed().map { places[Int($0)] }
                if isCounterclockwise(ring) {
                    result[index].rings.insert(closed, at: 0)
                } else {
                    result[index].rings.append(closed)
                }
            }
            repeat {
                isDone[Int(half)] = true
                let node = graph.origin(half)
                if steps[Int(node)] >= 0 { cut(at: node) }
                steps[Int(node)] = Int32(way.count)
                way.append(node)
                half = graph.next(half)
                while !border[Int(half)] { half = graph.clockwise(half) }
            } while Int(half) != start
            cut(at: graph.origin(half))
        }
        return result
    }

    /// By the turn at the node that is first by x and y, which is never straight.
    private func isCounterclockwise(_ ring: [Int32]) -> Bool {
        var first = 0
        for index in ring.indices where ring[index] < ring[first] { first = index }
        func place(_ index: Int) -> Coordinate {
            graph.places[Int(ring[(index + ring.count) % ring.count])]
        }
        return GridTest.turn(place(first - 1), place(first), place(first + 1)) > 0
    }

    /// The half-edge between two nodes.
    func half(from a: Int32, to b: Int32) -> Int? {
        let key = UInt64(UInt32(min(a, b))) << 32 | UInt64(UInt32(max(a, b)))
        var (first, last) = (0, graph.edges.count)
        while first < last {
            let middle = (first + last) / 2
            if graph.edges[middle].key < key { first = middle + 1 } else { last = middle }
        }
        guard first < graph.edges.count, graph.edges[first].key == key else { return nil }
        return 2 * first + (a < b ? 0 : 1)
    }

    /// Disjoint sets of numbers from 0.
    private final class Sets {
        private var parents: [Int32]

        init(count: Int) { parents = (0..<Int32(count)).map { $0 } }

        func find(_ number: Int) -> Int {
            var number = Int32(number)
            while parents[Int(number)] != number {
                parents[Int(number)] = parents[Int(parents[Int(number)])]
                number = parents[Int(number)]
            }
            return Int(number)
        }

        func join(_ one: Int, _ other: Int) {
            let (one, other) = (find(one), find(other))
            if one < other {
                parents[other] = Int32(one)
            } else {
                parents[one] = Int32(other)
            }
        }
    }
}
