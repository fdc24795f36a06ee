// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CZlib

/// Bytes compressed with deflate, raw (RFC 1951) or as gzip (RFC 1952), in memory.
///
/// The same bytes and level give the same result with the same build of zlib.
public enum Deflate {
    /// The bytes as a raw deflate stream.
    ///
    /// - Parameter level: 0 (stored) to 9 (smallest).
    public static func compress(_ bytes: [UInt8], level: Int = 6) -> [UInt8] {
        var stream = unsafe z_stream()
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        // Negative window bits: no header and no checksum.
        guard
            unsafe deflateInit2_(
                &stream, Int32(min(9, max(0, level))), Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY,
                ZLIB_VERSION, size) == Z_OK
        else { preconditionFailure("zlib has no memory for a stream") }
        defer { unsafe _ = deflateEnd(&stream) }
        let bound = Int(unsafe deflateBound(&stream, uLong(bytes.count)))
        var source = bytes
        return unsafe [UInt8](unsafeUninitializedCapacity: bound) { target, count in
            unsafe source.withUnsafeMutableBufferPointer { source in
                unsafe stream.next_in = source.baseAddress
                unsafe stream.avail_in = uInt(source.count)
                unsafe stream.next_out = target.baseAddress
                unsafe stream.avail_out = uInt(bound)
                let code = unsafe deflate(&stream, Z_FINISH)
                precondition(code == Z_STREAM_END, "deflate needs more room than its bound")
                unsafe count = bound - Int(stream.avail_out)
            }
        }
    }

    /// The expanded bytes of a raw deflate stream; nil unless it is complete, nothing follows, and
    /// there are at most `limit` (≤ 1 GiB) of them.
    public static func expand(_ bytes: [UInt8], limit: Int) -> [UInt8]? {
        expand(bytes, limit: limit, windowBits: -15)
    }

    static func expand(_ bytes: [UInt8], limit: Int, windowBits: Int32) -> [UInt8]? {
        var stream = unsafe z_stream()
        let size = unsafe Int32(MemoryLayout<z_stream>.size)
        guard unsafe inflateInit2_(&stream, windowBits, ZLIB_VERSION, size) == Z_OK else {
            return nil
        }
        defer { unsafe _ = inflateEnd(&stream) }
        let limit = min(max(0, limit), 1 << 30)
        var expanded = [UInt8](repeating: 0, count: min(limit + 1, bytes.count * 4 + 64))
        var source = bytes
        return unsafe source.withUnsafeMutableBufferPointer { source -> [UInt8]? in
            unsafe stream.next_in = source.baseAddress
            unsafe stream.avail_in = uInt(source.count)
            var count = 0
            while true {
                let room = expanded.count - count
                let code = unsafe expanded.withUnsafeMutableBufferPointer { target in
                    unsafe stream.next_out = target.baseAddress.map { unsafe $0 + count }
                    unsafe stream.avail_out = uInt(room)
                    return unsafe inflate(&stream, Z_NO_FLUSH)
                }
                unsafe count += room - Int(stream.avail_out)
                guard count <= limit else { return nil }
                if code == Z_STREAM_END {
                    guard unsafe stream.avail_in == 0 else { return nil }
                    expanded.removeLast(expanded.count - count)
                    return expanded
                }
                // Without a full target the stream is cut or damaged.
                guard code == Z_OK || code == Z_BUF_ERROR, count == expanded.count else {
                    return nil
                }
                let more = min(limit + 1, expanded.count * 2) - expanded.count
                expanded += [UInt8](repeating: 0, count: more)
            }
        }
    }
}

/// Bytes compressed with gzip (RFC 1952), in memory.
public enum Gzip {
    /// One member without name and time, of unknown operating system.
    public static func compress(_ bytes: [UInt8], level: Int = 6) -> [UInt8] {
        var member: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
        member += Deflate.compress(bytes, level: level)
        for number in [CRC32.checksum(bytes), UInt32(truncatingIfNeeded: bytes.count)] {
            for shift in [0, 8, 16, 24] {
                member.append(UInt8(truncatingIfNeeded: number >> UInt32(shift)))
            }
        }
        return member
    }

    /// The expanded bytes of one member; nil unless it is complete, its checksum is right, nothing
    /// follows, and there are at most `limit` (≤ 1 GiB) of them.
    public static func expand(_ bytes: [UInt8], limit: Int) -> [UInt8]? {
        Deflate.expand(bytes, limit: limit, windowBits: 15 + 16)
    }

    /// Whether bytes start with gzip's two magic bytes.
    public static func isGzip(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x1f, 0x8b]) }
}

/// The CRC-32 of gzip, ZIP and PNG, all at once or piece by piece.
public struct CRC32: Sendable {
    /// The checksum of everything added.
    public private(set) var value: UInt32 = 0

    /// Starts with nothing.
    public init() {}

    /// Adds bytes.
    public mutating func update(_ bytes: [UInt8]) {
        let before = value
        value = unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return before }
            return UInt32(
                truncatingIfNeeded: unsafe crc32_z(uLong(before), base, z_size_t(buffer.count)))
        }
    }

    /// The checksum of some bytes.
    public static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = CRC32()
        sum.update(bytes)
        return sum.value
    }
}
