// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Leaves out vertices of rings that change no shape: those on the straight line between their
/// neighbours.
///
/// A vertex goes only if every ring of the layer that has it has the same two neighbours there. So
/// of two areas along a border either both have a vertex or none has, and a junction keeps its
/// vertex in all areas that meet there: no crack appears where a renderer rounds. On the sides of
/// the buffered square, where no neighbour can be seen, it goes at once. The place of a line does
/// not change, so it is of no account that each tile decides by itself.
struct CollinearVertices {
    /// A table of places, with open addressing; 0 is free.
    private var slots: [UInt64] = []
    private var neighbours: [UInt64] = []
    private var mask = 0

    static func isBetween(_ a: PackedPlace, _ b: PackedPlace, _ c: PackedPlace) -> Bool {
        turn(a, b, c) == 0
            && (b.x - a.x) * (c.x - b.x) + (b.y - a.y) * (c.y - b.y) > 0
    }

    /// Drops the vertices of a tile's layer.
    mutating func drop(from layer: inout TileLayer, _ frame: TileFrame) {
        var rings: [Range<Int>] = []
        for feature in layer.features where feature.kind == .polygon {
            for part in feature.parts { rings.append(layer.parts.places(ofPart: part)) }
        }
        let places = layer.parts.places
        var candidates: [Int] = []
        for ring in rings {
            Self.forEach(of: ring, in: places) { index, before, after in
                if Self.isBetween(before, places[index], after) { candidates.append(index) }
            }
        }
        guard !candidates.isEmpty else { return }
        prepare(for: candidates.count)
        let limit = frame.high - frame.low
        for ring in rings {
            Self.forEach(of: ring, in: places) { index, before, after in
                if Self.isBetween(before, places[index], after) {
                    let slot = slot(of: places[index])
                    let pair = PackedEdge(before, after).bits
                    if slots[slot] == 0 {
                        slots[slot] = UInt64(places[index].bits) + 1
                        neighbours[slot] = pair
                    } else if neighbours[slot] != pair {
                        neighbours[slot] = 0
                    }
                }
            }
        }
        for ring in rings {
            Self.forEach(of: ring, in: places) { index, before, after in
                let slot = slot(of: places[index])
                if slots[slot] != 0 && neighbours[slot] != PackedEdge(before, after).bits {
                    neighbours[slot] = 0
                }
            }
        }
        var isDropped = [Bool](repeating: false, count: places.count)
        for ring in rings {
            Self.forEach(of: ring, in: places) { index, before, after in
                let place = places[index]
                guard Self.isBetween(before, place, after) else { return }
                let isOnSide =
                    (before.x == after.x && (place.x == 0 || place.x == limit))
                    || (before.y == after.y && (place.y == 0 || place.y == limit))
                isDropped[index] = isOnSide || neighbours[slot(of: place)] != 0
            }
        }
        var kept = TilePartStore()
        kept.places.reserveCapacity(places.count)
        for part in layer.parts.ends.indices {
            for index in layer.parts.places(ofPart: part) where !isDropped[index] {
                kept.places.append(places[index])
            }
            kept.ends.append(kept.places.count)
        }
        layer.parts = kept
    }

    private static func forEach(
        of ring: Range<Int>, in places: [PackedPlace],
        _ body: (_ index: Int, _ before: PackedPlace, _ after: PackedPlace) -> Void
    ) {
        var before = places[ring.upperBound - 1]
        for index in ring {
            let next = index + 1 < ring.upperBound ? index + 1 : ring.lowerBound
            body(index, before, places[next])
            before = places[index]
        }
    }

    private mutating func prepare(for count: Int) {
        var size = 16
        while size < 2 * count { size *= 2 }
        mask = size - 1
        slots = [UInt64](repeating: 0, count: size)
        neighbours = [UInt64](repeating: 0, count: size)
    }

    /// The slot of a place, or the free one where it would be.
    private func slot(of place: PackedPlace) -> Int {
        var slot = Int(truncatingIfNeeded: UInt64(place.bits) &* 0x9e37_79b9_7f4a_7c15 >> 32) & mask
        while slots[slot] != 0 && slots[slot] != UInt64(place.bits) + 1 { slot = (slot + 1) & mask }
        return slot
    }
}
