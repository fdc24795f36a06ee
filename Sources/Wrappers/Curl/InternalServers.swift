// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// The servers that may be contacted at addresses outside the public Internet.
///
/// A request for a URL goes to its own host, and by redirection to others. A server on the Internet
/// may be either. One on this machine or in the networks around it (RFC 1918, RFC 4193, RFC 6598,
/// loopback) is allowed as the URL's own host, and otherwise only if listed; with a list no other
/// is allowed there. Link-local addresses and those that name no single machine are allowed only if
/// listed, or literally in the URL itself.
public struct InternalServers: Hashable, Sendable {
    /// Nil where there is no list.
    private let hosts: Set<String>?
    private let networks: [PeerNetwork]

    /// Without a list.
    public static let own = InternalServers(hosts: nil, networks: [])

    private init(hosts: Set<String>?, networks: [PeerNetwork]) {
        self.hosts = hosts
        self.networks = networks
    }

    /// Allows hosts by name (`gis.example.org`), address (`10.0.0.7`) or network (`10.1.0.0/16`,
    /// `fd00:7::/48`).
    ///
    /// Throws the first entry that is neither.
    public init(only entries: [String]) throws(InvalidEntry) {
        var hosts: Set<String> = []
        var networks: [PeerNetwork] = []
        for entry in entries {
            if let network = PeerNetwork(entry) {
                networks.append(network)
            } else if let host = WebRequest.host(of: "http://\(entry)/"),
                !entry.contains(where: { ":/[]".contains($0) })
            {
                hosts.insert(host)
            } else {
                throw InvalidEntry(text: entry)
            }
        }
        self.init(hosts: hosts, networks: networks)
    }

    /// An entry of a list that is no host, address or network.
    public struct InvalidEntry: Error, Hashable, Sendable {
        /// The entry.
        public let text: String
    }

    /// Whether `host` is allowed at an address for a URL of the host `own`.
    func admit(_ address: PeerAddress, as host: String, for own: String) -> Bool {
        let reach = address.reach
        if reach == .global || networks.contains(where: { $0.contains(address) }) { return true }
        guard let hosts else {
            return host == own && (reach == .internal || PeerAddress(host) == address)
        }
        return hosts.contains(host)
    }

    /// The addresses of a host that are allowed where the host is the one that was asked for.
    func addresses(of host: String) throws(WebError) -> [String] {
        var name = host.lowercased()
        if name.last == "." { name.removeLast() }
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let outcome = unsafe getaddrinfo(host, nil, &hints, &found)
        defer { if let found = unsafe found { unsafe freeaddrinfo(found) } }
        guard outcome == 0 else {
            let reason = unsafe String(cString: gai_strerror(outcome))
            throw WebError(.unreachable, "the host has no address: \(reason)")
        }
        var addresses: [String] = []
        var next = unsafe found
        while let entry = unsafe next {
            unsafe next = entry.pointee.ai_next
            guard let socket = unsafe entry.pointee.ai_addr,
                let address = unsafe PeerAddress(
                    family: entry.pointee.ai_family, at: UnsafeRawPointer(socket)),
                admit(address, as: name, for: name)
            else { continue }
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let isWritten = unsafe getnameinfo(
                socket, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0,
                NI_NUMERICHOST)
            guard isWritten == 0 else { continue }
            let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            addresses.append(String(decoding: bytes, as: UTF8.self))
        }
        guard !addresses.isEmpty else {
            throw WebError(
                .refused,
                "its address is on this machine or an internal network, and is not among those "
                    + "allowed there")
        }
        return addresses
    }
}
