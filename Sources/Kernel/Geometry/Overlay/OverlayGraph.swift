// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The segments after noding as edges around their nodes, with the winding numbers of both inputs
/// on either side of each.
///
/// Half-edge `2 * e` runs along edge `e` from the node that precedes by x and y, `2 * e + 1` runs
/// back. Nodes are numbered in that order.
struct OverlayGraph {
    /// Places on the grid, in order.
    let places: [Coordinate]
    let edges: [OverlaySegment]
    /// Half-edges out of each node, counterclockwise from straight down; of node `n` from
    /// `firsts[n]`.
    private(set) var around: [Int32] = []
    private(set) var firsts: [Int32] = []
    /// Where each half-edge is in `around`.
    private(set) var positions: [Int32] = []
    /// Winding numbers on the left of each half-edge.
    private(set) var windings: [SIMD2<Int32>] = []
    /// For each component of edges, a half-edge that has what surrounds it on the left, and one of
    /// the next edge below, or -1.
    private(set) var links: [(inner: Int32, outer: Int32)] = []
    private let tree: BoxTree
    /// The edges in the order of the tree.
    private let leaves: [Int]

    /// - Parameters:
    ///   - places: In order.
    ///   - pieces: Between nodes, meeting in nodes alone.
    ///   - mask: The bits of windings that count, of either input.
    init(_ places: [Coordinate], _ pieces: [OverlaySegment], mask: SIMD2<Int32>) {
        self.places = places
        var merged = Noding.merged(pieces)
        for index in merged.indices { merged[index].turns &= mask }
        edges = merged.filter { $0.turns != SIMD2(0, 0) || $0.lines != 0 }
        let edges = edges
        leaves = BoxTree.order(
            edges.map { edge in
                let (a, b) = (places[Int(edge.a)], places[Int(edge.b)])
                return Coordinate(x: (a.x + b.x) / 2, y: (a.y + b.y) / 2)
            })
        tree = BoxTree(
            leaves.map { index in
                let (a, b) = (places[Int(edges[index].a)], places[Int(edges[index].b)])
                return Envelope(minX: a.x, minY: min(a.y, b.y), maxX: b.x, maxY: max(a.y, b.y))
            })
        arrange()
        wind()
    }

    func origin(_ half: Int32) -> Int32 {
        half & 1 == 0 ? edges[Int(half >> 1)].a : edges[Int(half >> 1)].b
    }

    func target(_ half: Int32) -> Int32 { origin(half ^ 1) }

    /// The half-edges out of a node.
    func halves(of node: Int) -> ArraySlice<Int32> {
        around[Int(firsts[node])..<Int(firsts[node + 1])]
    }

    /// The half-edge that goes on around the face on the left.
    func next(_ half: Int32) -> Int32 { clockwise(half ^ 1) }

    /// The half-edge out of the same node that follows clockwise.
    func clockwise(_ half: Int32) -> Int32 {
        let node = Int(origin(half))
        let position = positions[Int(half)]
        return around[Int(position == firsts[node] ? firsts[node + 1] - 1 : position - 1)]
    }

    private mutating func arrange() {
        firsts = Array(repeating: 0, count: places.count + 1)
        for edge in edges {
            firsts[Int(edge.a) + 1] += 1
            firsts[Int(edge.b) + 1] += 1
        }
        for node in 0..<places.count { firsts[node + 1] += firsts[node] }
        var ends = firsts
        around = Array(repeating: 0, count: edges.count * 2)
        for (index, edge) in edges.enumerated() {
            around[Int(ends[Int(edge.a)])] = Int32(index * 2)
            ends[Int(edge.a)] += 1
            around[Int(ends[Int(edge.b)])] = Int32(index * 2 + 1)
            ends[Int(edge.b)] += 1
        }
        positions = Array(repeating: 0, count: around.count)
        for node in 0..<places.count {
            let range = Int(firsts[node])..<Int(firsts[node + 1])
            if range.count > 1 {
                let place = places[node]
                let sorted = around[range].sorted { one, other in
                    // Half-edges along their edge point to the right, or straight up.
                    if one & 1 != other & 1 { return one & 1 == 0 }
                    return GridTest.turn(
                        place, places[Int(target(one))], places[Int(target(other))]) > 0
                }
                around.replaceSubrange(range, with: sorted)
            }
            for position in range { positions[Int(around[position])] = Int32(position) }
        }
    }

    private mutating func wind() {
        windings = Array(repeating: SIMD2(0, 0), count: around.count)
        var isSeen = Array(repeating: false, count: places.count)
        /// Half-edges whose left is known, out of nodes that are not done.
        var waiting: [Int32] = []
        var stack: [(level: Int, index: Int)] = []
        for node in 0..<places.count where !isSeen[node] && firsts[node] < firsts[node + 1] {
            // The first node of a component: its edges all go to the right, and what is on the left
            // of the last is what surrounds the component.
            let last = around[Int(firsts[node + 1]) - 1]
            let below = edgeBelow(places[node], &stack)
            links.append((last, below ?? -1))
            windings[Int(last)] = below.map { windings[Int($0)] } ?? SIMD2(0, 0)
            isSeen[node] = true
            waiting.append(last)
            while let known = waiting.popLast() {
                var half = known
                repeat {
                    // What is on the right of a half-edge is on the left of the next clockwise.
                    let turns = edges[Int(half >> 1)].turns
                    let right = windings[Int(half)] &- (half & 1 == 0 ? turns : 0 &- turns)
                    windings[Int(half ^ 1)] = right
                    let target = target(half)
                    if !isSeen[Int(target)] {
                        isSeen[Int(target)] = true
                        waiting.append(half ^ 1)
                    }
                    half = clockwise(half)
                    if half != known { windings[Int(half)] = right }
                } while half != known
            }
        }
    }

    /// The half-edge to the right along the nearest edge straight below a place that is on none; of
    /// several that begin in one node the uppermost.
    private func edgeBelow(
        _ place: Coordinate, _ stack: inout [(level: Int, index: Int)]
    ) -> Int32? {
        var best: Int?
        var floor = -Double.infinity
        tree.searchDownwards(
            &stack,
            where: { box in
                box.minX <= place.x && box.maxX > place.x && box.minY <= place.y
                    && box.maxY >= floor
            },
            { leaf in
                let index = leaves[leaf]
                let (a, b) = (places[Int(edges[index].a)], places[Int(edges[index].b)])
                guard GridTest.turn(a, b, place) > 0 else { return }
                if let known = best, !isAbove(index, known) { return }
                best = index
                // Less than the edge's height there, for all that rounding does.
                let height = a.y + (place.x - a.x) / (b.x - a.x) * (b.y - a.y)
                floor = max(floor, height - 1)
            })
        return best.map { Int32($0 * 2) }
    }

    /// Whether one of two edges that do not cross is above the other where both are.
    private func isAbove(_ one: Int, _ other: Int) -> Bool {
        let (a, b) = (places[Int(edges[one].a)], places[Int(edges[one].b)])
        let (c, d) = (places[Int(edges[other].a)], places[Int(edges[other].b)])
        if edges[one].a == edges[other].a { return GridTest.turn(c, d, b) > 0 }
        return OverlayOrder.precedes(c, a)
            ? GridTest.turn(c, d, a) > 0 : GridTest.turn(a, b, c) < 0
    }

    /// The winding numbers around a node: of each sector, or of the one it lies in.
    func windings(around node: Int) -> [SIMD2<Int32>] {
        let halves = halves(of: node)
        if !halves.isEmpty { return halves.map { windings[Int($0)] } }
        var stack: [(level: Int, index: Int)] = []
        return [edgeBelow(places[node], &stack).map { windings[Int($0)] } ?? SIMD2(0, 0)]
    }
}
