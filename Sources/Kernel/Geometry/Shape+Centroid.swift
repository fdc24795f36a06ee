// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension Shape {
    /// The centroid of the parts of highest dimension: of area, else of length, else of positions.
    ///
    /// Rings are weighted with the sign of their winding, relative to the largest: a hole wound the
    /// other way is subtracted. It may be outside the shape. Nil without coordinates.
    public var centroid: Coordinate? {
        switch self {
        case .point(let coordinate): coordinate
        case .multipoint(let coordinates): Self.mean(coordinates)
        case .polyline(let parts): Self.lineCentre(parts) ?? Self.mean(parts.flatMap { $0 })
        case .polygon(let parts):
            Self.areaCentre(parts) ?? Self.lineCentre(parts) ?? Self.mean(parts.flatMap { $0 })
        case .envelope(let box): box.isEmpty ? nil : box.center
        }
    }

    private static func mean(_ coordinates: [Coordinate]) -> Coordinate? {
        let count = Double(coordinates.count)
        guard count > 0 else { return nil }
        let sum = coordinates.reduce((0.0, 0.0)) { ($0.0 + $1.x / count, $0.1 + $1.y / count) }
        return Coordinate(x: sum.0, y: sum.1)
    }

    private static func lineCentre(_ parts: [[Coordinate]]) -> Coordinate? {
        var (x, y, total) = (0.0, 0.0, 0.0)
        for part in parts {
            for (a, b) in zip(part, part.dropFirst()) {
                let (dx, dy) = (b.x - a.x, b.y - a.y)
                let length = (dx * dx + dy * dy).squareRoot()
                x += length * (a.x + b.x) / 2
                y += length * (a.y + b.y) / 2
                total += length
            }
        }
        return total > 0 && total.isFinite ? Coordinate(x: x / total, y: y / total) : nil
    }

    private static func areaCentre(_ rings: [[Coordinate]]) -> Coordinate? {
        guard let origin = rings.first?.first else { return nil }
        var (x, y, total) = (0.0, 0.0, 0.0)
        for ring in rings {
            for (a, b) in zip(ring, ring.dropFirst()) {
                // Relative to one corner, so that far from the origin digits are not lost.
                let (ax, ay, bx, by) = (
                    a.x - origin.x, a.y - origin.y, b.x - origin.x, b.y - origin.y
                )
                let cross = ax * by - bx * ay
                x += cross * (ax + bx) / 3
                y += cross * (ay + by) / 3
                total += cross
            }
        }
        guard total != 0, total.isFinite else { return nil }
        let centre = Coordinate(x: origin.x + x / total, y: origin.y + y / total)
        return centre.isFinite ? centre : nil
    }
}
