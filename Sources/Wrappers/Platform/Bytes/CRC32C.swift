// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CCairnLinux

/// CRC-32C (Castagnoli; RFC 3720 appendix B.4): finds damage, does not stop forgery.
public struct CRC32C: Sendable {
    /// The checksum of the bytes added; 0 for none.
    public private(set) var value: UInt32 = 0

    /// Starts empty.
    public init() {}

    /// Adds bytes.
    public mutating func update(_ bytes: RawSpan) {
        let before = value
        value = unsafe bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return before }
            return unsafe cairn_crc32c(before, base, buffer.count)
        }
    }

    /// Adds bytes.
    public mutating func update(_ bytes: [UInt8]) { unsafe update(bytes.span.bytes) }

    /// The checksum of some bytes.
    public static func checksum(_ bytes: RawSpan) -> UInt32 {
        var crc = CRC32C()
        crc.update(bytes)
        return crc.value
    }

    /// The checksum of some bytes.
    public static func checksum(_ bytes: [UInt8]) -> UInt32 { unsafe checksum(bytes.span.bytes) }

    /// The checksum by table, the way processors without the instruction compute it.
    public static func checksumByTable(_ bytes: RawSpan) -> UInt32 {
        unsafe bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return 0 }
            return unsafe cairn_crc32c_table(0, base, buffer.count)
        }
    }
}
