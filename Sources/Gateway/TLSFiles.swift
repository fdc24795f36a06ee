// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import NIOSSL

/// The files with which a gateway speaks TLS, both in PEM.
public struct TLSFiles: Hashable, Sendable {
    /// The server's certificate, then those that vouch for it.
    public var certificate: String
    /// The private key of the first certificate, without a password.
    public var key: String

    /// Names them.
    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// TLS 1.2 or later; throws `Failure` (`unreadable`) that names the file at fault.
    func context() throws(Failure) -> NIOSSLContext {
        let chain = try Self.reading(certificate, "certificate chain") {
            let chain = try NIOSSLCertificate.fromPEMFile(certificate)
            guard !chain.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
            return chain
        }
        let secret = try Self.reading(key, "private key") {
            try NIOSSLPrivateKey(file: key, format: .pem)
        }
        var settings = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(secret))
        settings.minimumTLSVersion = .tlsv12
        settings.applicationProtocols = ["http/1.1"]
        do { return try NIOSSLContext(configuration: settings) } catch {
            throw Failure(
                .unreadable,
                "the key '\(key)' does not belong to the first certificate of '\(certificate)'")
        }
    }

    private static func reading<Value>(
        _ path: String, _ what: String, _ body: () throws -> Value
    ) throws(Failure) -> Value {
        do { return try body() } catch {
            throw Failure(
                .unreadable, "'\(path)' cannot be read as a \(what) in PEM (\(error))")
        }
    }
}
