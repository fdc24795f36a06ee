// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Glibc

/// Distances on a sphere of the Earth's mean radius.
enum Sphere {
    /// The radius in metres.
    static let radius = 6_371_008.8

    /// The great-circle distance of a squared chord of the unit sphere, in metres.
    static func meters(squaredChord: Double) -> Double {
        2 * radius * asin(min(1, squaredChord.squareRoot() / 2))
    }

    /// The squared chord of the unit sphere for a great-circle distance; 4, the largest, from half
    /// the circumference on.
    static func squaredChord(meters: Double) -> Double {
        guard meters < .pi * radius else { return 4 }
        let chord = 2 * sin(meters / (2 * radius))
        return chord * chord
    }

    /// The great-circle distance of two positions in longitude and latitude.
    static func meters(from start: Coordinate, to end: Coordinate) -> Double {
        meters(squaredChord: UnitVector(start).squaredChord(to: UnitVector(end)))
    }

    /// Whether the rectangle contains the position, whose longitude wraps around.
    static func envelope(_ envelope: Envelope, contains location: Coordinate) -> Bool {
        guard envelope.minY <= location.y, location.y <= envelope.maxY else { return false }
        // A western bound east of the eastern one means a rectangle across the antimeridian.
        let maxX = envelope.maxX < envelope.minX ? envelope.maxX + 360 : envelope.maxX
        return [-360.0, 0, 360].contains { turn in
            envelope.minX <= location.x + turn && location.x + turn <= maxX
        }
    }

    /// A rectangle with at least `radiusMeters` to every side; latitudes stay within ±90,
    /// longitudes may pass ±180.
    static func envelope(around location: Coordinate, radiusMeters: Double) -> Envelope {
        let north = radiusMeters / radius * 180 / .pi
        let shrink = max(cos(location.y * .pi / 180), 0.01)
        let east = min(north / shrink, 180)
        return Envelope(
            minX: location.x - east, minY: max(location.y - north, -90), maxX: location.x + east,
            maxY: min(location.y + north, 90))
    }
}

/// A point of the unit sphere: x through longitude 0, z through the north pole.
struct UnitVector {
    var x: Double
    var y: Double
    var z: Double

    init(x: Double, y: Double, z: Double) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// Converts longitude and latitude in degrees; any finite longitude wraps around.
    init(_ location: Coordinate) {
        let longitude = location.x * .pi / 180
        let latitude = location.y * .pi / 180
        x = cos(latitude) * cos(longitude)
        y = cos(latitude) * sin(longitude)
        z = sin(latitude)
    }

    func squaredChord(to other: UnitVector) -> Double {
        let (dx, dy, dz) = (x - other.x, y - other.y, z - other.z)
        return dx * dx + dy * dy + dz * dz
    }
}

/// The smallest bounding box of positions in longitude and latitude, across the antimeridian where
/// that is smaller.
struct GeographicBounds {
    private var whole = Envelope.empty
    /// The bounding box with longitudes from 0 to 360.
    private var shifted = Envelope.empty

    mutating func add(_ location: Coordinate) {
        whole.extend(to: location)
        let x = location.x < 0 ? location.x + 360 : location.x
        shifted.extend(to: Coordinate(x: x, y: location.y))
    }

    /// The rectangle with a margin on every side; longitudes up to 360 plus the margin.
    func envelope(marginDegrees: Double) -> Envelope {
        var result = shifted.width < whole.width ? shifted : whole
        if result.minX > 180 {
            result.minX -= 360
            result.maxX -= 360
        }
        result = result.expanded(by: marginDegrees)
        result.minY = max(result.minY, -90)
        result.maxY = min(result.maxY, 90)
        return result
    }
}
