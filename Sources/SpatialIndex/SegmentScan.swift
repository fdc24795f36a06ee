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
            let first = memory.fourCoordinates(place)
            let second = memory.fourCoordinates(place + 16)
            Self.cross(
                first.evenHalf - px, first.oddHalf - py, second.evenHalf - px,
                second.oddHalf - py, &flips, &doubts)
            place += 64
            left -= 4
        }
        if left > 0 {
            guard count >= 4 else { return exactCrossings(position) }
            // The last four once more, those already counted made segments without length.
            place -= 16 * (4 - left)
            let first = memory.fourCoordinates(place)
            let second = memory.fourCoordinates(place + 16)
            let isCounted = SIMD4<Int64>(0, 1, 2, 3) .< SIMD4(repeating: Int64(4 - left))
            let (bx, by) = (second.evenHalf - px, second.oddHalf - py)
            Self.cross(
                (first.evenHalf - px).replacing(with: bx, where: isCounted),
                (first.oddHalf - py).replacing(with: by, where: isCounted), bx, by, &flips,
                &doubts)
        }
        let isDoubtful = doubts[0] | doubts[1] | doubts[2] | doubts[3] != 0
        if isDoubtful || memory.double(self.place + 8) == position.y {
            return exactCrossings(position)
        }
        return flips[0] ^ flips[1] ^ flips[2] ^ flips[3] != 0
    }

    /// Four segments relative to the position, from a to b.
    @inline(__always)
    private static func cross(
        _ ax: SIMD4<Double>, _ ay: SIMD4<Double>, _ bx: SIMD4<Double>, _ by: SIMD4<Double>,
        _ flips: inout SIMD4<Int64>, _ doubts: inout SIMD4<Int64>
    ) {
        let isAbove = by .> 0
        let straddles = (ay .> 0) .^ isAbove
        let left = ax * by
        let right = ay * bx
        let determinant = left - right
        let bound = 3.330_669_073_875_471_6e-16 * (left.magnitudes + right.magnitudes)
        let isSure = determinant.magnitudes .> bound
        let crosses = straddles .& .!((determinant .> 0) .^ isAbove)
        flips ^= crosses.lanes
        doubts |= ((straddles .& .!isSure) .| (by .== 0)).lanes
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
    fileprivate var magnitudes: SIMD4<Double> {
        let bits = unsafe unsafeBitCast(self, to: SIMD4<UInt64>.self)
        return unsafe unsafeBitCast(bits & 0x7FFF_FFFF_FFFF_FFFF, to: SIMD4<Double>.self)
    }
}

extension SIMDMask where Storage == SIMD4<Int64> {
    /// -1 for true, 0 for false.
    @inline(__always)
    fileprivate var lanes: SIMD4<Int64> { unsafe unsafeBitCast(self, to: SIMD4<Int64>.self) }
}
