// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Makes simple rings of the edges of a polygon.
///
/// The area is what an odd number of rings enclose. Its border is walked with the area at one hand;
/// at a vertex where several parts of the border meet, the walk stays with the part of the area it
/// came along. A walk that comes to a vertex again is cut there. So each ring passes each of its
/// vertices once, rings neither cross nor share edges, and exteriors turn one way, holes the other.
/// Rings begin at their uppermost vertex, of those the one at the left, and follow each other in
/// the order of these: nothing depends on how the source wrote them.
struct PolygonCleaning {
    /// Edges to be added before ``appendRings(to:)``.
    var noding = EdgeNoding()

    /// Both directions of each edge, by start and end.
    private var halves: [UInt64] = []
    /// The start in ``halves`` of each vertex, and the end of the last.
    private var firstHalves: [Int] = []
    private var vertices: [PackedPlace] = []
    private var isUsed: [Bool] = []
    private var places: [Int] = []
    private var walk: [Int] = []
    private var rings: [Ring] = []
    private var active: [PackedEdge] = []

    private struct Ring {
        let vertices: [PackedPlace]
        /// Twice its area in cells, positive for an exterior.
        let area: Int
    }

    /// Appends the rings, each exterior with its holes after it, and returns twice their area in
    /// cells; 0 without any.
    mutating func appendRings(to store: inout TilePartStore) -> Int {
        noding.node()
        guard !noding.edges.isEmpty else { return 0 }
        index()
        rings.removeAll(keepingCapacity: true)
        active.removeAll(keepingCapacity: true)
        var arrived = 0
        for vertex in vertices.indices {
            for half in firstHalves[vertex]..<firstHalves[vertex + 1] where !isUsed[half] {
                begin(at: vertex, &arrived)
                break
            }
        }
        order(into: &store)
        return rings.reduce(0) { $0 + $1.area }
    }

    private mutating func index() {
        let edges = noding.edges
        halves.removeAll(keepingCapacity: true)
        for edge in edges {
            halves.append(edge.bits)
            halves.append(edge.bits << 32 | edge.bits >> 32)
        }
        halves.sort()
        vertices.removeAll(keepingCapacity: true)
        firstHalves.removeAll(keepingCapacity: true)
        for half in halves.indices {
            let start = PackedPlace(bits: UInt32(truncatingIfNeeded: halves[half] >> 32))
            if vertices.last != start {
                vertices.append(start)
                firstHalves.append(half)
            }
        }
        firstHalves.append(halves.count)
        isUsed.removeAll(keepingCapacity: true)
        isUsed.append(contentsOf: repeatElement(false, count: halves.count))
        places.removeAll(keepingCapacity: true)
        places.append(contentsOf: repeatElement(-1, count: vertices.count))
    }

    @inline(__always)
    private func end(of half: Int) -> PackedPlace {
        PackedPlace(bits: UInt32(truncatingIfNeeded: halves[half]))
    }

    private func vertex(at place: PackedPlace) -> Int {
        var (low, high) = (0, vertices.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if vertices[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func half(from vertex: Int, to place: PackedPlace) -> Int {
        var half = firstHalves[vertex]
        while half + 1 < firstHalves[vertex + 1] && end(of: half) != place { half += 1 }
        return half
    }

    /// The edges at a vertex by angle, from that of the x axis on, towards the y axis.
    private func fan(at vertex: Int) -> [Int] {
        let origin = vertices[vertex]
        func isUpper(_ place: PackedPlace) -> Bool {
            place.y > origin.y || (place.y == origin.y && place.x > origin.x)
        }
        return (firstHalves[vertex]..<firstHalves[vertex + 1]).sorted { one, other in
            let (a, b) = (end(of: one), end(of: other))
            return isUpper(a) == isUpper(b) ? turn(origin, a, b) > 0 : isUpper(a)
        }
    }

    /// Whether the area lies at a vertex where the angle is just above zero.
    ///
    /// Vertices come in their order, so edges above are forgotten as they are passed.
    private mutating func isInside(at vertex: Int, _ arrived: inout Int) -> Bool {
        let place = vertices[vertex]
        let edges = noding.edges
        while arrived < edges.count && edges[arrived].low.y <= place.y {
            active.append(edges[arrived])
            arrived += 1
        }
        active.removeAll { $0.high.y <= place.y }
        var isInside = false
        for edge in active where edge.low != place && turn(edge.low, edge.high, place) > 0 {
            isInside.toggle()
        }
        return isInside
    }

    private mutating func begin(at vertex: Int, _ arrived: inout Int) {
        let isInside = isInside(at: vertex, &arrived)
        let fan = fan(at: vertex)
        let isLevel = end(of: fan[0]).y == vertices[vertex].y && end(of: fan[0]) > vertices[vertex]
        for (number, half) in fan.enumerated() where !isUsed[half] {
            // The sectors between the edges are in and out of the area by turns; that at angle
            // zero is after the first edge if that lies on the axis, else after the last.
            let isAreaAfter =
                isInside != (isLevel ? !number.isMultiple(of: 2) : number.isMultiple(of: 2))
            if isAreaAfter {
                walk(from: vertex, along: half)
            } else {
                let far = self.vertex(at: end(of: half))
                walk(from: far, along: self.half(from: far, to: vertices[vertex]))
            }
        }
    }

    /// Walks with the area after each edge's angle until the first edge comes again.
    private mutating func walk(from start: Int, along first: Int) {
        walk.removeAll(keepingCapacity: true)
        var (vertex, half) = (start, first)
        repeat {
            if places[vertex] >= 0 { cut(at: vertex) }
            places[vertex] = walk.count
            walk.append(vertex)
            let next = self.vertex(at: end(of: half))
            let back = self.half(from: next, to: vertices[vertex])
            isUsed[half] = true
            isUsed[back] = true
            let range = firstHalves[next]..<firstHalves[next + 1]
            if range.count == 2 {
                half = range.lowerBound + range.upperBound - 1 - back
            } else {
                let fan = fan(at: next)
                let number = fan.firstIndex(of: back) ?? 0
                half = fan[number == 0 ? fan.count - 1 : number - 1]
            }
            vertex = next
        } while !isUsed[half]
        cut(at: vertex)
        for left in walk { places[left] = -1 }
    }

    /// Takes the ring from the vertex's last place to the end out of the walk.
    private mutating func cut(at vertex: Int) {
        let first = places[vertex]
        guard first >= 0 else { return }
        let places = walk[first...].map { vertices[$0] }
        for left in walk[first...] { self.places[left] = -1 }
        walk.removeSubrange(first...)
        var area = 0
        for number in 1..<max(places.count - 1, 1) {
            area += turn(places[0], places[number], places[number + 1])
        }
        guard area != 0, let top = places.indices.min(by: { places[$0] < places[$1] }) else {
            return
        }
        rings.append(Ring(vertices: Array(places[top...] + places[..<top]), area: area))
    }

    private func order(into store: inout TilePartStore) {
        let exteriors = rings.indices.filter { rings[$0].area > 0 }
            .sorted { rings[$0].vertices[0] < rings[$1].vertices[0] }
        let holes = rings.indices.filter { rings[$0].area < 0 }
            .sorted { rings[$0].vertices[0] < rings[$1].vertices[0] }
        guard !holes.isEmpty, exteriors.count > 1 else {
            for ring in exteriors + holes { store.append(rings[ring].vertices) }
            return
        }
        var around: [Int: [Int]] = [:]
        for hole in holes {
            let ring = rings[hole].vertices
            let exterior =
                exteriors
                .filter {
                    rings[$0].area > -rings[hole].area && Self.encloses(rings[$0].vertices, ring)
                }
                .min { rings[$0].area < rings[$1].area }
            around[exterior ?? exteriors[0], default: []].append(hole)
        }
        for exterior in exteriors {
            store.append(rings[exterior].vertices)
            for hole in around[exterior] ?? [] { store.append(rings[hole].vertices) }
        }
    }

    /// Whether a ring encloses another; decided by the middle of an edge, which is on no ring.
    private static func encloses(_ ring: [PackedPlace], _ inner: [PackedPlace]) -> Bool {
        let (x, y) = (inner[0].x + inner[1].x, inner[0].y + inner[1].y)
        var isInside = false
        var before = ring[ring.count - 1]
        for place in ring {
            defer { before = place }
            guard (2 * before.y > y) != (2 * place.y > y) else { continue }
            let (low, high) = before.y < place.y ? (before, place) : (place, before)
            let side =
                (high.x - low.x) * (y - 2 * low.y) - (high.y - low.y) * (x - 2 * low.x)
            if side > 0 { isInside.toggle() }
        }
        return isInside
    }
}

/// Parts of a tile's geometry in one array.
struct TilePartStore {
    var places: [PackedPlace] = []
    var ends: [Int] = []

    mutating func append(_ part: some Sequence<PackedPlace>) {
        places.append(contentsOf: part)
        ends.append(places.count)
    }

    func places(ofPart part: Int) -> Range<Int> { (part == 0 ? 0 : ends[part - 1])..<ends[part] }
}
