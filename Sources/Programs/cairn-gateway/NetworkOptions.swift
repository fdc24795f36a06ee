// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import Gateway

/// Network options of a gateway: TLS, limits, and access.
struct NetworkOptions: ParsableArguments {
    @Option(help: "The server's certificate chain, a PEM file; enables TLS.")
    var tlsCertificate: String?

    @Option(help: "The private key of that certificate, a PEM file.")
    var tlsKey: String?

    @Flag(
        help: "Serve a network without access rules: every client has all permissions.")
    var allowAnonymousNetwork = false

    @Flag(help: "Accept passwords from a network without TLS, as behind a TLS proxy.")
    var allowPlainTokens = false

    @Option(help: "Maximum number of connections.")
    var connections = 4_096

    @Option(
        help:
            "Maximum number of connections per address; 64 by default, unlimited on a loopback address."
    )
    var connectionsPerAddress: Int?

    @Option(
        help: "Maximum requests per second of a user or address; unlimited by default.")
    var rateLimit: Int?

    @Option(
        name: .customLong("cors-origin"),
        help: "An origin whose pages may read the answers, https://a.example; all by default.")
    var corsOrigins: [String] = []

    @Option(
        name: .customLong("trusted-proxy"),
        help: "The address of a proxy whose X-Forwarded-For and X-Forwarded-Proto are trusted.")
    var trustedProxies: [String] = []

    @Option(
        name: .customLong("public-url"),
        help:
            "Base of URLs in answers, https://maps.example.org; by default the host name of the request, where known."
    )
    var publicURL: String?

    @Option(
        name: .customLong("host-name"),
        help:
            "A host name of the gateway; with any, others are refused, except addresses and the machine's own name."
    )
    var hostNames: [String] = []

    @Option(
        help:
            "max-age of Strict-Transport-Security over TLS, in seconds; 0 omits the header."
    )
    var transportSecurity = 86_400

    @Option(help: "The request log, a file with a line for each request.")
    var requestLog: String?

    func validate() throws {
        for (name, value) in [
            ("connections", connections), ("connections-per-address", connectionsPerAddress ?? 1),
            ("rate-limit", rateLimit ?? 1),
        ] where !(1...1_000_000 ~= value) {
            throw ValidationError("--\(name): expected 1 to 1000000")
        }
        guard 0...63_072_000 ~= transportSecurity else {
            throw ValidationError("--transport-security: expected 0 to 63072000 seconds")
        }
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key: expected both or neither")
        }
    }

    func settings(host: String, port: Int) -> GatewayServer.Configuration {
        var settings = GatewayServer.Configuration()
        settings.host = host
        settings.port = port
        if let tlsCertificate, let tlsKey {
            settings.tls = TLSFiles(certificate: tlsCertificate, key: tlsKey)
        }
        settings.connectionLimit = connections
        settings.connectionLimitPerAddress =
            connectionsPerAddress ?? (settings.isOnLoopback ? nil : 64)
        settings.requestsPerSecond = rateLimit
        settings.allowedOrigins = corsOrigins
        settings.trustedProxies = trustedProxies
        settings.publicURL = publicURL
        settings.hostNames = hostNames
        settings.transportSecuritySeconds = transportSecurity
        settings.requestLogPath = requestLog
        settings.allowsAnonymousNetwork = allowAnonymousNetwork
        settings.allowsPlainTokens = allowPlainTokens
        return settings
    }
}
