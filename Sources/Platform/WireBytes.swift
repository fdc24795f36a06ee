// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Bytes that are read from front to back: little-endian numbers, texts with their length in front.
///
/// Every read checks its bounds and throws; nothing traps, whatever the bytes are.
public struct WireReader: Sendable {
    /// All the bytes.
    @usableFromInline let bytes: [UInt8]
    @usableFromInline var offset = 0

    /// Starts at the front.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// How many bytes are left.
    @inlinable public var remaining: Int { bytes.count - offset }

    /// The next number.
    @inlinable
    public mutating func number<Value: FixedWidthInteger & BitwiseCopyable>(
        _ type: Value.Type = Value.self
    ) throws(ByteReader.OutOfBounds) -> Value {
        let width = MemoryLayout<Value>.size
        guard remaining >= width else { throw fault(width) }
        let value = unsafe bytes.withUnsafeBytes {
            unsafe $0.loadUnaligned(fromByteOffset: offset, as: Value.self)
        }
        offset += width
        return Value(littleEndian: value)
    }

    /// The next byte.
    @inlinable
    public mutating func byte() throws(ByteReader.OutOfBounds) -> UInt8 {
        guard remaining > 0 else { throw fault(1) }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// The next 64-bit floating-point number.
    @inlinable
    public mutating func real() throws(ByteReader.OutOfBounds) -> Double {
        Double(bitPattern: try number(UInt64.self))
    }

    /// The next count of things that each take at least `byteCount` bytes (≥ 1), so that a count
    /// that cannot be true is refused before anything is made room for.
    @inlinable
    public mutating func count(
        eachAtLeast byteCount: Int
    ) throws(ByteReader.OutOfBounds) -> Int {
        let count = Int(try number(UInt32.self))
        guard count <= remaining / byteCount else { throw fault(count) }
        return count
    }

    /// The next text: its length in bytes, then UTF-8; bytes that are none become U+FFFD.
    @inlinable
    public mutating func text() throws(ByteReader.OutOfBounds) -> String {
        let count = try count(eachAtLeast: 1)
        defer { offset += count }
        return unsafe bytes.withUnsafeBytes {
            unsafe String(
                decoding: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count]),
                as: UTF8.self)
        }
    }

    /// The next bytes, so many as said (≥ 0); lent for the call.
    @inlinable
    public mutating func take<Value>(
        _ count: Int, _ body: (RawSpan) -> Value
    ) throws(ByteReader.OutOfBounds) -> Value {
        guard remaining >= count else { throw fault(count) }
        defer { offset += count }
        return unsafe body(bytes.span.bytes.extracting(offset..<offset + count))
    }

    @usableFromInline
    func fault(_ needed: Int) -> ByteReader.OutOfBounds {
        ByteReader.OutOfBounds(offset: offset, needed: needed)
    }
}

extension ByteWriter {
    /// Appends a count; traps beyond 32 bits.
    @inlinable
    public mutating func append(count: Int) { append(UInt32(count)) }

    /// Appends bytes with their count in front.
    @inlinable
    public mutating func append(counted bytes: RawSpan) {
        append(count: bytes.byteCount)
        append(bytes)
    }

    /// Appends a text with its length in bytes in front.
    @inlinable
    public mutating func append(counted text: String) {
        append(count: text.utf8.count)
        append(text: text)
    }
}
