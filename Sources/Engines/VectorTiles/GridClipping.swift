// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Clipping of whole-numbered geometry to a tile's buffered square.
///
/// A crossing depends on the edge's two ends alone, not on its direction: the sides are cut in one
/// order, and each cut rounds once, to the nearest cell along the side.
struct GridClipping {
    let low: Int
    let high: Int
    private var scratch: [GridPlace] = []

    init(_ frame: TileFrame) { (low, high) = (frame.low, frame.high) }

    private enum Side: CaseIterable {
        case left, right, top, bottom
    }

    @inline(__always)
    private func depth(_ place: GridPlace, _ side: Side) -> Int {
        switch side {
        case .left: place.x - low
        case .right: high - place.x
        case .top: place.y - low
        case .bottom: high - place.y
        }
    }

    private func crossing(_ first: GridPlace, _ second: GridPlace, _ side: Side) -> GridPlace {
        let isInOrder = (first.y, first.x) < (second.y, second.x)
        let (a, b) = isInOrder ? (first, second) : (second, first)
        let (from, to) = (Double(depth(a, side)), Double(depth(b, side)))
        let part = from / (from - to)
        // Ends are within 2^47 cells, so the products are exact enough to round to a cell, and
        // the same on every machine.
        func between(_ a: Int, _ b: Int) -> Int {
            let number = (Double(a) + part * Double(b - a)).rounded()
            return Int(min(max(number, Double(min(a, b))), Double(max(a, b))))
        }
        return switch side {
        case .left: GridPlace(x: low, y: between(a.y, b.y))
        case .right: GridPlace(x: high, y: between(a.y, b.y))
        case .top: GridPlace(x: between(a.x, b.x), y: low)
        case .bottom: GridPlace(x: between(a.x, b.x), y: high)
        }
    }

    /// Clips a ring, without repetition of its first place, in place (Sutherland and Hodgman,
    /// 1974): it may follow the square's sides more than once, which ``PolygonCleaning`` undoes.
    mutating func clip(ring: inout [GridPlace]) {
        for side in Side.allCases {
            guard var before = ring.last else { return }
            guard ring.contains(where: { depth($0, side) < 0 }) else { continue }
            scratch.removeAll(keepingCapacity: true)
            for next in ring {
                let isInside = depth(next, side) >= 0
                if (depth(before, side) >= 0) != isInside {
                    scratch.append(crossing(before, next, side))
                }
                if isInside { scratch.append(next) }
                before = next
            }
            swap(&ring, &scratch)
        }
    }

    /// The part of an edge inside the square, in its direction; nil without one.
    func clip(_ first: GridPlace, _ second: GridPlace) -> (GridPlace, GridPlace)? {
        var (from, to) = (first, second)
        for side in Side.allCases {
            let (start, end) = (depth(from, side), depth(to, side))
            if start < 0 && end < 0 { return nil }
            if start < 0 {
                from = crossing(from, to, side)
            } else if end < 0 {
                to = crossing(from, to, side)
            }
        }
        return (from, to)
    }
}
