// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry

/// The shape of a packed R-tree of 32-bit rectangles, searched in place.
///
/// A block is 256 bytes: the sixteen smallest x, then y, then the sixteen largest x, then y, of
/// sixteen children. The root block comes first, the blocks over the items last; each of those is
/// followed by sixteen records of 16 bytes, one per item, so that a search reads contiguous bytes.
/// A child's offset follows from its parent's, so none is stored and damage cannot lead a search
/// astray. Slots without a child hold a rectangle that intersects none.
struct FloatTree: Sendable {
    static let width = 16
    static let blockByteCount = 256
    static let recordByteCount = 16
    static let itemLimit = 1 << 31

    let itemCount: Int
    let levelCount: Int
    /// Number of blocks of each level; items' level first, root last.
    let counts: InlineArray<8, Int>
    /// Offset of each level's blocks in bytes.
    let starts: InlineArray<8, Int>
    let byteCount: Int

    /// A tree of 0…2^31 items; an empty one has no block.
    init(itemCount: Int) {
        precondition(0...Self.itemLimit ~= itemCount)
        self.itemCount = itemCount
        var counts = InlineArray<8, Int>(repeating: 0)
        var starts = InlineArray<8, Int>(repeating: 0)
        var count = itemCount
        var levels = 0
        while levels == 0 ? count > 0 : count > 1 {
            count = (count + Self.width - 1) / Self.width
            counts[levels] = count
            levels += 1
        }
        var end = 0
        for level in (0..<levels).reversed() {
            starts[level] = end
            end += counts[level] * Self.stride(level)
        }
        levelCount = levels
        self.counts = counts
        self.starts = starts
        byteCount = end
    }

    /// The stride between the blocks of a level in bytes.
    @inline(__always)
    static func stride(_ level: Int) -> Int {
        level == 0 ? blockByteCount + width * recordByteCount : blockByteCount
    }

    /// The offset of a block in bytes from the tree's start.
    @inline(__always)
    func place(_ block: Int, _ level: Int) -> Int {
        unsafe starts[unchecked: level] + block * Self.stride(level)
    }

    /// A bit for each child of a block that intersects the box; never one of an empty slot,
    /// whatever the bytes.
    @inline(__always)
    func children(
        _ block: Int, _ level: Int, _ tree: Memory, at offset: Int, _ box: FloatBox
    ) -> UInt32 {
        let children = tree.meets(offset + place(block, level), box)
        let all = level == 0 ? itemCount : unsafe counts[unchecked: level - 1]
        let below = all - block * Self.width
        return below < Self.width ? children & (1 << UInt32(below) - 1) : children
    }

    /// Calls `body` with every block of items some of whose rectangles intersect the box, in their
    /// order, until it returns false: then the search is incomplete, and returns false too.
    ///
    /// A block is given as the offset of its records, and one bit for each of those items. `tree`
    /// must hold ``byteCount`` bytes from `offset`. Allocates nothing.
    @inline(__always)
    func search<E: Error>(
        _ tree: Memory, at offset: Int, _ box: FloatBox,
        _ body: (Int, UInt32) throws(E) -> Bool
    ) throws(E) -> Bool {
        let top = levelCount - 1
        guard top >= 0 else { return true }
        // The children still to visit of the blocks above the one that is open.
        var above = InlineArray<8, OpenBlock>(repeating: OpenBlock(children: 0, block: 0))
        var level = top
        var open = OpenBlock(children: children(0, top, tree, at: offset, box), block: 0)
        while true {
            if level == 0 && open.children != 0 {
                let records = offset + place(open.block, 0) + Self.blockByteCount
                guard try body(records, open.children) else { return false }
                open.children = 0
            }
            if open.children == 0 {
                if level == top { return true }
                level += 1
                unsafe open = above[unchecked: level]
                continue
            }
            let child = open.children.trailingZeroBitCount
            open.children &= open.children &- 1
            unsafe above[unchecked: level] = open
            open.block = open.block * Self.width + child
            level -= 1
            open.children = children(open.block, level, tree, at: offset, box)
            if level == 1 { prefetchItems(open, tree, at: offset) }
        }
    }

    /// Starts reading the blocks of items below a block, and their records.
    @inline(__always)
    private func prefetchItems(_ open: OpenBlock, _ tree: Memory, at offset: Int) {
        for child in SetBits(open.children) {
            let items = offset + place(open.block * Self.width + child, 0)
            for line in 0..<8 { tree.prefetch(items + 64 * line) }
        }
    }

    private struct OpenBlock {
        /// One bit per child.
        var children: UInt32
        var block: Int
    }
}

extension FloatTree: Hashable {
    /// Everything else follows from the number of items.
    static func == (a: FloatTree, b: FloatTree) -> Bool { a.itemCount == b.itemCount }

    func hash(into hasher: inout Hasher) { hasher.combine(itemCount) }
}

/// A rectangle in 32-bit numbers, rounded outwards, relative to an origin.
struct FloatBox: Hashable, Sendable {
    var minX: Float
    var minY: Float
    var maxX: Float
    var maxY: Float

    /// A box that intersects none.
    static let nowhere = FloatBox(
        minX: .infinity, minY: .infinity, maxX: -.infinity, maxY: -.infinity)

    /// Holds every position of the envelope: subtraction and rounding are monotonic, so what
    /// intersects as doubles intersects here.
    @inline(__always)
    init(_ envelope: Envelope, from origin: Coordinate) {
        minX = Float(below: envelope.minX - origin.x)
        minY = Float(below: envelope.minY - origin.y)
        maxX = Float(above: envelope.maxX - origin.x)
        maxY = Float(above: envelope.maxY - origin.y)
    }

    /// A slightly larger rounding, in less time.
    @inline(__always)
    init(around envelope: Envelope, from origin: Coordinate) {
        let low = SIMD2(envelope.minX - origin.x, envelope.minY - origin.y)
        let high = SIMD2(envelope.maxX - origin.x, envelope.maxY - origin.y)
        let limit = 1e30
        guard low.x > -limit, low.y > -limit, high.x < limit, high.y < limit else {
            self.init(envelope, from: origin)
            return
        }
        self.init(
            minX: Float(low.x).movedBy(-1), minY: Float(low.y).movedBy(-1),
            maxX: Float(high.x).movedBy(1), maxY: Float(high.y).movedBy(1))
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
    /// At least one step of this type up or down, without a branch; for numbers below 1e30.
    @inline(__always)
    fileprivate func movedBy(_ sign: Float) -> Float {
        self + sign * (abs(self) * 0x1p-23 + .leastNormalMagnitude)
    }

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
