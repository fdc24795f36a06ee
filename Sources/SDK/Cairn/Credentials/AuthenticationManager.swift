// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

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
