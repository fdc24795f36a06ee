// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import NIOCore

/// The proxies that are believed when they say for whom they ask: `X-Forwarded-For`,
/// `X-Forwarded-Proto`.
struct TrustedProxies: Hashable, Sendable {
    private let addresses: Set<String>

    /// Throws `Failure` (`invalidParameter`) for what is no IP address.
    init(_ texts: [String] = []) throws(Failure) {
        var addresses: Set<String> = []
        for text in texts {
            guard let address = Self.canonical(text) else {
                throw Failure(
                    .invalidParameter,
                    "--trusted-proxy \(text.prefix(80)): expected an IP address, as 10.0.0.7 or fd00::7"
                )
            }
            addresses.insert(address)
        }
        self.addresses = addresses
    }

    /// Trusts nobody.
    static let none = TrustedProxies(addresses: [])
    private init(addresses: Set<String>) { self.addresses = addresses }

    /// Whether what comes from that address is a proxy's.
    func includes(_ address: String) -> Bool {
        !addresses.isEmpty && addresses.contains(Self.canonical(address) ?? address)
    }

    /// The client behind the connection's other end, which is the client itself unless it is a
    /// proxy.
    ///
    /// `forwardedFor` names who asked each proxy, the first of all first. Only what a trusted proxy
    /// appended counts: the last that is not one of them. What is no address ends the list.
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

    /// An address as the system writes it; IPv4 also where it is written as IPv6.
    static func canonical(_ text: String) -> String? {
        guard text.utf8.count <= 64,
            let address = try? SocketAddress(ipAddress: text, port: 0).ipAddress
        else { return nil }
        let mapped = "::ffff:"
        return address.hasPrefix(mapped) && address.contains(".")
            ? String(address.dropFirst(mapped.count)) : address
    }
}
