// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Which pages of other servers may read the answers (the Fetch standard's CORS, without credentials).
struct CrossOrigin: Hashable, Sendable {
    /// `https://a.example`, in small letters; nil for all.
    let allowed: Set<String>?

    /// All when the list is empty.
    init(_ origins: [String] = []) {
        allowed = origins.isEmpty ? nil : Set(origins.map { $0.lowercased() })
    }

    /// The value of `Access-Control-Allow-Origin` for a page of that origin; nil when it may not read, or no page asks.
    func answer(to origin: String?) -> String? {
        guard let allowed else { return "*" }
        guard let origin, allowed.contains(origin.lowercased()) else { return nil }
        return origin
    }

    /// Whether the answer depends on who asks, so that caches must keep several.
    var varies: Bool { allowed != nil }

    /// What pages may send.
    static let methods = "GET, POST, OPTIONS"
    /// Which headers they may set.
    static let headers =
        "Content-Type, Authorization, X-Esri-Authorization, X-Requested-With, Last-Event-ID"
    /// How long a browser may keep that, in seconds.
    static let maximumAge = "86400"
}
