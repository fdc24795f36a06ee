// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Geometry

/// The winding that Esri JSON asks for: exterior rings clockwise, holes counter-clockwise.
public enum RingOrder {
    /// The rings in their order, each turned as its nesting demands.
    ///
    /// A ring inside an odd number of others is a hole. Rings nest or are disjoint; they may touch. Costs n² envelope tests.
    public static func esri(_ rings: [[Coordinate]]) -> [[Coordinate]] {
        zip(rings, reversals(rings)).map { $1 ? $0.reversed() : $0 }
    }

    /// For each ring whether ``esri(_:)`` turns it round.
    public static func reversals(_ rings: [[Coordinate]]) -> [Bool] {
        guard rings.count > 1 else { return rings.map { !Ring.isClockwise($0) } }
        let envelopes = rings.map { Shape.multipoint($0).envelope }
        return rings.indices.map { ring in
            let around = rings.indices.count { other in
                other != ring && encloses(envelopes[other], envelopes[ring])
                    && lies(rings[ring], inside: rings[other])
            }
            return Ring.isClockwise(rings[ring]) != around.isMultiple(of: 2)
        }
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
