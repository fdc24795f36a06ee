// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Geometry
import Platform

/// Borrowed bytes behind one pointer, for loops that have checked their bounds before.
///
/// Valid only inside the closure that was lent the span. Numbers are little-endian, as is every
/// machine Cairn runs on; no load is checked, so every offset that comes from a file goes through
/// ``holds(_:_:)`` first.
@safe struct Memory {
    private let base: UnsafeRawPointer
    let byteCount: Int

    @inline(__always)
    init(_ buffer: UnsafeRawBufferPointer) {
        unsafe base = buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 16).unsafelyUnwrapped
        byteCount = buffer.count
    }

    /// Whether the range of `count` bytes (not negative) at `offset` is in bounds.
    @inline(__always)
    func holds(_ offset: Int, _ count: Int) -> Bool {
        offset >= 0 && count <= byteCount && offset <= byteCount - count
    }

    @inline(__always)
    func uint32(_ offset: Int) -> Int {
        Int(unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    @inline(__always)
    func uint64(_ offset: Int) -> UInt64 {
        unsafe base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    @inline(__always)
    func float(_ offset: Int) -> Float {
        unsafe base.loadUnaligned(fromByteOffset: offset, as: Float.self)
    }

    @inline(__always)
    func double(_ offset: Int) -> Double {
        unsafe base.loadUnaligned(fromByteOffset: offset, as: Double.self)
    }

    @inline(__always)
    func coordinate(_ offset: Int) -> Coordinate {
        let pair = unsafe base.loadUnaligned(fromByteOffset: offset, as: SIMD2<Double>.self)
        return Coordinate(x: pair.x, y: pair.y)
    }

    /// A bit for each of the sixteen rectangles of a tree's block that intersects the box.
    @inline(__always)
    func meets(_ block: Int, _ box: FloatBox) -> UInt32 {
        unsafe Lanes.meets(
            base + block, minX: box.minX, minY: box.minY, maxX: box.maxX, maxY: box.maxY)
    }

    /// The comparison of the segments between `count` (1…64) coordinates with a ray that starts
    /// somewhere in the rectangle.
    @inline(__always)
    func crossings(_ offset: Int, count: Int, from place: Envelope) -> Lanes.Crossings {
        unsafe Lanes.crossings(
            base + offset, count: count, minX: place.minX, minY: place.minY, maxX: place.maxX,
            maxY: place.maxY)
    }

    /// Prefetches the bytes at an offset, which may be out of bounds.
    @inline(__always)
    func prefetch(_ offset: Int) {
        unsafe Lanes.prefetch(UInt(bitPattern: base) &+ UInt(bitPattern: offset))
    }
}

/// The offset and expectation at which an index file is malformed.
public struct IndexDamage: Error, Hashable, Sendable {
    /// Bytes from the start of the index.
    public var offset: Int
    /// The expected form.
    public var expected: String

    init(_ offset: Int, _ expected: String) {
        self.offset = offset
        self.expected = expected
    }
}
