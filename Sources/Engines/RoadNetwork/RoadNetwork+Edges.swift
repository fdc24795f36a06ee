// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
internal import Platform

extension RoadNetwork {
    /// What a road is called, and its kind.
    public struct Traits: Hashable, Sendable {
        /// Its class, `primary`.
        public var roadClass: String
        /// Its kinds.
        public var flags: RoadFlags
        /// Its name; empty for none.
        public var name: String
        /// Its number, `A 1;E 40`; empty for none.
        public var ref: String
        /// The destinations on its signs; empty for none.
        public var destination: String
        /// The numbers of roads on its signs; empty for none.
        public var destinationRef: String
        /// Tags that hold at times only, `key=value`; see ``RoadNetwork/timedEdges()``.
        public var conditions: [String]
    }

    /// The vertex that an edge leaves.
    public func tail(of edge: Int) -> Int { number(.tails, edge) }

    /// The vertex that an edge enters.
    public func head(of edge: Int) -> Int { number(.heads, edge) }

    /// The edges that leave a vertex.
    public func edges(leaving vertex: Int) -> Range<Int> {
        number(.firstEdges, vertex)..<number(.firstEdges, vertex + 1)
    }

    /// The link of an edge, and whether the edge runs against it.
    public func link(of edge: Int) -> (link: Int, isBackward: Bool) {
        let value = number(.edgeLinks, edge)
        return (value / 2, value & 1 == 1)
    }

    /// The edge of a link in a direction; nil where there is none.
    public func edge(ofLink link: Int, isBackward: Bool) -> Int? {
        let value = number(.linkEdges, 2 * link + (isBackward ? 1 : 0))
        return value == Int(NetworkLayout.none) ? nil : value
    }

    /// The edge of the same link in the other direction; nil where there is none.
    public func opposite(of edge: Int) -> Int? {
        let (link, isBackward) = link(of: edge)
        return self.edge(ofLink: link, isBackward: !isBackward)
    }

    /// Millimetres.
    public func length(of edge: Int) -> UInt32 {
        mapped.withBytes { file.length(edge, $0) }
    }

    /// Milliseconds; ``unreachable`` where the mode may not use it.
    public func duration(of edge: Int, mode: Int) -> UInt32 {
        mapped.withBytes { file.duration(edge, mode: mode, $0) }
    }

    /// Metres, to a micrometre: what sums of many edges are made of, where whole millimetres would
    /// add up to centimetres.
    public func exactLength(of edge: Int) -> Double {
        let link = link(of: edge).link
        return mapped.withBytes { bytes in
            let remainder = Int16(
                bitPattern: bytes.uint16(at: file.offset(.lengthRemainders, link)))
            return Double(file.length(edge, bytes)) / 1e3 + Double(remainder) / 1e6
        }
    }

    /// Seconds, to a microsecond; for an edge that the mode may use.
    public func exactDuration(of edge: Int, mode: Int) -> Double {
        mapped.withBytes { bytes in
            let place = mode * edgeCount + edge
            let remainder = Int16(
                bitPattern: bytes.uint16(at: file.offset(.durationRemainders, place)))
            return Double(file.duration(edge, mode: mode, bytes)) / 1e3 + Double(remainder) / 1e6
        }
    }

    /// Whether a mode may use an edge.
    public func access(of edge: Int, mode: Int) -> RoadAccess {
        mapped.withBytes { bytes in
            RoadAccess(
                rawValue: bytes.byte(at: file.offset(.access, mode * edgeCount + edge)))
                ?? .closed
        }
    }

    /// The strongly connected component of an edge for a mode, the largest 0; nil for a closed one.
    public func component(of edge: Int, mode: Int) -> Int? {
        let value = mapped.withBytes { file.component(edge, mode: mode, $0) }
        return value == NetworkLayout.none ? nil : Int(value)
    }

    /// Compass bearings of the first and the last 15 m of an edge, 0 ≤ degrees < 360.
    public func bearings(of edge: Int) -> (start: Double, end: Double) {
        mapped.withBytes { bytes in
            let at = file.offset(.bearings, edge)
            return (
                Double(bytes.uint16(at: at)) * 360 / 65_536,
                Double(bytes.uint16(at: at + 2)) * 360 / 65_536
            )
        }
    }

    /// The name of an edge that outlives rebuilds.
    public func name(of edge: Int) -> RoadEdge {
        let (link, isBackward) = link(of: edge)
        return mapped.withBytes { bytes in
            RoadEdge(
                way: file.way(link, bytes),
                segment: UInt32(file.number(.linkSegments, link, bytes)),
                isBackward: isBackward)
        }
    }

    /// The edge of a name; nil when this network has none.
    public func edge(named name: RoadEdge) -> Int? {
        let found = mapped.withBytes { bytes in
            let link = file.firstLink(from: name.way, name.segment, bytes)
            return link < linkCount && file.way(link, bytes) == name.way
                && file.number(.linkSegments, link, bytes) == Int(name.segment) ? link : nil
        }
        return found.flatMap { edge(ofLink: $0, isBackward: name.isBackward) }
    }

    /// The edges of a way in the source, ascending by segment, the one along the way first.
    public func edges(ofWay way: Int64) -> [Int] {
        let links = mapped.withBytes { bytes in
            file.firstLink(from: way, 0, bytes)..<file.firstLink(from: way, .max, bytes)
        }
        return links.flatMap { link in
            [false, true].compactMap { edge(ofLink: link, isBackward: $0) }
        }
    }

    /// Names and kind of an edge's road.
    public func traits(of edge: Int) -> Traits {
        let link = link(of: edge).link
        return mapped.withBytes { bytes in
            let at = file.offset(.traits, file.number(.linkTraits, link, bytes))
            func text(_ place: Int) -> String {
                file.text(Int(bytes.uint32(at: at + 4 + 4 * place)), bytes)
            }
            return Traits(
                roadClass: text(0), flags: RoadFlags(rawValue: bytes.uint32(at: at)),
                name: text(1), ref: text(2), destination: text(3), destinationRef: text(4),
                conditions: text(5).split(separator: "\n").map(String.init))
        }
    }

    /// A number that edges with the same names and kind share, for caches of what is read of them.
    public func traitsNumber(of edge: Int) -> Int { number(.linkTraits, link(of: edge).link) }

    /// Whether two edges have the same names and kind, without reading them.
    public func haveEqualTraits(_ edge: Int, _ other: Int) -> Bool {
        traitsNumber(of: edge) == traitsNumber(of: other)
    }

    /// The name of an edge's road, else its number; empty for none.
    public func street(of edge: Int) -> String {
        let traits = traitsNumber(of: edge)
        return mapped.withBytes { bytes in
            let at = file.offset(.traits, traits)
            let name = file.text(Int(bytes.uint32(at: at + 8)), bytes)
            return name.isEmpty ? file.text(Int(bytes.uint32(at: at + 12)), bytes) : name
        }
    }

    /// The flags of an edge's road.
    public func flags(of edge: Int) -> RoadFlags {
        let traits = number(.linkTraits, link(of: edge).link)
        return mapped.withBytes { RoadFlags(rawValue: $0.uint32(at: file.offset(.traits, traits))) }
    }

    /// The points of an edge in its direction, longitude and latitude in 10⁻⁷ degrees.
    public func points(of edge: Int) -> [(x: Int32, y: Int32)] {
        let (link, isBackward) = link(of: edge)
        let points = mapped.withBytes { bytes in
            file.points(ofLink: link, bytes).map { file.point($0, bytes) }
        }
        return isBackward ? points.reversed() : points
    }

    /// The shape of an edge in its direction, longitude and latitude in degrees.
    public func shape(of edge: Int) -> [Coordinate] {
        let (link, isBackward) = link(of: edge)
        return mapped.withBytes { bytes in
            let places = file.points(ofLink: link, bytes)
            var shape: [Coordinate] = []
            shape.reserveCapacity(places.count)
            for number in 0..<places.count {
                let place = isBackward ? places.upperBound - 1 - number : places.lowerBound + number
                let point = file.point(place, bytes)
                shape.append(SnapIndex.degrees(point.x, point.y))
            }
            return shape
        }
    }

    /// Position of a vertex, longitude and latitude in degrees, and the source's id of its node.
    public func vertex(_ vertex: Int) -> (position: Coordinate, node: Int64) {
        mapped.withBytes { bytes in
            let at = file.offset(.vertices, vertex)
            return (
                SnapIndex.degrees(
                    Int32(bitPattern: bytes.uint32(at: at)),
                    Int32(bitPattern: bytes.uint32(at: at + 4))),
                Int64(bitPattern: bytes.uint64(at: at + 8))
            )
        }
    }

    func number(_ section: NetworkLayout.Section, _ index: Int) -> Int {
        mapped.withBytes { file.number(section, index, $0) }
    }
}
