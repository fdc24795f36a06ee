// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

extension GeometryEngine {
    /// The place at a distance in metres and a direction in radians from another, in degrees on WGS
    /// 84; its longitude goes on beyond 180 degrees.
    ///
    /// Vincenty's direct solution (Survey Review 23, 1975).
    static func place(from start: Place, meters: Double, azimuth: Double) -> Place {
        let (major, flattening) = (6_378_137.0, 1 / 298.257_223_563)
        let minor = major * (1 - flattening)
        let reduced = atan((1 - flattening) * tan(start.y * .pi / 180))
        let (sin1, cos1) = (sin(reduced), cos(reduced))
        let (sinAzimuth, cosAzimuth) = (sin(azimuth), cos(azimuth))
        let sigma1 = atan2(sin1, cos1 * cosAzimuth)
        let sinAlpha = cos1 * sinAzimuth
        let squared = 1 - sinAlpha * sinAlpha
        let ratio = squared * (major * major - minor * minor) / (minor * minor)
        let a = 1 + ratio / 16_384 * (4_096 + ratio * (ratio * (320 - 175 * ratio) - 768))
        let b = ratio / 1_024 * (256 + ratio * (ratio * (74 - 47 * ratio) - 128))
        let whole = meters / (minor * a)
        var sigma = whole
        var middle = 0.0
        for _ in 0..<100 {
            middle = cos(2 * sigma1 + sigma)
            let inner = cos(sigma) * (2 * middle * middle - 1)
            let outer =
                b / 6 * middle * (4 * sin(sigma) * sin(sigma) - 3) * (4 * middle * middle - 3)
            let next = whole + b * sin(sigma) * (middle + b / 4 * (inner - outer))
            let change = abs(next - sigma)
            sigma = next
            if change < 1e-13 { break }
        }
        let (sinSigma, cosSigma) = (sin(sigma), cos(sigma))
        middle = cos(2 * sigma1 + sigma)
        let latitude = atan2(
            sin1 * cosSigma + cos1 * sinSigma * cosAzimuth,
            (1 - flattening)
                * hypot(sinAlpha, sin1 * sinSigma - cos1 * cosSigma * cosAzimuth))
        let lambda = atan2(
            sinSigma * sinAzimuth, cos1 * cosSigma - sin1 * sinSigma * cosAzimuth)
        let share = flattening / 16 * squared * (4 + flattening * (4 - 3 * squared))
        let longitude =
            lambda - (1 - share) * flattening * sinAlpha
            * (sigma + share * sinSigma
                * (middle + share * cosSigma * (2 * middle * middle - 1)))
        return Place(start.x + longitude * 180 / .pi, latitude * 180 / .pi)
    }

    /// Places along the shortest line between two, at most some metres apart; the first and the
    /// last are the two, the longitude of the last as it is reached.
    ///
    /// Throws ``CairnError`` (`invalidArgument`) for places nearly opposite each other on the earth
    /// or beyond a pole, and where more places than `limit` are needed.
    static func geodesic(
        from start: Place, to end: Place, atMost meters: Double, limit: Int
    ) throws -> [Place] {
        guard let found = inverse(start.x, start.y, end.x, end.y) else {
            throw CairnError(
                .invalidArgument,
                "there is no shortest line from (\(start.x), \(start.y)) to (\(end.x), \(end.y))")
        }
        let count = (found.meters / meters).rounded(.up)
        guard count <= Double(limit) else { throw tooMany(count, limit) }
        var last = end
        last.x += ((start.x - end.x) / 360).rounded() * 360
        guard count > 1 else { return [start, last] }
        let inner = (1..<Int(count)).map { index in
            let share = Double(index) / count
            var place = place(
                from: start, meters: found.meters * share, azimuth: found.there)
            (place.z, place.m) = (start.blend(end, share, \.z), start.blend(end, share, \.m))
            return place
        }
        return [start] + inner + [last]
    }

    static func tooMany(_ count: Double, _ limit: Int) -> CairnError {
        CairnError(
            .invalidArgument, "the result would have \(count) vertices, expected at most \(limit)")
    }
}

extension Place {
    /// The value at a share of the way to another place; nil where one has none.
    func blend(_ other: Place, _ share: Double, _ value: KeyPath<Place, Double?>) -> Double? {
        guard let start = self[keyPath: value], let end = other[keyPath: value] else { return nil }
        return start + (end - start) * share
    }
}
