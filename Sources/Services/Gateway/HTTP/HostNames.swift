// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// The host names of this server, as the header `Host` has them.
///
/// The header is set by the client, by a browser to the host of the page's URL, which may belong to
/// an attacker and resolve to this machine (DNS rebinding). So absolute URLs in answers use a name
/// only if it is known, and a page under an unknown name counts as foreign.
struct HostNames: Hashable, Sendable {
    /// Trust in a host name.
    enum Standing: Hashable, Sendable {
        /// Known to be this server's.
        case known
        /// Possibly this server's: requests are answered, with URLs relative to the server's root.
        case unknown
        /// Not this server's: requests are refused.
        case refused
    }

    /// Base of every absolute URL, `https://maps.example.org`; nil for the name that the client
    /// uses.
    let publicOrigin: String?
    /// Configured names, and the machine's own.
    private let listed: Set<String>
    private let machine: Set<String>

    /// Only addresses and `localhost` are known.
    static let none = HostNames(publicOrigin: nil, listed: [], machine: [])

    private init(publicOrigin: String?, listed: Set<String>, machine: Set<String>) {
        self.publicOrigin = publicOrigin
        self.listed = listed
        self.machine = machine
    }

    /// Throws `Failure` (`invalidParameter`) for a URL that is not scheme, host and port, and for
    /// invalid names.
    ///
    /// `machine` is the machine's host name: its first label, alone or with `.local`, counts as
    /// well; `listening` is the listening address.
    init(
        _ names: [String], publicURL: String?, machine: String, listening: String
    ) throws(Failure) {
        var listed: Set<String> = []
        for name in names {
            guard let host = Self.host(of: name), host == name.lowercased() else {
                throw Failure(
                    .invalidParameter,
                    "--host-name \(name.prefix(80)): expected a name or an address, as "
                        + "maps.example.org or 10.0.0.7"
                )
            }
            listed.insert(host)
        }
        var origin: String?
        if let publicURL {
            let text = publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL
            let scheme = ["https://", "http://"].first { text.lowercased().hasPrefix($0) }
            guard let scheme, let host = Self.host(of: String(text.dropFirst(scheme.count))) else {
                throw Failure(
                    .invalidParameter,
                    "--public-url \(publicURL.prefix(80)): expected https:// or http://, a host "
                        + "and perhaps a port, "
                        + "and no path")
            }
            origin = text.lowercased()
            listed.insert(host)
        }
        let name = machine.lowercased()
        let label = String(name.prefix { $0 != "." })
        let own = (label.isEmpty ? [] : [name, label, label + ".local"]) + [listening]
        self.init(
            publicOrigin: origin, listed: listed,
            machine: Set(own.compactMap { Self.host(of: $0) }).subtracting(["0.0.0.0", "::"]))
    }

    /// Trust in the name of a `Host` header, on a connection to the address `local`.
    ///
    /// Where names are configured, or the connection is local to this machine, unknown names are
    /// refused.
    func standing(of authority: String?, _ client: RequestClient) -> Standing {
        // Browsers always send one.
        guard let authority, !authority.isEmpty else { return .unknown }
        if let host = Self.host(of: authority) {
            if RequestClient.isLoopback(host) || host == client.local || machine.contains(host)
                || listed.contains(host)
            {
                return .known
            }
            if client.isProxied, listed.isEmpty { return .known }
        }
        return listed.isEmpty && (client.isProxied || !RequestClient.isLoopback(client.local))
            ? .unknown : .refused
    }

    /// The host of `host:port` or `[address]:port`, in lower case without a trailing dot; nil for
    /// malformed text.
    static func host(of authority: String) -> String? {
        let text = authority.lowercased()
        guard text.utf8.count <= 261, text.utf8.allSatisfy(isByte) else { return nil }
        var host: Substring
        let rest: Substring
        if text.first == "[" {
            host = text.dropFirst().prefix { $0 != "]" }
            guard let address = TrustedProxies.canonical(String(host)),
                text.utf8.count > host.utf8.count + 1
            else { return nil }
            rest = text.dropFirst(host.utf8.count + 2)
            host = address[...]
        } else if let address = TrustedProxies.canonical(text) {
            return address
        } else {
            host = text.prefix { $0 != ":" }
            rest = text.dropFirst(host.utf8.count)
            if host.last == "." { host.removeLast() }
            guard !host.isEmpty, !host.contains(where: { "[]".contains($0) }) else { return nil }
        }
        guard rest.isEmpty || rest.first == ":" && UInt16(rest.dropFirst()) != nil || rest == ":"
        else { return nil }
        return String(host)
    }

    private static func isByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "["),
            UInt8(ascii: "]"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
