// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import OpenSSL

/// Certificate and key files of a gateway, both in PEM.
package struct TLSFiles: Hashable, Sendable {
    /// The server's certificate, followed by its chain.
    package var certificate: String
    /// The private key of the first certificate, unencrypted.
    package var key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// A context for TLS 1.2 or later; throws `Failure` (`unreadable`) that names the offending
    /// file.
    func context() throws(Failure) -> TLSContext {
        do throws(TLSError) {
            return try TLSContext(certificate: certificate, key: key)
        } catch {
            throw Failure(.unreadable, sentence(error))
        }
    }

    private func sentence(_ error: TLSError) -> String {
        switch error {
        case .certificate(let reason):
            "'\(certificate)' cannot be read as a certificate chain in PEM (\(reason))"
        case .key(let reason):
            "'\(key)' cannot be read as a private key in PEM without a password (\(reason))"
        case .mismatch:
            "the key '\(key)' does not belong to the first certificate of '\(certificate)'"
        case .peer(let reason): reason
        case .memory: "out of memory for TLS"
        }
    }
}
