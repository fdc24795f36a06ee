// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Platform

extension MappedFile {
    /// The SHA-256 of all bytes of a file, of which 16 MiB at most are resident at a time.
    public static func sha256(_ path: String) throws(MappingError) -> SHA256.Digest {
        let file = try MappedFile(path: path)
        file.advise(.sequential)
        var hash = SHA256()
        let step = 16 << 20
        for start in stride(from: 0, to: file.byteCount, by: step) {
            file.withBytes {
                hash.update($0.extracting(start..<min(start + step, file.byteCount)))
            }
            file.evict()
        }
        return hash.finish()
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
