// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Glibc

/// An IP address at the other end of a connection.
struct PeerAddress: Hashable, Sendable {
    /// The reachability of an address.
    enum Reach: Hashable, Sendable {
        /// Global: on the Internet.
        case global
        /// This machine or the networks around it: loopback, private, shared and local addresses.
        case `internal`
        /// Link-local, unspecified, multicast, reserved: on the link alone, or not a single
        /// machine.
        case special
    }

    /// 4 bytes of IPv4 or 16 of IPv6, the first of the address first.
    let bytes: [UInt8]

    /// An IPv6 address that carries an IPv4 address to which the system, or a translator (RFC
    /// 6052), connects is that IPv4 address.
    init(bytes: [UInt8]) {
        self.bytes =
            Self.carriers.contains { bytes.count == 16 && bytes.starts(with: $0) }
            ? Array(bytes.suffix(4)) : bytes
    }

    private static let carriers: [[UInt8]] = [
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff],
        [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0],
    ]

    /// Parses the forms of `inet_pton`, `10.0.0.7` or `fd00::7`; nil for any other text.
    init?(_ text: String) {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if unsafe inet_pton(family, text, &bytes) == 1 {
                self.init(bytes: bytes)
                return
            }
        }
        return nil
    }

    /// The address of a socket address in memory; nil for other families than IPv4 and IPv6.
    init?(family: Int32, at address: UnsafeRawPointer) {
        let (offset, count): (Int?, Int) =
            switch family {
            case AF_INET: (MemoryLayout<sockaddr_in>.offset(of: \.sin_addr), 4)
            case AF_INET6: (MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr), 16)
            default: (nil, 0)
            }
        guard let offset else { return nil }
        self.init(
            bytes: unsafe Array(UnsafeRawBufferPointer(start: address + offset, count: count)))
    }

    /// By the registries of special-purpose addresses (RFC 6890, as IANA keeps them).
    var reach: Reach {
        if Self.internalNetworks.contains(where: { $0.contains(self) }) { return .internal }
        if Self.specialNetworks.contains(where: { $0.contains(self) }) { return .special }
        // Of IPv6 only 2000::/3 is allocated.
        return bytes.count == 4 || bytes[0] >> 5 == 1 ? .global : .special
    }

    private static let internalNetworks = networks([
        "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10",
        "198.18.0.0/15", "::1", "fc00::/7", "64:ff9b:1::/48",
    ])

    /// Tunnels carry IPv4 addresses, of any reach; others are for documents and tests.
    private static let specialNetworks = networks([
        "0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "198.51.100.0/24",
        "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2002::/16",
        "2001:db8::/32", "3fff::/20",
    ])

    private static func networks(_ texts: [String]) -> [PeerNetwork] {
        texts.compactMap { PeerNetwork($0) }
    }
}

/// A network: an address of which the first bits count.
struct PeerNetwork: Hashable, Sendable {
    private let bytes: [UInt8]
    private let bitCount: Int

    /// Reads `10.1.0.0/16`, `fd00:7::/48`, or an address alone; nil for any other text.
    init?(_ text: String) {
        let parts = text.split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = PeerAddress(String(parts[0])) else { return nil }
        bytes = address.bytes
        guard parts.count == 2 else {
            bitCount = bytes.count * 8
            return
        }
        guard let count = Int(parts[1]), 0...(bytes.count * 8) ~= count else { return nil }
        bitCount = count
    }

    func contains(_ address: PeerAddress) -> Bool {
        guard address.bytes.count == bytes.count else { return false }
        for (index, pair) in zip(address.bytes, bytes).enumerated() {
            let counted = min(8, max(0, bitCount - index * 8))
            let mask = ~UInt8(truncatingIfNeeded: 0xff >> counted)
            if (pair.0 ^ pair.1) & mask != 0 { return false }
        }
        return true
    }
}
