// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import Gateway

/// Network options of a gateway: TLS, limits, and access.
struct NetworkOptions: ParsableArguments {
    @Option(help: "A file with the server's certificate chain in PEM; the gateway speaks TLS then.")
    var tlsCertificate: String?

    @Option(help: "A file with the private key of that certificate in PEM.")
    var tlsKey: String?

    @Flag(
        help: "Serve a network though the site has no users, so that everybody may do everything.")
    var allowAnonymousNetwork = false

    @Flag(help: "Take passwords from a network without TLS, as behind a proxy that speaks it.")
    var allowPlainTokens = false

    @Option(help: "The most connections at once.")
    var connections = 4_096

    @Option(
        help:
            "The most connections of one address; 64 unless given, without a bound on a loopback address."
    )
    var connectionsPerAddress: Int?

    @Option(
        help: "The most requests of one user, or else address, in a second; no bound unless given.")
    var rateLimit: Int?

    @Option(
        name: .customLong("cors-origin"),
        help: "An origin whose pages may read the answers, https://a.example; all unless given.")
    var corsOrigins: [String] = []

    @Option(
        name: .customLong("trusted-proxy"),
        help: "The address of a proxy whose X-Forwarded-For and X-Forwarded-Proto are believed.")
    var trustedProxies: [String] = []

    @Option(
        name: .customLong("public-url"),
        help:
            "What URLs in answers begin with, https://maps.example.org; else the client's name for the gateway, where known."
    )
    var publicURL: String?

    @Option(
        name: .customLong("host-name"),
        help:
            "A name by which clients ask the gateway; with any, others are refused, but for addresses and the machine's own."
    )
    var hostNames: [String] = []

    @Option(
        help:
            "For how many seconds browsers that came over TLS come over nothing else; 0 tells them nothing."
    )
    var transportSecurity = 86_400

    @Option(help: "A file that gets one line for each request.")
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
