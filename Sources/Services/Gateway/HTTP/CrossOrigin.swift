// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Which pages of other servers may read the answers (the Fetch standard's CORS, without
/// credentials).
struct CrossOrigin: Hashable, Sendable {
    /// `https://a.example`, in small letters; nil for all.
    let allowed: Set<String>?

    /// All when the list is empty.
    init(_ origins: [String] = []) {
        allowed = origins.isEmpty ? nil : Set(origins.map { $0.lowercased() })
    }

    /// The value of `Access-Control-Allow-Origin` for a page of that origin; nil when it may not
    /// read, or no page asks.
    func answer(to origin: String?) -> String? {
        guard let allowed else { return "*" }
        guard let origin, allowed.contains(origin.lowercased()) else { return nil }
        return origin
    }

    /// Whether a browser asks for a page of another server that is not listed, as far as it says.
    ///
    /// `origin` and `fetchSite` are the headers `Origin` and `Sec-Fetch-Site`, which no page can
    /// set; `authority` is the name by which this server was asked, and `own` its origin where that
    /// is settled. What sends neither is no page. Where the name is not known to be this server's
    /// (`isKnown`), a browser's word that it is the page's own says nothing.
    func isForeign(
        origin: String?, fetchSite: String?, authority: String?, own: String? = nil,
        isKnown: Bool = true
    ) -> Bool {
        let site = fetchSite?.lowercased()
        if let own, origin?.lowercased() == own { return false }
        guard isKnown else {
            if let origin, allowed?.contains(origin.lowercased()) == true { return false }
            return origin != nil || site ?? "none" != "none"
        }
        if site == "same-origin" { return false }
        guard let origin = origin?.lowercased() else {
            return site == "cross-site" || site == "same-site"
        }
        if allowed?.contains(origin) == true { return false }
        let parts = origin.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].isEmpty, let authority = authority?.lowercased() else {
            return true
        }
        let port = parts[0] == "https:" ? ":443" : ":80"
        func named(_ text: some StringProtocol) -> String {
            text.hasSuffix(port) ? String(text.dropLast(port.count)) : String(text)
        }
        return named(parts[2]) != named(authority)
    }

    /// Whether the answer depends on who asks, so that caches must keep several.
    var varies: Bool { allowed != nil }

    /// What pages may send.
    static let methods = "GET, POST, OPTIONS"
    /// Which headers they may set.
    static let headers =
        "Content-Type, Authorization, X-Esri-Authorization, X-Requested-With, Last-Event-ID"
    /// Which headers of an answer they may read, beside those that the standard lets them.
    static let exposedHeaders =
        "Content-Crs, ETag, Link, Retry-After, X-Cairn-Sequence, X-Cairn-Stale, X-Cairn-Missing"
    /// How long a browser may keep that, in seconds.
    static let maximumAge = "86400"
}
