// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension Shape {
    /// The shape with every ordinate rounded to that many decimals (halves away from zero);
    /// negative counts are taken as 0 and those above 17 change nothing.
    public func rounded(decimals: Int) -> Shape {
        guard decimals <= 17 else { return self }
        var scale = 1.0
        for _ in 0..<max(0, decimals) { scale *= 10 }
        // Adding 0 makes a negative zero positive.
        func round(_ ordinate: Double) -> Double {
            let scaled = ordinate * scale
            return scaled.isFinite ? scaled.rounded(.toNearestOrAwayFromZero) / scale + 0 : ordinate
        }
        return mapCoordinates { Coordinate(x: round($0.x), y: round($0.y)) }
    }

    /// The shape with fewer coordinates, none of those left out farther than `maxAllowableOffset`
    /// (same units) from the line that replaces them (Douglas and Peucker, 1973).
    ///
    /// Ends of paths stay. Rings stay closed and keep four coordinates or more; one too small to
    /// keep more becomes the triangle of its farthest corners. Points, multipoints and envelopes
    /// stay as they are, as does everything for an offset that is not above 0. O(n log n).
    public func generalized(maxAllowableOffset offset: Double) -> Shape {
        generalization(maxAllowableOffset: offset).map(keeping) ?? self
    }

    /// Whether ``generalized(maxAllowableOffset:)`` keeps each coordinate of each path or ring; nil
    /// when it keeps all.
    public func generalization(maxAllowableOffset offset: Double) -> [[Bool]]? {
        guard offset > 0 else { return nil }
        switch self {
        case .point, .multipoint, .envelope: return nil
        case .polyline(let paths): return paths.map { Generalization.path($0, offset) }
        case .polygon(let rings): return rings.map { Generalization.ring($0, offset) }
        }
    }

    /// The shape without the coordinates of its paths or rings that are not to be kept.
    public func keeping(_ isKept: [[Bool]]) -> Shape {
        func kept(_ parts: [[Coordinate]]) -> [[Coordinate]] {
            zip(parts, isKept).map { part, isKept in
                zip(part, isKept).filter { $0.1 }.map { $0.0 }
            }
        }
        switch self {
        case .point, .multipoint, .envelope: return self
        case .polyline(let paths): return .polyline(paths: kept(paths))
        case .polygon(let rings): return .polygon(rings: kept(rings))
        }
    }
}

private enum Generalization {
    /// After this many levels a run is cut in the middle instead of at its farthest coordinate,
    /// which bounds the time for hostile shapes and keeps the offset.
    private static let levelLimit = 32

    static func path(_ path: [Coordinate], _ offset: Double) -> [Bool] {
        guard path.count > 2 else { return path.map { _ in true } }
        var isKept = [Bool](repeating: false, count: path.count)
        isKept[0] = true
        isKept[path.count - 1] = true
        mark(path, 0, path.count - 1, offset, &isKept)
        return isKept
    }

    static func ring(_ ring: [Coordinate], _ offset: Double) -> [Bool] {
        guard ring.count > 4 else { return ring.map { _ in true } }
        let last = ring.count - 1
        let (opposite, _) = farthest(ring, 0, last)
        var isKept = [Bool](repeating: false, count: ring.count)
        for index in [0, opposite, last] { isKept[index] = true }
        mark(ring, 0, opposite, offset, &isKept)
        mark(ring, opposite, last, offset, &isKept)
        if isKept.count(where: { $0 }) < 4 {
            let (left, leftSquare) = farthest(ring, 0, opposite)
            let (right, rightSquare) = farthest(ring, opposite, last)
            isKept[leftSquare >= rightSquare ? left : right] = true
        }
        return isKept.count(where: { $0 }) < 4 ? ring.map { _ in true } : isKept
    }

    private static func mark(
        _ path: [Coordinate], _ first: Int, _ last: Int, _ offset: Double, _ isKept: inout [Bool]
    ) {
        var pending = [(first: first, last: last, level: 0)]
        while let run = pending.popLast() {
            guard run.last - run.first > 1 else { continue }
            var (middle, square) = farthest(path, run.first, run.last)
            guard square > offset * offset else { continue }
            if run.level >= levelLimit { middle = (run.first + run.last) / 2 }
            isKept[middle] = true
            pending.append((run.first, middle, run.level + 1))
            pending.append((middle, run.last, run.level + 1))
        }
    }

    /// The coordinate strictly between two that is farthest from the segment between them, and its
    /// squared distance; `first` itself for adjacent ones.
    private static func farthest(
        _ path: [Coordinate], _ first: Int, _ last: Int
    ) -> (index: Int, square: Double) {
        let chord = Segment(a: path[first], b: path[last])
        var result = (index: first, square: -1.0)
        for index in first..<last where index > first {
            let square = chord.squaredDistance(to: path[index])
            if square > result.square { result = (index, square) }
        }
        return result
    }
}
