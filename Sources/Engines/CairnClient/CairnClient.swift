// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Bus
public import CairnModel
internal import FoundationEssentials
public import Site
internal import Synchronization

/// A client of a site for programs, the terminal and the gateway: sends requests to its services
/// and receives what they publish.
///
/// One per process is enough. Thread-safe.
///
/// ```swift
/// let client = try CairnClient(site: Site(opening: "/srv/cairn"))
/// let answer = try await client.ask(.geocode, GeocodeRequest(singleLine: "Paris"))
/// ```
public final class CairnClient: Sendable {
    /// The thread that owns this client's sockets.
    public let bus: BusThread
    /// Limit of one outage of a service before requests fail with `unavailable`; it covers a
    /// restart.
    public let patience: Duration
    /// The site whose snapshots the maps start from; nil to fold the whole log.
    let site: Site?
    let reportSnapshot: @Sendable (String) -> Void
    private let ownsBus: Bool
    private let requesters = Mutex<[Endpoint: Requester]>([:])
    let mapFollower = Mutex<MapFollower?>(nil)

    /// Opens a client of a site, with a bus thread of its own; services may still be down.
    ///
    /// Throws `Failure` when the site's run directory is not private to this user.
    public convenience init(site: Site, patience: Duration = .seconds(5)) throws(Failure) {
        self.init(
            try BusThread(name: "cairn-client", runDirectory: site.runDirectory), ownsBus: true,
            patience, site)
    }

    /// Opens a client with the run directory alone: its maps are folded from the whole log, without
    /// snapshots.
    public convenience init(
        runDirectory: String, patience: Duration = .seconds(5)
    ) throws(Failure) {
        self.init(
            try BusThread(name: "cairn-client", runDirectory: runDirectory), ownsBus: true,
            patience, nil)
    }

    /// Creates a client on an existing bus thread; `close` leaves that thread running.
    ///
    /// - Parameters:
    ///   - bus: The bus thread of the process.
    ///   - patience: Limit of one outage of a service.
    ///   - site: The site folder, with snapshots for its maps and inputs of the jobs it submits;
    ///     without it the whole log is folded, and an old input may be swept as the job is
    ///     submitted.
    ///   - reportSnapshot: Receives, on any thread, a line for each unusable snapshot.
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

    /// Closes the client: requests in flight fail with `draining`.
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

    /// The requester of this client for an endpoint, connected at its first use.
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

    /// Sends an operation to its service and decodes the answer.
    ///
    /// When the service is away or silent, the request is sent again with the same message id,
    /// until `timeout` (nil: the operation's own) is over or the service has been away for
    /// `patience`; silence alone does not resend a task. Throws the `Failure` of service or worker,
    /// or `timedOut`, `unavailable`, `busy`, `tooLarge`, `cancelled`, `draining`; `corrupt` for an
    /// answer of another form.
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

    /// Sends an operation whose answer comes in parts, and concatenates them.
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

    /// Sends a prepared message; retries as ``ask(_:_:actor:map:timeout:)`` does.
    public func ask(
        _ requester: Requester, _ message: Message, timeout: Duration
    ) async throws(Failure) -> Message {
        let end = ContinuousClock.now + timeout
        // A task keeps a worker busy, so silence alone does not resend it.
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
                    // For a task the answer came from the service itself, or the time is over.
                    guard now < end, message.header.kind != .task else { throw error }
                default: throw error
                }
            }
        }
    }

    /// Messages published under these topics from now on (`result/<map>`, `job/<uuid>`, `workers`):
    /// ephemeral, with gaps; the log is the record.
    ///
    /// Results of more than 64 KiB are not among them. The buffer holds 1,024 messages and drops
    /// the oldest.
    public func live(topics: [String]) throws(Failure) -> AsyncStream<LiveMessage> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LiveMessage.self, bufferingPolicy: .bufferingNewest(1024))
        let subscriber = try bus.subscribe(.supervisorLive, topics: topics) { topic, message in
            continuation.yield(LiveMessage(topic: topic, message: message))
        }
        continuation.onTermination = { _ in subscriber.close() }
        return stream
    }

    /// States of a job as published by the supervisor from now on; with gaps, as ``live(topics:)``,
    /// and a buffer of 16.
    public func live(job: JobID) throws(Failure) -> AsyncStream<JobDescription> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: JobDescription.self, bufferingPolicy: .bufferingNewest(16))
        let subscriber = try subscribe(job: job) { continuation.yield($0) }
        continuation.onTermination = { _ in subscriber.close() }
        return stream
    }

    /// Calls `handler`, on the bus thread, with each published state of a job.
    func subscribe(
        job: JobID, _ handler: @escaping @Sendable (JobDescription) -> Void
    ) throws(Failure) -> Subscriber {
        let topic = "job/" + job.rawValue.uuidString.lowercased()
        return try bus.subscribe(.supervisorLive, topics: [topic]) { _, message in
            if let job = try? message.decode(JobDescription.self) { handler(job) }
        }
    }
}

/// An ephemeral message published by a service.
public struct LiveMessage: Hashable, Sendable {
    /// Its topic, such as `result/World`.
    public let topic: String
    /// Its header and body.
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
