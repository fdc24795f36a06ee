// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// What is overlaid: areas, lines and positions of one plane.
public struct OverlayInput: Sendable {
    /// Which windings are inside.
    public enum Rule: Sendable {
        /// An odd number, as rings of geometries are read.
        case evenOdd
        /// More counterclockwise turns than clockwise ones: the union of rings that all run
        /// counterclockwise.
        case positive
    }

    /// Rings in any direction, closed or not; fewer than three places make no area.
    public var rings: [[Coordinate]]
    /// How the rings are read.
    public var rule: Rule
    /// Lines.
    public var paths: [[Coordinate]]
    /// Positions.
    public var points: [Coordinate]

    /// Makes an input.
    public init(
        rings: [[Coordinate]] = [], rule: Rule = .evenOdd, paths: [[Coordinate]] = [],
        points: [Coordinate] = []
    ) {
        self.rings = rings
        self.rule = rule
        self.paths = paths
        self.points = points
    }

    var chains: [[Coordinate]] { rings + paths + [points] }
}

/// Two inputs laid over each other in one arrangement of edges, from which unions, intersections
/// and differences are read.
///
/// Vertices are snapped to a grid whose step is 2⁻⁴⁰ of the power of two above the greatest
/// coordinate: 0.03 mm in Web Mercator, 0.03 mm on the ground in degrees. A vertex of a result is
/// the vertex of an input that it came from, unchanged, unless it is within three steps of
/// something else; those, and crossings, are on the grid. No edge is farther than a few steps of
/// the grid from where it was.
public struct Overlay: Sendable {
    /// The most vertices of both inputs.
    public static let vertexLimit = 4_000_000
    /// The most crossings of segments.
    public static let crossingLimit = 2_000_000

    /// The most pairs of segments that are compared because each is in the other's way.
    static let pairLimit = 200_000_000

    /// The step of the grid, in units of the coordinates.
    public let tolerance: Double
    let graph: OverlayGraph
    /// Nodes of the lines of either input, as they were given.
    let paths: [[[Int32]]]
    /// Nodes of the positions of either input.
    let points: [[Int32]]
    /// The places of nodes as they are given out.
    let places: [Coordinate]
    private let rules: [OverlayInput.Rule]
    /// Whether nothing of the rings had to be cut, moved together or left out.
    let isCutFree: Bool

    /// Lays two inputs over each other.
    ///
    /// - Parameters:
    ///   - first: One input.
    ///   - second: The other; nothing if not given.
    ///   - reach: The grid is made for coordinates of this magnitude at least.
    public init(
        _ first: OverlayInput, _ second: OverlayInput = OverlayInput(), reach: Double = 0
    ) throws(OverlayFailure) {
        let inputs = [first, second]
        var greatest = reach
        var count = 0
        for input in inputs {
            for chain in input.chains {
                count += chain.count
                for place in chain {
                    guard place.isFinite else { throw .notFinite(place) }
                    greatest = max(greatest, abs(place.x), abs(place.y))
                }
            }
        }
        guard count <= Self.vertexLimit else { throw .tooManyVertices(count) }
        let grid = OverlayGrid(greatest: greatest)
        var intake = Intake(grid, room: count)
        let one = intake.take(first, 0)
        let two = intake.take(second, 1)
        let given = intake.segments
        let noding = try Noding(intake.nodes, given)

        let nodes = noding.nodes.places
        let order = (0..<nodes.count).sorted { OverlayOrder.precedes(nodes[$0], nodes[$1]) }
        var ranks = Array(repeating: Int32(0), count: nodes.count)
        for (rank, node) in order.enumerated() { ranks[node] = Int32(rank) }
        var pieces: [OverlaySegment] = []
        pieces.reserveCapacity(noding.segments.count + noding.inner.count)
        for (index, segment) in noding.segments.enumerated() {
            var from = ranks[Int(segment.a)]
            func add(_ to: Int32) {
                let isForward = from < to
                pieces.append(
                    OverlaySegment(
                        a: min(from, to), b: max(from, to),
                        turns: isForward ? segment.turns : 0 &- segment.turns,
                        lines: segment.lines))
                from = to
            }
            for node in noding.inner[Int(noding.starts[index])..<Int(noding.starts[index + 1])] {
                add(ranks[Int(node)])
            }
            add(ranks[Int(segment.b)])
        }
        rules = inputs.map(\.rule)
        let masks = rules.map { Int32($0 == .evenOdd ? 1 : -1) }
        graph = OverlayGraph(order.map { nodes[$0] }, pieces, mask: SIMD2(masks[0], masks[1]))
        places = order.map { node in
            node < intake.places.count && !noding.isBound[node]
                ? intake.places[node] : grid.place(nodes[node])
        }
        paths = [one, two].map { taken in
            taken.paths.map { path in
                var chain: [Int32] = []
                for (a, b) in zip(path, path.dropFirst()) {
                    chain += noding.chain(from: a, to: b).dropFirst(chain.isEmpty ? 0 : 1)
                }
                return chain.map { ranks[Int($0)] }
            }
        }
        points = [one, two].map { $0.points.map { ranks[Int($0)] } }
        tolerance = grid.step
        isCutFree =
            intake.isWhole && noding.inner.isEmpty && graph.edges.count == given.count
    }

    /// Whether what is on the left of a half-edge is in either input.
    func insides(_ winding: SIMD2<Int32>) -> (Bool, Bool) {
        func isInside(_ number: Int32, _ rule: OverlayInput.Rule) -> Bool {
            rule == .evenOdd ? number & 1 != 0 : number > 0
        }
        return (isInside(winding.x, rules[0]), isInside(winding.y, rules[1]))
    }

    /// Snaps inputs to nodes.
    private struct Intake {
        let grid: OverlayGrid
        var nodes: NodeTable
        /// The first place that came to each node.
        var places: [Coordinate] = []
        var segments: [OverlaySegment] = []
        /// Whether no segment became a node.
        var isWhole = true

        init(_ grid: OverlayGrid, room: Int) {
            self.grid = grid
            nodes = NodeTable(room: room)
        }

        mutating func node(_ place: Coordinate) -> Int32 {
            let (number, isNew) = nodes.number(of: grid.snap(place))
            if isNew { places.append(place) }
            return number
        }

        mutating func take(
            _ input: OverlayInput, _ number: Int
        ) -> (paths: [[Int32]], points: [Int32]) {
            var turns = SIMD2<Int32>(0, 0)
            turns[number] = 1
            for ring in input.rings {
                var chain = ring.map { node($0) }
                if let first = chain.first, chain.last != first { chain.append(first) }
                add(chain, turns, lines: 0)
            }
            let paths = input.paths.map { path in
                var chain: [Int32] = []
                for place in path {
                    let node = node(place)
                    if chain.last != node { chain.append(node) }
                }
                add(chain, SIMD2(0, 0), lines: 1 << number)
                return chain
            }
            return (paths, input.points.map { node($0) })
        }

        private mutating func add(_ chain: [Int32], _ turns: SIMD2<Int32>, lines: UInt8) {
            for (a, b) in zip(chain, chain.dropFirst()) {
                guard a != b else {
                    isWhole = false
                    continue
                }
                let isForward = OverlayOrder.precedes(nodes.places[Int(a)], nodes.places[Int(b)])
                segments.append(
                    OverlaySegment(
                        a: isForward ? a : b, b: isForward ? b : a,
                        turns: isForward ? turns : 0 &- turns, lines: lines))
            }
        }
    }
}
