// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

// For inner loops over files whose offsets were checked on open: each load still checks its bounds
// and traps outside, but is inlined into the caller.
extension RawSpan {
    /// The byte at an offset; traps outside.
    @inlinable
    @inline(__always)
    public func byte(at offset: Int) -> UInt8 {
        precondition(offset >= 0 && offset < byteCount)
        return unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
    }

    /// The little-endian 16-bit integer at an offset, aligned or not; traps outside.
    @inlinable
    @inline(__always)
    public func uint16(at offset: Int) -> UInt16 {
        precondition(offset >= 0 && offset <= byteCount - 2)
        return UInt16(
            littleEndian: unsafe unsafeLoadUnaligned(
                fromUncheckedByteOffset: offset, as: UInt16.self))
    }

    /// The little-endian 32-bit integer at an offset, aligned or not; traps outside.
    @inlinable
    @inline(__always)
    public func uint32(at offset: Int) -> UInt32 {
        precondition(offset >= 0 && offset <= byteCount - 4)
        return UInt32(
            littleEndian: unsafe unsafeLoadUnaligned(
                fromUncheckedByteOffset: offset, as: UInt32.self))
    }

    /// The little-endian 64-bit integer at an offset, aligned or not; traps outside.
    @inlinable
    @inline(__always)
    public func uint64(at offset: Int) -> UInt64 {
        precondition(offset >= 0 && offset <= byteCount - 8)
        return UInt64(
            littleEndian: unsafe unsafeLoadUnaligned(
                fromUncheckedByteOffset: offset, as: UInt64.self))
    }

    /// The little-endian 64-bit floating-point number at an offset, aligned or not; traps outside.
    @inlinable
    @inline(__always)
    public func double(at offset: Int) -> Double { Double(bitPattern: uint64(at: offset)) }

    /// The sixteen bytes at an offset; traps outside.
    @inlinable
    @inline(__always)
    public func uuid(at offset: Int) -> UUIDBits.Bytes {
        precondition(offset >= 0 && offset <= byteCount - 16)
        return unsafe unsafeLoadUnaligned(
            fromUncheckedByteOffset: offset, as: UUIDBits.Bytes.self)
    }
}

extension InlineArray where Element == UInt8 {
    /// Puts a value's bytes at an offset; traps outside.
    @inlinable
    @inline(__always)
    public mutating func store<Value: BitwiseCopyable>(_ value: Value, at offset: Int) {
        var span = mutableSpan
        var bytes = unsafe span.mutableBytes
        bytes.storeBytes(of: value, toByteOffset: offset, as: Value.self)
    }

    /// Lends the bytes.
    @inlinable
    @inline(__always)
    public func withBytes<Result, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe try body(span.bytes)
    }
}
