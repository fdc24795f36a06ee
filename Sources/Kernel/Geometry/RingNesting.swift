// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The nesting of a polygon's rings.
///
/// Rings nest or are disjoint; they may touch. Costs n² envelope tests.
public struct RingNesting: Sendable {
    /// The enclosing rings of each ring.
    public let around: [[Int]]

    /// Compares every ring with every other.
    public init(_ rings: [[Coordinate]]) {
        guard rings.count > 1 else {
            around = rings.map { _ in [] }
            return
        }
        let envelopes = rings.map { Shape.multipoint($0).envelope }
        around = rings.indices.map { ring in
            rings.indices.filter { other in
                other != ring && Self.encloses(envelopes[other], envelopes[ring])
                    && Self.lies(rings[ring], inside: rings[other])
            }
        }
    }

    /// Whether a ring bounds a hole: an odd number of rings enclose it.
    public func isHole(_ ring: Int) -> Bool { !around[ring].count.isMultiple(of: 2) }

    /// The rings by number as polygons, each a shell with the holes in it after it; shells in their
    /// order.
    public var polygons: [[Int]] {
        var place: [Int: Int] = [:]
        var polygons: [[Int]] = []
        for ring in around.indices where !isHole(ring) {
            place[ring] = polygons.count
            polygons.append([ring])
        }
        for ring in around.indices where isHole(ring) {
            // The innermost enclosing ring has the most enclosing rings itself.
            let shell = around[ring].max { around[$0].count < around[$1].count }
            guard let polygon = shell.flatMap({ place[$0] }) else {
                polygons.append([ring])
                continue
            }
            polygons[polygon].append(ring)
        }
        return polygons
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
