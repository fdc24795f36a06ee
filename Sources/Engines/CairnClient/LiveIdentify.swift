// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import MapState

/// The answers to some identify requests, followed: every batch has the changes of those whose
/// answer is another now.
///
/// A request is asked again only when an event has touched its map, at most every so often, and
/// only while somebody waits for the next batch: a slow reader gets fewer, larger steps, and
/// nothing gathers. What remote layers answer changes without an event and goes unnoticed until
/// there is one.
///
/// ```swift
/// for try await batch in client.follow([request]) {
///     for live in batch { print(live.query, live.change.sequence) }
/// }
/// ```
public struct LiveIdentify: AsyncSequence, Sendable {
    /// A change, and of which request.
    public struct Live: Hashable, Sendable {
        /// The request's number in the list, from 0.
        public var query: Int
        /// How its answer changed.
        public var change: IdentifyChange
    }

    /// The requests that one sequence may follow.
    public static let requestLimit = 1_000

    let client: CairnClient
    let requests: [IdentifyRequest]
    let interval: Duration

    /// Begins with the answers as they are now.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }

    /// One reader; each begins anew.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let client: CairnClient
        private let requests: [IdentifyRequest]
        private let interval: Duration
        /// The last answers.
        private var answers: [IdentifyAnswer?]
        /// The last event of each request's map that its answer knows.
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

        /// The same, and empty when nothing changed for so long.
        public mutating func next(within limit: Duration) async throws -> [Live]? {
            try await next(before: .now + limit)
        }

        private mutating func next(before end: ContinuousClock.Instant?) async throws -> [Live]? {
            guard requests.count <= LiveIdentify.requestLimit else {
                throw CairnModel.Failure(
                    .tooLarge,
                    "\(requests.count) requests to follow; at most \(LiveIdentify.requestLimit) are "
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
                    // Of a map that is not known here the workers may know.
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

        /// Nil when the site cannot answer now, after a moment.
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
                // Nothing says that workers are there again, or less busy; a pause for each reader.
                try? await Task.sleep(for: .milliseconds(200))
                return nil
            }
        }
    }
}

extension CairnClient {
    /// Follows the answers to identify requests, at most ``LiveIdentify/requestLimit`` of them: the
    /// first batch has all as they are now, the next ones what changed, at most one batch in each
    /// `interval`.
    ///
    /// Requests about the past (`at`) never change.
    public func follow(
        _ requests: [IdentifyRequest], interval: Duration = .milliseconds(100)
    ) -> LiveIdentify {
        LiveIdentify(client: self, requests: requests, interval: interval)
    }
}
