// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CSSL

/// SHA-256 (FIPS 180-4), all at once or piece by piece; computed by OpenSSL, which uses the
/// processor's own instructions.
public struct SHA256: Sendable {
    private var state = SHA256_CTX()

    /// Starts with nothing.
    public init() { unsafe SHA256_Init(&state) }

    /// Adds bytes.
    public mutating func update(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            unsafe SHA256_Update(&state, base, buffer.count)
        }
    }

    /// Adds bytes.
    public mutating func update(_ bytes: [UInt8]) { unsafe update(bytes.span.bytes) }

    /// The digest of everything added.
    public consuming func finish() -> Digest {
        var bytes = [UInt8](repeating: 0, count: 32)
        unsafe SHA256_Final(&bytes, &state)
        return Digest(bytes: bytes)
    }

    /// The digest of some bytes.
    public static func digest(_ bytes: RawSpan) -> Digest {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finish()
    }

    /// The digest of some bytes.
    public static func digest(_ bytes: [UInt8]) -> Digest { unsafe digest(bytes.span.bytes) }

    /// The digest of a text's UTF-8 bytes.
    public static func digest(_ text: String) -> Digest { digest(Array(text.utf8)) }

    /// The 32 bytes of a SHA-256.
    public struct Digest: Hashable, Sendable {
        /// Exactly 32 bytes.
        public let bytes: [UInt8]

        init(bytes: [UInt8]) { self.bytes = bytes }

        /// 64 lower-case hexadecimal digits.
        public var hexadecimal: String { Hexadecimal.encode(bytes) }
    }
}

/// Hexadecimal text.
public enum Hexadecimal {
    /// Two lower-case digits per byte.
    public static func encode(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of an even number of digits of either case; nil for anything else.
    public static func decode(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for offset in stride(from: 0, to: digits.count, by: 2) {
            guard let high = nibble(digits[offset]), let low = nibble(digits[offset + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func nibble(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
