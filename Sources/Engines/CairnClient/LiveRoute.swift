// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
internal import MapState
internal import Platform

/// A followed route: the present answer, then each that has another best route.
///
/// The request is repeated only when an event has touched its network or a standing change of roads
/// begins, ends or changes its hours, and only while a reader waits for the next answer: a slow
/// reader gets fewer answers, and there is no backlog. An answer that differs in no route and no
/// stop is passed over.
///
/// ```swift
/// for try await answer in LiveRoute(client, following: networks, request) {
///     print(answer.context.sequence, answer.routes.first?.duration ?? .infinity)
/// }
/// ```
public struct LiveRoute: AsyncSequence, Sendable {
    let client: CairnClient
    let follower: NetworkFollower
    let request: RouteRequest

    /// Follows the best route of a request about the present; alternatives are left out.
    ///
    /// - Parameters:
    ///   - client: The client that asks.
    ///   - follower: The networks of the same site, followed.
    ///   - request: The request.
    /// - Throws: `Failure` (`invalidParameter`) for a request about the past.
    public init(
        _ client: CairnClient, following follower: NetworkFollower, _ request: RouteRequest
    ) throws(CairnModel.Failure) {
        guard request.terms.at == nil else {
            throw CairnModel.Failure(.invalidParameter, "a route of the past does not change")
        }
        self.client = client
        self.follower = follower
        var request = request
        request.alternatives = nil
        self.request = request
    }

    /// Starts with the present answer.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// One reader; each starts anew.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let live: LiveRoute
        private var last: RouteAnswer?
        /// The last event of the network that the last answer includes; -1 before the first.
        private var known: Int64 = -1
        /// When a standing change begins or ends to hold without an event; nil for never.
        private var due: Timestamp?

        fileprivate init(_ live: LiveRoute) { self.live = live }

        /// The next answer; nil when the reading task is cancelled.
        ///
        /// Throws `Failure`: what the request is refused with. While the site is away it waits.
        public mutating func next() async throws -> RouteAnswer? {
            while let answers = try await next(before: nil) {
                if let answer = answers.last { return answer }
            }
            return nil
        }

        /// The next answer, or none when nothing changed within `limit`; nil when the reading task
        /// is cancelled.
        public mutating func next(
            within limit: Duration
        ) async throws(CairnModel.Failure) -> [RouteAnswer]? {
            try await next(before: .now + limit)
        }

        private mutating func next(
            before end: ContinuousClock.Instant?
        ) async throws(CairnModel.Failure) -> [RouteAnswer]? {
            while !Task.isCancelled {
                let state = live.follower.current
                let network = state.network(named: live.request.terms.network)
                let now = Timestamp(microseconds: WallClock.microseconds())
                // Workers may know a network that is unknown here.
                let change = network?.lastChange ?? 0
                if change != known || due.map({ $0 <= now }) == true,
                    let answer = try await ask(knowing: change)
                {
                    known = change
                    due = live.isDatedNow ? network?.nextTurn(after: now) : nil
                    let isNew = last.map { !$0.hasRoutes(of: answer) } ?? true
                    last = answer
                    if isNew { return [answer] }
                    continue
                }
                if let end, end < .now { return [] }
                do throws(CairnModel.Failure) {
                    // Half a second bounds how long a cancelled reader goes unnoticed.
                    _ = try await live.follower.snapshot(
                        beyond: state, timeout: .milliseconds(500))
                } catch {
                    guard error.code == .busy else { throw error }
                    try? await Task.sleep(for: .milliseconds(500))
                }
            }
            return nil
        }

        /// Sends the request; nil, after a pause, when the site cannot answer now.
        private func ask(knowing sequence: Int64) async throws(CairnModel.Failure) -> RouteAnswer? {
            var request = live.request
            request.terms.minSequence = Swift.max(request.terms.minSequence ?? 0, sequence)
            do throws(CairnModel.Failure) {
                return try await live.client.ask(.route, request)
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

    /// Whether the route is that of a departure now, so that the passing of time may change it.
    private var isDatedNow: Bool { request.terms.departure == nil }
}

extension RouteAnswer {
    /// Whether another answer has the same routes over the same stops, whatever was known for it.
    public func hasRoutes(of other: RouteAnswer) -> Bool {
        routes == other.routes && stops == other.stops && unreachedStop == other.unreachedStop
    }
}
