// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CSodium
internal import Glibc
internal import Platform

/// Password hashes of libsodium: argon2id with a salt of its own in each text (RFC 9106).
///
/// Either call takes 64 MiB and some ten milliseconds, so callers bound how many run at once.
public enum PasswordHash {
    /// `$argon2id$…` of a password's UTF-8 bytes, at most 127 characters; nil when memory is short.
    public static func make(_ password: String) -> String? {
        Sodium.begin()
        var text = [CChar](repeating: 0, count: Int(crypto_pwhash_strbytes()))
        let bytes = password.utf8.map { CChar(bitPattern: $0) }
        let code = unsafe crypto_pwhash_str(
            &text, bytes, UInt64(bytes.count), UInt64(crypto_pwhash_opslimit_interactive()),
            crypto_pwhash_memlimit_interactive())
        guard code == 0 else { return nil }
        return String(
            decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether the text was made of that password; false for a text that is no hash, and when
    /// memory is short.
    public static func matches(_ hash: String, _ password: String) -> Bool {
        Sodium.begin()
        guard hash.utf8.count < crypto_pwhash_strbytes() else { return false }
        let bytes = password.utf8.map { CChar(bitPattern: $0) }
        return unsafe crypto_pwhash_str_verify(hash, bytes, UInt64(bytes.count)) == 0
    }
}

/// BLAKE2b with a key: a holder of the key can verify that bytes came from another holder.
public enum KeyedHash {
    /// Byte count of a digest and of a key.
    public static let byteCount = 32

    /// The digest of bytes; `key` has ``byteCount`` bytes.
    public static func digest(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        precondition(key.count == byteCount, "a key has \(byteCount) bytes")
        Sodium.begin()
        var digest = [UInt8](repeating: 0, count: byteCount)
        unsafe crypto_generichash(
            &digest, digest.count, bytes, UInt64(bytes.count), key, key.count)
        return digest
    }

    /// Compares in constant time.
    public static func isEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        guard first.count == second.count else { return false }
        return unsafe sodium_memcmp(first, second, first.count) == 0
    }
}

/// Base64 with the letters of URLs and without padding (RFC 4648, 5).
public enum Base64URL {
    /// The text of bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        var text = [CChar](
            repeating: 0, count: sodium_base64_encoded_len(bytes.count, variant))
        unsafe _ = sodium_bin2base64(&text, text.count, bytes, bytes.count, variant)
        return String(
            decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The bytes of a text; nil for any other text.
    public static func decode(_ text: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: text.utf8.count)
        guard !bytes.isEmpty else { return [] }
        var count = 0
        let code = unsafe sodium_base642bin(
            &bytes, bytes.count, text, text.utf8.count, nil, &count, nil, variant)
        return code == 0 ? Array(bytes[..<count]) : nil
    }

    private static let variant = Int32(7)
}

private enum Sodium {
    /// Chooses the fastest code for this processor; any number of times, on any thread.
    static func begin() { _ = ready }
    private static let ready = sodium_init()
}
