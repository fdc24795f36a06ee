// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// The header `Accept-Encoding` (RFC 9110, 12.5.3).
enum AcceptedEncodings {
    /// Whether gzip is accepted, and no less than bytes as they are; the first 64 codings count.
    static func takeGzip(_ header: String) -> Bool {
        var named: [String: Double] = [:]
        for item in header.split(separator: ",").prefix(64) {
            let parts = item.split(separator: ";").map { part in
                part.filter { $0 != " " && $0 != "\t" }.lowercased()
            }
            guard let name = parts.first, !name.isEmpty else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
            // A weight that cannot be read accepts nothing.
            named[name] = weight.map { Double($0) ?? 0 } ?? 1
        }
        let gzip = named["gzip"] ?? named["x-gzip"] ?? named["*"] ?? 0
        return gzip > 0 && gzip >= named["identity"] ?? 0
    }
}
