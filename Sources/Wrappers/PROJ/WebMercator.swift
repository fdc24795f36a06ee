// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// Spherical Web Mercator (EPSG:3857) by its formulas, vertex by vertex, radius 6 378 137 m.
///
/// Longitudes are not wrapped: 181° is east of 180°.
public enum WebMercator {
    /// The radius of the sphere in metres.
    public static let radius = 6_378_137.0
    /// The latitude at which the map is square, in degrees; latitudes beyond it are clamped to it.
    public static let latitudeLimit = 85.05112877980659

    /// Metres from degrees; not finite when an input is not.
    public static func project(longitude: Double, latitude: Double) -> (x: Double, y: Double) {
        guard !latitude.isNaN else { return (.nan, .nan) }
        let clamped = max(-latitudeLimit, min(latitudeLimit, latitude))
        return (
            radius * (longitude * .pi / 180), radius * log(tan(.pi / 4 + clamped * .pi / 360))
        )
    }

    /// Degrees from metres; not finite when an input is not.
    public static func unproject(x: Double, y: Double) -> (x: Double, y: Double) {
        guard y.isFinite else { return (.nan, .nan) }
        return (x / radius * 180 / .pi, (2 * atan(exp(y / radius)) - .pi / 2) * 180 / .pi)
    }
}
