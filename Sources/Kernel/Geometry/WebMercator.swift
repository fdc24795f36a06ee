// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// The spherical Mercator projection of web maps (EPSG:3857).
public enum WebMercator {
    /// The radius of the sphere in metres: WGS 84's semi-major axis.
    public static let radiusMeters = 6_378_137.0
    /// The latitude in degrees at which the map is a square; positions beyond it are moved to it.
    public static let latitudeLimit = 85.051_128_779_806_59

    /// Metres (x east, y north) of a WGS 84 longitude (x) and latitude (y) in degrees.
    ///
    /// The latitude is clamped to ±``latitudeLimit``; the longitude is not wrapped, so 181 is east
    /// of 180.
    public static func project(_ degrees: Coordinate) -> Coordinate {
        let latitude = max(-latitudeLimit, min(latitudeLimit, degrees.y)) * (.pi / 180)
        return Coordinate(
            x: radiusMeters * (degrees.x * (.pi / 180)),
            y: radiusMeters * log(tan(.pi / 4 + latitude / 2)))
    }

    /// The WGS 84 longitude (x) and latitude (y) in degrees of metres on the map.
    public static func unproject(_ meters: Coordinate) -> Coordinate {
        Coordinate(
            x: meters.x / radiusMeters * (180 / .pi),
            y: (2 * atan(exp(meters.y / radiusMeters)) - .pi / 2) * (180 / .pi))
    }
}
