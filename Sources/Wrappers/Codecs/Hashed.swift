// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Platform

extension MappedFile {
    /// The SHA-256 of all bytes of a file.
    public static func sha256(_ path: String) throws(MappingError) -> SHA256.Digest {
        let file = try MappedFile(path: path)
        file.advise(.sequential)
        return file.withBytes { SHA256.digest($0) }
    }
}

extension UUIDBits {
    /// Version 8: the first 16 bytes of SHA-256(namespace ‖ name), version and variant overwritten.
    ///
    /// Equal names give equal ids in every process and on every machine. (Version 5 would need
    /// SHA-1.)
    public static func version8(namespace: [UInt8], name: [UInt8]) -> Bytes {
        var hash = SHA256()
        hash.update(namespace)
        hash.update(name)
        let digest = hash.finish().bytes
        func word(_ start: Int) -> UInt64 {
            digest[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
        return bytes(
            high: word(0) & 0xffff_ffff_ffff_0fff | 0x8000,
            low: word(8) & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000)
    }
}
