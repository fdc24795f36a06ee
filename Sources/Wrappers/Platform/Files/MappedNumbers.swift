// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A part of a mapped file as 32-bit little-endian numbers; keeps the mapping alive.
@safe
public struct MappedNumbers: Sendable, RandomAccessCollection {
    @usableFromInline let file: MappedFile
    // Never written; in bounds of the mapping, which `file` keeps.
    @usableFromInline nonisolated(unsafe) let base: UnsafePointer<UInt32>
    /// Number of numbers.
    public let count: Int

    /// The numbers in a range of bytes; nil unless it is within the file and starts and ends at
    /// multiples of 4.
    public init?(_ file: MappedFile, _ range: Range<Int>) {
        guard range.lowerBound >= 0, range.upperBound <= file.byteCount,
            range.lowerBound % 4 == 0, range.count % 4 == 0
        else { return nil }
        self.file = file
        let start = unsafe file.base.map { unsafe $0 + range.lowerBound }
        unsafe base =
            start?.assumingMemoryBound(to: UInt32.self)
            ?? UnsafePointer(bitPattern: 16).unsafelyUnwrapped
        count = range.count / 4
    }

    /// 0.
    @inlinable public var startIndex: Int { 0 }
    /// Their number.
    @inlinable public var endIndex: Int { count }

    /// A number; traps out of bounds.
    @inlinable
    public subscript(index: Int) -> UInt32 {
        @inline(__always) get {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            return unsafe UInt32(littleEndian: base[index])
        }
    }
}
