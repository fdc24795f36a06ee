// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnClient
package import CairnModel
internal import Dataset
internal import FeatureQuery
internal import Identify
internal import JobKinds
internal import MapState
internal import NIOCore
internal import Platform
package import Recording
package import Site
internal import SiteAnswers
internal import Synchronization

/// A running site as backend: maps come from the followed log, identify and queries are answered
/// here where the data is local, everything else is sent to the supervisor's workers.
package final class SiteBackend: GatewayBackend {
    private let client: CairnClient
    private let recorder: Recorder?
    /// The site's jobs; nil where its blobs are inaccessible.
    package let jobs: (any GatewayJobs)?
    private let atHand: AtHand?
    private let answeredAtOnceCount = Atomic<Int>(0)
    private let sentToWorkersCount = Atomic<Int>(0)
    private let queriesAtOnceCount = Atomic<Int>(0)
    private let queriesSentCount = Atomic<Int>(0)
    private let mapHead: MapHead
    private let heldMaps: HeldMaps
    private let networks: NetworkBook
    private let routesAtOnceCount = Atomic<Int>(0)
    private let routesSentCount = Atomic<Int>(0)
    /// The features of datasets; nil without the site's files.
    private let features: DatasetShelf?

    /// Connects to a site through that client; with a `site`, whose datasets are opened, identify
    /// and queries are answered here where possible, without one by workers only.
    ///
    /// An identify answered here holds its thread for about `clickLimit` microseconds at most, and
    /// is passed to the `recorder`; workers record theirs. Jobs are served with a `jobSite`, whose
    /// blobs are read and written. Throws `Failure` when the system is out of threads or sockets.
    package convenience init(
        client: CairnClient, answeringAtOnce site: Site? = nil, clickLimit: Int = 500,
        jobsOf jobSite: Site? = nil, recorder: Recorder? = nil
    ) throws(Failure) {
        let atHand = try site.map { site throws(Failure) in
            try AtHand(client, site, LatencyGate(tryLimit: Int64(clickLimit) * 1_000))
        }
        self.init(
            client, jobSite.map { SiteJobs(client: client, site: $0) }, atHand, recorder,
            MapHead(of: site ?? jobSite), (site ?? jobSite).map { DatasetShelf(of: $0) })
    }

    private init(
        _ client: CairnClient, _ jobs: (any GatewayJobs)?, _ atHand: AtHand?,
        _ recorder: Recorder?, _ mapHead: MapHead, _ features: DatasetShelf?
    ) {
        self.client = client
        heldMaps = HeldMaps(client)
        if let routes = atHand?.routes {
            networks = NetworkBook(client) { [weak routes] in routes?.take($0) }
        } else {
            networks = NetworkBook(client)
        }
        self.features = features
        self.mapHead = mapHead
        self.jobs = jobs
        self.atHand = atHand
        self.recorder = recorder
    }

    /// Answers identify and queries from local data.
    private struct AtHand {
        /// Maximum number of threads for queries, whatever the number of processors.
        private static let queryThreadLimit = 4

        let follower: MapFollower
        let identify: SiteIdentify
        let queries: SiteQueries
        let routes: SiteRoutes

        init(_ client: CairnClient, _ site: Site, _ pace: LatencyGate) throws(Failure) {
            let shelf = DatasetCache(directory: site.datasetsDirectory)
            follower = try client.follow()
            let engine = IdentifyEngine { id throws(Failure) in
                try shelf.dataset(id)
            } openDatasets: { id in
                shelf.opened(id)
            }
            // Used only while the log is reachable.
            identify = try SiteIdentify(
                engine: engine, follower: follower, isStale: { false }, rehearses: true,
                pace: pace)
            queries = try SiteQueries(
                engine: QueryEngine { id throws(Failure) in try shelf.dataset(id) },
                maps: identify,
                threadCount: min(System.coreCount, Self.queryThreadLimit))
            routes = try SiteRoutes(site: site)
        }
    }

    /// Answers from local data, while the log is reachable.
    package func identifyAtOnce(_ request: IdentifyRequest) throws(Failure) -> IdentifyAnswer? {
        guard let atHand, !atHand.follower.isStale,
            let answer = try atHand.identify.identifyAtOnce(
                request.reaching(mapHead.sequence(logIsAway: false)))
        else { return nil }
        answeredAtOnceCount.add(1, ordering: .relaxed)
        recorder?.note(
            .identify, request, answer,
            Recorder.Context(
                sequence: answer.sequence,
                datasets: atHand.follower.datasets(of: answer, on: request.map)))
        return answer
    }

    /// The names of all maps and locators.
    package func catalog() async throws(Failure) -> (maps: [MapName], locators: [String]) {
        try await client.catalog()
    }

    /// One locator.
    package func locator(named name: String) async throws(Failure) -> LocatorPublished? {
        try await client.locator(named: name)
    }

    /// The networks in the state that this gateway follows.
    package func networks(minSequence: Int64?) async throws(Failure) -> [NetworkPublished] {
        try await networks.published(minSequence: minSequence)
    }

    /// One map.
    package func map(
        named name: MapName, past: SeenPast?, minSequence: Int64?
    ) async throws(Failure) -> MapDescription? {
        let head = past == nil ? headSequence : 0
        let least = max(head, minSequence ?? 0)
        if past == nil, let map = try heldMaps.map(named: name, minSequence: least) { return map }
        return try await client.map(named: name, past: past, minSequence: least)
    }

    /// The map in the state that this gateway follows.
    package func mapAtHand(
        named name: MapName, minSequence: Int64?
    ) throws(Failure) -> MapDescription? {
        try heldMaps.map(named: name, minSequence: max(headSequence, minSequence ?? 0))
    }

    /// The positions in the state that this gateway follows.
    package func lastChanges() async throws(Failure) -> [StreamName: Int64] {
        try await client.maps().lastChanges
    }

    /// The position of this gateway in the log.
    package func presentSequence() async throws(Failure) -> Int64 {
        try await client.presentSequence()
    }

    /// The position of this gateway in the log.
    package func presentSequenceAtHand() throws(Failure) -> Int64? {
        try client.presentSequenceAtHand()
    }

    private var headSequence: Int64 {
        mapHead.sequence(logIsAway: atHand?.follower.isStale ?? false)
    }

    /// A request about a map of now as one that sees every write before it, one about roads of now
    /// as one that sees every change that was made here; others as they are.
    private func reachingHead<Request>(_ request: Request) -> Request {
        if let question = request as? any RoadsQuestion {
            return question.reaching(networks.lastChange) as? Request ?? request
        }
        guard let question = request as? any MapQuestion else { return request }
        return question.reaching(headSequence) as? Request ?? request
    }

    /// Answers a small question about roads from local data while the log is reachable; sends
    /// everything else to its service or to workers.
    package func ask<Request, Answer>(
        _ operation: Operation<Request, Answer>, _ request: Request, within limit: Duration
    ) async throws(Failure) -> Answer {
        if request is IdentifyRequest { sentToWorkersCount.add(1, ordering: .relaxed) }
        if let answer = try routeAtOnce(request) as? Answer {
            AuditScope.current?.note(operation.name, request)
            return answer
        }
        let answer = try await client.ask(operation, reachingHead(request), timeout: limit)
        if let change = answer as? RoadChangeAnswer { networks.note(change.number) }
        if !(request is IdentifyRequest) {
            AuditScope.current?.note(operation.name, request)
        }
        return answer
    }

    private func routeAtOnce(_ request: Any) throws(Failure) -> Any? {
        switch request {
        case let request as RouteRequest: try routeAtOnce(.route, request)
        case let request as RouteTableRequest: try routeAtOnce(.routeTable, request)
        case let request as NearestRoadsRequest: try routeAtOnce(.nearestRoads, request)
        default: nil
        }
    }

    private func routeAtOnce<Request: RoadQuestion & TermedQuestion & RecordedRouteQuestion>(
        _ operation: Operation<Request, Request.Answer>, _ request: Request
    ) throws(Failure) -> Request.Answer? where Request.Answer: RecordedRouteAnswer {
        let now = Timestamp(microseconds: WallClock.microseconds())
        // A router waits until roads that follow layers have reached the number.
        func isSettled(_ state: NetworksState) -> Bool {
            request.terms.minSequence == nil
                || state.network(named: request.terms.network)?.followsLayers != true
        }
        guard let atHand, let state = networks.stateAtHand, isSettled(state),
            let answer = try atHand.routes.answerAtOnce(
                request.reaching(networks.lastChange), in: state, at: now)
        else {
            routesSentCount.add(1, ordering: .relaxed)
            return nil
        }
        routesAtOnceCount.add(1, ordering: .relaxed)
        recorder?.note(
            operation, request.fixed(at: now), answer,
            Recorder.Context(sequence: answer.context.sequence))
        return answer
    }

    /// Answers a query from local data while the log is reachable; else sends it to workers.
    package func ask<Request: PartedRequest>(
        _ operation: Operation<Request, QueryAnswer>, whole request: Request,
        within limit: Duration
    ) async throws(Failure) -> QueryAnswer {
        let end = ContinuousClock.now + limit
        defer { AuditScope.current?.note(operation.name, request) }
        let request = reachingHead(request)
        if let query = request as? QueryRequest {
            if let answer = try await queryAtOnce(query, until: end) { return answer }
            queriesSentCount.add(1, ordering: .relaxed)
        }
        return try await client.ask(
            operation, whole: request, timeout: max(end - .now, .milliseconds(1)))
    }

    private func queryAtOnce(
        _ request: QueryRequest, until end: ContinuousClock.Instant
    ) async throws(Failure) -> QueryAnswer? {
        guard let atHand, !atHand.follower.isStale,
            let answer = try await atHand.queries.answerAtOnce(request, until: end)
        else { return nil }
        queriesAtOnceCount.add(1, ordering: .relaxed)
        if request.isAuxiliary != true {
            recorder?.note(
                .query, request, answer,
                Recorder.Context(
                    sequence: answer.sequence,
                    datasets: atHand.follower.datasets(
                        of: [request.layer], on: request.map, at: answer.sequence)))
        }
        return answer
    }

    /// Sends an identify to a worker without a task.
    package func askIdentify(
        _ request: IdentifyRequest, within limit: Duration,
        completion: @escaping @Sendable (@escaping IdentifyOutcome) -> Void
    ) throws(Failure) -> @Sendable () -> Void {
        sentToWorkersCount.add(1, ordering: .relaxed)
        let question = try client.askIdentify(reachingHead(request), timeout: limit) { outcome in
            completion { () throws(Failure) in try outcome.answer() }
        }
        return { question.cancel() }
    }

    /// Sends a command to the map state; later requests here include its result.
    package func command(
        _ command: MapCommand, in map: MapName, by actor: String, within limit: Duration
    ) async throws(Failure) -> MapCommandResult {
        let result = try await client.command(
            map: map, command, actor: actor, timeout: limit)
        mapHead.note(result.sequence)
        _ = try await client.maps(minSequence: result.sequence, timeout: limit)
        return result
    }

    /// Follows an answer, by the log that this gateway follows.
    package func follow(
        _ request: IdentifyRequest, known: Int64?
    ) async throws(Failure) -> any GatewayChanges {
        let changes = SiteChanges(client.follow([request]).makeAsyncIterator())
        try await changes.begin()
        guard let known, let first = await changes.firstSequence, first >= known,
            let before = try? await client.map(named: request.map, at: .sequence(known)),
            var now = try? await client.map(
                named: request.map, at: .sequence(first), minSequence: first)
        else { return changes }
        now.sequence = before.sequence
        if now == before { await changes.resume(from: known) }
        return changes
    }

    /// Follows a route, by the networks that this gateway follows.
    package func follow(
        _ request: RouteRequest, known: Int64?,
        body: @escaping @Sendable (RouteAnswer) throws(Failure) -> [UInt8]
    ) async throws(Failure) -> any GatewayChanges {
        let follower = try await networks.followed()
        let change = follower.current.network(named: request.terms.network)?.lastChange
        let changes = RouteChanges(
            try LiveRoute(client, following: follower, reachingHead(request)), body: body)
        try await changes.begin()
        if let known, let change, change <= known { await changes.resume() }
        return changes
    }

    /// Follows the log of the map.
    package func changes(
        of map: MapName, after sequence: Int64?, seesPast: Bool
    ) async throws(Failure) -> any GatewayChanges {
        guard let now = try await client.map(named: map, minSequence: sequence) else {
            throw GatewayService.noMap(map.rawValue)
        }
        return MapChanges(
            try MapEvents(client, of: map, after: sequence ?? now.sequence),
            seenFrom: seesPast ? nil : now)
    }

    /// One page of the map's stream.
    package func events(
        of stream: StreamName, after sequence: Int64, limit: Int
    ) async throws(Failure) -> ReadPage {
        try await LogReader(client).read(
            ReadRequest(after: sequence, limit: limit, stream: stream))
    }

    /// The position of the last event at or before the moment.
    package func position(
        of moment: AsOf, within limit: Duration
    ) async throws(Failure) -> Int64 {
        try await client.position(of: moment, timeout: limit)
    }

    /// A feature of a file of the site.
    package func feature(
        _ id: Int64, of dataset: ContentID
    ) throws(Failure) -> EditedFeature? {
        guard let features else {
            throw Failure(.unavailable, "this gateway does not read the files of the site")
        }
        return try features.feature(id, of: dataset)
    }

    /// Whether the log is reachable, and counters.
    package func health() async -> GatewayHealth {
        let (sequence, isStale) = (try? client.knownSequence()) ?? (0, true)
        var health = GatewayHealth(
            sequence: sequence, isStale: isStale,
            answeredAtOnceCount: answeredAtOnceCount.load(ordering: .relaxed),
            sentToWorkersCount: sentToWorkersCount.load(ordering: .relaxed))
        health.queriesAtOnceCount = queriesAtOnceCount.load(ordering: .relaxed)
        health.queriesSentCount = queriesSentCount.load(ordering: .relaxed)
        health.routesAtOnceCount = routesAtOnceCount.load(ordering: .relaxed)
        health.routesSentCount = routesSentCount.load(ordering: .relaxed)
        return health
    }
}

/// Features of datasets by object id.
private struct DatasetShelf {
    private let datasets: DatasetCache
    private let orders = ObjectOrders()

    init(of site: Site) { datasets = DatasetCache(directory: site.datasetsDirectory) }

    func feature(_ id: Int64, of dataset: ContentID) throws(Failure) -> EditedFeature? {
        let features = try datasets.dataset(dataset)
        guard let ordinal = try orders.order(dataset, features).ordinal(of: id),
            let feature = features.feature(at: Int(ordinal))
        else { return nil }
        return try EditedFeature(feature, of: features)
    }
}

/// The jobs of a running site.
private struct SiteJobs: GatewayJobs {
    let client: CairnClient
    let site: Site
    var blobs: BlobStore { site.blobs }
    var uploads: UploadLedger { site.uploads }

    func submit(_ submission: JobSubmission) async throws(Failure) -> JobDescription {
        try await client.submit(submission)
    }

    func jobs() async throws(Failure) -> [JobDescription] { try await client.jobs() }

    func usage(of actor: String) async throws(Failure) -> JobUsage {
        try await client.jobUsage(of: actor)
    }

    func job(_ id: JobID) async throws(Failure) -> JobDescription { try await client.job(id) }

    func cancel(_ id: JobID, actor: String) async throws(Failure) -> JobDescription {
        try await client.command(job: id, .cancel, actor: actor)
    }

    func follow(
        _ id: JobID, as form: JobForm, after sequence: Int64
    ) -> any GatewayChanges {
        JobChanges(
            client, JobTicket(site: site.identity.siteID, jobID: id, lastSequence: sequence), form)
    }
}

/// A reader of a followed answer.
private actor SiteChanges: GatewayChanges {
    private var iterator: LiveIdentify.AsyncIterator
    private var first: [IdentifyChange]?
    /// Sequence number from which a reader resumes.
    private var known: Int64?

    init(_ iterator: LiveIdentify.AsyncIterator) { self.iterator = iterator }

    /// Reads the first answer, so that an invalid request fails as any other.
    func begin() async throws(Failure) { first = try await read(within: .seconds(15)) }

    /// Sequence number of the first answer.
    var firstSequence: Int64? { first?.last?.sequence }

    /// Omits the first answer: the reader has it under another sequence number.
    func resume(from known: Int64) {
        first = []
        self.known = known
    }

    func next(within limit: Duration) async throws(Failure) -> [GatewayEvent]? {
        var next = first.take()
        if next == nil { next = try await read(within: limit) }
        guard var changes = next else { return nil }
        if !changes.isEmpty, let known = known.take() { changes[0].after = known }
        var events: [GatewayEvent] = []
        for change in changes { events.append(try GatewayEvent(change)) }
        return events
    }

    private func read(within limit: Duration) async throws(Failure) -> [IdentifyChange]? {
        var reading = iterator
        do {
            let batch = try await reading.next(within: limit)
            iterator = reading
            return batch?.map(\.change)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.internal, "\(error)")
        }
    }
}
