// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A reader of bytes from front to back: little-endian numbers, texts with a length prefix.
///
/// Every read checks its bounds and throws; nothing traps, whatever the bytes are.
public struct WireReader: Sendable {
    /// All the bytes.
    @usableFromInline let bytes: [UInt8]
    /// Offset of the next read.
    @inlinable public var offset: Int { place }
    @usableFromInline var place = 0

    /// Starts at the front, or behind some bytes (0 to all of them; otherwise there is nothing to
    /// read).
    public init(_ bytes: [UInt8], from offset: Int = 0) {
        self.bytes = bytes
        place = 0...bytes.count ~= offset ? offset : bytes.count
    }

    /// Number of bytes left.
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
        place += width
        return Value(littleEndian: value)
    }

    /// The next byte.
    @inlinable
    public mutating func byte() throws(ByteReader.OutOfBounds) -> UInt8 {
        guard remaining > 0 else { throw fault(1) }
        defer { place += 1 }
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

    /// The next text: its length in bytes, then UTF-8; invalid bytes become U+FFFD.
    @inlinable
    public mutating func text() throws(ByteReader.OutOfBounds) -> String {
        let count = try count(eachAtLeast: 1)
        defer { place += count }
        return unsafe bytes.withUnsafeBytes {
            unsafe String(
                decoding: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count]),
                as: UTF8.self)
        }
    }

    /// The next `count` (≥ 0) bytes; lent for the call.
    @inlinable
    public mutating func take<Value>(
        _ count: Int, _ body: (RawSpan) -> Value
    ) throws(ByteReader.OutOfBounds) -> Value {
        guard remaining >= count else { throw fault(count) }
        defer { place += count }
        return unsafe body(bytes.span.bytes.extracting(offset..<offset + count))
    }

    /// The next bytes, their count in front; lent for the call.
    @inlinable
    public mutating func counted<Value>(
        _ body: (RawSpan) -> Value
    ) throws(ByteReader.OutOfBounds) -> Value {
        try take(try count(eachAtLeast: 1), body)
    }

    /// Skips the next bytes with their length prefix; returns their range.
    @inlinable
    public mutating func countedRange() throws(ByteReader.OutOfBounds) -> Range<Int> {
        let count = try count(eachAtLeast: 1)
        defer { place += count }
        return offset..<offset + count
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
