// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

/// Credentials and challenges.
public final class AuthenticationManager: Sendable {
    private struct State: Sendable {
        var handler: (any ArcGISAuthenticationChallengeHandler)?
        var pending: [String: Task<(any ArcGISCredential)?, any Error>] = [:]
        /// How often each server's challenges have ended, and how the last one did.
        var ended: [String: (count: Int, outcome: Outcome)] = [:]
    }

    private enum Outcome: Sendable {
        case credential, without
        case failed(any Error)
    }

    private let store = Guarded(ArcGISCredentialStore())
    private let state = Guarded(State())

    init() {}

    /// The credentials that requests take by themselves: in memory, unless an app sets a store of
    /// ``ArcGISCredentialStore/makePersistent(fileURL:)``.
    public var arcGISCredentialStore: ArcGISCredentialStore {
        get { store.current }
        set { store.current = newValue }
    }

    /// What is asked where no credential is stored, or a server refuses it; it is kept until
    /// another, or nil, is set.
    public var arcGISAuthenticationChallengeHandler: (any ArcGISAuthenticationChallengeHandler)? {
        get { state.withLock { $0.handler } }
        set { state.withLock { $0.handler = newValue } }
    }

    /// One challenge for all requests that wait for a server; nil goes on without a credential.
    ///
    /// A challenge that ended after the server refused the request answers it too: its credential,
    /// stored before the challenge ceases to be pending, is another than the refused one. How it
    /// ended holds for every request that began before, when `known` challenges had ended: one that
    /// `tried` the credential is refused.
    func challenge(
        _ url: URL, _ error: ServiceError, refused: (any ArcGISCredential)?,
        tried: (any ArcGISCredential)?, known: Int
    ) async throws -> (any ArcGISCredential)? {
        guard let origin = url.origin else { return nil }
        let task = try state.withLock { state -> Task<(any ArcGISCredential)?, any Error>? in
            if let pending = state.pending[origin] { return pending }
            if let stored = arcGISCredentialStore.credential(for: url), stored !== refused {
                return Task { stored }
            }
            if let ended = state.ended[origin], ended.count > known {
                switch ended.outcome {
                case .credential:
                    guard let stored = arcGISCredentialStore.credential(for: url), stored !== tried
                    else { throw Self.refusal(origin, error) }
                    return Task { stored }
                case .without: return nil
                case .failed(let error): throw error
                }
            }
            guard let handler = state.handler else { return nil }
            let task = Task<(any ArcGISCredential)?, any Error> {
                do {
                    let credential = try await self.ask(handler, url, error)
                    self.end(origin, credential == nil ? .without : .credential)
                    return credential
                } catch {
                    self.end(origin, .failed(error))
                    throw error
                }
            }
            state.pending[origin] = task
            return task
        }
        return try await task?.value
    }

    private func ask(
        _ handler: any ArcGISAuthenticationChallengeHandler, _ url: URL, _ error: ServiceError
    ) async throws -> (any ArcGISCredential)? {
        let challenge = ArcGISAuthenticationChallenge(requestURL: url.withoutQuery, error: error)
        switch try await handler.handleArcGISAuthenticationChallenge(challenge) {
        case .continueWithCredential(let credential):
            arcGISCredentialStore.add(credential)
            return credential
        case .continueWithoutCredential: return nil
        case .cancel:
            throw AuthenticationError(
                .cancelled, "signing in to \(url.origin ?? "") was cancelled")
        }
    }

    private func end(_ origin: String, _ outcome: Outcome) {
        state.withLock { state in
            state.pending[origin] = nil
            state.ended[origin] = ((state.ended[origin]?.count ?? 0) + 1, outcome)
        }
    }

    /// How many challenges of a URL's server have ended.
    func endedCount(_ url: URL) -> Int {
        state.withLock { state in url.origin.flatMap { state.ended[$0]?.count } ?? 0 }
    }

    static func refusal(_ origin: String, _ error: ServiceError) -> AuthenticationError {
        AuthenticationError(.refused, "\(origin) refuses the credential: \(error.message)")
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
