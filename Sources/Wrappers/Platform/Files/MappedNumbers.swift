// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A part of a mapped file as little-endian numbers of 1 to 4 bytes each, all of the same width;
/// keeps the mapping alive.
@safe
public struct MappedNumbers: Sendable, RandomAccessCollection {
    @usableFromInline let file: MappedFile
    // Never written; in bounds of the mapping, which `file` keeps.
    @usableFromInline nonisolated(unsafe) let base: UnsafeRawPointer
    /// Number of numbers.
    public let count: Int
    @usableFromInline let width: Int
    /// The largest number of this width.
    public let largest: UInt32

    /// The numbers in a range of bytes; nil unless it and the `4 - width` bytes behind it, which a
    /// read may touch, are within the file, and it has whole numbers of 1 to 4 bytes.
    public init?(_ file: MappedFile, _ range: Range<Int>, width: Int = 4) {
        guard 1...4 ~= width, range.lowerBound >= 0,
            range.isEmpty || range.upperBound <= file.byteCount - (4 - width),
            range.upperBound <= file.byteCount, range.count.isMultiple(of: width)
        else { return nil }
        self.file = file
        unsafe base =
            file.base.map { unsafe $0 + range.lowerBound }
            ?? UnsafeRawPointer(bitPattern: 16).unsafelyUnwrapped
        count = range.count / width
        self.width = width
        largest = UInt32.max >> UInt32(8 * (4 - width))
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
            let word = unsafe base.loadUnaligned(
                fromByteOffset: index &* width, as: UInt32.self)
            return UInt32(littleEndian: word) & largest
        }
    }

    /// The fewest bytes in which each of some numbers is below the largest of that width.
    public static func width(_ numbers: some Sequence<UInt32>) -> Int {
        let most = numbers.max() ?? 0
        return (1...3).first { most < UInt32.max >> UInt32(8 * (4 - $0)) } ?? 4
    }
}
