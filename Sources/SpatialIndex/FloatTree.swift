// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

/// The shape of a packed R-tree of 32-bit rectangles, searched where it lies in memory.
///
/// A block is 256 bytes: the sixteen smallest x, then y, then the sixteen largest x, then y, of
/// sixteen children. The root block comes first, the blocks over the items last. A child's place
/// follows from its parent's, so no offset is stored and damage cannot lead a search astray. Places
/// without a child hold a rectangle that nothing meets.
struct FloatTree: Hashable, Sendable {
    static let width = 16
    static let blockByteCount = 256
    static let itemLimit = 1 << 31

    let itemCount: Int
    /// Where each level's blocks start, counted in blocks; items' level first, root last.
    let starts: [Int]
    let blockCount: Int

    /// Nil when `itemCount` is not in 1…2^31.
    init?(itemCount: Int) {
        guard 1...Self.itemLimit ~= itemCount else { return nil }
        self.itemCount = itemCount
        var counts: [Int] = []
        var count = itemCount
        repeat {
            count = (count + Self.width - 1) / Self.width
            counts.append(count)
        } while count > 1
        var end = counts.reduce(0, +)
        blockCount = end
        starts = counts.map { count in
            end -= count
            return end
        }
    }

    var byteCount: Int { blockCount * Self.blockByteCount }

    /// Calls `body` with every item whose rectangle shares a point with the box, in no stated order.
    ///
    /// `tree` must hold ``byteCount`` bytes from `offset`. Allocates nothing.
    @inline(__always)
    func search<E: Error>(
        _ tree: Memory, at offset: Int, _ box: FloatBox, _ body: (Int) throws(E) -> Void
    ) throws(E) {
        let (minX, minY) = (
            SIMD16<Float>(repeating: box.minX), SIMD16<Float>(repeating: box.minY)
        )
        let (maxX, maxY) = (
            SIMD16<Float>(repeating: box.maxX), SIMD16<Float>(repeating: box.maxY)
        )
        let top = starts.count - 1
        // The children still to visit of the block that is open on each level.
        var open = InlineArray<8, OpenBlock>(repeating: OpenBlock(children: 0, block: 0))
        var level = top
        var block = 0
        while true {
            let place = offset + (starts[level] + block) * Self.blockByteCount
            let meets =
                (tree.floats(place) .<= maxX) .& (tree.floats(place + 64) .<= maxY)
                .& (tree.floats(place + 128) .>= minX) .& (tree.floats(place + 192) .>= minY)
            var children = meets.bits
            if level == 0 {
                while children != 0 {
                    let item = block * Self.width + children.trailingZeroBitCount
                    children &= children - 1
                    if item < itemCount { try body(item) }
                }
            }
            open[level] = OpenBlock(children: children, block: block)
            while open[level].children == 0 {
                if level == top { return }
                level += 1
            }
            let parent = open[level]
            open[level].children = parent.children & (parent.children - 1)
            block = parent.block * Self.width + parent.children.trailingZeroBitCount
            level -= 1
        }
    }

    private struct OpenBlock {
        /// One bit per child.
        var children: UInt
        var block: Int
    }
}

extension SIMDMask where Storage == SIMD16<Int32> {
    /// One bit per lane.
    @inline(__always)
    fileprivate var bits: UInt {
        let lanes = unsafe unsafeBitCast(self, to: SIMD16<Int32>.self)
        let bytes = unsafe unsafeBitCast(
            SIMD16<Int8>(truncatingIfNeeded: lanes), to: SIMD2<UInt64>.self)
        return Self.gather(bytes.x) | Self.gather(bytes.y) << 8
    }

    /// The eight bits of eight bytes that are 0 or 255 each.
    @inline(__always)
    private static func gather(_ bytes: UInt64) -> UInt {
        UInt(((bytes & 0x8040_2010_0804_0201) &* 0x0101_0101_0101_0101) >> 56)
    }
}

/// A rectangle in 32-bit numbers, rounded outwards, relative to an origin.
struct FloatBox: Hashable, Sendable {
    var minX: Float
    var minY: Float
    var maxX: Float
    var maxY: Float

    /// Nothing meets it.
    static let nowhere = FloatBox(
        minX: .infinity, minY: .infinity, maxX: -.infinity, maxY: -.infinity)

    /// Holds every position of the envelope: subtracting and rounding keep the order of numbers, so
    /// what meets as doubles meets here.
    @inline(__always)
    init(_ envelope: Envelope, from origin: Coordinate) {
        minX = Float(below: envelope.minX - origin.x)
        minY = Float(below: envelope.minY - origin.y)
        maxX = Float(above: envelope.maxX - origin.x)
        maxY = Float(above: envelope.maxY - origin.y)
    }

    init(minX: Float, minY: Float, maxX: Float, maxY: Float) {
        self.minX = minX
        self.minY = minY
        self.maxX = maxX
        self.maxY = maxY
    }

    func union(_ other: FloatBox) -> FloatBox {
        FloatBox(
            minX: min(minX, other.minX), minY: min(minY, other.minY),
            maxX: max(maxX, other.maxX), maxY: max(maxY, other.maxY))
    }

    func contains(_ other: FloatBox) -> Bool {
        minX <= other.minX && minY <= other.minY && maxX >= other.maxX && maxY >= other.maxY
    }
}

extension Float {
    /// The largest number of this type that is not above.
    @inline(__always)
    init(below value: Double) {
        let near = Float(value)
        self = Double(near) > value ? near.nextDown : near
    }

    /// The smallest number of this type that is not below.
    @inline(__always)
    init(above value: Double) {
        let near = Float(value)
        self = Double(near) < value ? near.nextUp : near
    }
}
