// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

/// The shape of a packed R-tree of 32-bit rectangles, searched where it lies in memory.
///
/// A block is 256 bytes: the sixteen smallest x, then y, then the sixteen largest x, then y, of
/// sixteen children. The root block comes first, the blocks over the items last; each of those is
/// followed by sixteen records of 16 bytes, one per item, so that what a search reads lies together.
/// A child's place follows from its parent's, so no offset is stored and damage cannot lead a search
/// astray. Places without a child hold a rectangle that nothing meets.
struct FloatTree: Hashable, Sendable {
    static let width = 16
    static let blockByteCount = 256
    static let recordByteCount = 16
    static let itemLimit = 1 << 31

    let itemCount: Int
    /// How many blocks each level has; items' level first, root last.
    let counts: [Int]
    /// Where each level's blocks start, in bytes.
    let starts: [Int]
    let byteCount: Int

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
        self.counts = counts
        var end = 0
        var starts: [Int] = []
        for level in counts.indices.reversed() {
            starts.append(end)
            end += counts[level] * Self.stride(level)
        }
        self.starts = starts.reversed()
        byteCount = end
    }

    /// How many bytes lie between the blocks of a level.
    @inline(__always)
    static func stride(_ level: Int) -> Int {
        level == 0 ? blockByteCount + width * recordByteCount : blockByteCount
    }

    /// Where a block lies, in bytes from the tree's start.
    @inline(__always)
    func place(_ block: Int, _ level: Int) -> Int { starts[level] + block * Self.stride(level) }

    /// The children of the block at `place` that share a point with the box, one bit each.
    ///
    /// By the signs of differences, which are exact: the compiler makes loops of comparisons of
    /// sixteen lanes, and of sums over them.
    @inline(__always)
    static func meets(_ tree: Memory, _ place: Int, _ box: FloatBox) -> UInt {
        let left = SIMD16<Float>(repeating: box.maxX) - tree.floats(place)
        let below = SIMD16<Float>(repeating: box.maxY) - tree.floats(place + 64)
        let right = tree.floats(place + 128) - SIMD16<Float>(repeating: box.minX)
        let above = tree.floats(place + 192) - SIMD16<Float>(repeating: box.minY)
        let misses = (left.bits | below.bits | right.bits | above.bits) &>> SIMD16(repeating: 31)
        let weights = SIMD16<Int32>(
            1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
        let lanes = misses & weights
        let eight = lanes.lowHalf | lanes.highHalf
        let four = eight.lowHalf | eight.highHalf
        let two = four.lowHalf | four.highHalf
        return UInt(truncatingIfNeeded: two.x | two.y) ^ 0xFFFF
    }

    /// Calls `body` with the place of the record of every item whose rectangle shares a point with the
    /// box, in the order of the items.
    ///
    /// `tree` must hold ``byteCount`` bytes from `offset`. Allocates nothing.
    @inline(__always)
    func search<E: Error>(
        _ tree: Memory, at offset: Int, _ box: FloatBox, _ body: (Int) throws(E) -> Void
    ) throws(E) {
        let top = starts.count - 1
        // The children still to visit of the block that is open on each level.
        var open = InlineArray<8, OpenBlock>(repeating: OpenBlock(children: 0, block: 0))
        var level = top
        var block = 0
        while true {
            let place = offset + self.place(block, level)
            var children = Self.meets(tree, place, box)
            if level == 0 {
                while children != 0 {
                    let child = children.trailingZeroBitCount
                    children &= children - 1
                    try body(place + Self.blockByteCount + Self.recordByteCount * child)
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

extension SIMD16 where Scalar == Float {
    @inline(__always)
    fileprivate var bits: SIMD16<Int32> { unsafe unsafeBitCast(self, to: SIMD16<Int32>.self) }
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
        // Adding 0 leaves no negative zero, whose differences would have the wrong sign.
        minX = Float(below: envelope.minX - origin.x) + 0
        minY = Float(below: envelope.minY - origin.y) + 0
        maxX = Float(above: envelope.maxX - origin.x) + 0
        maxY = Float(above: envelope.maxY - origin.y) + 0
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
