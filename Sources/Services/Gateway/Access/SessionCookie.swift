// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The cookie with which a browser shows that its reader has logged in (RFC 6265).
///
/// Its value is a token that is taken from this cookie alone (`Token.Binding.session`). Over TLS
/// the name's prefix has the browser refuse one that another host, or an unsafe connection, wants
/// to set.
enum SessionCookie {
    /// The most bytes of the header that are read.
    static let byteLimit = 16_384

    static func name(isSecure: Bool) -> String {
        isSecure ? "__Host-cairn-session" : "cairn-session"
    }

    /// The value in a `Cookie` header; nil without one, or where two differ: another site may have
    /// set one.
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

    /// `Set-Cookie` for a token that lasts so long.
    static func setting(_ token: String, seconds: Int, isSecure: Bool) -> String {
        name(isSecure: isSecure) + "=\(token); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Lax"
            + (isSecure ? "; Secure" : "")
    }

    /// `Set-Cookie` that has the browser forget it.
    static func clearing(isSecure: Bool) -> String { setting("", seconds: 0, isSecure: isSecure) }

    /// Whether a browser sends a cookie along for a page of this server, or because its reader goes
    /// to one.
    ///
    /// `site`, `mode` and `destination` are the headers `Sec-Fetch-Site`, `-Mode` and `-Dest`;
    /// where there are none, `SameSite` has kept it from other sites, and `isForeignPage` says what
    /// `Origin` does.
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
