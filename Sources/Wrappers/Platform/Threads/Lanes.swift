// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CCairnLinux

/// Many comparisons at once, by the widest instructions of the processor.
///
/// Only comparisons are computed, so results are the same everywhere. Swift compiles comparisons of
/// many lanes, and sums over them, to loops over the lanes.
public enum Lanes {
    /// The instruction set; the slower ones are there for comparison.
    public enum Instructions: CaseIterable, Sendable {
        case plain, avx2, best

        @inlinable
        @inline(__always)
        var number: cairn_lanes {
            switch self {
            case .plain: CAIRN_LANES_PLAIN
            case .avx2: CAIRN_LANES_AVX2
            case .best: CAIRN_LANES_BEST
            }
        }
    }

    /// A bit for each of sixteen rectangles that intersects the given one.
    ///
    /// `block` is 64 numbers: the smallest x of all, the smallest y, the largest x, the largest y.
    @unsafe @inlinable
    @inline(__always)
    public static func meets(
        _ block: UnsafeRawPointer, minX: Float, minY: Float, maxX: Float, maxY: Float,
        by instructions: Instructions = .best
    ) -> UInt32 {
        unsafe cairn_lanes_meets(instructions.number, block, minX, minY, maxX, maxY)
    }

    /// The comparison of segments with a ray towards +x.
    public struct Crossings: Hashable, Sendable {
        /// Those that cross the ray, wholly to the right of where it starts; one bit each.
        public var sure: UInt64
        /// Segments that do not and are neither wholly above, nor below, nor to the left: they need
        /// an exact test.
        public var open: UInt64

        @inlinable
        @inline(__always)
        init(_ found: cairn_crossings) {
            sure = found.sure
            open = found.open
        }
    }

    /// The segments between `count` (1…64) neighbouring coordinates of two doubles, x before y; the
    /// ray starts somewhere in the rectangle.
    @unsafe @inlinable
    @inline(__always)
    public static func crossings(
        _ coordinates: UnsafeRawPointer, count: Int, minX: Double, minY: Double, maxX: Double,
        maxY: Double, by instructions: Instructions = .best
    ) -> Crossings {
        Crossings(
            unsafe cairn_lanes_crossings(
                instructions.number, coordinates, UInt32(truncatingIfNeeded: count), minX, minY,
                maxX, maxY))
    }

    /// Starts reading the memory at an address, which may be anywhere, towards the processor.
    @inlinable
    @inline(__always)
    public static func prefetch(_ address: UInt) { cairn_prefetch(address) }
}
