// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The headers of every answer, whatever it is and whichever way it leaves the gateway.
struct SafetyHeaders: Hashable, Sendable {
    /// For how many seconds a browser that came over TLS comes over nothing else; 0 says nothing of
    /// it.
    var transportSeconds = 86_400

    /// Names in small letters, and values; `isSecure` says whether the client's connection is
    /// TLS's.
    func fields(isSecure: Bool) -> [(name: String, value: String)] {
        var fields = [(name: "x-content-type-options", value: "nosniff")]
        if isSecure, transportSeconds > 0 {
            fields.append(("strict-transport-security", "max-age=\(transportSeconds)"))
        }
        return fields
    }
}
