// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel

/// The names by which a client may ask this server, as the header `Host` has them.
///
/// A client writes there what it likes, and a browser the name in the URL of a page, which may be
/// one whose owner makes it point to this machine (DNS rebinding). So URLs in answers begin with a
/// name only where it is known to be this server's, and a page of an unknown name is one of another
/// server.
struct HostNames: Hashable, Sendable {
    /// What a name is to this server.
    enum Standing: Hashable, Sendable {
        /// Its own.
        case known
        /// Perhaps its own: it is answered, with URLs that begin at the server's root.
        case unknown
        /// Not its own: nothing is answered.
        case refused
    }

    /// What every absolute URL begins with, `https://maps.example.org`; nil for the name that the
    /// client uses.
    let publicOrigin: String?
    /// Those that were said to be this server's, and the machine's own.
    private let listed: Set<String>
    private let machine: Set<String>

    /// Nothing is known but addresses and `localhost`.
    static let none = HostNames(publicOrigin: nil, listed: [], machine: [])

    private init(publicOrigin: String?, listed: Set<String>, machine: Set<String>) {
        self.publicOrigin = publicOrigin
        self.listed = listed
        self.machine = machine
    }

    /// Throws `Failure` (`invalidParameter`) for a URL that is more or less than scheme, host and
    /// port, and for names that are none.
    ///
    /// `machine` is what the machine calls itself: its first label, also below `local`, is its name
    /// too; `listening` what the server listens on.
    init(
        _ names: [String], publicURL: String?, machine: String, listening: String
    ) throws(Failure) {
        var listed: Set<String> = []
        for name in names {
            guard let host = Self.host(of: name), host == name.lowercased() else {
                throw Failure(
                    .invalidParameter,
                    "--host-name \(name.prefix(80)): expected a name or an address, as maps.example.org or 10.0.0.7"
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
                    "--public-url \(publicURL.prefix(80)): expected https:// or http://, a host and perhaps a port, "
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

    /// What the name in a `Host` header is, of a connection that ends here at the address `local`.
    ///
    /// Where names are listed, or only this machine reaches the connection, no unknown one is
    /// answered.
    func standing(of authority: String?, _ client: RequestClient) -> Standing {
        // Browsers send one always.
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

    /// The host of `host:port` or `[address]:port`, in small letters and without a dot at its end;
    /// nil for what is none.
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
