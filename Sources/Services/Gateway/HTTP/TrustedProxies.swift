// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import NIOCore

/// Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` headers are trusted.
struct TrustedProxies: Hashable, Sendable {
    private let addresses: Set<String>

    /// Throws `Failure` (`invalidParameter`) for text that is not an IP address.
    init(_ texts: [String] = []) throws(Failure) {
        var addresses: Set<String> = []
        for text in texts {
            guard let address = Self.canonical(text) else {
                throw Failure(
                    .invalidParameter,
                    "--trusted-proxy \(text.prefix(80)): expected an IP address, as 10.0.0.7 or "
                        + "fd00::7"
                )
            }
            addresses.insert(address)
        }
        self.addresses = addresses
    }

    /// No trusted proxies.
    static let none = TrustedProxies(addresses: [])
    private init(addresses: Set<String>) { self.addresses = addresses }

    /// Whether the address is a trusted proxy's.
    func includes(_ address: String) -> Bool {
        !addresses.isEmpty && addresses.contains(Self.canonical(address) ?? address)
    }

    /// The client's address; that of the connection's peer unless the peer is a trusted proxy.
    ///
    /// `forwardedFor` lists the address behind each proxy, the original client first. Only entries
    /// appended by trusted proxies count: the result is the last one that is not a trusted proxy.
    /// An invalid address ends the list.
    func client(
        of connection: RequestClient, forwardedFor: String?, forwardedProto: String?
    ) -> RequestClient {
        guard includes(connection.address) else { return connection }
        var client = connection
        client.isProxied = true
        for entry in (forwardedFor ?? "").split(separator: ",").reversed() {
            guard let address = Self.forwarded(entry) else { break }
            client.address = address
            guard includes(address) else { break }
        }
        let last = forwardedProto?.split(separator: ",").last
        switch last.map({ $0.filter { $0 != " " }.lowercased() }) {
        case "https": client.isSecure = true
        case "http": client.isSecure = false
        default: break
        }
        client.isPrivate = client.isSecure || RequestClient.isLoopback(client.address)
        return client
    }

    /// `10.0.0.7`, `10.0.0.7:4711`, `fd00::7` or `[fd00::7]:4711`.
    private static func forwarded(_ entry: Substring) -> String? {
        let text = entry.filter { $0 != " " }
        if let address = canonical(text) { return address }
        if text.first == "[" { return canonical(String(text.dropFirst().prefix { $0 != "]" })) }
        let parts = text.split(separator: ":")
        return parts.count == 2 ? canonical(String(parts[0])) : nil
    }

    /// An address in canonical form; IPv4-mapped IPv6 addresses become IPv4.
    static func canonical(_ text: String) -> String? {
        guard text.utf8.count <= 64,
            let address = try? SocketAddress(ipAddress: text, port: 0).ipAddress
        else { return nil }
        let mapped = "::ffff:"
        return address.hasPrefix(mapped) && address.contains(".")
            ? String(address.dropFirst(mapped.count)) : address
    }
}
