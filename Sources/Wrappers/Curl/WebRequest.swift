// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// One question to an HTTP server.
public struct WebRequest: Hashable, Sendable {
    /// `http://…` or `https://…`, without a user's name in it, everything escaped that must be.
    public var url: String
    /// Further header lines, `Name: value`.
    public var headers: [String]
    /// The form to post; nil for GET.
    public var form: String?
    /// Whether it carries a secret, which is never sent to another server, whatever the first one
    /// answers.
    public var isConfidential: Bool
    /// Timeout, retries included.
    public var timeout: Duration
    /// Most bytes of the answer's body, after decompression.
    public var byteLimit: Int

    /// Makes a request.
    public init(
        url: String, headers: [String] = [], form: String? = nil, isConfidential: Bool = false,
        timeout: Duration, byteLimit: Int
    ) {
        self.url = url
        self.headers = headers
        self.form = form
        self.isConfidential = isConfidential
        self.timeout = timeout
        self.byteLimit = byteLimit
    }

    /// Scheme, host and port of a URL; nil for one that is not allowed.
    public static func origin(of url: String) -> String? {
        let lowered = url.lowercased()
        guard let scheme = ["http://", "https://"].first(where: { lowered.hasPrefix($0) }) else {
            return nil
        }
        let host = lowered.dropFirst(scheme.count).prefix { !"/?#\\".contains($0) }
        guard !host.isEmpty, !host.contains("@"), url.utf8.allSatisfy({ 33...126 ~= $0 }) else {
            return nil
        }
        return scheme + host
    }

    /// The host of a URL, in small letters, without a port, brackets or a dot at the end; nil where
    /// it has no origin.
    static func host(of url: String) -> String? {
        guard let origin = origin(of: url) else { return nil }
        let authority = origin.drop { $0 != "/" }.dropFirst(2)
        var host =
            authority.first == "["
            ? authority.dropFirst().prefix { $0 != "]" } : authority.prefix { $0 != ":" }
        if host.last == "." { host.removeLast() }
        return host.isEmpty ? nil : String(host)
    }
}

/// The answer of a server.
public struct WebResponse: Hashable, Sendable {
    /// The status, 200…299.
    public var status: Int
    /// The type of the body, lower case, parameters included; may be empty.
    public var contentType: String
    /// The body, unpacked.
    public var body: [UInt8]

    /// Makes an answer.
    public init(status: Int, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}

/// The reason for a missing answer.
public struct WebError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failures.
    public enum Code: Hashable, Sendable {
        /// The time was over.
        case timedOut
        /// The caller cancelled.
        case cancelled
        /// No connection, or it broke off.
        case unreachable
        /// The answer is larger than it may be.
        case tooLarge
        /// The server refused the credential.
        case denied
        /// The server refused for another reason, or sends one in circles.
        case refused
        /// The URL is not allowed.
        case invalidURL
        /// Not sent, because too many requests are under way.
        case busy
    }

    /// The kind of failure.
    public let code: Code
    /// One sentence without the URL's parameters.
    public let description: String
    /// The status the server answered with; nil when it did not.
    public let status: Int?

    init(_ code: Code, _ description: String, status: Int? = nil) {
        self.code = code
        self.description = description
        self.status = status
    }
}
