// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A credential with the name and password of a user, or with a token.
///
/// A token is renewed two minutes before it ends, also where the date is set meanwhile. Neither it
/// nor the password appears in JSON, logs or errors.
public final class TokenCredential: ArcGISCredential, CustomStringConvertible {
    private struct State: Sendable {
        var token: TokenInfo?
        var renewal: Task<TokenInfo, any Error>?
        /// When the token is renewed, on a clock that is not set; nil for never.
        var renewsAt: ContinuousClock.Instant?
    }

    private struct Source: Sendable {
        var tokenURL: URL
        var password: String
        var minutes: Int?

        /// When a token that was made just now is renewed.
        ///
        /// A token that seems to have ended comes of a date that is set wrong: it is taken to last
        /// as long as was asked for.
        func renewalMoment(of token: TokenInfo) -> ContinuousClock.Instant? {
            guard let end = token.expirationDate else { return nil }
            let stated = end.timeIntervalSince(SDKTime.date)
            let lifetime = stated > 0 ? stated : Double(minutes ?? 60) * 60
            let rest = max(lifetime - renewalSeconds, lifetime / 2)
            return SDKTime.now.advanced(by: .seconds(min(max(rest, 0), 1e9)))
        }
    }

    static let renewalSeconds: TimeInterval = 120

    /// The server.
    public let url: URL
    /// The user's name; empty for a token alone.
    public let username: String
    private let source: Source?
    private let isSentInHeader: Bool
    private let state: Guarded<State>

    private init(url: URL, username: String, source: Source?, token: TokenInfo) {
        self.url = url
        self.username = username
        self.source = source
        isSentInHeader = token.isSentInHeader
        state = Guarded(State(token: token, renewsAt: source?.renewalMoment(of: token)))
    }

    /// A credential from a token that was got elsewhere; it is not renewed.
    public convenience init(url: URL, tokenInfo: TokenInfo) {
        self.init(url: url, username: "", source: nil, token: tokenInfo)
    }

    /// Signs in; the place where tokens are made is asked of `/arcgis/rest/info`.
    ///
    /// Throws ``AuthenticationError`` for a wrong name or password, or where the server makes no
    /// tokens, and ``TransportError``.
    public static func credential(
        for url: URL, username: String, password: String, tokenExpirationMinutes: Int? = nil
    ) async throws -> TokenCredential {
        let (tokenURL, isCairn) = try await tokenService(for: url)
        let source = Source(
            tokenURL: tokenURL, password: password, minutes: tokenExpirationMinutes)
        let token = try await makeToken(source, username, referer: url, inHeader: isCairn)
        return TokenCredential(url: url, username: username, source: source, token: token)
    }

    /// Signs in to the server that asked a challenge; see
    /// ``credential(for:username:password:tokenExpirationMinutes:)``.
    public static func credential(
        for challenge: ArcGISAuthenticationChallenge, username: String, password: String,
        tokenExpirationMinutes: Int? = nil
    ) async throws -> TokenCredential {
        try await credential(
            for: challenge.requestURL, username: username, password: password,
            tokenExpirationMinutes: tokenExpirationMinutes)
    }

    /// The token, renewed where it is about to end.
    public func tokenInfo(for url: URL) async throws -> TokenInfo? {
        guard url.origin == self.url.origin else { return nil }
        let now = SDKTime.now
        let (token, renewal) = state.withLock {
            state -> (TokenInfo?, Task<TokenInfo, any Error>?) in
            let isFresh = state.token != nil && (state.renewsAt.map { now < $0 } ?? true)
            guard !isFresh, let source else { return (state.token, nil) }
            if let renewal = state.renewal { return (nil, renewal) }
            let (username, server, inHeader) = (username, self.url, isSentInHeader)
            let renewal = Task {
                try await Self.makeToken(source, username, referer: server, inHeader: inHeader)
            }
            state.renewal = renewal
            return (nil, renewal)
        }
        guard let renewal else { return token }
        do {
            let fresh = try await renewal.value
            let moment = source?.renewalMoment(of: fresh)
            state.withLock { ($0.token, $0.renewal, $0.renewsAt) = (fresh, nil, moment) }
            return fresh
        } catch {
            state.withLock { $0.renewal = nil }
            throw error
        }
    }

    /// Drops the token; true where another may be made.
    public func invalidate() async -> Bool {
        guard source != nil else { return false }
        state.withLock { $0.token = nil }
        return true
    }

    /// The user and the server, without secrets.
    public var description: String { "TokenCredential(\(username), \(url.origin ?? ""))" }

    // MARK: A file of the app's

    /// The credential with its secrets, for a file that the app names.
    var secretJSON: JSON {
        let token = state.current.token
        return .object(of: [
            "url": .string(url.absoluteString), "username": .string(username),
            "isSentInHeader": .bool(isSentInHeader),
            "token": (token?.accessToken).map { .string($0) },
            "expires": (token?.expirationDate).map { .integer($0.millisecondsSince1970) },
            "tokenURL": (source?.tokenURL.absoluteString).map { .string($0) },
            "password": (source?.password).map { .string($0) },
            "minutes": (source?.minutes).map { .integer(Int64($0)) },
        ])
    }

    /// A credential from its JSON; nil for anything else.
    ///
    /// A token that has ended is made anew at its first use.
    convenience init?(secretJSON json: JSON) {
        guard let url = json.text("url").flatMap({ URL(string: $0) }), url.origin != nil else {
            return nil
        }
        let source = json.text("tokenURL").flatMap { URL(string: $0) }.map {
            Source(
                tokenURL: $0, password: json.text("password") ?? "",
                minutes: json["minutes"]?.int)
        }
        let token = TokenInfo(
            accessToken: json.text("token") ?? "",
            expirationDate: json["expires"]?.number.map { Date(millisecondsSince1970: $0) },
            isSentInHeader: json["isSentInHeader"]?.flag ?? false)
        self.init(url: url, username: json.text("username") ?? "", source: source, token: token)
        let hasEnded = token.expirationDate.map { $0 <= SDKTime.date } ?? false
        guard source != nil, hasEnded || token.accessToken.isEmpty else { return }
        state.withLock { $0.token = nil }
    }

    // MARK: Tokens

    /// Where tokens for a URL are made, and whether that is Cairn.
    private static func tokenService(for url: URL) async throws -> (URL, isCairn: Bool) {
        guard let origin = url.origin, let root = URL(string: origin) else {
            throw AuthenticationError(
                .noTokenService, "'\(url.withoutQuery.absoluteString)' is no URL of a server")
        }
        let path = url.path(percentEncoded: true)
        let context =
            path.range(of: "/rest/").map { String(path[..<$0.lowerBound]) }
            ?? (path.hasSuffix("/rest") ? String(path.dropLast(5)) : "/arcgis")
        var question = Question(root.below(context + "/rest/info"))
        question.isAnonymous = true
        let info = try await Requester.json(question)
        let found = info["authInfo"]?.text("tokenServicesUrl").flatMap {
            URL(string: $0, relativeTo: root)?.absoluteURL
        }
        guard let found else {
            throw AuthenticationError(.noTokenService, "\(origin) makes no tokens")
        }
        return (found, info.text("owningSystem")?.lowercased() == "cairn" || info["cairn"] != nil)
    }

    private static func makeToken(
        _ source: Source, _ username: String, referer: URL, inHeader: Bool
    ) async throws -> TokenInfo {
        var question = Question(
            source.tokenURL,
            [
                "username": username, "password": source.password, "client": "referer",
                "referer": referer.origin, "expiration": source.minutes.map { String($0) },
            ])
        (question.isPost, question.isAnonymous) = (true, true)
        let answer: JSON
        do {
            answer = try await Requester.json(question)
        } catch let error as ServiceError {
            throw AuthenticationError(
                .invalidCredentials,
                "\(source.tokenURL.origin ?? "") refused user '\(username)': \(error.message)")
        }
        guard let token = answer.text("token") else {
            throw AuthenticationError(
                .invalidCredentials, "\(source.tokenURL.origin ?? "") answered without a token")
        }
        return TokenInfo(
            accessToken: token,
            expirationDate: answer["expires"]?.number.map { Date(millisecondsSince1970: $0) },
            isSentInHeader: inHeader)
    }
}
