// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The cookie of a browser session (RFC 6265).
///
/// Its value is a token that is accepted from this cookie only (`Token.Binding.session`). Over TLS,
/// the prefix of its name has the browser refuse a cookie of that name from another host or an
/// insecure connection.
enum SessionCookie {
    /// Maximum number of bytes of the header that are read.
    static let byteLimit = 16_384

    static func name(isSecure: Bool) -> String {
        isSecure ? "__Host-cairn-session" : "cairn-session"
    }

    /// The value in a `Cookie` header; nil without one, or if two differ: another site may have set
    /// one.
    static func value(in header: String, isSecure: Bool) -> String? {
        guard header.utf8.count <= byteLimit else { return nil }
        let name = name(isSecure: isSecure)
        var found: Substring?
        for pair in header.split(separator: ";") {
            let parts = pair.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].filter({ $0 != " " && $0 != "\t" }) == name else {
                continue
            }
            if let found, found != parts[1] { return nil }
            found = parts[1]
        }
        return found.flatMap { $0.isEmpty ? nil : String($0) }
    }

    /// `Set-Cookie` for a token with that lifetime.
    static func setting(_ token: String, seconds: Int, isSecure: Bool) -> String {
        name(isSecure: isSecure) + "=\(token); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Lax"
            + (isSecure ? "; Secure" : "")
    }

    /// `Set-Cookie` that deletes the cookie.
    static func clearing(isSecure: Bool) -> String { setting("", seconds: 0, isSecure: isSecure) }

    /// Whether a browser sends the cookie for a page of this server, or for a navigation to one.
    ///
    /// `site`, `mode` and `destination` are the headers `Sec-Fetch-Site`, `-Mode` and `-Dest`;
    /// without them, `SameSite` has kept the cookie from other sites, and `isForeignPage` has the
    /// result for `Origin`.
    static func isHonoured(
        site: String?, mode: String?, destination: String?, isReading: Bool, isForeignPage: Bool
    ) -> Bool {
        switch site?.lowercased() {
        case "same-origin", "none": true
        case nil: !isForeignPage
        default:
            isReading && mode?.lowercased() == "navigate"
                && destination?.lowercased() == "document"
        }
    }
}
