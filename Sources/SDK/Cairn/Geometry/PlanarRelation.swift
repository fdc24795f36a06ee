// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// How two geometries of one reference lie to each other in the plane.
enum PlanarRelation {
    /// Whether they have a point in common.
    static func intersects(_ one: Geometry, _ other: Geometry) -> Bool {
        one.places.contains { GeometryEngine.distance(from: $0, to: other) == 0 }
            || other.places.contains { GeometryEngine.distance(from: $0, to: one) == 0 }
            || cross(one, other)
    }

    /// Whether every point of the other is in or on the first, by its vertices and crossings.
    static func contains(_ one: Geometry, _ other: Geometry) -> Bool {
        other.places.allSatisfy { GeometryEngine.distance(from: $0, to: one) == 0 }
            && !cross(one, other)
    }

    private static func lines(_ geometry: Geometry) -> [[Place]] {
        (geometry.parted as? Multipart)?.lines ?? []
    }

    /// Whether two segments cross, each on both sides of the other.
    private static func cross(_ one: Geometry, _ other: Geometry) -> Bool {
        func side(_ a: Place, _ b: Place, _ c: Place) -> Double {
            (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
        }
        let others = lines(other).flatMap { zip($0, $0.dropFirst()).map { ($0, $1) } }
        guard !others.isEmpty else { return false }
        for line in lines(one) {
            for (a, b) in zip(line, line.dropFirst()) {
                for (c, d) in others
                where side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0 {
                    return true
                }
            }
        }
        return false
    }
}
