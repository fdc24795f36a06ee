// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Origins whose pages may read the answers (the Fetch standard's CORS, without credentials).
struct CrossOrigin: Hashable, Sendable {
    /// `https://a.example`, in lower case; nil for all.
    let allowed: Set<String>?

    /// Allows all origins when the list is empty.
    init(_ origins: [String] = []) {
        allowed = origins.isEmpty ? nil : Set(origins.map { $0.lowercased() })
    }

    /// The value of `Access-Control-Allow-Origin` for an origin; nil if it is not allowed, or
    /// absent.
    func answer(to origin: String?) -> String? {
        guard let allowed else { return "*" }
        guard let origin, allowed.contains(origin.lowercased()) else { return nil }
        return origin
    }

    /// Whether a browser sends the request for a page of another server that is not listed.
    ///
    /// `origin` and `fetchSite` are the headers `Origin` and `Sec-Fetch-Site`, which no page can
    /// set; `authority` is the requested host name, and `own` this server's origin where that is
    /// configured. A request without both headers does not come from a page. For an unknown host
    /// name (not `isKnown`), the browser's statement that the page is of the same origin proves
    /// nothing.
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

    /// Whether the answer depends on the origin, so that caches must distinguish it.
    var varies: Bool { allowed != nil }

    /// The value of `Vary` of an answer that depends on the headers `own`, too; nil for an answer
    /// that depends on none.
    func vary(_ own: String?) -> String? {
        guard varies else { return own }
        return own.map { "Origin, " + $0 } ?? "Origin"
    }

    /// Methods that pages may use.
    static let methods = "GET, POST, OPTIONS"
    /// Request headers that pages may set.
    static let headers =
        "Content-Type, Authorization, X-Esri-Authorization, X-Requested-With, Last-Event-ID, "
        + "If-None-Match, If-Range, Range"
    /// Response headers that pages may read, besides those that the standard exposes.
    static let exposedHeaders =
        "Accept-Ranges, Content-Crs, Content-Range, ETag, Link, Retry-After, X-Cairn-Sequence, "
        + "X-Cairn-Stale, X-Cairn-Missing, \(QueryFile.cutHeader), Content-Disposition"
    /// Lifetime of a preflight's result in seconds.
    static let maximumAge = "86400"
}
