// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
package import FoundationEssentials

/// Returns the answer to an identify, or throws its failure.
package typealias IdentifyOutcome = @Sendable () throws(Failure) -> IdentifyAnswer

/// The backend of the gateway: a running site, or a simulated one in tests.
///
/// Calls may come from any thread, concurrently, and throw a `Failure` whose message is shown to
/// the client.
package protocol GatewayBackend: Sendable {
    /// The names of all maps and of all published locators, each in byte order.
    func catalog() async throws(Failure) -> (maps: [MapName], locators: [String])

    /// The last published locator with that name, ignoring case; nil if there is none.
    func locator(named name: String) async throws(Failure) -> LocatorPublished?

    /// The published road networks in byte order of their names, at `minSequence` or later.
    func networks(minSequence: Int64?) async throws(Failure) -> [NetworkPublished]

    /// The present map, or a past within the caller's visibility, at `minSequence` or later; nil
    /// for an unknown name.
    func map(
        named name: MapName, past: SeenPast?, minSequence: Int64?
    ) async throws(Failure) -> MapDescription?

    /// The present map without waiting; nil for an unknown name, and where it is not known up to
    /// `minSequence`, or not to include every write that was answered before.
    ///
    /// Called on event loops, which it must not block.
    func mapAtHand(
        named name: MapName, minSequence: Int64?
    ) throws(Failure) -> MapDescription?

    /// Sequence number of the last change of each map and each published locator, by its stream.
    func lastChanges() async throws(Failure) -> [StreamName: Int64]

    /// Sequence number of the present map state; waits until the log has been read.
    func presentSequence() async throws(Failure) -> Int64
    /// ``presentSequence()`` without waiting; nil before the log has been read.
    ///
    /// Called on event loops, which it must not block.
    func presentSequenceAtHand() throws(Failure) -> Int64?

    /// Executes an operation within a time limit; the work stops when the calling task is
    /// cancelled.
    ///
    /// The answer includes all writes of this backend.
    func ask<Request, Answer>(
        _ operation: Operation<Request, Answer>, _ request: Request, within limit: Duration
    ) async throws(Failure) -> Answer
    /// Executes an operation whose answer comes in parts, and joins them.
    func ask<Request: PartedRequest>(
        _ operation: Operation<Request, QueryAnswer>, whole request: Request,
        within limit: Duration
    ) async throws(Failure) -> QueryAnswer
    /// The answer to an identify if it is available locally; nil where a worker is needed.
    ///
    /// Called on event loops, which it must not block.
    func identifyAtOnce(_ request: IdentifyRequest) throws(Failure) -> IdentifyAnswer?
    /// Sends an identify without a task: `completion` is called once, on any thread, with a closure
    /// that returns the answer; the returned closure cancels the work.
    func askIdentify(
        _ request: IdentifyRequest, within limit: Duration,
        completion: @escaping @Sendable (@escaping IdentifyOutcome) -> Void
    ) throws(Failure) -> @Sendable () -> Void
    /// Changes a map on behalf of `actor`; later requests to this backend see the result.
    func command(
        _ command: MapCommand, in map: MapName, by actor: String, within limit: Duration
    ) async throws(Failure) -> MapCommandResult
    /// Follows the answer to an identify request, which has been answered once when this returns.
    ///
    /// If the map has not changed since `known`, the initial answer is omitted.
    func follow(
        _ request: IdentifyRequest, known: Int64?
    ) async throws(Failure) -> any GatewayChanges
    /// Follows the best route of a request about the present, which has been answered once when
    /// this returns; `body` writes the JSON of each answer.
    ///
    /// If the network has not changed since `known`, the initial answer is omitted.
    func follow(
        _ request: RouteRequest, known: Int64?,
        body: @escaping @Sendable (RouteAnswer) throws(Failure) -> [UInt8]
    ) async throws(Failure) -> any GatewayChanges
    /// Follows the events of a map after a sequence number; nil for those from now on.
    ///
    /// Unless the past is visible to the reader, past events of removed layers are omitted, except
    /// their removal.
    func changes(
        of map: MapName, after sequence: Int64?, seesPast: Bool
    ) async throws(Failure) -> any GatewayChanges

    /// One page of the events of a stream after a sequence number, oldest first.
    func events(
        of stream: StreamName, after sequence: Int64, limit: Int
    ) async throws(Failure) -> ReadPage
    /// The sequence number of a past moment.
    func position(of moment: AsOf, within limit: Duration) async throws(Failure) -> Int64
    /// A feature of a dataset by object id; nil for an unknown one.
    ///
    /// Reads files: never called on event loops.
    func feature(_ id: Int64, of dataset: ContentID) throws(Failure) -> EditedFeature?

    /// Health of the site, as seen from here.
    func health() async -> GatewayHealth

    /// The site's jobs; nil where they are unavailable.
    var jobs: (any GatewayJobs)? { get }
}

/// The content of `/healthz`.
package struct GatewayHealth: Hashable, Sendable {
    /// Sequence number of the site's state here.
    package var sequence: Int64
    /// Whether the log is unreachable.
    package var isStale: Bool
    /// Number of identify requests answered by the gateway itself.
    package var answeredAtOnceCount: Int
    /// Number of identify requests sent to workers.
    package var sentToWorkersCount: Int
    /// Number of queries answered by the gateway itself.
    package var queriesAtOnceCount = 0
    /// Number of queries sent to workers.
    package var queriesSentCount = 0
    /// Number of questions about roads answered by the gateway itself.
    package var routesAtOnceCount = 0
    /// Number of routes, tables and nearest roads sent to workers.
    package var routesSentCount = 0

    /// Makes the health without counts of queries.
    package init(
        sequence: Int64, isStale: Bool, answeredAtOnceCount: Int = 0, sentToWorkersCount: Int = 0
    ) {
        self.sequence = sequence
        self.isStale = isStale
        self.answeredAtOnceCount = answeredAtOnceCount
        self.sentToWorkersCount = sentToWorkersCount
    }
}

extension GatewayBackend {
    /// No map is known without waiting.
    package func mapAtHand(
        named name: MapName, minSequence: Int64?
    ) throws(Failure) -> MapDescription? { nil }

    /// None are known.
    package func lastChanges() async throws(Failure) -> [StreamName: Int64] { [:] }

    /// No networks.
    package func networks(minSequence: Int64?) async throws(Failure) -> [NetworkPublished] { [] }

    /// No route can be followed.
    package func follow(
        _ request: RouteRequest, known: Int64?,
        body: @escaping @Sendable (RouteAnswer) throws(Failure) -> [UInt8]
    ) async throws(Failure) -> any GatewayChanges {
        throw Failure(.unavailable, "this gateway follows no routes")
    }

    /// No jobs.
    package var jobs: (any GatewayJobs)? { nil }

    /// Nothing is available locally.
    package func identifyAtOnce(_ request: IdentifyRequest) throws(Failure) -> IdentifyAnswer? {
        nil
    }

    /// Answers in a task, for backends without a direct path.
    package func askIdentify(
        _ request: IdentifyRequest, within limit: Duration,
        completion: @escaping @Sendable (@escaping IdentifyOutcome) -> Void
    ) throws(Failure) -> @Sendable () -> Void {
        let task = Task {
            do throws(Failure) {
                let answer = try await ask(.identify, request, within: limit)
                completion { answer }
            } catch {
                completion { () throws(Failure) in throw error }
            }
        }
        return { task.cancel() }
    }
}

/// Changes of one answer or job, for one reader.
package protocol GatewayChanges: Sendable {
    /// The next changes, the first of which is complete; empty after the time limit, nil at the end
    /// and when the calling task was cancelled.
    func next(within limit: Duration) async throws(Failure) -> [GatewayEvent]?
}

/// One server-sent event.
package struct GatewayEvent: Hashable, Sendable {
    /// Type of the event, a word.
    package var name: String
    /// Its id, from which an interrupted client resumes.
    package var sequence: Int64
    /// JSON on one line.
    package var data: Data

    package init(name: String, sequence: Int64, data: Data) {
        self.name = name
        self.sequence = sequence
        self.data = data
    }

    /// A change of an answer; throws as `CairnJSON.encode`.
    package init(_ change: IdentifyChange) throws(Failure) {
        self.init(
            name: "change", sequence: change.sequence, data: try CairnJSON.encode(change))
    }
}
