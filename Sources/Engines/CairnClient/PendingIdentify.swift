// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
public import CairnModel
internal import Synchronization

/// One identify request in flight without a task: for programs that answer many at once, for which
/// a task each, with its thread switches, would cost more than the answer.
public final class PendingIdentify: Sendable {
    /// The outcome, decoded on demand on the caller's thread.
    public struct Outcome: Sendable {
        let result: Result<Message, Failure>

        /// The answer; throws what `CairnClient.identify` throws.
        public func answer() throws(Failure) -> IdentifyAnswer {
            try Operation.identify.answer(in: try result.get())
        }
    }

    private struct State {
        var retry: Task<Void, Never>?
        var isCancelled = false
    }

    private let client: CairnClient
    private let requester: Requester
    private let message: Message
    private let end: ContinuousClock.Instant
    private let completion: @Sendable (Outcome) -> Void
    private let state = Mutex(State())

    init(
        client: CairnClient, _ request: IdentifyRequest, timeout: Duration,
        _ completion: @escaping @Sendable (Outcome) -> Void
    ) throws(Failure) {
        self.client = client
        self.completion = completion
        requester = try client.requester(.supervisorRequests)
        message = try Operation.identify.question(request)
        end = .now + timeout
        requester.ask(
            message, timeout: timeout, connectTimeout: min(timeout, client.patience)
        ) { [self] result in
            if case .failure(let failure) = result, failure.code == .unavailable {
                askPatiently(failure)
            } else {
                completion(Outcome(result: result))
            }
        }
    }

    /// The supervisor is away, perhaps being restarted: from here on the request is retried as
    /// usual.
    private func askPatiently(_ failure: Failure) {
        let isOver = state.withLock { state in
            guard !state.isCancelled, end > .now else { return true }
            state.retry = Task { [client, requester, message, end, completion] in
                do throws(Failure) {
                    let answer = try await client.ask(
                        requester, message, timeout: end - .now)
                    completion(Outcome(result: .success(answer)))
                } catch {
                    completion(Outcome(result: .failure(error)))
                }
            }
            return false
        }
        if isOver { completion(Outcome(result: .failure(failure))) }
    }

    /// Cancels the request: the completion gets `cancelled`, unless it has been called; the worker
    /// stops.
    public func cancel() {
        let retry = state.withLock { state in
            state.isCancelled = true
            return state.retry
        }
        retry?.cancel()
        requester.giveUp(message.header.messageID)
    }
}

extension CairnClient {
    /// Sends an identify request without a task: `completion` is called once, on the bus thread or
    /// another one, and must not block.
    ///
    /// Throws `Failure` when the request cannot even be sent.
    public func askIdentify(
        _ request: IdentifyRequest, timeout: Duration = .seconds(10),
        completion: @escaping @Sendable (PendingIdentify.Outcome) -> Void
    ) throws(Failure) -> PendingIdentify {
        try PendingIdentify(client: self, request, timeout: timeout, completion)
    }
}
