// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
package import FoundationEssentials

/// Gives the answer to an identify, or throws why there is none.
package typealias IdentifyOutcome = @Sendable () throws(Failure) -> IdentifyAnswer

/// What the gateway translates to: a running site, or a simulated one in tests.
///
/// Every call may come from any thread, many at once, and throws a `Failure` whose sentence is
/// shown to the client.
package protocol GatewayBackend: Sendable {
    /// The names of all maps and of all published locators, each in byte order.
    func catalog() async throws(Failure) -> (maps: [MapName], locators: [String])

    /// The locator published last under that name, letter case apart; nil when there is none.
    func locator(named name: String) async throws(Failure) -> LocatorPublished?

    /// The map now, or a past of it as it may be seen, knowing at least `minSequence`; nil when
    /// there is none of that name.
    func map(
        named name: MapName, past: SeenPast?, minSequence: Int64?
    ) async throws(Failure) -> MapDescription?

    /// The sequence number up to which the maps are known here, never before the log has been read.
    func presentSequence() async throws(Failure) -> Int64
    /// The same where no waiting is needed; nil before the log has been read.
    ///
    /// Called on event loops, which it must not hold up.
    func presentSequenceAtHand() throws(Failure) -> Int64?

    /// Asks for an operation within a time; the work stops when the calling task is cancelled.
    ///
    /// What this backend has written is in the answer.
    func ask<Request, Answer>(
        _ operation: Operation<Request, Answer>, _ request: Request, within limit: Duration
    ) async throws(Failure) -> Answer
    /// The same of an operation whose answer comes in parts: all of them, joined.
    func ask<Request: PartedRequest>(
        _ operation: Operation<Request, QueryAnswer>, whole request: Request,
        within limit: Duration
    ) async throws(Failure) -> QueryAnswer
    /// The answer to "what is here?", where it is at hand; nil where it must be asked for.
    ///
    /// Called on event loops, which it must not hold up.
    func identifyAtOnce(_ request: IdentifyRequest) throws(Failure) -> IdentifyAnswer?
    /// Asks "what is here?" without a task: `completion` is called once, on any thread, with a
    /// closure that gives the answer; the closure that comes back stops the work.
    func askIdentify(
        _ request: IdentifyRequest, within limit: Duration,
        completion: @escaping @Sendable (@escaping IdentifyOutcome) -> Void
    ) throws(Failure) -> @Sendable () -> Void
    /// Adds, changes and deletes features; whoever asks this backend next sees it.
    func edit(
        _ edits: FeatureEdits, layer: LayerID, in map: MapName, within limit: Duration
    ) async throws(Failure) -> MapCommandResult
    /// The same in several layers, by one event.
    func edit(
        _ edits: [LayerFeatureEdits], in map: MapName, within limit: Duration
    ) async throws(Failure) -> MapCommandResult
    /// Follows the answer to an identify request, which has been answered once when this returns.
    ///
    /// A reader who has the answer of sequence number `known` gets no first one where the map is as
    /// it was then.
    func follow(
        _ request: IdentifyRequest, known: Int64?
    ) async throws(Failure) -> any GatewayChanges
    /// Follows the events of a map after a sequence number; nil for those from now on.
    ///
    /// Unless the reader sees the past, what happened until now to layers that are not on the map
    /// any more is left out, but for their removal.
    func changes(
        of map: MapName, after sequence: Int64?, seesPast: Bool
    ) async throws(Failure) -> any GatewayChanges

    /// How the site does, as far as it is known here.
    func health() async -> GatewayHealth

    /// The site's jobs; nil where none can be had.
    var jobs: (any GatewayJobs)? { get }
}

/// What `/healthz` says.
package struct GatewayHealth: Hashable, Sendable {
    /// The sequence number up to which the site is known.
    package var sequence: Int64
    /// Whether its log is out of reach now.
    package var isStale: Bool
    /// Identify requests that the gateway has answered itself.
    package var answeredAtOnceCount: Int
    /// Identify requests that it has sent to workers.
    package var sentToWorkersCount: Int
    /// Queries that the gateway has answered itself.
    package var queriesAtOnceCount = 0
    /// Queries that it has sent to workers.
    package var queriesSentCount = 0

    /// States it, without queries.
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
    /// None.
    package var jobs: (any GatewayJobs)? { nil }

    /// Nothing is at hand.
    package func identifyAtOnce(_ request: IdentifyRequest) throws(Failure) -> IdentifyAnswer? {
        nil
    }

    /// Asks in a task, for backends that have no shorter way.
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

/// What happens to one answer or job, for one reader.
package protocol GatewayChanges: Sendable {
    /// What comes next, the first of which lacks nothing; empty when there is none for so long, nil
    /// at the end and when the calling task was cancelled.
    func next(within limit: Duration) async throws(Failure) -> [GatewayEvent]?
}

/// One server-sent event.
package struct GatewayEvent: Hashable, Sendable {
    /// What happened, a word.
    package var name: String
    /// Its id: from where a client that was cut off goes on.
    package var sequence: Int64
    /// JSON on one line.
    package var data: Data

    /// Makes one.
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
