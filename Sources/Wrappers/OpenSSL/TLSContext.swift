// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CSSL

/// The certificate and key of a server, for TLS 1.2 and 1.3 with HTTP/1.1 (ALPN).
///
/// It owns an `SSL_CTX`. Sessions may be begun on any thread.
@safe
public final class TLSContext: @unchecked Sendable {
    // `@unchecked`: immutable after creation, and reference-counted by OpenSSL with its own locks.
    let pointer: OpaquePointer

    /// Reads both files, each in PEM: the server's certificate followed by those that vouch for it,
    /// and its key without a password.
    ///
    /// Throws `TLSError`: `certificate`, `key`, `mismatch`, `memory`.
    public init(certificate: String, key: String) throws(TLSError) {
        _ = cairn_ssl_begin()
        ERR_clear_error()
        guard let made = unsafe SSL_CTX_new(TLS_server_method()) else { throw .memory }
        unsafe pointer = made
        guard unsafe cairn_ssl_restrict(made) == 1 else { throw .memory }
        // Without this OpenSSL prompts on the terminal for a password.
        unsafe SSL_CTX_set_default_passwd_cb(made) { _, _, _, _ in 0 }
        // The key first: a certificate that it does not fit drops it without a word.
        guard unsafe SSL_CTX_use_PrivateKey_file(made, key, SSL_FILETYPE_PEM) == 1 else {
            throw .key(TLSError.reason())
        }
        guard unsafe SSL_CTX_use_certificate_chain_file(made, certificate) == 1 else {
            throw .certificate(TLSError.reason())
        }
        guard unsafe SSL_CTX_check_private_key(made) == 1 else {
            ERR_clear_error()
            throw .mismatch
        }
        unsafe SSL_CTX_set_alpn_select_cb(
            made,
            { _, chosen, chosenCount, offered, offeredCount, _ in
                guard let place = unsafe TLSContext.http1(offered, Int(offeredCount)) else {
                    // RFC 7301, 3.2, would have a client refused that offers h2 alone; most go on
                    // without.
                    return SSL_TLSEXT_ERR_NOACK
                }
                unsafe chosen?.pointee = place
                unsafe chosenCount?.pointee = UInt8(protocolName.utf8CodeUnitCount)
                return SSL_TLSEXT_ERR_OK
            }, nil)
    }

    deinit { unsafe SSL_CTX_free(pointer) }

    /// The offset of `http/1.1` in a list of names with length prefixes (RFC 7301, 3.1).
    private static func http1(
        _ offered: UnsafePointer<UInt8>?, _ count: Int
    ) -> UnsafePointer<UInt8>? {
        guard let offered = unsafe offered else { return nil }
        let list = unsafe UnsafeBufferPointer(start: offered, count: count)
        var place = 0
        while place < count {
            let length = unsafe Int(list[place])
            let end = min(place + 1 + length, count)
            let isIt = unsafe list[(place + 1)..<end].elementsEqual(
                UnsafeBufferPointer(
                    start: protocolName.utf8Start, count: protocolName.utf8CodeUnitCount))
            if isIt { return unsafe offered + place + 1 }
            place = end
        }
        return nil
    }
}

private let protocolName: StaticString = "http/1.1"
