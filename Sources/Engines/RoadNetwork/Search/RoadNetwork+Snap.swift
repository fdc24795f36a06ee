// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
internal import Platform
internal import SpatialIndex

extension RoadNetwork {
    /// A place on an edge near a position.
    public struct Snap: Hashable, Sendable {
        /// The edge.
        public var edge: Int
        /// Millimetres along the edge from its tail, 0 to its length.
        public var offset: UInt32
        /// The nearest point of the edge, longitude and latitude in degrees.
        public var position: Coordinate
        /// Metres from the position to it.
        public var distance: Double
        /// The side of the edge, in its direction, on which the position is.
        public var side: Side
        /// Compass bearing of the edge there, 0 ≤ degrees < 360.
        public var heading: Double
    }

    /// A side of an edge in its direction.
    public enum Side: Hashable, Sendable { case left, right, on }

    /// A direction of travel that snapped edges must have.
    public struct HeadingRange: Hashable, Sendable {
        /// Compass bearing in degrees.
        public var heading: Double
        /// Degrees to either side.
        public var tolerance: Double

        /// Creates a range.
        public init(heading: Double, tolerance: Double) {
            self.heading = heading
            self.tolerance = tolerance
        }

        func contains(_ other: Double) -> Bool {
            let turn = abs(heading - other).truncatingRemainder(dividingBy: 360)
            return min(turn, 360 - turn) <= tolerance
        }
    }

    /// Largest radius of a search, in metres.
    public static let snapRadiusLimit = 100_000.0

    /// The edges nearest to a position, nearest first, edges of equal distance by number.
    ///
    /// Ferries are left out. Distances are those of the plane that touches the sphere at the
    /// position, which within some kilometres is the same to a millionth.
    ///
    /// - Parameters:
    ///   - position: Longitude and latitude in degrees.
    ///   - radius: In metres, at most ``snapRadiusLimit``.
    ///   - count: Most edges, at least 1. The two directions of a link are two edges.
    ///   - heading: Directions of travel to take; nil for all.
    ///   - accepts: Whether an edge counts: open to the mode, not closed by an event.
    /// - Throws: `invalidParameter` for a position outside the world, a radius or a count out of
    ///   range.
    public func nearestEdges(
        to position: Coordinate, radius: Double, count: Int, heading: HeadingRange? = nil,
        accepts: (Int) -> Bool = { _ in true }
    ) throws(Failure) -> [Snap] {
        guard abs(position.x) <= 180, abs(position.y) <= 90 else {
            throw Failure(
                .invalidParameter,
                "position \(position.x), \(position.y): expected longitude and latitude")
        }
        guard radius >= 0, radius <= Self.snapRadiusLimit, count >= 1 else {
            throw Failure(
                .invalidParameter,
                "radius \(radius) m, count \(count): expected 0 to \(Self.snapRadiusLimit) m and "
                    + "at least 1")
        }
        var reach = min(radius, 60)
        while true {
            let found = snaps(position, reach, heading, accepts)
            if found.count >= count || reach >= radius {
                return Array(found.sorted(by: Self.isNearer).prefix(count))
            }
            reach = min(radius, reach * 4)
        }
    }

    private static func isNearer(_ left: Snap, _ right: Snap) -> Bool {
        (left.distance, left.edge) < (right.distance, right.edge)
    }

    /// All edges within a distance.
    private func snaps(
        _ position: Coordinate, _ reach: Double, _ heading: HeadingRange?,
        _ accepts: (Int) -> Bool
    ) -> [Snap] {
        let plane = SnapPlane(position)
        return mapped.withBytes { bytes in
            var nearest: [Int: SnapPlane.Foot] = [:]
            let tree = bytes.extracting(file.sections[NetworkLayout.Section.tree.rawValue])
            for box in plane.boxes(reach) {
                file.snapping.tree.search(tree, box) { leaf in
                    let (link, start) = SnapIndex.piece(leaf.offset)
                    let range = file.points(ofLink: link, bytes)
                    let end = min(start + SnapIndex.segmentsOfPiece, range.count - 1)
                    for place in start..<end {
                        let first = file.point(range.lowerBound + place, bytes)
                        let second = file.point(range.lowerBound + place + 1, bytes)
                        let foot = plane.foot(place, first, second)
                        guard foot.distance <= reach else { continue }
                        if let known = nearest[link], !foot.isNearer(than: known) { continue }
                        nearest[link] = foot
                    }
                }
            }
            var found: [Snap] = []
            for (link, foot) in nearest {
                for isBackward in [false, true] {
                    guard let edge = edge(ofLink: link, isBackward: isBackward),
                        !flags(of: edge).contains(.ferry)
                    else { continue }
                    let bearing = foot.bearing(isBackward: isBackward)
                    guard heading?.contains(bearing) ?? true, accepts(edge) else { continue }
                    found.append(
                        snap(edge, link, foot, isBackward: isBackward, bearing, bytes))
                }
            }
            return found
        }
    }

    private func snap(
        _ edge: Int, _ link: Int, _ foot: SnapPlane.Foot, isBackward: Bool, _ bearing: Double,
        _ bytes: RawSpan
    ) -> Snap {
        let range = file.points(ofLink: link, bytes)
        var (before, whole) = (0.0, 0.0)
        for place in 0..<range.count - 1 {
            let first = file.point(range.lowerBound + place, bytes)
            let second = file.point(range.lowerBound + place + 1, bytes)
            let length = Sphere.distance(first.x, first.y, second.x, second.y)
            if place < foot.segment { before += length }
            if place == foot.segment { before += foot.share * length }
            whole += length
        }
        let length = file.length(edge, bytes)
        let along = min(UInt32((before * 1000).rounded()), length)
        return Snap(
            edge: edge, offset: isBackward ? length - along : along, position: foot.position,
            distance: foot.distance,
            side: foot.cross == 0 ? .on : (foot.cross > 0) == isBackward ? .right : .left,
            heading: bearing)
    }
}

/// The plane that touches the sphere at a position, in metres east and north of it.
private struct SnapPlane {
    let origin: Coordinate
    let east: Double

    /// The nearest point of a segment.
    struct Foot {
        var segment: Int
        /// Its place on the segment, 0…1.
        var share: Double
        var distance: Double
        var position: Coordinate
        /// Twice the area of the triangle of segment and origin; positive where the origin is left.
        var cross: Double
        var direction: (east: Double, north: Double)

        func isNearer(than other: Foot) -> Bool {
            (distance, segment) < (other.distance, other.segment)
        }

        func bearing(isBackward: Bool) -> Double {
            isBackward
                ? Sphere.bearing(east: -direction.east, north: -direction.north)
                : Sphere.bearing(east: direction.east, north: direction.north)
        }
    }

    init(_ origin: Coordinate) {
        self.origin = origin
        east = Sphere.metersPerDegreeEast(latitude: origin.y)
    }

    /// The rectangles in degrees that hold all within a distance; two where it reaches beyond 180°.
    func boxes(_ reach: Double) -> [Envelope] {
        // At the top of the rectangle a degree has fewer metres; 10⁻⁷ degrees for what is rounded.
        let north = reach / Sphere.metersPerDegree + 1e-7
        let top = min(90, abs(origin.y) + north)
        let width = reach / min(east, Sphere.metersPerDegreeEast(latitude: top)) + 1e-7
        let box = Envelope(
            minX: origin.x - width, minY: origin.y - north, maxX: origin.x + width,
            maxY: origin.y + north)
        var boxes = [box]
        for shift in [-360.0, 360.0] where box.minX < -180 || box.maxX > 180 {
            boxes.append(
                Envelope(
                    minX: box.minX + shift, minY: box.minY, maxX: box.maxX + shift,
                    maxY: box.maxY))
        }
        return boxes
    }

    private func metres(_ x: Int32, _ y: Int32) -> (east: Double, north: Double) {
        let point = SnapIndex.degrees(x, y)
        var longitude = point.x - origin.x
        if longitude > 180 { longitude -= 360 }
        if longitude < -180 { longitude += 360 }
        return (longitude * east, (point.y - origin.y) * Sphere.metersPerDegree)
    }

    func foot(_ segment: Int, _ first: (x: Int32, y: Int32), _ second: (x: Int32, y: Int32)) -> Foot
    {
        let (a, b) = (metres(first.x, first.y), metres(second.x, second.y))
        let direction = (east: b.east - a.east, north: b.north - a.north)
        let square = direction.east * direction.east + direction.north * direction.north
        let share =
            square > 0
            ? max(0, min(1, -(a.east * direction.east + a.north * direction.north) / square)) : 0
        let (x, y) = (a.east + share * direction.east, a.north + share * direction.north)
        let (from, to) = (
            SnapIndex.degrees(first.x, first.y), SnapIndex.degrees(second.x, second.y)
        )
        return Foot(
            segment: segment, share: share, distance: (x * x + y * y).squareRoot(),
            position: Coordinate(
                x: from.x + share * (to.x - from.x), y: from.y + share * (to.y - from.y)),
            cross: a.east * direction.north - a.north * direction.east, direction: direction)
    }
}
