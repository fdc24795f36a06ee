// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import ArgumentParser
import CairnModel
import Gateway
import Recording
import Settings

/// The gateway's settings as arguments; texts, which `Settings` checks with the others.
struct GatewayOptions: ParsableArguments {
    @Option(help: ArgumentHelp(Setting.host.help)) var host: String?
    @Option(help: ArgumentHelp(Setting.port.help)) var port: String?
    @Flag(inversion: .prefixedNo, help: ArgumentHelp(Setting.identifyAtOnce.help))
    var identifyAtOnce: Bool?
    @Option(help: ArgumentHelp(Setting.clickLimit.help)) var clickLimit: String?
    @Option(help: ArgumentHelp(Setting.tileMegabytes.help)) var tileMegabytes: String?
    @Option(help: ArgumentHelp(Setting.record.help)) var record: String?
    @Option(help: ArgumentHelp(Setting.tlsCertificate.help)) var tlsCertificate: String?
    @Option(help: ArgumentHelp(Setting.tlsKey.help)) var tlsKey: String?
    @Flag(help: ArgumentHelp(Setting.allowAnonymousNetwork.help)) var allowAnonymousNetwork = false
    @Flag(help: ArgumentHelp(Setting.allowPlainTokens.help)) var allowPlainTokens = false
    @Option(help: ArgumentHelp(Setting.connections.help)) var connections: String?
    @Option(help: ArgumentHelp(Setting.connectionsPerAddress.help))
    var connectionsPerAddress: String?
    @Option(help: ArgumentHelp(Setting.rateLimit.help)) var rateLimit: String?
    @Option(name: .customLong("cors-origin"), help: ArgumentHelp(Setting.corsOrigins.help))
    var corsOrigins: [String] = []
    @Option(name: .customLong("trusted-proxy"), help: ArgumentHelp(Setting.trustedProxies.help))
    var trustedProxies: [String] = []
    @Option(name: .customLong("public-url"), help: ArgumentHelp(Setting.publicURL.help))
    var publicURL: String?
    @Option(name: .customLong("host-name"), help: ArgumentHelp(Setting.hostNames.help))
    var hostNames: [String] = []
    @Option(help: ArgumentHelp(Setting.transportSecurity.help)) var transportSecurity: String?
    @Option(help: ArgumentHelp(Setting.requestLog.help)) var requestLog: String?
    @Option(help: ArgumentHelp(Setting.audit.help)) var audit: String?
    @Option(help: ArgumentHelp(Setting.auditDays.help)) var auditDays: String?
    @Option(help: ArgumentHelp(Setting.auditGigabytes.help)) var auditGigabytes: String?
    @Option(help: ArgumentHelp(Setting.auditMask.help)) var auditMask: [String] = []

    /// Those that were given.
    var arguments: [Setting: String?] {
        func list(_ texts: [String]) -> String? {
            texts.isEmpty ? nil : texts.joined(separator: ",")
        }
        return [
            .host: host, .port: port, .identifyAtOnce: identifyAtOnce.map { "\($0)" },
            .clickLimit: clickLimit, .tileMegabytes: tileMegabytes, .record: record,
            .tlsCertificate: tlsCertificate, .tlsKey: tlsKey,
            .allowAnonymousNetwork: allowAnonymousNetwork ? "true" : nil,
            .allowPlainTokens: allowPlainTokens ? "true" : nil, .connections: connections,
            .connectionsPerAddress: connectionsPerAddress, .rateLimit: rateLimit,
            .corsOrigins: list(corsOrigins), .trustedProxies: list(trustedProxies),
            .publicURL: publicURL, .hostNames: list(hostNames),
            .transportSecurity: transportSecurity, .requestLog: requestLog,
            .audit: audit, .auditDays: auditDays, .auditGigabytes: auditGigabytes,
            .auditMask: list(auditMask),
        ]
    }
}

extension GatewayServer.Configuration {
    /// That of some settings; what is not set is as usual.
    init(_ settings: Settings) {
        self.init()
        host = settings[.host] ?? host
        port = settings.whole(.port) ?? port
        if let certificate = settings[.tlsCertificate], let key = settings[.tlsKey] {
            tls = TLSFiles(certificate: certificate, key: key)
        }
        tileByteLimit = settings.whole(.tileMegabytes).map { $0 << 20 } ?? tileByteLimit
        connectionLimit = settings.whole(.connections) ?? connectionLimit
        connectionLimitPerAddress =
            settings.whole(.connectionsPerAddress) ?? (isOnLoopback ? nil : 64)
        requestsPerSecond = settings.whole(.rateLimit)
        allowedOrigins = settings.list(.corsOrigins)
        trustedProxies = settings.list(.trustedProxies)
        publicURL = settings[.publicURL]
        hostNames = settings.list(.hostNames)
        transportSecuritySeconds =
            settings.whole(.transportSecurity) ?? transportSecuritySeconds
        requestLogPath = settings[.requestLog]
        allowsAnonymousNetwork = settings.flag(.allowAnonymousNetwork) ?? false
        allowsPlainTokens = settings.flag(.allowPlainTokens) ?? false
    }
}

extension AuditPolicy {
    /// The policy of some settings; nil without an audit.
    ///
    /// Throws `Failure` naming the setting.
    init?(_ settings: Settings) throws(Failure) {
        let text = settings[.audit] ?? "off"
        guard text != "off" else { return nil }
        guard let share = text == "all" ? 1 : Double(text), 0 < share, share <= 1 else {
            throw Failure(
                .invalidParameter,
                "\(Setting.audit.name) is '\(text.prefix(80))': expected \(Setting.audit.expected)")
        }
        self.init()
        sampledPerMillion = UInt32(max(1, (share * 1_000_000).rounded()))
        days = settings.whole(.auditDays) ?? days
        byteLimit = settings.whole(.auditGigabytes).map { Int64($0) << 30 } ?? byteLimit
        for name in settings.list(.auditMask) {
            guard let field = Field(rawValue: name) else {
                throw Failure(
                    .invalidParameter,
                    "\(Setting.auditMask.name) has '\(name.prefix(80))': expected "
                        + Field.allCases.map(\.rawValue).joined(separator: ", "))
            }
            masked.insert(field)
        }
    }
}
