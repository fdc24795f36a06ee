// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import NIOCore

extension RequestClient {
    /// The peer of a connection.
    init(_ channel: any Channel, isSecure: Bool) {
        address = channel.remoteAddress?.ipAddress ?? ""
        local = channel.localAddress?.ipAddress.flatMap(TrustedProxies.canonical) ?? ""
        self.isSecure = isSecure
        isPrivate = isSecure || Self.isLoopback(address)
    }

    /// The value after `Bearer` in a header; QGIS appends a space.
    static func bearer(_ value: String) -> String? {
        let words = value.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
        return String(words[1])
    }

    /// Whether an address is a loopback address: `localhost`, `::1`, or `127` and three numbers.
    static func isLoopback(_ host: String) -> Bool {
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return host.lowercased() == "localhost" || host == "::1" || host == "::ffff:127.0.0.1"
            || (numbers.count == 4 && numbers[0] == "127"
                && numbers.allSatisfy { UInt8($0) != nil })
    }
}
