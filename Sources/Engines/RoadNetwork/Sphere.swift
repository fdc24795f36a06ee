// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// Lengths on the sphere of 6,371,008.8 m, the mean radius of WGS 84 (IUGG).
public enum Sphere {
    /// Its radius in metres.
    public static let radius = 6_371_008.8
    /// Units of a degree in coordinates of networks.
    public static let unitsPerDegree = 1e7

    /// Metres between two points in 10⁻⁷ degrees, by the haversine formula.
    public static func distance(
        _ x1: Int32, _ y1: Int32, _ x2: Int32, _ y2: Int32
    ) -> Double {
        let scale = Double.pi / 180 / unitsPerDegree
        let (latitude1, latitude2) = (Double(y1) * scale, Double(y2) * scale)
        let north = sin((latitude2 - latitude1) / 2)
        let east = sin((Double(x2) - Double(x1)) * scale / 2)
        let haversine = north * north + cos(latitude1) * cos(latitude2) * east * east
        return 2 * radius * asin(min(1, haversine.squareRoot()))
    }

    /// Metres of a degree of latitude.
    public static let metersPerDegree = radius * .pi / 180

    /// Metres of a degree of longitude at a latitude in degrees; at least 1 % of that at the
    /// equator.
    public static func metersPerDegreeEast(latitude: Double) -> Double {
        metersPerDegree * max(0.01, cos(latitude * .pi / 180))
    }

    /// Compass bearing of a small displacement in metres, 0 ≤ degrees < 360; 0 for none.
    static func bearing(east: Double, north: Double) -> Double {
        guard east != 0 || north != 0 else { return 0 }
        let degrees = atan2(east, north) * 180 / .pi
        return degrees < 0 ? degrees + 360 : degrees
    }
}
