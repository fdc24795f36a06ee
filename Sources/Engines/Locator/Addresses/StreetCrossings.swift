// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// Finds where lines of streets cross, or one ends on another, without a common vertex, and inserts
/// one.
///
/// Only for streets of one town and of different names, with straight edges between rounded
/// vertices. A vertex within ``touchMeters`` of another's edge is on it: that edge gets one at the
/// nearest position. Lines on another level than the ground cross nothing. The plane is divided
/// into bands of latitude, each swept from west to east, so that only nearby edges are compared.
struct StreetCrossings {
    /// An edge of a line; longitudes and latitudes in 10⁻⁷ degrees.
    private struct Edge {
        var x: (Int64, Int64)
        var y: (Int64, Int64)
        /// Number of the street's name in the town.
        var name: Int32
        var street: Int32
        var segment: Int32
        var vertex: Int32

        var west: Int64 { min(x.0, x.1) }
        var east: Int64 { max(x.0, x.1) }
        var south: Int64 { min(y.0, y.1) }
        var north: Int64 { max(y.0, y.1) }

        /// The side of a position relative to its line, scaled by distance: positive on the left.
        ///
        /// Exact: the edge is at most ``StreetCrossings/longestEdge`` long, the position near it.
        func side(_ px: Int64, _ py: Int64) -> Int64 {
            (x.1 - x.0) * (py - y.0) - (y.1 - y.0) * (px - x.0)
        }

        /// The nearest position on the edge to one within ``StreetCrossings/touchMeters`` of it and
        /// of neither end; nil for any other.
        ///
        /// - Parameter shrink: Length of a degree of longitude, in degrees of latitude.
        func touch(_ px: Int64, _ py: Int64, shrink: Double) -> (share: Double, at: Position)? {
            let (dx, dy) = (Double(x.1 - x.0) * shrink, Double(y.1 - y.0))
            let (ox, oy) = (Double(px - x.0) * shrink, Double(py - y.0))
            let share = (dx * ox + dy * oy) / (dx * dx + dy * dy)
            guard share > 0, share < 1 else { return nil }
            let off = hypot(ox - share * dx, oy - share * dy)
            let ends = min(hypot(ox, oy), hypot(ox - dx, oy - dy))
            guard off <= StreetCrossings.touch, ends > StreetCrossings.touch else { return nil }
            return (share, Position(self, share))
        }
    }

    /// A longitude and latitude in 10⁻⁷ degrees.
    private struct Position {
        var longitude: Int32
        var latitude: Int32

        /// The position at a fraction of an edge.
        init(_ edge: Edge, _ share: Double) {
            longitude = Int32((Double(edge.x.0) + share * Double(edge.x.1 - edge.x.0)).rounded())
            latitude = Int32((Double(edge.y.0) + share * Double(edge.y.1 - edge.y.0)).rounded())
        }
    }

    /// A vertex to be inserted after one of a line.
    private struct Insertion: Hashable {
        var segment: Int32
        var vertex: Int32
        /// Fraction of the edge's length, 0…1.
        var share: Double
        var longitude: Int32
        var latitude: Int32
    }

    /// 0.002°, some 220 m.
    private static let bandHeight: Int64 = 20_000
    /// Distance within which a vertex is on an edge: more than the rounding to five decimals, and
    /// less than the tolerance of coinciding vertices, so that the inserted one coincides with it.
    static let touchMeters = 0.95
    /// ``touchMeters`` in 10⁻⁷ degrees of latitude.
    private static let touch = touchMeters / (Sphere.radius * .pi / 180) * 1e7
    private static let reach = Int64(touch) + 1
    /// Limit of an edge's extent, 0.05°; longer edges cross nothing.
    static let longestEdge: Int64 = 500_000
    /// Limits of a build: compared pairs of edges, and inserted vertices; further crossings are not
    /// found.
    static let mostPairs = 500_000_000
    static let mostVertices = 5_000_000

    private var pairs = 0
    private var vertices = 0

    /// Inserts vertices into the lines of streets, which are sorted by town.
    mutating func join(_ streets: inout [AddressGazetteer.Street]) {
        var start = 0
        while start < streets.count {
            var end = start
            while end < streets.count, streets[end].town == streets[start].town { end += 1 }
            join(&streets, start..<end)
            start = end
        }
    }

    private mutating func join(_ streets: inout [AddressGazetteer.Street], _ town: Range<Int>) {
        let edges = Self.edges(streets, town)
        guard edges.count > 1 else { return }
        var found: [Int32: Set<Insertion>] = [:]
        var first = 0
        // Indices of edges, by band and then from west to east.
        let entries = Self.entries(edges)
        while first < entries.count {
            var last = first
            while last < entries.count, entries[last].band == entries[first].band { last += 1 }
            sweep(entries[first..<last], edges, &found)
            first = last
        }
        for (street, insertions) in found {
            streets[Int(street)].shown = streets[Int(street)].middle
            Self.insert(insertions, into: &streets[Int(street)])
        }
    }

    private static func edges(
        _ streets: [AddressGazetteer.Street], _ town: Range<Int>
    ) -> [Edge] {
        var names: [[UInt8]: Int32] = [:]
        var result: [Edge] = []
        for street in town {
            let name = names[streets[street].folded] ?? Int32(names.count)
            names[streets[street].folded] = name
            for (segment, line) in streets[street].segments.enumerated() where !line.isApart {
                for (vertex, (from, to)) in zip(line.line, line.line.dropFirst()).enumerated() {
                    let edge = Edge(
                        x: (Int64(from.longitude), Int64(to.longitude)),
                        y: (Int64(from.latitude), Int64(to.latitude)), name: name,
                        street: Int32(street), segment: Int32(segment), vertex: Int32(vertex))
                    guard edge.east - edge.west <= longestEdge,
                        edge.north - edge.south <= longestEdge
                    else { continue }
                    result.append(edge)
                }
            }
        }
        return result
    }

    private struct Entry {
        var band: Int64
        var west: Int64
        var edge: Int
    }

    private static func band(_ latitude: Int64) -> Int64 {
        // Rounds down on both hemispheres.
        (latitude + 900_000_000) / bandHeight
    }

    private static func entries(_ edges: [Edge]) -> [Entry] {
        var result: [Entry] = []
        result.reserveCapacity(edges.count + edges.count / 2)
        for (number, edge) in edges.enumerated() {
            for band in band(edge.south - reach)...band(edge.north + reach) {
                result.append(Entry(band: band, west: edge.west, edge: number))
            }
        }
        result.sort { ($0.band, $0.west, $0.edge) < ($1.band, $1.west, $1.edge) }
        return result
    }

    /// Compares the edges of one band that overlap from west to east.
    private mutating func sweep(
        _ entries: ArraySlice<Entry>, _ edges: [Edge], _ found: inout [Int32: Set<Insertion>]
    ) {
        var open: [Int] = []
        guard let band = entries.first?.band else { return }
        // At the middle of the band, for the length of a degree of longitude.
        let latitude = (Double(band) + 0.5) * Double(Self.bandHeight) / 1e7 - 90
        let shrink = max(0.01, cos(latitude * .pi / 180))
        let reachX = Int64(Self.touch / shrink) + 1
        for entry in entries {
            let edge = edges[entry.edge]
            open.removeAll { edges[$0].east < edge.west - reachX }
            for number in open {
                guard pairs < Self.mostPairs, vertices < Self.mostVertices else { return }
                pairs += 1
                let other = edges[number]
                guard other.name != edge.name, other.south <= edge.north + Self.reach,
                    edge.south <= other.north + Self.reach
                else { continue }
                // Found in every band with both edges, accepted in the one of the position.
                if let (share, otherShare, at) = Self.crossing(edge, other) {
                    guard Self.band(Int64(at.latitude)) == band else { continue }
                    put(at, share, into: edge, &found)
                    put(at, otherShare, into: other, &found)
                    continue
                }
                for (line, ends) in [(edge, other), (other, edge)] {
                    for (x, y) in [(ends.x.0, ends.y.0), (ends.x.1, ends.y.1)] {
                        guard let (share, at) = line.touch(x, y, shrink: shrink),
                            Self.band(Int64(at.latitude)) == band
                        else { continue }
                        put(at, share, into: line, &found)
                    }
                }
            }
            open.append(entry.edge)
        }
    }

    private mutating func put(
        _ at: Position, _ share: Double, into edge: Edge, _ found: inout [Int32: Set<Insertion>]
    ) {
        vertices += 1
        found[edge.street, default: []].insert(
            Insertion(
                segment: edge.segment, vertex: edge.vertex, share: share, longitude: at.longitude,
                latitude: at.latitude))
    }

    /// The proper intersection of two edges, each with its ends on both sides of the other.
    private static func crossing(
        _ edge: Edge, _ other: Edge
    ) -> (share: Double, otherShare: Double, at: Position)? {
        let (a, b) = (other.side(edge.x.0, edge.y.0), other.side(edge.x.1, edge.y.1))
        let (c, d) = (edge.side(other.x.0, other.y.0), edge.side(other.x.1, other.y.1))
        guard (a < 0 && b > 0) || (a > 0 && b < 0), (c < 0 && d > 0) || (c > 0 && d < 0) else {
            return nil
        }
        let share = Double(a) / (Double(a) - Double(b))
        let otherShare = Double(c) / (Double(c) - Double(d))
        return (share, otherShare, Position(edge, share))
    }

    private static func insert(
        _ insertions: Set<Insertion>, into street: inout AddressGazetteer.Street
    ) {
        let sorted = insertions.sorted {
            ($0.segment, $0.vertex, $0.share, $0.longitude, $0.latitude)
                < ($1.segment, $1.vertex, $1.share, $1.longitude, $1.latitude)
        }
        var rest = sorted[...]
        while let segment = rest.first?.segment {
            let own = rest.prefix { $0.segment == segment }
            rest = rest.dropFirst(own.count)
            let line = street.segments[Int(segment)].line
            var joined: [DraftHouse] = []
            joined.reserveCapacity(line.count + own.count)
            var next = own
            for (number, vertex) in line.enumerated() {
                joined.append(vertex)
                while let one = next.first, Int(one.vertex) == number {
                    next.removeFirst()
                    var put = vertex
                    (put.longitude, put.latitude) = (one.longitude, one.latitude)
                    // Several streets may cross in one place.
                    if let last = joined.last, last.longitude == put.longitude,
                        last.latitude == put.latitude
                    {
                        continue
                    }
                    joined.append(put)
                }
            }
            street.segments[Int(segment)].line = joined
        }
    }
}
