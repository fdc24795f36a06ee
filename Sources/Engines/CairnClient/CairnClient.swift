// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Bus
public import CairnModel
internal import FoundationEssentials
public import Site
internal import Synchronization

/// The way into a site for programs, the terminal and the gateway: asks its services and hears what
/// they publish.
///
/// One per process is enough; any task or thread may use it.
///
/// ```swift
/// let client = try CairnClient(site: Site(opening: "/srv/cairn"))
/// let answer = try await client.ask(.geocode, GeocodeRequest(singleLine: "Paris"))
/// ```
public final class CairnClient: Sendable {
    /// The thread that owns this client's sockets.
    public let bus: BusThread
    /// How long a service may be away before a request to it is given up with `unavailable`; it
    /// covers a restart.
    public let patience: Duration
    /// Whose snapshots the maps begin at; nil to fold the whole log.
    let site: Site?
    let reportSnapshot: @Sendable (String) -> Void
    private let ownsBus: Bool
    private let requesters = Mutex<[Endpoint: Requester]>([:])
    let mapFollower = Mutex<MapFollower?>(nil)

    /// Opens a client of a site, with a thread of its own; no service need be up yet.
    ///
    /// Throws `Failure` when the site's run directory is not private to this user.
    public convenience init(site: Site, patience: Duration = .seconds(5)) throws(Failure) {
        self.init(
            try BusThread(name: "cairn-client", runDirectory: site.runDirectory), ownsBus: true,
            patience, site)
    }

    /// The same with the run directory alone: its maps are folded from the whole log, past the
    /// snapshots.
    public convenience init(
        runDirectory: String, patience: Duration = .seconds(5)
    ) throws(Failure) {
        self.init(
            try BusThread(name: "cairn-client", runDirectory: runDirectory), ownsBus: true,
            patience, nil)
    }

    /// A client on the bus thread a process has already; `close` leaves that thread running.
    ///
    /// - Parameters:
    ///   - bus: The thread.
    ///   - patience: How long a service may be away.
    ///   - site: Where the snapshots lie that its maps begin at, and the inputs of the jobs it
    ///     submits; without it the
    ///     whole log is folded, and an old input may be swept as the job is submitted.
    ///   - reportSnapshot: Told, on any thread, of each snapshot that could not be taken.
    public convenience init(
        sharing bus: BusThread, patience: Duration = .seconds(5), site: Site? = nil,
        reportSnapshot: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.init(bus, ownsBus: false, patience, site, reportSnapshot)
    }

    private init(
        _ bus: BusThread, ownsBus: Bool, _ patience: Duration, _ site: Site?,
        _ reportSnapshot: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.bus = bus
        self.patience = patience
        self.site = site
        self.reportSnapshot = reportSnapshot
        self.ownsBus = ownsBus
    }

    /// Ends it: requests under way get `draining`.
    ///
    /// Waits at most about a second.
    public func close() {
        mapFollower.withLock { $0 }?.stop()
        if ownsBus { return bus.stop() }
        let open = requesters.withLock { requesters in
            defer { requesters = [:] }
            return Array(requesters.values)
        }
        for requester in open { requester.close() }
    }

    /// The one requester of this client for an endpoint; connects at its first use.
    public func requester(_ endpoint: Endpoint) throws(Failure) -> Requester {
        let result = requesters.withLock { requesters -> Result<Requester, Failure> in
            if let known = requesters[endpoint] { return .success(known) }
            return Result { () throws(Failure) in
                let made = try bus.connectRequester(endpoint)
                requesters[endpoint] = made
                return made
            }
        }
        return try result.get()
    }

    /// Asks for an operation where it is answered, and decodes the answer.
    ///
    /// When the service goes away or stays silent, the same question goes out again, with the same
    /// message id, until `timeout` (nil: the operation's own) is over or the service has been away
    /// for `patience`; a task in silence does not. Throws the service's or the worker's own
    /// `Failure`, or `timedOut`, `unavailable`, `busy`, `tooLarge`, `cancelled`, `draining`;
    /// `corrupt` for an answer of another form.
    public func ask<Request, Answer>(
        _ operation: Operation<Request, Answer>, _ request: Request, actor: String? = nil,
        map: MapName? = nil, timeout: Duration? = nil
    ) async throws(Failure) -> Answer {
        let answer = try await ask(
            try requester(operation.place.endpoint),
            try operation.question(request, actor: actor, map: map),
            timeout: timeout ?? operation.timeout)
        return try operation.answer(in: answer)
    }

    /// Asks for an operation whose answer comes in parts: the whole answer, its parts one after the
    /// other.
    ///
    /// All parts are of the map at the sequence number of the first. Throws as
    /// ``ask(_:_:actor:map:timeout:)`` does.
    public func ask<Request: PartedRequest>(
        _ operation: Operation<Request, QueryAnswer>, whole request: Request,
        timeout: Duration? = nil
    ) async throws(Failure) -> QueryAnswer {
        let end = ContinuousClock.now + (timeout ?? operation.timeout)
        var answer = try await ask(operation, request, timeout: timeout)
        var next = request
        while let following = answer.next {
            (next.at, next.atTime, next.minSequence) = (answer.sequence, nil, nil)
            next.part = following
            let more = try await ask(
                operation, next, timeout: max(end - .now, .milliseconds(1)))
            answer.body += more.body
            answer.next = more.next
        }
        return answer
    }

    /// Asks with a message of one's own making; retries as ``ask(_:_:actor:map:timeout:)`` does.
    public func ask(
        _ requester: Requester, _ message: Message, timeout: Duration
    ) async throws(Failure) -> Message {
        let end = ContinuousClock.now + timeout
        // A task keeps a worker busy, so silence alone does not make it go out again.
        let slice = message.header.kind == .task ? timeout : max(timeout / 3, .seconds(1))
        var awaySince: ContinuousClock.Instant?
        var pause = Duration.milliseconds(20)
        var left = timeout
        while true {
            defer { left = end - ContinuousClock.now }
            do throws(Failure) {
                let limit = min(slice, left)
                return try await requester.send(
                    message, timeout: limit, connectTimeout: min(limit, patience))
            } catch {
                let now = ContinuousClock.now
                switch error.code {
                case .unavailable:
                    let since = awaySince ?? now
                    awaySince = since
                    guard now - since < patience, now + pause < end else { throw error }
                    do { try await Task.sleep(for: pause) } catch { throw .requestCancelled }
                    pause = min(pause * 2, .milliseconds(500))
                case .timedOut:
                    awaySince = nil
                    // Of a task, the service itself said so, or has had all the time.
                    guard now < end, message.header.kind != .task else { throw error }
                default: throw error
                }
            }
        }
    }

    /// What services publish under these topics from now on (`result/<map>`, `job/<uuid>`,
    /// `workers`): ephemeral, with gaps; the log is the record.
    ///
    /// Results of more than 64 KiB are not among them. At most 1,024 messages wait for the reader,
    /// then the oldest are dropped.
    public func live(topics: [String]) throws(Failure) -> AsyncStream<LiveMessage> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LiveMessage.self, bufferingPolicy: .bufferingNewest(1024))
        let subscriber = try bus.subscribe(.supervisorLive, topics: topics) { topic, message in
            continuation.yield(LiveMessage(topic: topic, message: message))
        }
        continuation.onTermination = { _ in subscriber.close() }
        return stream
    }

    /// A job as the supervisor shows it from now on; with gaps, as ``live(topics:)``, of which the
    /// oldest of 16 that wait are the first.
    public func live(job: JobID) throws(Failure) -> AsyncStream<JobDescription> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: JobDescription.self, bufferingPolicy: .bufferingNewest(16))
        let subscriber = try subscribe(job: job) { continuation.yield($0) }
        continuation.onTermination = { _ in subscriber.close() }
        return stream
    }

    /// Calls `handler`, on the bus thread, with the job whenever the supervisor shows it.
    func subscribe(
        job: JobID, _ handler: @escaping @Sendable (JobDescription) -> Void
    ) throws(Failure) -> Subscriber {
        let topic = "job/" + job.rawValue.uuidString.lowercased()
        return try bus.subscribe(.supervisorLive, topics: [topic]) { _, message in
            if let job = try? message.decode(JobDescription.self) { handler(job) }
        }
    }
}

/// Something ephemeral that a service published.
public struct LiveMessage: Hashable, Sendable {
    /// The topic, `result/World`.
    public let topic: String
    /// The message.
    public let message: Message

    /// Makes a live message.
    public init(topic: String, message: Message) {
        self.topic = topic
        self.message = message
    }
}

extension Failure {
    static let requestCancelled = Failure(.cancelled, "the request was cancelled")
}
