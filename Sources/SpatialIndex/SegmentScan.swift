// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

/// Segments between neighbouring coordinates in memory: `count` of them need `count + 1` coordinates
/// of 16 bytes from `place`, which callers have checked to lie inside.
struct SegmentScan {
    let memory: Memory
    let place: Int
    let count: Int

    @inline(__always)
    init(_ memory: Memory, place: Int, count: Int) {
        self.memory = memory
        self.place = place
        self.count = count
    }

    /// Whether the ray from the position towards +x crosses the segments an odd number of times; nil
    /// when the position lies on one.
    ///
    /// Exact. Four segments at a time, without a branch; where rounding could decide, or an end lies on the
    /// ray, everything is done again by the exact rule.
    @inline(__always)
    func crossings(_ position: Coordinate) -> Bool? {
        let px = SIMD4<Double>(repeating: position.x)
        let py = SIMD4<Double>(repeating: position.y)
        var flips = SIMD4<Int64>()
        var doubts = SIMD4<Int64>()
        var place = place
        var left = count
        while left >= 4 {
            let (flip, doubt) = Self.cross(
                memory.fourCoordinates(place), memory.fourCoordinates(place + 16), px, py)
            flips ^= flip
            doubts |= doubt
            place += 64
            left -= 4
        }
        if left > 0 {
            guard count >= 4 else { return exactCrossings(position) }
            // The last four once more, without those already counted.
            place -= 16 * (4 - left)
            let (flip, doubt) = Self.cross(
                memory.fourCoordinates(place), memory.fourCoordinates(place + 16), px, py)
            let isNew =
                (SIMD4(repeating: Int64(3 - left)) &- SIMD4<Int64>(0, 1, 2, 3))
                &>> SIMD4(repeating: 63)
            flips ^= flip & isNew
            doubts |= doubt & isNew
        }
        let isDoubtful = doubts[0] | doubts[1] | doubts[2] | doubts[3] < 0
        if isDoubtful || memory.double(self.place + 8) == position.y {
            return exactCrossings(position)
        }
        return flips[0] ^ flips[1] ^ flips[2] ^ flips[3] < 0
    }

    /// Whether each of four segments crosses the ray, and whether that is in doubt, in the sign bits.
    ///
    /// Comparisons are signs of differences, which are exact; zero has no sign here.
    @inline(__always)
    private static func cross(
        _ first: SIMD8<Double>, _ second: SIMD8<Double>, _ px: SIMD4<Double>,
        _ py: SIMD4<Double>
    ) -> (flip: SIMD4<Int64>, doubt: SIMD4<Int64>) {
        let (ax, ay) = (first.evenHalf - px, first.oddHalf - py)
        let (bx, by) = (second.evenHalf - px, second.oddHalf - py)
        let isAbove = (py - second.oddHalf).bits
        let straddles = (py - first.oddHalf).bits ^ isAbove
        let left = ax * by
        let right = ay * bx
        let determinant = left - right
        let bound = 3.330_669_073_875_471_6e-16 * (left.magnitudes + right.magnitudes)
        let isSure = (bound - determinant.magnitudes).bits
        let turnsRight = determinant.bits
        let isLevel = ~(isAbove | by.bits)
        return (straddles & (turnsRight ^ isAbove), (straddles & ~isSure) | isLevel)
    }

    @inline(never)
    private func exactCrossings(_ position: Coordinate) -> Bool? {
        var isOdd = false
        var previous = memory.coordinate(place)
        for index in 1...max(1, count) where index <= count {
            let next = memory.coordinate(place + 16 * index)
            let segment = Segment(a: previous, b: next)
            guard let crosses = segment.crosses(rayFrom: position) else { return nil }
            if crosses { isOdd.toggle() }
            previous = next
        }
        return isOdd
    }

    /// The least square of a distance between the position and a segment, when less than `square`;
    /// segments that lie wholly outside the window are passed over.
    @inline(__always)
    func nearest(_ position: Coordinate, _ window: Envelope, _ square: inout Double) {
        var previous = memory.coordinate(place)
        if count == 0 {
            consider(previous, previous, position, window, &square)
            return
        }
        for index in 1...count {
            let next = memory.coordinate(place + 16 * index)
            consider(previous, next, position, window, &square)
            previous = next
        }
    }

    @inline(__always)
    private func consider(
        _ a: Coordinate, _ b: Coordinate, _ position: Coordinate, _ window: Envelope,
        _ square: inout Double
    ) {
        guard Swift.min(a.x, b.x) <= window.maxX, Swift.max(a.x, b.x) >= window.minX,
            Swift.min(a.y, b.y) <= window.maxY, Swift.max(a.y, b.y) >= window.minY
        else { return }
        square = Swift.min(square, Segment(a: a, b: b).squaredDistance(to: position))
    }
}

extension SIMD4 where Scalar == Double {
    @inline(__always)
    fileprivate var bits: SIMD4<Int64> { unsafe unsafeBitCast(self, to: SIMD4<Int64>.self) }

    @inline(__always)
    fileprivate var magnitudes: SIMD4<Double> {
        let bits = unsafe unsafeBitCast(self, to: SIMD4<UInt64>.self)
        return unsafe unsafeBitCast(bits & 0x7FFF_FFFF_FFFF_FFFF, to: SIMD4<Double>.self)
    }
}
