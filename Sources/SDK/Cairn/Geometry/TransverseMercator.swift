// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

/// Transverse Mercator of UTM on WGS 84, by Krüger's series in the third flattening up to its
/// sixth power: below a micrometre within a zone.
enum TransverseMercator {
    private static let major = 6_378_137.0
    private static let flattening = 1 / 298.257_223_563
    private static let scale = 0.9996
    private static let third = flattening / (2 - flattening)
    private static let radius: Double = {
        let n2 = third * third
        return major / (1 + third) * (1 + n2 / 4 + n2 * n2 / 64 + n2 * n2 * n2 / 256)
    }()
    private static let eccentricity = (flattening * (2 - flattening)).squareRoot()

    /// The polynomials of Karney (Transverse Mercator with an accuracy of a few nanometers, 2011).
    private static let alpha: [Double] = {
        let n = third
        return [
            sum(n, [1 / 2, -2 / 3, 5 / 16, 41 / 180, -127 / 288, 7_891 / 37_800], 1),
            sum(n, [13 / 48, -3 / 5, 557 / 1_440, 281 / 630, -1_983_433 / 1_935_360], 2),
            sum(n, [61 / 240, -103 / 140, 15_061 / 26_880, 167_603 / 181_440], 3),
            sum(n, [49_561 / 161_280, -179 / 168, 6_601_661 / 7_257_600], 4),
            sum(n, [34_729 / 80_640, -3_418_889 / 1_995_840], 5),
            sum(n, [212_378_941 / 319_334_400], 6),
        ]
    }()

    private static let beta: [Double] = {
        let n = third
        return [
            sum(n, [1 / 2, -2 / 3, 37 / 96, -1 / 360, -81 / 512, 96_199 / 604_800], 1),
            sum(n, [1 / 48, 1 / 15, -437 / 1_440, 46 / 105, -1_118_711 / 3_870_720], 2),
            sum(n, [17 / 480, -37 / 840, -209 / 4_480, 5_569 / 90_720], 3),
            sum(n, [4_397 / 161_280, -11 / 504, -830_251 / 7_257_600], 4),
            sum(n, [4_583 / 161_280, -108_847 / 3_991_680], 5),
            sum(n, [20_648_693 / 638_668_800], 6),
        ]
    }()

    private static func sum(_ n: Double, _ factors: [Double], _ power: Int) -> Double {
        factors.reversed().reduce(0) { $0 * n + $1 } * pow(n, Double(power))
    }

    /// Easting and northing in metres; northings of the south begin at 10,000 km.
    static func forward(_ latitude: Double, _ longitude: Double, zone: Int) -> (
        x: Double, y: Double
    ) {
        var turn = longitude - (Double(zone) * 6 - 183)
        turn -= 360 * (turn / 360).rounded()
        let (phi, lambda) = (latitude * .pi / 180, turn * .pi / 180)
        let sine = sin(phi)
        let tangent = sinh(atanh(sine) - eccentricity * atanh(eccentricity * sine))
        let xi = atan2(tangent, cos(lambda))
        let eta = asinh(sin(lambda) / hypot(tangent, cos(lambda)))
        var (north, east) = (xi, eta)
        for (index, factor) in alpha.enumerated() {
            let order = 2 * Double(index + 1)
            north += factor * sin(order * xi) * cosh(order * eta)
            east += factor * cos(order * xi) * sinh(order * eta)
        }
        return (
            500_000 + scale * radius * east,
            (latitude < 0 ? 10_000_000 : 0) + scale * radius * north
        )
    }

    static func inverse(
        _ easting: Double, _ northing: Double, zone: Int, isSouth: Bool
    ) -> (latitude: Double, longitude: Double) {
        let xi = (northing - (isSouth ? 10_000_000 : 0)) / (scale * radius)
        let eta = (easting - 500_000) / (scale * radius)
        var (north, east) = (xi, eta)
        for (index, factor) in beta.enumerated() {
            let order = 2 * Double(index + 1)
            north -= factor * sin(order * xi) * cosh(order * eta)
            east -= factor * cos(order * xi) * sinh(order * eta)
        }
        let wanted = sin(north) / hypot(sinh(east), cos(north))
        // From the conformal to the geographic latitude, by Newton.
        var tangent = wanted
        for _ in 0..<5 {
            let root = (1 + tangent * tangent).squareRoot()
            let sigma = sinh(eccentricity * atanh(eccentricity * tangent / root))
            let found = tangent * (1 + sigma * sigma).squareRoot() - sigma * root
            let square = 1 - eccentricity * eccentricity
            tangent +=
                (wanted - found) / (1 + found * found).squareRoot()
                * (1 + square * tangent * tangent) / (square * root)
        }
        let lambda = atan2(sinh(east), cos(north)) * 180 / .pi
        var longitude = Double(zone) * 6 - 183 + lambda
        if longitude >= 180 { longitude -= 360 }
        return (atan(tangent) * 180 / .pi, longitude)
    }
}
