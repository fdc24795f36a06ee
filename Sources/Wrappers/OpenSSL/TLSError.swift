// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CSSL
internal import Glibc

/// A fault of a server's files, or of a peer's messages.
public enum TLSError: Error, Hashable, Sendable {
    /// The file is no certificate chain in PEM; why.
    case certificate(String)
    /// The file is not a private key in PEM, or is encrypted; the reason.
    case key(String)
    /// The private key belongs to another certificate.
    case mismatch
    /// The peer violates TLS or the allowed versions; OpenSSL's message.
    case peer(String)
    /// Out of memory.
    case memory

    /// The first error this thread's last call left, in OpenSSL's words; takes all of them away.
    static func reason() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return "it gave no reason" }
        if let text = unsafe ERR_reason_error_string(code) { return unsafe String(cString: text) }
        // A system call's: its reason is an `errno` (`ERR_reason_error_string`, OpenSSL 3).
        return unsafe strerror(ERR_GET_REASON(code)).map { unsafe String(cString: $0) }
            ?? "error \(code)"
    }
}
