// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

extension RawSpan {
    /// The little-endian integer at a byte offset, aligned or not; nil when out of bounds.
    @inlinable
    public func littleEndian<Value: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, as type: Value.Type = Value.self
    ) -> Value? {
        let width = MemoryLayout<Value>.size
        guard offset >= 0, offset <= byteCount - width else { return nil }
        return Value(
            littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self))
    }

    /// A copy of the bytes in a range; traps when the range is not inside.
    public func copy(_ range: Range<Int>) -> [UInt8] {
        let part = extracting(range)
        return unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            unsafe part.withUnsafeBytes { bytes in
                unsafe UnsafeMutableRawBufferPointer(buffer).copyMemory(from: bytes)
            }
            count = range.count
        }
    }

    /// Copies the bytes to the front of `destination`; traps when it is smaller.
    public func copy(into destination: inout MutableRawSpan) {
        let count = byteCount
        unsafe destination.withUnsafeMutableBytes { target in
            precondition(target.count >= count, "a copy needs room for all its bytes")
            unsafe withUnsafeBytes { unsafe target.copyMemory(from: $0) }
        }
    }

    /// A copy of all bytes.
    public func copy() -> [UInt8] { copy(0..<byteCount) }
}

/// A place in some bytes from which little-endian values are read one after the other.
///
/// It holds the offset only; every read is lent the bytes.
public struct ByteReader: Hashable, Sendable {
    /// Offset of the next read.
    public var offset: Int

    /// Starts at an offset.
    public init(offset: Int = 0) { self.offset = offset }

    /// Fewer bytes are left than a value needs.
    public struct OutOfBounds: Error, Hashable, Sendable {
        /// Offset of the missing value.
        public let offset: Int
        /// Its byte count.
        public let needed: Int

        @usableFromInline
        init(offset: Int, needed: Int) {
            self.offset = offset
            self.needed = needed
        }
    }

    /// The next integer.
    @inlinable
    public mutating func next<Value: FixedWidthInteger & BitwiseCopyable>(
        _ type: Value.Type = Value.self, in bytes: RawSpan
    ) throws(OutOfBounds) -> Value {
        guard let value = bytes.littleEndian(at: offset, as: type) else {
            throw OutOfBounds(offset: offset, needed: MemoryLayout<Value>.size)
        }
        offset += MemoryLayout<Value>.size
        return value
    }

    /// The next 64-bit floating-point number.
    @inlinable
    public mutating func nextDouble(in bytes: RawSpan) throws(OutOfBounds) -> Double {
        Double(bitPattern: try next(UInt64.self, in: bytes))
    }

    /// A copy of the next `count` bytes.
    public mutating func nextBytes(_ count: Int, in bytes: RawSpan) throws(OutOfBounds) -> [UInt8] {
        guard count >= 0, offset >= 0, count <= bytes.byteCount - offset else {
            throw OutOfBounds(offset: offset, needed: count)
        }
        defer { offset += count }
        return bytes.copy(offset..<offset + count)
    }
}

/// Bytes to which little-endian values are appended one after the other.
public struct ByteWriter: Hashable, Sendable {
    /// The bytes written.
    @usableFromInline var storage: [UInt8] = []

    /// The bytes written.
    public var bytes: [UInt8] { storage }

    /// Starts empty, with room for some bytes.
    public init(capacity: Int = 0) { storage.reserveCapacity(capacity) }

    /// Appends an integer.
    @inlinable
    public mutating func append(_ value: some FixedWidthInteger & BitwiseCopyable) {
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe storage.append(contentsOf: $0) }
    }

    /// Appends the lowest 1 to 4 bytes of a number.
    @inlinable
    public mutating func append(_ value: UInt32, width: Int) {
        for byte in 0..<width { storage.append(UInt8(truncatingIfNeeded: value >> (8 * byte))) }
    }

    /// Appends 64-bit integers, one behind the other.
    @inlinable
    public mutating func append<let count: Int>(words: InlineArray<count, UInt64>) {
        var words = words
        for index in words.indices { words[index] = words[index].littleEndian }
        unsafe append(words.span.bytes)
    }

    /// Appends the bits of a 64-bit floating-point number.
    @inlinable
    public mutating func append(_ value: Double) { append(value.bitPattern) }

    /// Appends bytes.
    @inlinable
    public mutating func append(_ more: [UInt8]) { storage.append(contentsOf: more) }

    /// Appends bytes.
    @inlinable
    public mutating func append(_ more: RawSpan) {
        unsafe more.withUnsafeBytes { unsafe storage.append(contentsOf: $0) }
    }

    /// Number of bytes written.
    public var byteCount: Int { storage.count }

    /// Lends the bytes written.
    @inlinable
    public func withBytes<Value, Fault>(
        _ body: (RawSpan) throws(Fault) -> Value
    ) throws(Fault) -> Value {
        try unsafe body(storage.span.bytes)
    }

    /// The CRC-32C of the bytes written.
    public var checksum: UInt32 { CRC32C.checksum(storage) }

    /// Removes the last `count` bytes (at most all).
    public mutating func removeLast(_ count: Int) { storage.removeLast(count) }

    /// Removes all bytes and keeps the capacity.
    public mutating func removeAll() { storage.removeAll(keepingCapacity: true) }

    /// Appends a text's UTF-8, without its length.
    @inlinable
    public mutating func append(text: String) { storage.append(contentsOf: text.utf8) }
}
