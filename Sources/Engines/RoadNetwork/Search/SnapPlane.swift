// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// The plane that touches the sphere at a position, in metres east and north of it.
struct SnapPlane {
    private let origin: Coordinate
    private let east: Double

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

    /// Not more than the distance to any place in a rectangle in degrees, and less by a micrometre
    /// at most.
    func bound(_ box: Envelope) -> Double {
        let north = max(0, box.minY - origin.y, origin.y - box.maxY) * Sphere.metersPerDegree
        let straight = max(0, box.minX - origin.x, origin.x - box.maxX)
        let around = 360 - max(box.maxX - origin.x, origin.x - box.minX)
        let east = max(0, min(straight, around)) * self.east
        return max(0, (east * east + north * north).squareRoot() - 1e-6)
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
