// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Security headers of every answer, whichever path it takes through the gateway.
struct SafetyHeaders: Hashable, Sendable {
    /// `max-age` of `Strict-Transport-Security` over TLS; 0 omits the header.
    var transportSeconds = 86_400

    /// Header names in lower case with their values; `isSecure` is whether the client's connection
    /// uses TLS.
    func fields(isSecure: Bool) -> [(name: String, value: String)] {
        var fields = [(name: "x-content-type-options", value: "nosniff")]
        if isSecure, transportSeconds > 0 {
            fields.append(("strict-transport-security", "max-age=\(transportSeconds)"))
        }
        return fields
    }
}
