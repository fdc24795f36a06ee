// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation
internal import Platform

/// A token and what goes with it.
public struct TokenInfo: Sendable {
    /// The token; a secret.
    public let accessToken: String
    /// When it ends; nil for one whose end is not known.
    public let expirationDate: Date?
    /// Whether it travels in a header, as to Cairn, and otherwise in the form.
    let isSentInHeader: Bool

    /// Makes one.
    public init(accessToken: String, expirationDate: Date?) {
        self.init(accessToken: accessToken, expirationDate: expirationDate, isSentInHeader: false)
    }

    init(accessToken: String, expirationDate: Date?, isSentInHeader: Bool) {
        self.accessToken = accessToken
        self.expirationDate = expirationDate
        self.isSentInHeader = isSentInHeader
    }
}

/// What opens a server.
public protocol ArcGISCredential: AnyObject, Sendable {
    /// The server that it is for, and everything below the same origin.
    var url: URL { get }
    /// The token for a request, renewed where it is about to end.
    func tokenInfo(for url: URL) async throws -> TokenInfo?
    /// Drops a token that a server refused; whether another may be had.
    func invalidate() async -> Bool
}

/// A credential with the name and password of a user, or with a token.
///
/// A token is renewed two minutes before it ends. Neither it nor the password appears in JSON, logs
/// or errors.
public final class TokenCredential: ArcGISCredential, CustomStringConvertible {
    private struct State: Sendable {
        var token: TokenInfo?
        var renewal: Task<TokenInfo, any Error>?
    }

    private struct Source: Sendable {
        var tokenURL: URL
        var password: String
        var minutes: Int?
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
        state = Guarded(State(token: token))
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
        let now = CairnEnvironment.settings.current.clock()
        let (token, renewal) = state.withLock {
            state -> (TokenInfo?, Task<TokenInfo, any Error>?) in
            let ends = state.token?.expirationDate
            let isFresh =
                state.token != nil
                && (ends.map { $0.timeIntervalSince(now) > Self.renewalSeconds } ?? true)
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
            state.withLock { ($0.token, $0.renewal) = (fresh, nil) }
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

/// What a server asks before it answers.
public struct ArcGISAuthenticationChallenge: Sendable {
    /// What was asked.
    public let requestURL: URL
    /// The server's refusal, code 498 or 499.
    public let error: any Error

    /// Makes one; for tests of handlers.
    public init(requestURL: URL, error: any Error) {
        self.requestURL = requestURL
        self.error = error
    }

    /// What the app does about it.
    public enum Disposition: Sendable {
        /// Goes on with a credential, which is kept for the server.
        case continueWithCredential(any ArcGISCredential)
        /// Lets the refusal stand.
        case continueWithoutCredential
        /// Ends the request with ``AuthenticationError`` (`cancelled`).
        case cancel
    }
}

/// Answers challenges.
public protocol ArcGISAuthenticationChallengeHandler: Sendable {
    /// What to do; called once for all requests that wait for a server.
    func handleArcGISAuthenticationChallenge(
        _ challenge: ArcGISAuthenticationChallenge
    ) async throws -> ArcGISAuthenticationChallenge.Disposition
}

/// The credentials of a process, by server.
public final class ArcGISCredentialStore: Sendable {
    private let credentials = Guarded<[any ArcGISCredential]>([])

    init() {}

    /// Adds a credential, in the place of one for the same server.
    public func add(_ credential: any ArcGISCredential) {
        credentials.withLock { credentials in
            credentials.removeAll { $0.url.origin == credential.url.origin }
            credentials.append(credential)
        }
    }

    /// Removes a credential.
    public func remove(_ credential: any ArcGISCredential) {
        credentials.withLock { $0.removeAll { $0 === credential } }
    }

    /// Removes all.
    public func removeAll() { credentials.withLock { $0 = [] } }

    /// The credential for a URL; nil where there is none for its server.
    public func credential(for url: URL) -> (any ArcGISCredential)? {
        credentials.withLock { $0.first { $0.url.origin == url.origin } }
    }
}

/// Credentials and challenges.
public final class AuthenticationManager: Sendable {
    private struct State: Sendable {
        var handler: (any ArcGISAuthenticationChallengeHandler)?
        var pending: [String: Task<(any ArcGISCredential)?, any Error>] = [:]
    }

    /// The credentials that requests take by themselves.
    public let arcGISCredentialStore = ArcGISCredentialStore()
    private let state = Guarded(State())

    init() {}

    /// What is asked where no credential is stored, or a server refuses it; it is kept until
    /// another, or nil, is set.
    public var arcGISAuthenticationChallengeHandler: (any ArcGISAuthenticationChallengeHandler)? {
        get { state.withLock { $0.handler } }
        set { state.withLock { $0.handler = newValue } }
    }

    /// One challenge for all requests that wait for a server; nil goes on without a credential.
    ///
    /// A challenge that ended after the server refused the request answers it too: its credential,
    /// stored before the challenge ceases to be pending, is another than the refused one.
    func challenge(
        _ url: URL, _ error: ServiceError, refused: (any ArcGISCredential)?
    ) async throws -> (any ArcGISCredential)? {
        guard let origin = url.origin else { return nil }
        let task = state.withLock { state -> Task<(any ArcGISCredential)?, any Error>? in
            if let pending = state.pending[origin] { return pending }
            if let stored = arcGISCredentialStore.credential(for: url), stored !== refused {
                return Task { stored }
            }
            guard let handler = state.handler else { return nil }
            let task = Task<(any ArcGISCredential)?, any Error> {
                defer { self.state.withLock { _ = $0.pending.removeValue(forKey: origin) } }
                let challenge = ArcGISAuthenticationChallenge(
                    requestURL: url.withoutQuery, error: error)
                switch try await handler.handleArcGISAuthenticationChallenge(challenge) {
                case .continueWithCredential(let credential):
                    self.arcGISCredentialStore.add(credential)
                    return credential
                case .continueWithoutCredential: return nil
                case .cancel:
                    throw AuthenticationError(
                        .cancelled, "signing in to \(origin) was cancelled")
                }
            }
            state.pending[origin] = task
            return task
        }
        return try await task?.value
    }
}

/// How one question is signed: with the stored credential, a renewed one, then by a challenge.
struct SignIn {
    private let question: Question
    private var given: (any ArcGISCredential)?
    private var wasRenewed = false
    private var wasChallenged = false
    private var lateCount = 0

    init(_ question: Question) {
        self.question = question
        given = question.credential
    }

    func credential() async throws -> (any ArcGISCredential)? {
        guard !question.isAnonymous else { return nil }
        return given
            ?? CairnEnvironment.authenticationManager.arcGISCredentialStore
            .credential(for: question.url)
    }

    /// Whether the question is to be asked again.
    mutating func renews(
        after error: ServiceError, refused: (any ArcGISCredential)?
    ) async throws -> Bool {
        let manager = CairnEnvironment.authenticationManager
        // Another request has signed in meanwhile.
        if given == nil, lateCount < 2,
            let stored = manager.arcGISCredentialStore.credential(for: question.url),
            stored !== refused
        {
            lateCount += 1
            return true
        }
        if let refused, !wasRenewed {
            wasRenewed = true
            if error.code == 498, await refused.invalidate() { return true }
        }
        guard !wasChallenged else {
            throw AuthenticationError(
                .refused,
                "\(question.url.origin ?? "") refuses the credential: \(error.message)")
        }
        wasChallenged = true
        // A credential of the question's own stands outside the store.
        let known =
            given == nil ? refused : manager.arcGISCredentialStore.credential(for: question.url)
        given = try await manager.challenge(question.url, error, refused: known)
        return given != nil
    }
}
