// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension Shape {
    /// A representative coordinate of the shape: inside a polygon, its centroid if that is inside;
    /// the middle vertex of a line's longest path (by vertices); the first of several points.
    ///
    /// Nil for a shape without coordinates, or with a coordinate that is not finite.
    public var pointOnSurface: Coordinate? {
        let found: Coordinate? =
            switch self {
            case .point(let coordinate): coordinate
            case .multipoint(let coordinates): coordinates.first
            case .polyline(let paths):
                paths.max { $0.count < $1.count }.flatMap {
                    $0.isEmpty ? nil : $0[$0.count / 2]
                }
            case .polygon(let rings): Self.inside(rings) ?? rings.first?.first
            case .envelope(let box): box.isEmpty ? nil : box.center
            }
        return found.flatMap { $0.isFinite ? $0 : nil }
    }

    private static func inside(_ rings: [[Coordinate]]) -> Coordinate? {
        let shape = Shape.polygon(rings: rings)
        guard let centroid = shape.centroid else { return nil }
        if PreparedShape(shape, isIndexed: false).contains(centroid) { return centroid }
        let box = PreparedShape(shape, isIndexed: false).envelope
        return widest(rings, at: centroid.y) ?? widest(rings, at: box.center.y)
    }

    /// The middle of the widest stretch inside the rings along a line of one y.
    private static func widest(_ rings: [[Coordinate]], at y: Double) -> Coordinate? {
        var crossings: [Double] = []
        for ring in rings {
            for (a, b) in zip(ring, ring.dropFirst()) where (a.y <= y) != (b.y <= y) {
                crossings.append(a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x))
            }
        }
        crossings.sort()
        let stretches = stride(from: 0, to: crossings.count - 1, by: 2).map {
            (crossings[$0], crossings[$0 + 1])
        }
        guard let best = stretches.max(by: { $0.1 - $0.0 < $1.1 - $1.0 }), best.1 > best.0 else {
            return nil
        }
        return Coordinate(x: (best.0 + best.1) / 2, y: y)
    }
}
