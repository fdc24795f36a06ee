// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation

extension URL {
    /// The URL without parameters, fragment and user.
    var withoutQuery: URL {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else {
            return self
        }
        (parts.query, parts.fragment, parts.user, parts.password) = (nil, nil, nil, nil)
        return parts.url ?? self
    }

    /// Scheme, host and port in small letters, as `https://host:443`; nil where it is no URL of a
    /// server.
    var origin: String? {
        guard let scheme = scheme?.lowercased(), ["http", "https"].contains(scheme),
            let host = host()?.lowercased(), !host.isEmpty
        else { return nil }
        return "\(scheme)://\(host):\(port ?? (scheme == "https" ? 443 : 80))"
    }

    /// The URL with a further part of the path.
    func below(_ part: String) -> URL {
        let escaped =
            "/"
            + part.split(separator: "/", omittingEmptySubsequences: true).map {
                String($0).formEncoded
            }.joined(separator: "/")
        func joined(_ path: String) -> String {
            (path.hasSuffix("/") ? String(path.dropLast()) : path) + escaped
        }
        let text = absoluteString
        if !text.utf8.contains(where: { [UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }) {
            return URL(string: joined(text)) ?? self
        }
        var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        let path = joined(parts?.percentEncodedPath ?? "")
        parts?.percentEncodedPath = path
        return parts?.url ?? self
    }

    /// The URL without the last part of the path.
    var above: URL {
        var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        let path = (parts?.percentEncodedPath ?? "").split(separator: "/").dropLast()
        parts?.percentEncodedPath = "/" + path.joined(separator: "/")
        return parts?.url ?? self
    }
}
