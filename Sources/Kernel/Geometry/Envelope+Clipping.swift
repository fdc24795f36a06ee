// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension Envelope {
    /// The pieces of a path inside the rectangle, in order (Liang and Barsky, 1984, segment by
    /// segment).
    public func clip(path: [Coordinate]) -> [[Coordinate]] {
        var pieces: [[Coordinate]] = []
        var piece: [Coordinate] = []
        for (a, b) in zip(path, path.dropFirst()) {
            guard let (from, to) = clip(a, b) else { continue }
            if piece.last != from {
                if piece.count > 1 { pieces.append(piece) }
                piece = [from]
            }
            piece.append(to)
        }
        if piece.count > 1 { pieces.append(piece) }
        return pieces
    }

    private func clip(_ a: Coordinate, _ b: Coordinate) -> (Coordinate, Coordinate)? {
        let (dx, dy) = (b.x - a.x, b.y - a.y)
        var (from, to) = (0.0, 1.0)
        let sides = [(-dx, a.x - minX), (dx, maxX - a.x), (-dy, a.y - minY), (dy, maxY - a.y)]
        for (step, room) in sides {
            if step == 0 {
                if room < 0 { return nil }
            } else if step < 0 {
                from = max(from, room / step)
            } else {
                to = min(to, room / step)
            }
        }
        guard from <= to else { return nil }
        // The ends unchanged: the next segment continues from there.
        let first = from == 0 ? a : Coordinate(x: a.x + from * dx, y: a.y + from * dy)
        let last = to == 1 ? b : Coordinate(x: a.x + to * dx, y: a.y + to * dy)
        return (first, last)
    }

    /// A closed ring clipped to the rectangle, closed again (Sutherland and Hodgman, 1974); empty
    /// for a ring without a part inside.
    ///
    /// The enclosed area inside the rectangle stays the same, for any winding; at cuts the ring
    /// follows the rectangle's sides.
    public func clip(ring: [Coordinate]) -> [Coordinate] {
        var result = ring
        if result.count > 1 && result.first == result.last { result.removeLast() }
        for side in Side.allCases {
            let input = result
            result = []
            guard var before = input.last else { return [] }
            for next in input {
                let isInside = side.depth(next, self) >= 0
                if (side.depth(before, self) >= 0) != isInside {
                    result.append(side.crossing(before, next, self))
                }
                if isInside { result.append(next) }
                before = next
            }
        }
        if let first = result.first { result.append(first) }
        return result
    }

    private enum Side: CaseIterable {
        case left, right, bottom, top

        /// Signed depth inside the boundary; negative outside.
        func depth(_ place: Coordinate, _ box: Envelope) -> Double {
            switch self {
            case .left: place.x - box.minX
            case .right: box.maxX - place.x
            case .bottom: place.y - box.minY
            case .top: box.maxY - place.y
            }
        }

        /// The crossing of a segment with the side, exactly on it.
        func crossing(_ a: Coordinate, _ b: Coordinate, _ box: Envelope) -> Coordinate {
            let (from, to) = (depth(a, box), depth(b, box))
            let part = from / (from - to)
            var result = Coordinate(x: a.x + part * (b.x - a.x), y: a.y + part * (b.y - a.y))
            switch self {
            case .left: result.x = box.minX
            case .right: result.x = box.maxX
            case .bottom: result.y = box.minY
            case .top: result.y = box.maxY
            }
            return result
        }
    }

    /// The ring with further coordinates where it follows a side of the rectangle, at least `count`
    /// for the length of a side: so that it follows the side's image when it is projected.
    public func dividing(ring: [Coordinate], by count: Int) -> [Coordinate] {
        guard let first = ring.first else { return ring }
        var result = [first]
        for (a, b) in zip(ring, ring.dropFirst()) {
            let isUpright = a.x == b.x && (a.x == minX || a.x == maxX)
            let isLevel = a.y == b.y && (a.y == minY || a.y == maxY)
            if isUpright || isLevel {
                let part = isUpright ? abs(b.y - a.y) / height : abs(b.x - a.x) / width
                let steps = part.isFinite ? max(1, Int((part * Double(count)).rounded(.up))) : 1
                for step in 1..<max(1, steps) {
                    let place = Double(step) / Double(steps)
                    result.append(
                        Coordinate(x: a.x + place * (b.x - a.x), y: a.y + place * (b.y - a.y)))
                }
            }
            result.append(b)
        }
        return result
    }
}
