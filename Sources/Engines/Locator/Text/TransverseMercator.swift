// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry
internal import Glibc

/// The inverse projection of UTM zones on WGS 84, from metres to degrees.
///
/// By Krüger's series to the sixth power of the third flattening, as in C. F. F. Karney,
/// “Transverse Mercator with an accuracy of a few nanometers”, Journal of Geodesy 85 (2011),
/// equations 10 to 12, 14, 19 to 21 and 36.
enum TransverseMercator {
    private static let equator = 6_378_137.0
    private static let flattening = 1 / 298.257_223_563
    private static let scale = 0.9996
    private static let falseEasting = 500_000.0
    private static let falseNorthing = 10_000_000.0

    private static let n = flattening / (2 - flattening)
    private static let squaredEccentricity = flattening * (2 - flattening)
    /// The rectifying radius, scaled to the map.
    private static let radius: Double = {
        let n2 = n * n
        return scale * equator / (1 + n) * (1 + n2 / 4 + n2 * n2 / 64 + n2 * n2 * n2 / 256)
    }()

    /// Coefficients of sines of two, four … twelve times the angle.
    private static let coefficients: [Double] = {
        let terms: [[Double]] = [
            [1.0 / 2, -2.0 / 3, 37.0 / 96, -1.0 / 360, -81.0 / 512, 96_199.0 / 604_800],
            [1.0 / 48, 1.0 / 15, -437.0 / 1_440, 46.0 / 105, -1_118_711.0 / 3_870_720],
            [17.0 / 480, -37.0 / 840, -209.0 / 4_480, 5_569.0 / 90_720],
            [4_397.0 / 161_280, -11.0 / 504, -830_251.0 / 7_257_600],
            [4_583.0 / 161_280, -108_847.0 / 3_991_680],
            [20_648_693.0 / 638_668_800],
        ]
        return terms.enumerated().map { first, factors in
            factors.enumerated().reduce(0) { sum, term in
                sum + term.element * pow(n, Double(first + 1 + term.offset))
            }
        }
    }()

    /// Longitude from −180 to 180 and latitude for an easting and northing in metres.
    ///
    /// - Parameters:
    ///   - zone: 1…60.
    ///   - isSouth: Whether northings are counted from 10,000 km south of the equator.
    static func location(
        zone: Int, isSouth: Bool, easting: Double, northing: Double
    ) -> Coordinate {
        let xi = (northing - (isSouth ? falseNorthing : 0)) / radius
        let eta = (easting - falseEasting) / radius
        var (angle, width) = (xi, eta)
        for (number, factor) in coefficients.enumerated() {
            let times = 2 * Double(number + 1)
            angle -= factor * sin(times * xi) * cosh(times * eta)
            width -= factor * cos(times * xi) * sinh(times * eta)
        }
        let away = atan2(sinh(width), cos(angle))
        let conformal = sin(angle) / hypot(sinh(width), cos(angle))
        let latitude = atan(tangent(ofConformal: conformal))
        var longitude = Double(zone * 6 - 183) + away * 180 / .pi
        if longitude > 180 { longitude -= 360 }
        if longitude < -180 { longitude += 360 }
        return Coordinate(x: longitude, y: latitude * 180 / .pi)
    }

    /// The tangent of the latitude with the given tangent of its conformal latitude, by Newton's
    /// method, which converges in two steps.
    private static func tangent(ofConformal wanted: Double) -> Double {
        let eccentricity = squaredEccentricity.squareRoot()
        var tangent = wanted
        for _ in 0..<4 {
            let secant = hypot(1, tangent)
            let sigma = sinh(eccentricity * atanh(eccentricity * tangent / secant))
            let conformal = tangent * hypot(1, sigma) - sigma * secant
            tangent +=
                (wanted - conformal) / hypot(1, conformal)
                * (1 + (1 - squaredEccentricity) * tangent * tangent)
                / ((1 - squaredEccentricity) * secant)
        }
        return tangent
    }
}
