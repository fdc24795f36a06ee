// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A setting of a process: its names, what it may be, and what it is unless it is set.
public struct Setting: Hashable, Sendable {
    /// What its text must be.
    public enum Form: Hashable, Sendable {
        /// Any text but an empty one.
        case text
        /// A whole number in a range.
        case whole(ClosedRange<Int>)
        /// `true` or `false`, `yes` or `no`, `1` or `0`.
        case flag
        /// Texts with commas between them; of arguments, one option for each.
        case list
        /// One of some words.
        case word([String])
        /// `off`, `all`, or a whole number from 1 on.
        case rate
    }

    /// The name in the environment and in a file, `CAIRN_GATEWAY_PORT`.
    public let name: String
    /// The name as an argument, `--port`; nil where it is none.
    public let option: String?
    /// What it must be.
    public let form: Form
    /// The same in words.
    public let expected: String
    /// What it is unless it is set, for the example; empty where that is no value.
    public let standard: String
    /// What it does, in a sentence.
    public let help: String

    init(
        _ name: String, _ option: String?, _ form: Form, expected: String? = nil,
        standard: String = "", _ help: String
    ) {
        self.name = name
        self.option = option
        self.form = form
        self.expected = expected ?? form.expected
        self.standard = standard
        self.help = help
    }

    /// Whether a text is one of its values.
    func takes(_ text: String) -> Bool {
        switch form {
        case .text: !text.isEmpty
        case .list:
            text.split(separator: ",", omittingEmptySubsequences: false)
                .allSatisfy { !$0.isEmpty }
        case .whole(let range): Int(text).map { range ~= $0 } ?? false
        case .flag: Self.flag(text) != nil
        case .word(let words): words.contains(text)
        case .rate: text == "off" || text == "all" || Int(text).map { 1...1_000_000 ~= $0 } == true
        }
    }

    static func flag(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "yes", "1": true
        case "false", "no", "0": false
        default: nil
        }
    }
}

extension Setting.Form {
    fileprivate var expected: String {
        switch self {
        case .text: "a text"
        case .whole(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .flag: "true or false"
        case .list: "texts with commas between them"
        case .word(let words): "one of " + words.joined(separator: ", ")
        case .rate: "off, all, or requests a second from 1 to 1000000"
        }
    }
}

extension Setting {
    // MARK: Of every process

    /// The site's directory.
    public static let site = Setting(
        "CAIRN_SITE", "--site", .text, standard: "/srv/cairn", "The site's directory.")
    /// The level of the output.
    public static let log = Setting(
        "CAIRN_LOG", nil,
        .word(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
        standard: "info", "The level of the processes' output.")
    /// How many requests are recorded.
    public static let record = Setting(
        "CAIRN_RECORD", "--record", .rate, standard: "100",
        "How many requests a gateway or worker records: off, all, or so many a second."
    )
    /// For tests: seconds that the process's wall clock is ahead.
    public static let clockOffset = Setting(
        "CAIRN_CLOCK_OFFSET", nil, .whole(-1_000_000...1_000_000),
        expected: "whole seconds, at most a million either way", "")
    /// For tests: how many events make a service write its state down.
    public static let snapshotEvents = Setting(
        "CAIRN_SNAPSHOT_EVENTS", nil, .whole(1...1_000_000_000),
        expected: "a number of events, from 1 on", "")
    /// For tests: how many changed features make a layer compacted.
    public static let compactionFeatures = Setting(
        "CAIRN_COMPACTION_FEATURES", nil, .whole(1...1_000_000), "")

    /// Those that every process reads.
    public static let common = [
        site, log, clockOffset, snapshotEvents, compactionFeatures,
    ]

    // MARK: Of `cairn up`

    /// How many identify workers run.
    public static let identifyWorkers = Setting(
        "CAIRN_IDENTIFY_WORKERS", "--identify-workers", .whole(1...64),
        "How many identify workers 'cairn up' starts; unless set, one for each processor, 2 to 8.")
    /// How many locator workers run.
    public static let locators = Setting(
        "CAIRN_LOCATORS", "--locators", .whole(1...64), standard: "1",
        "How many locator workers 'cairn up' starts.")
    /// How many workers of jobs run.
    public static let workers = Setting(
        "CAIRN_WORKERS", "--workers", .whole(1...64), standard: "1",
        "How many workers of jobs 'cairn up' starts.")
    /// How many routers run.
    public static let routers = Setting(
        "CAIRN_ROUTERS", "--routers", .whole(1...64), standard: "1",
        "How many routers 'cairn up' starts.")

    /// Those that `cairn up` reads beside the gateway's port.
    public static let up = [identifyWorkers, locators, workers, routers]

    // MARK: Of the gateway

    /// The address to listen on.
    public static let host = Setting(
        "CAIRN_GATEWAY_HOST", "--host", .text, standard: "127.0.0.1", "The address to listen on.")
    /// The port to listen on.
    public static let port = Setting(
        "CAIRN_GATEWAY_PORT", "--port", .whole(0...65_535), standard: "6080",
        "The port to listen on; 0 for any that is free.")
    /// Whether answers at hand are given by the gateway.
    public static let identifyAtOnce = Setting(
        "CAIRN_GATEWAY_IDENTIFY_AT_ONCE", "--identify-at-once", .flag, standard: "true",
        "Answer identify and query here where the answer is at hand, not through workers.")
    /// How long such an answer may take.
    public static let clickLimit = Setting(
        "CAIRN_GATEWAY_CLICK_LIMIT", "--click-limit", .whole(1...100_000),
        expected: "1 to 100000 microseconds", standard: "500",
        "How many microseconds answering an identify here may take.")
    /// How much memory kept tiles may take.
    public static let tileMegabytes = Setting(
        "CAIRN_GATEWAY_TILE_MEGABYTES", "--tile-megabytes", .whole(0...1_048_576), standard: "64",
        "How many MiB of finished tiles are kept in memory; 0 for none.")
    /// The certificate chain.
    public static let tlsCertificate = Setting(
        "CAIRN_GATEWAY_TLS_CERTIFICATE", "--tls-certificate", .text,
        "A file with the server's certificate chain in PEM; the gateway speaks TLS then.")
    /// The certificate's key.
    public static let tlsKey = Setting(
        "CAIRN_GATEWAY_TLS_KEY", "--tls-key", .text,
        "A file with the private key of that certificate in PEM.")
    /// Whether a network is served without rules.
    public static let allowAnonymousNetwork = Setting(
        "CAIRN_GATEWAY_ALLOW_ANONYMOUS_NETWORK", "--allow-anonymous-network", .flag,
        standard: "false",
        "Serve a network though the site has no users, so that every client may do everything.")
    /// Whether passwords are taken without TLS.
    public static let allowPlainTokens = Setting(
        "CAIRN_GATEWAY_ALLOW_PLAIN_TOKENS", "--allow-plain-tokens", .flag, standard: "false",
        "Take passwords from a network without TLS, as behind a proxy that speaks it.")
    /// The most connections.
    public static let connections = Setting(
        "CAIRN_GATEWAY_CONNECTIONS", "--connections", .whole(1...1_000_000), standard: "4096",
        "The most connections at once.")
    /// The most connections of one address.
    public static let connectionsPerAddress = Setting(
        "CAIRN_GATEWAY_CONNECTIONS_PER_ADDRESS", "--connections-per-address",
        .whole(1...1_000_000),
        "The most connections of one address; 64 unless set, without a bound on a loopback address."
    )
    /// The most requests in a second.
    public static let rateLimit = Setting(
        "CAIRN_GATEWAY_RATE_LIMIT", "--rate-limit", .whole(1...1_000_000),
        "The most requests of one user, or else address, in a second; no bound unless set.")
    /// The origins of pages that may read answers.
    public static let corsOrigins = Setting(
        "CAIRN_GATEWAY_CORS_ORIGINS", "--cors-origin", .list,
        "Origins whose pages may read the answers, https://a.example; all unless set.")
    /// Believed proxies.
    public static let trustedProxies = Setting(
        "CAIRN_GATEWAY_TRUSTED_PROXIES", "--trusted-proxy", .list,
        "Addresses of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed.")
    /// What URLs begin with.
    public static let publicURL = Setting(
        "CAIRN_GATEWAY_PUBLIC_URL", "--public-url", .text,
        "What URLs in answers begin with, https://maps.example.org; else the client's name for the "
            + "gateway, where known."
    )
    /// Names of the gateway.
    public static let hostNames = Setting(
        "CAIRN_GATEWAY_HOST_NAMES", "--host-name", .list,
        "Names by which clients ask the gateway; with any, others are refused, but for addresses "
            + "and the machine's own."
    )
    /// How long browsers keep to TLS.
    public static let transportSecurity = Setting(
        "CAIRN_GATEWAY_TRANSPORT_SECURITY", "--transport-security", .whole(0...63_072_000),
        expected: "0 to 63072000 seconds", standard: "86400",
        "For how many seconds browsers that came over TLS come over nothing else; 0 for no such "
            + "demand."
    )
    /// The request log.
    public static let requestLog = Setting(
        "CAIRN_GATEWAY_REQUEST_LOG", "--request-log", .text,
        "A file that gets one line for each request.")

    /// The share of questions that are audited.
    public static let audit = Setting(
        "CAIRN_GATEWAY_AUDIT", "--audit", .text, expected: "off, all, or a share like 0.1",
        standard: "off",
        "Which questions are kept in the site's audit, with user, address and features shown.")
    /// How long they are kept.
    public static let auditDays = Setting(
        "CAIRN_GATEWAY_AUDIT_DAYS", "--audit-days", .whole(1...36_500), standard: "90",
        "After how many days a file of the audit is removed.")
    /// How much is kept.
    public static let auditGigabytes = Setting(
        "CAIRN_GATEWAY_AUDIT_GIGABYTES", "--audit-gigabytes", .whole(1...1_000_000),
        standard: "10", "Beyond which size of the audit its oldest file is removed.")
    /// What is left out.
    public static let auditMask = Setting(
        "CAIRN_GATEWAY_AUDIT_MASK", "--audit-mask", .list,
        "Fields that the audit leaves out: user, address, question.")

    /// Those that the gateway reads beside the common ones.
    public static let gateway = [
        host, port, identifyAtOnce, clickLimit, tileMegabytes, record, tlsCertificate, tlsKey,
        allowAnonymousNetwork, allowPlainTokens, connections, connectionsPerAddress, rateLimit,
        corsOrigins, trustedProxies, publicURL, hostNames, transportSecurity, requestLog,
        audit, auditDays, auditGigabytes, auditMask,
    ]

    /// Every setting there is.
    public static let all = common + up + gateway

    /// A file with every setting, each with its help and commented out: what
    /// `--print-config` prints.
    public static var example: String {
        var text = """
            # Settings of a Cairn site, one NAME=value on a line; read with --config FILE or
            # CAIRN_CONFIG.
            # An argument overrides the environment, which overrides this file.

            """
        for setting in all where !setting.help.isEmpty {
            text += "\n# \(setting.help)\n# Expected: \(setting.expected)."
            text += "\n#\(setting.name)=\(setting.standard)\n"
        }
        return text
    }
}
