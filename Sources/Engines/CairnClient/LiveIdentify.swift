// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import MapState

/// Followed answers to identify requests: every batch holds the changes of those whose answer
/// differs.
///
/// A request is repeated only when an event has touched its map, at most once per interval, and
/// only while a reader waits for the next batch: a slow reader gets fewer, larger steps, and there
/// is no backlog. Changes on remote layers come without an event and go unnoticed until the next
/// one.
///
/// ```swift
/// for try await batch in client.follow([request]) {
///     for live in batch { print(live.query, live.change.sequence) }
/// }
/// ```
public struct LiveIdentify: AsyncSequence, Sendable {
    /// A change of one request's answer.
    public struct Live: Hashable, Sendable {
        /// The request's number in the list, from 0.
        public var query: Int
        /// The change of its answer.
        public var change: IdentifyChange
    }

    /// Limit of requests in one sequence.
    public static let requestLimit = 1_000

    let client: CairnClient
    let requests: [IdentifyRequest]
    let interval: Duration

    /// Starts with the present answers.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }

    /// One reader; each starts anew.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let client: CairnClient
        private let requests: [IdentifyRequest]
        private let interval: Duration
        /// The last answers.
        private var answers: [IdentifyAnswer?]
        /// By request, the last event of its map that the answer includes.
        private var known: [Int: Int64] = [:]
        private var lastBatch: ContinuousClock.Instant?

        fileprivate init(_ live: LiveIdentify) {
            (client, requests, interval) = (live.client, live.requests, live.interval)
            answers = Array(repeating: nil, count: live.requests.count)
        }

        /// The next batch, never empty; nil when the reading task is cancelled.
        ///
        /// Throws `Failure`: what a request is refused with, and `tooLarge` for too many of them.
        /// While the site is away it waits.
        public mutating func next() async throws -> [Live]? { try await next(before: nil) }

        /// The next batch, or an empty one when nothing changed within `limit`.
        public mutating func next(within limit: Duration) async throws -> [Live]? {
            try await next(before: .now + limit)
        }

        private mutating func next(before end: ContinuousClock.Instant?) async throws -> [Live]? {
            guard requests.count <= LiveIdentify.requestLimit else {
                throw CairnModel.Failure(
                    .tooLarge,
                    "\(requests.count) requests to follow; at most \(LiveIdentify.requestLimit) "
                        + "are "
                        + "taken")
            }
            if let lastBatch {
                let rest = lastBatch + interval - .now
                if rest > .zero { try? await Task.sleep(for: rest) }
            }
            let follower = try client.follow()
            while !Task.isCancelled {
                if let fault = follower.fault { throw fault }
                let state = follower.current
                var batch: [Live] = []
                for (number, request) in requests.enumerated() where !Task.isCancelled {
                    // Workers may know a map that is unknown here.
                    let last = state.lastChange(of: request.map) ?? 0
                    if let known = known[number], last <= known { continue }
                    guard let answer = try await ask(request, knowing: last) else { continue }
                    known[number] = Swift.max(last, answer.sequence)
                    guard let change = answer.change(since: answers[number]) else { continue }
                    answers[number] = answer
                    batch.append(Live(query: number, change: change))
                }
                if !batch.isEmpty {
                    lastBatch = .now
                    return batch
                }
                if let end, end < .now { return [] }
                // Half a second bounds how long a cancelled reader goes unnoticed.
                _ = try? await follower.snapshot(
                    beyond: state, timeout: .milliseconds(500))
            }
            return nil
        }

        /// Sends a request; nil, after a pause, when the site cannot answer now.
        private func ask(
            _ request: IdentifyRequest, knowing sequence: Int64
        ) async throws(CairnModel.Failure) -> IdentifyAnswer? {
            var request = request
            request.minSequence = Swift.max(request.minSequence ?? 0, sequence)
            request.explain = false
            do throws(CairnModel.Failure) {
                return try await client.ask(.identify, request)
            } catch {
                guard error.isRetriable || (error.code == .cancelled && Task.isCancelled) else {
                    throw error
                }
                // There is no signal for idle workers; each reader pauses.
                try? await Task.sleep(for: .milliseconds(200))
                return nil
            }
        }
    }
}

extension CairnClient {
    /// Follows the answers to identify requests, at most ``LiveIdentify/requestLimit`` of them: the
    /// first batch has all present answers, the next ones the changes, at most one batch per
    /// `interval`.
    ///
    /// Requests about the past (`at`) never change.
    public func follow(
        _ requests: [IdentifyRequest], interval: Duration = .milliseconds(100)
    ) -> LiveIdentify {
        LiveIdentify(client: self, requests: requests, interval: interval)
    }
}
