// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

/// The curve between two points on the ellipsoid.
public enum GeodeticCurveType: Sendable {
    /// The shortest one.
    case geodesic
}

/// Distance and directions between two points on the ellipsoid.
public struct GeodeticDistanceResult: Sendable {
    /// The distance.
    public let distance: Measurement<UnitLength>
    /// The direction at the first point towards the second, from north, clockwise.
    public let azimuth1: Measurement<UnitAngle>
    /// The direction at the second point towards the first.
    public let azimuth2: Measurement<UnitAngle>
}

extension GeometryEngine {
    /// The distance on the ellipsoid of WGS 84, to 0.1 mm.
    ///
    /// Vincenty's inverse solution (Survey Review 23, 1975). Nil for points in references other
    /// than WGS 84 and Web Mercator, and for points nearly opposite each other on the earth, where
    /// the method finds nothing.
    public static func geodeticDistance(
        from first: Point, to second: Point, distanceUnit: UnitLength? = nil,
        azimuthUnit: UnitAngle? = nil, curveType: GeodeticCurveType = .geodesic
    ) -> GeodeticDistanceResult? {
        guard let first = try? projected(first, into: .wgs84),
            let second = try? projected(second, into: .wgs84),
            let found = inverse(first.x, first.y, second.x, second.y)
        else { return nil }
        func angle(_ radians: Double) -> Measurement<UnitAngle> {
            let turn = radians * 180 / .pi
            let degrees = Measurement(value: turn < 0 ? turn + 360 : turn, unit: UnitAngle.degrees)
            return azimuthUnit.map { degrees.converted(to: $0) } ?? degrees
        }
        let meters = Measurement(value: found.meters, unit: UnitLength.meters)
        return GeodeticDistanceResult(
            distance: distanceUnit.map { meters.converted(to: $0) } ?? meters,
            azimuth1: angle(found.there), azimuth2: angle(found.back))
    }

    /// The distance in metres and the directions in radians from north, clockwise; nil where the
    /// method finds nothing.
    static func inverse(
        _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double
    ) -> (meters: Double, there: Double, back: Double)? {
        let (major, flattening) = (6_378_137.0, 1 / 298.257_223_563)
        let minor = major * (1 - flattening)
        guard [x1, y1, x2, y2].allSatisfy(\.isFinite), abs(y1) <= 90, abs(y2) <= 90 else {
            return nil
        }
        let difference = (x2 - x1) * .pi / 180
        let reduced = [y1, y2].map { atan((1 - flattening) * tan($0 * .pi / 180)) }
        let (sin1, cos1) = (sin(reduced[0]), cos(reduced[0]))
        let (sin2, cos2) = (sin(reduced[1]), cos(reduced[1]))
        var lambda = difference
        for _ in 0..<200 {
            let (sinLambda, cosLambda) = (sin(lambda), cos(lambda))
            let (east, north) = (cos2 * sinLambda, cos1 * sin2 - sin1 * cos2 * cosLambda)
            let sinSigma = (east * east + north * north).squareRoot()
            if sinSigma == 0 { return (0, 0, 0) }
            let cosSigma = sin1 * sin2 + cos1 * cos2 * cosLambda
            let sigma = atan2(sinSigma, cosSigma)
            let sinAlpha = cos1 * cos2 * sinLambda / sinSigma
            let squared = 1 - sinAlpha * sinAlpha
            // Along the equator the middle is anywhere.
            let middle = squared > 1e-15 ? cosSigma - 2 * sin1 * sin2 / squared : 0
            let share = flattening / 16 * squared * (4 + flattening * (4 - 3 * squared))
            let next =
                difference + (1 - share) * flattening * sinAlpha
                * (sigma + share * sinSigma
                    * (middle + share * cosSigma * (2 * middle * middle - 1)))
            guard abs(next - lambda) < 1e-12 else {
                lambda = next
                continue
            }
            let ratio = squared * (major * major - minor * minor) / (minor * minor)
            let a = 1 + ratio / 16_384 * (4_096 + ratio * (ratio * (320 - 175 * ratio) - 768))
            let b = ratio / 1_024 * (256 + ratio * (ratio * (74 - 47 * ratio) - 128))
            let inner = cosSigma * (2 * middle * middle - 1)
            let outer =
                b / 6 * middle * (4 * sinSigma * sinSigma - 3) * (4 * middle * middle - 3)
            let correction = b * sinSigma * (middle + b / 4 * (inner - outer))
            // The direction back is that of arrival, turned round.
            let arrival = atan2(cos1 * sinLambda, cos1 * sin2 * cosLambda - sin1 * cos2)
            return (
                minor * a * (sigma - correction), atan2(east, north),
                arrival > 0 ? arrival - .pi : arrival + .pi
            )
        }
        return nil
    }
}
