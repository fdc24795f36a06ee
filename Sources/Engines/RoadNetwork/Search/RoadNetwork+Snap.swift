// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Geometry
internal import Platform

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
    /// position, which within some kilometres is the same to a millionth. Reads the roads from near
    /// to far, and no farther than the last edge that is given.
    ///
    /// - Parameters:
    ///   - position: Longitude and latitude in degrees.
    ///   - radius: In metres, at most ``snapRadiusLimit``.
    ///   - count: Most edges, at least 1. The two directions of a link are two edges.
    ///   - spread: Most metres by which an edge may be farther off than the nearest one.
    ///   - heading: Directions of travel to take; nil for all.
    ///   - mode: The mode that may use the edges at some time; nil for the edges of all.
    ///   - accepts: Whether an edge counts: open to the mode, not closed by an event.
    /// - Throws: `invalidParameter` for a position outside the world, a radius or a count out of
    ///   range.
    public func nearestEdges(
        to position: Coordinate, radius: Double, count: Int, within spread: Double = .infinity,
        heading: HeadingRange? = nil, mode: Int? = nil,
        accepts: (Int) -> Bool = { _ in true }
    ) throws(Failure) -> [Snap] {
        guard radius >= 0, radius <= Self.snapRadiusLimit, count >= 1 else {
            throw Failure(
                .invalidParameter,
                "radius \(radius) m, count \(count): expected 0 to \(Self.snapRadiusLimit) m and "
                    + "at least 1")
        }
        var edges = try edges(around: position, heading: heading, mode: mode)
        var found: [Snap] = []
        var reach = radius
        while found.count < count, let next = edges.next(within: reach, accepts: accepts) {
            found.append(next)
            reach = min(radius, found[0].distance + spread)
        }
        return found
    }

    /// The edges around a position from near to far, one by one; without ferries, and with a mode
    /// without what it may never use.
    ///
    /// Throws `invalidParameter` for a position outside the world.
    public func edges(
        around position: Coordinate, heading: HeadingRange? = nil, mode: Int? = nil
    ) throws(Failure) -> EdgesByDistance {
        guard abs(position.x) <= 180, abs(position.y) <= 90 else {
            throw Failure(
                .invalidParameter,
                "position \(position.x), \(position.y): expected longitude and latitude")
        }
        let links = LinksByDistance(file, from: position, of: mode.map(usableNodes))
        return EdgesByDistance(self, links, heading)
    }

    func snap(
        _ edge: Int, _ link: Int, _ foot: SnapPlane.Foot, isBackward: Bool, _ bearing: Double,
        _ bytes: RawSpan
    ) -> Snap {
        let start = file.points(ofLink: link, bytes).lowerBound
        var before = 0.0
        for place in 0...foot.segment {
            let first = file.point(start + place, bytes)
            let second = file.point(start + place + 1, bytes)
            let length = Sphere.distance(first.x, first.y, second.x, second.y)
            before += place < foot.segment ? length : foot.share * length
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
