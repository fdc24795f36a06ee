// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Rectangles around runs of eight rectangles, up to one.
///
/// The order of the leaves is the caller's: ``order(_:)`` is one in which neighbours are near each
/// other.
struct BoxTree {
    private static let fanOut = 8

    let levels: [[Envelope]]

    init(_ boxes: [Envelope]) {
        var levels = [boxes]
        while let below = levels.last, below.count > 1 {
            var above: [Envelope] = []
            above.reserveCapacity(below.count / Self.fanOut + 1)
            var first = 0
            while first < below.count {
                var box = below[first]
                for index in first..<min(first + Self.fanOut, below.count) {
                    box = box.union(below[index])
                }
                above.append(box)
                first += Self.fanOut
            }
            levels.append(above)
        }
        self.levels = levels
    }

    /// Calls `body` with each leaf after `start` that passes the test, as all rectangles above it
    /// do.
    @inline(__always)
    func search(
        after start: Int, _ stack: inout [(level: Int, index: Int)],
        where passes: (Envelope) -> Bool, _ body: (Int) -> Void
    ) {
        stack.removeAll(keepingCapacity: true)
        guard let top = levels.last, !top.isEmpty, passes(top[0]) else { return }
        if levels.count == 1 {
            if start < 0 { body(0) }
            return
        }
        stack.append((levels.count - 1, 0))
        while let (level, index) = stack.popLast() {
            let below = level - 1
            let first = index * Self.fanOut
            let end = min(first + Self.fanOut, levels[below].count)
            // How many leaves a rectangle of the level below has.
            let shift = 3 * below
            for child in first..<end where passes(levels[below][child]) {
                if (child + 1) << shift <= start + 1 { continue }
                if below == 0 { body(child) } else { stack.append((below, child)) }
            }
        }
    }

    /// Calls `body` with leaves whose own rectangle and all above it pass the test when they are
    /// looked at, the uppermost rectangles of each run first.
    @inline(__always)
    func searchDownwards(
        _ stack: inout [(level: Int, index: Int)], where passes: (Envelope) -> Bool,
        _ body: (Int) -> Void
    ) {
        stack.removeAll(keepingCapacity: true)
        guard let top = levels.last, !top.isEmpty else { return }
        stack.append((levels.count - 1, 0))
        while let (level, index) = stack.popLast() {
            guard passes(levels[level][index]) else { continue }
            guard level > 0 else {
                body(index)
                continue
            }
            let below = levels[level - 1]
            let first = stack.count
            let start = index * Self.fanOut
            for child in start..<min(start + Self.fanOut, below.count) where passes(below[child]) {
                var place = stack.count
                stack.append((level - 1, child))
                while place > first, below[stack[place - 1].index].maxY > below[child].maxY {
                    stack.swapAt(place, place - 1)
                    place -= 1
                }
            }
        }
    }

    /// The indices of places along a Hilbert curve.
    static func order(_ places: [Coordinate]) -> [Int] {
        var bounds = Envelope.empty
        for place in places { bounds.extend(to: place) }
        let size = max(bounds.width, bounds.height, 1)
        var keys: [UInt64] = []
        keys.reserveCapacity(places.count)
        for (index, place) in places.enumerated() {
            let key = hilbert(
                UInt32((place.x - bounds.minX) / size * 65_535),
                UInt32((place.y - bounds.minY) / size * 65_535))
            keys.append(UInt64(key) << 32 | UInt64(index))
        }
        keys.sort()
        return keys.map { Int($0 & 0xFFFF_FFFF) }
    }

    /// The position along a Hilbert curve of 16 levels.
    private static func hilbert(_ column: UInt32, _ row: UInt32) -> UInt32 {
        var (x, y, position) = (column, row, UInt32(0))
        var side: UInt32 = 1 << 15
        while side > 0 {
            let (right, upper) = (x & side != 0, y & side != 0)
            position += side &* side &* ((right ? 3 : 0) ^ (upper ? 1 : 0))
            if !upper {
                if right { (x, y) = (65_535 &- x, 65_535 &- y) }
                (x, y) = (y, x)
            }
            side >>= 1
        }
        return position
    }
}
