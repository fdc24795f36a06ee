// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Geometry

/// The winding that Esri JSON asks for: exterior rings clockwise, holes counter-clockwise.
enum RingOrder {
    /// The rings in their order, each turned as its nesting demands.
    ///
    /// A ring inside an odd number of others is a hole. Rings nest or are disjoint; they may touch. Costs n² envelope tests.
    static func esri(_ rings: [[Coordinate]]) -> [[Coordinate]] {
        guard rings.count > 1 else { return rings.map { oriented($0, clockwise: true) } }
        let envelopes = rings.map { Shape.multipoint($0).envelope }
        return rings.indices.map { ring in
            let around = rings.indices.count { other in
                other != ring && encloses(envelopes[other], envelopes[ring])
                    && lies(rings[ring], inside: rings[other])
            }
            return oriented(rings[ring], clockwise: around.isMultiple(of: 2))
        }
    }

    private static func oriented(_ ring: [Coordinate], clockwise: Bool) -> [Coordinate] {
        Ring.isClockwise(ring) == clockwise ? ring : ring.reversed()
    }

    private static func encloses(_ outer: Envelope, _ inner: Envelope) -> Bool {
        outer.minX <= inner.minX && inner.maxX <= outer.maxX && outer.minY <= inner.minY
            && inner.maxY <= outer.maxY
    }

    /// Decided by the first vertex that is not on the other ring's border.
    private static func lies(_ ring: [Coordinate], inside other: [Coordinate]) -> Bool {
        for vertex in ring {
            switch Ring.locate(vertex, in: other) {
            case .inside: return true
            case .outside: return false
            default: continue
            }
        }
        return false
    }
}
