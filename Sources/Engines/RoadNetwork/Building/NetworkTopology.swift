// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Geometry
internal import SpatialIndex

/// The graph of a draft: vertices where ways meet or end, links between them, edges along links.
struct NetworkTopology {
    /// Indices of the draft's nodes, in the order of vertices.
    private(set) var vertexNodes: [UInt32] = []
    /// The links, ascending by way and segment.
    private(set) var links: [Link] = []
    /// The nodes of all links, as indices of the draft's, both ends included.
    private(set) var linkNodes: [UInt32] = []
    /// The edges, ascending by tail and link.
    private(set) var edges: [Edge] = []
    /// First edge that leaves each vertex; one more ends the last.
    private(set) var firstEdges: [UInt32] = []
    /// The edges along and against each link; ``NetworkLayout/none`` for a missing one.
    private(set) var linkEdges: [UInt32] = []

    /// A way between two vertices.
    struct Link {
        var way: Int
        /// Number of its first segment in the source's way.
        var segment: UInt32
        var start: Int
        var end: Int
        var tail: UInt32
        var head: UInt32
        /// In metres.
        var length: Double
        var millimeters: UInt32
    }

    /// A link in one direction.
    struct Edge {
        var tail: UInt32
        var head: UInt32
        var link: UInt32
        var isBackward: Bool
    }

    /// Throws `tooLarge` beyond 2³⁰ edges.
    init(_ draft: RoadDraft) throws(Failure) {
        let vertexOf = findVertices(draft)
        try findLinks(draft, vertexOf)
        try findEdges(draft)
    }

    /// Finds the vertices; returns the vertex of each node.
    private mutating func findVertices(_ draft: RoadDraft) -> [UInt32] {
        var uses = [UInt8](repeating: 0, count: draft.nodes.count)
        for way in draft.ways {
            for (place, node) in draft.wayNodes[way.first..<way.first + way.count].enumerated() {
                let isEnd = place == 0 || place == way.count - 1
                uses[Int(node)] = min(2, uses[Int(node)] + (isEnd ? 2 : 1))
            }
        }
        var restricted: Set<Int64> = []
        for case .node(let id) in draft.restrictions.lazy.map(\.via) { restricted.insert(id) }
        var found: [UInt32] = []
        for (index, node) in draft.nodes.enumerated() where uses[index] > 0 {
            if uses[index] > 1 || node.rule != 0 || restricted.contains(node.id) {
                found.append(UInt32(index))
            }
        }
        let boxes = found.map { index in
            let node = draft.nodes[Int(index)]
            return Envelope(
                minX: Double(node.x), minY: Double(node.y), maxX: Double(node.x),
                maxY: Double(node.y))
        }
        vertexNodes = PackedHilbertTree.hilbertOrder(boxes).map { found[$0] }
        var vertexOf = [UInt32](repeating: NetworkLayout.none, count: draft.nodes.count)
        for (vertex, node) in vertexNodes.enumerated() { vertexOf[Int(node)] = UInt32(vertex) }
        return vertexOf
    }

    private mutating func findLinks(
        _ draft: RoadDraft, _ vertexOf: [UInt32]
    ) throws(Failure) {
        for (number, way) in draft.ways.enumerated() {
            var start = 0
            for place in 1..<way.count {
                let head = vertexOf[Int(draft.wayNodes[way.first + place])]
                guard head != NetworkLayout.none else { continue }
                let nodes = draft.wayNodes[way.first + start...way.first + place]
                var length = 0.0
                for (a, b) in zip(nodes, nodes.dropFirst()) {
                    let (a, b) = (draft.nodes[Int(a)], draft.nodes[Int(b)])
                    length += Sphere.distance(a.x, a.y, b.x, b.y)
                }
                let millimeters = (length * 1000).rounded()
                guard millimeters < Double(RoadNetwork.unreachable) else {
                    throw Failure(
                        .tooLarge,
                        "way \(way.id) has a stretch of \(Int(length / 1000)) km without a "
                            + "junction; expected less than 2,147 km")
                }
                links.append(
                    Link(
                        way: number, segment: way.segment + UInt32(start),
                        start: linkNodes.count, end: linkNodes.count + nodes.count,
                        tail: vertexOf[Int(nodes[nodes.startIndex])], head: head, length: length,
                        millimeters: UInt32(millimeters)))
                linkNodes += nodes
                start = place
            }
        }
    }

    private mutating func findEdges(_ draft: RoadDraft) throws(Failure) {
        var leaving = [UInt32](repeating: 0, count: vertexNodes.count + 1)
        func directions(_ link: Link) -> (forward: Bool, backward: Bool) {
            let traits = draft.traits[Int(draft.ways[link.way].traits)]
            return (
                draft.modes.indices.contains { traits.isOpen($0, isBackward: false) },
                draft.modes.indices.contains { traits.isOpen($0, isBackward: true) }
            )
        }
        var count = 0
        for link in links {
            let (forward, backward) = directions(link)
            if forward { leaving[Int(link.tail) + 1] += 1 }
            if backward { leaving[Int(link.head) + 1] += 1 }
            count += (forward ? 1 : 0) + (backward ? 1 : 0)
        }
        guard count < 1 << 30 else {
            throw Failure(.tooLarge, "the network has \(count) edges; expected less than 2^30")
        }
        for vertex in 0..<vertexNodes.count { leaving[vertex + 1] += leaving[vertex] }
        firstEdges = leaving
        let empty = Edge(tail: 0, head: 0, link: 0, isBackward: false)
        edges = [Edge](repeating: empty, count: count)
        linkEdges = [UInt32](repeating: NetworkLayout.none, count: 2 * links.count)
        for (number, link) in links.enumerated() {
            let (forward, backward) = directions(link)
            for (isBackward, isThere) in [(false, forward), (true, backward)] where isThere {
                let (tail, head) = isBackward ? (link.head, link.tail) : (link.tail, link.head)
                let edge = leaving[Int(tail)]
                leaving[Int(tail)] += 1
                linkEdges[2 * number + (isBackward ? 1 : 0)] = edge
                edges[Int(edge)] = Edge(
                    tail: tail, head: head, link: UInt32(number), isBackward: isBackward)
            }
        }
    }

    /// The edges that leave a vertex.
    func edges(leaving vertex: UInt32) -> Range<UInt32> {
        firstEdges[Int(vertex)]..<firstEdges[Int(vertex) + 1]
    }

    /// The other direction of an edge's link; nil where there is none.
    func opposite(_ edge: UInt32) -> UInt32? {
        let known = edges[Int(edge)]
        let other = linkEdges[2 * Int(known.link) + (known.isBackward ? 0 : 1)]
        return other == NetworkLayout.none ? nil : other
    }

    /// Compass bearings of the first and the last `reach` metres of an edge.
    func bearings(
        _ edge: UInt32, _ draft: RoadDraft, reach: Double = 15
    ) -> (start: Double, end: Double) {
        let known = edges[Int(edge)]
        let link = links[Int(known.link)]
        let nodes = linkNodes[link.start..<link.end]
        let path = known.isBackward ? Array(nodes.reversed()) : Array(nodes)
        func bearing(_ path: some Sequence<UInt32>) -> Double {
            var (origin, last): (RoadDraft.Node?, RoadDraft.Node?)
            var (east, north, run) = (0.0, 0.0, 0.0)
            for index in path {
                let node = draft.nodes[Int(index)]
                defer { last = node }
                guard let from = origin, let before = last else {
                    origin = node
                    continue
                }
                let step = Sphere.distance(before.x, before.y, node.x, node.y)
                // The last step is cut where it goes beyond the reach.
                let share = run + step > reach && step > 0 ? (reach - run) / step : 1
                let unit = Sphere.unitsPerDegree
                let toX = Double(before.x) + share * (Double(node.x) - Double(before.x))
                let toY = Double(before.y) + share * (Double(node.y) - Double(before.y))
                east =
                    (toX - Double(from.x)) / unit
                    * Sphere.metersPerDegreeEast(latitude: Double(from.y) / unit)
                north = (toY - Double(from.y)) / unit * Sphere.metersPerDegree
                run += step
                if run >= reach { break }
            }
            return Sphere.bearing(east: east, north: north)
        }
        let end = bearing(path.reversed()) + 180
        return (bearing(path), end >= 360 ? end - 360 : end)
    }
}
