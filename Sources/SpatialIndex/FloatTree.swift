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
struct FloatTree: Sendable {
    static let width = 16
    static let blockByteCount = 256
    static let recordByteCount = 16
    static let itemLimit = 1 << 31

    let itemCount: Int
    let levelCount: Int
    /// How many blocks each level has; items' level first, root last.
    let counts: InlineArray<8, Int>
    /// Where each level's blocks start, in bytes.
    let starts: InlineArray<8, Int>
    let byteCount: Int

    /// Nil when `itemCount` is not in 1…2^31.
    init?(itemCount: Int) {
        guard 1...Self.itemLimit ~= itemCount else { return nil }
        self.itemCount = itemCount
        var counts = InlineArray<8, Int>(repeating: 0)
        var starts = InlineArray<8, Int>(repeating: 0)
        var count = itemCount
        var levels = 0
        repeat {
            count = (count + Self.width - 1) / Self.width
            counts[levels] = count
            levels += 1
        } while count > 1
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

    /// How many bytes lie between the blocks of a level.
    @inline(__always)
    static func stride(_ level: Int) -> Int {
        level == 0 ? blockByteCount + width * recordByteCount : blockByteCount
    }

    /// Where a block lies, in bytes from the tree's start.
    @inline(__always)
    func place(_ block: Int, _ level: Int) -> Int { starts[level] + block * Self.stride(level) }

    /// The children of a block that share a point with the box, one bit each; none that is not there,
    /// whatever the bytes say.
    @inline(__always)
    func children(
        _ block: Int, _ level: Int, _ tree: Memory, at offset: Int, _ box: FloatBox
    ) -> UInt32 {
        let children = tree.meets(offset + place(block, level), box)
        let below = (level == 0 ? itemCount : counts[level - 1]) - block * Self.width
        return below < Self.width ? children & (1 << UInt32(below) - 1) : children
    }

    /// Calls `body` with the place of the record of every item whose rectangle shares a point with the
    /// box, in the order of the items.
    ///
    /// `tree` must hold ``byteCount`` bytes from `offset`. Allocates nothing.
    @inline(__always)
    func search<E: Error>(
        _ tree: Memory, at offset: Int, _ box: FloatBox, _ body: (Int) throws(E) -> Void
    ) throws(E) {
        let top = levelCount - 1
        // The children still to visit of the block that is open on each level.
        var open = InlineArray<8, OpenBlock>(repeating: OpenBlock(children: 0, block: 0))
        var level = top
        var block = 0
        while true {
            var children = children(block, level, tree, at: offset, box)
            if level == 0 {
                let records = offset + place(block, 0) + Self.blockByteCount
                while children != 0 {
                    let child = children.trailingZeroBitCount
                    children &= children - 1
                    try body(records + Self.recordByteCount * child)
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
        var children: UInt32
        var block: Int
    }
}

extension FloatTree: Hashable {
    /// All else follows from the number of items.
    static func == (a: FloatTree, b: FloatTree) -> Bool { a.itemCount == b.itemCount }

    func hash(into hasher: inout Hasher) { hasher.combine(itemCount) }
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
