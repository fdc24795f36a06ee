// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
public import CairnClient
public import CairnModel
public import Dataset
internal import FeatureQuery
internal import FoundationEssentials
internal import Identify
public import JobKinds
internal import MapState
internal import Raster
public import Recording
public import Remote
public import Site
public import SiteAnswers
public import Worker

/// What `cairn-identify` does: `identify`, `query`, `find`, `export` and `legend`, on the maps of a follower and the datasets of a
/// shelf.
///
/// A request waits until the maps have reached its `minSequence`, or asks the maps as they were
/// `at` a sequence number. Any number of compute threads may ask; they share an engine.
public final class IdentifyOperations: Sendable {
    /// The largest payload that is looked into on the bus thread.
    private static let promptByteLimit = 1_024

    /// What it follows of a site's state.
    private static let hashed: Set<String> = ["commands", "map"]

    private let recorder: Recorder?
    private let follower: MapFollower
    let engine: IdentifyEngine
    let site: SiteIdentify
    let remotes: RemoteServices
    let rasters: String
    private let queries: QueryEngine
    /// Of queries tried on a thread for tasks.
    private let queryPace = Pace(tryLimit: 20_000_000, averageLimit: 10_000_000)
    /// The processor time that an identify has on a thread for tasks while others wait for it, in nanoseconds.
    private static let identifyShare: Int64 = 100_000_000

    /// - Parameters:
    ///   - follower: The maps, kept up to date by somebody else.
    ///   - isStale: Whether the maps may have changed unnoticed.
    ///   - shelf: The datasets.
    ///   - rasters: The directory of rasters.
    ///   - remotes: What asks other servers.
    ///   - recorder: Keeps interactive requests with their answers.
    ///   - readLog: Reads the log, for requests about the past.
    ///
    /// Throws `Failure` when the system has no thread left.
    public init(
        follower: MapFollower, isStale: @escaping @Sendable () -> Bool, shelf: DatasetShelf,
        rasters: String, remotes: RemoteServices, recorder: Recorder? = nil,
        readLog: @escaping MapFollower.Reader
    ) throws(Failure) {
        let engine = IdentifyEngine { id throws(Failure) in
            try shelf.dataset(id)
        } openDatasets: { id in
            shelf.opened(id)
        } rasters: { id throws(Failure) in
            try RasterFile(id, in: rasters)
        }
        self.engine = engine
        queries = QueryEngine { id throws(Failure) in try shelf.dataset(id) }
        self.remotes = remotes
        self.rasters = rasters
        self.follower = follower
        self.recorder = recorder
        site = try SiteIdentify(
            engine: engine, follower: follower, isStale: isStale, rehearses: false,
            readLog: readLog)
    }

    /// The operations by name, for a worker's host: the interactive ones, and the chunks of batches.
    public func hosted(blobs: BlobStore) -> [String: Operation] {
        var operations = ChunkOperations.hosted(
            JobKinds.operations(in: .identify, with: JobCapabilities(maps: self)), blobs: blobs)
        operations["identify"] = { [self] in try identifyOperation($0, $1, nil) }
        operations["export"] = { [self] in try exportOperation($0, $1) }
        operations["legend"] = { [self] in try legendOperation($0, $1) }
        operations["query"] = { [self] context, payload in
            try queryOperation(
                context, try CairnJSON.decode(QueryRequest.self, from: payload), nil)
        }
        operations["find"] = { [self] context, payload in
            let request = try CairnJSON.decode(FindRequest.self, from: payload)
            let (map, isStale) = try site.map(
                named: request.map, past: request.past, minSequence: request.minSequence,
                until: context.deadline, waiting: context.waiting)
            // Earlier than for one layer: those that have not answered by then are told of with the rest.
            let answer = try queries.find(
                request, in: map.description, isStale: isStale,
                isCancelled: { context.isCancelled },
                remotes: remoteFeatures(
                    until: context.deadline.map { $0 - .milliseconds(750) },
                    waiting: context.waiting, isCancelled: { context.isCancelled }))
            record(
                .find(request, answer),
                of: request.layers ?? map.description.layers.map(\.id), on: request.map, answer)
            return answer.wireForm
        }
        operations["stateHash"] = { [follower] _, _ in
            try CairnJSON.encode(try follower.current.hash().limited(to: Self.hashed).message)
        }
        return operations
    }

    /// Decodes an `IdentifyRequest`, answers it, encodes the `IdentifyAnswer` in the same form; blocks
    /// the thread.
    private func identifyOperation(
        _ context: OperationContext, _ payload: Data, _ turn: TaskTurn?
    ) throws -> Data {
        let isFixed = context.contentType == MessageHeader.fixedLayout
        let request =
            isFixed
            ? try FixedLayout.identifyRequest(payload)
            : try CairnJSON.decode(IdentifyRequest.self, from: payload)
        let answer = try identify(
            request, until: context.deadline, waiting: context.waiting, turn: turn
        ) { context.isCancelled }
        try turn?.check()
        record(request, answer)
        return isFixed ? FixedLayout.encode(answer) : try CairnJSON.encode(answer)
    }

    private func queryOperation(
        _ context: OperationContext, _ request: QueryRequest, _ turn: TaskTurn?
    ) throws -> Data {
        let answer = try query(
            request, until: context.deadline, waiting: context.waiting, turn: turn
        ) { context.isCancelled }
        if request.isAuxiliary != true {
            record(.query(request, answer), of: [request.layer], on: request.map, answer)
        }
        return answer.wireForm
    }

    /// What of them may take long, for a worker's host: pictures, finds and legends always, the others once
    /// they have been tried.
    public func long() -> LongOperations {
        LongOperations(
            always: ["export", "find", "legend"],
            tried: [
                "identify": { [self] context, payload in
                    let turn = TaskTurn(context, shareNanoseconds: Self.identifyShare)
                    return try turn.tries { try identifyOperation(context, payload, turn) }
                },
                "query": { [self] context, payload in
                    let request = try CairnJSON.decode(QueryRequest.self, from: payload)
                    guard request.isSoonStopped, queryPace.isWorthTrying(request.map) else {
                        return nil
                    }
                    let turn = TaskTurn(context, shareNanoseconds: queryPace.tryLimit)
                    defer { queryPace.note(request.map, nanoseconds: turn.usedNanoseconds) }
                    return try turn.tries { try queryOperation(context, request, turn) }
                },
            ])
    }

    /// What of them can be answered at once, for a worker's host.
    public func prompt() -> [String: PromptOperation] {
        ["identify": { [self] in try promptIdentify($0, $1) }]
    }

    /// Answers what is at hand; bus thread.
    private func promptIdentify(_ context: OperationContext, _ payload: Data) throws -> Data? {
        guard context.contentType == MessageHeader.fixedLayout,
            payload.count <= Self.promptByteLimit
        else { return nil }
        let request = try FixedLayout.identifyRequest(payload)
        guard let answer = try site.identifyAtOnce(request) else { return nil }
        record(request, answer)
        return FixedLayout.encode(answer)
    }

    private func record(_ request: IdentifyRequest, _ answer: IdentifyAnswer) {
        recorder?.note(
            .identify(request, answer),
            Recorder.Context(
                sequence: answer.sequence, datasets: follower.datasets(of: answer, on: request.map))
        )
    }

    private func record(
        _ exchange: @autoclosure () -> RecordedExchange, of layers: @autoclosure () -> [LayerID],
        on map: MapName, _ answer: QueryAnswer
    ) {
        recorder?.note(
            exchange(),
            Recorder.Context(
                sequence: answer.sequence,
                datasets: follower.datasets(of: layers(), on: map, at: answer.sequence)))
    }

    /// Answers a request on the calling thread, which waits where it must, inside `waiting`.
    ///
    /// Throws `Failure`: `notFound` for an unknown map, `timedOut` for a sequence number that does
    /// not come, `invalidParameter`, `tooLarge`, `cancelled`, and what log and datasets throw.
    public func identify(
        _ request: IdentifyRequest, until deadline: ContinuousClock.Instant? = nil,
        waiting: @escaping SiteIdentify.Waiting = { $0() },
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(Failure) -> IdentifyAnswer {
        try identify(
            request, until: deadline, waiting: waiting, turn: nil, isCancelled: isCancelled)
    }

    /// The same, `cancelled` too when the turn is over, unless other servers have been asked.
    private func identify(
        _ request: IdentifyRequest, until deadline: ContinuousClock.Instant?,
        waiting: @escaping SiteIdentify.Waiting, turn: TaskTurn?,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> IdentifyAnswer {
        // A little earlier, so that what other servers have failed to say by then is still said in time.
        let end = deadline.map { $0 - .milliseconds(250) }
        return try site.identify(
            request, until: deadline, waiting: waiting,
            remotes: { [remotes] questions in
                if !questions.isEmpty { turn?.keep() }
                let inquiry = remotes.ask(questions, until: end, isCancelled: isCancelled)
                return { inquiry.features(at: $0, waiting: waiting) }
            }, isCancelled: { isCancelled() || turn?.isOver ?? false })
    }
}

extension IdentifyOperations {
    /// Answers a query on the calling thread, which waits where it must, inside `waiting`.
    ///
    /// Throws `Failure` as identify does, and as `QueryEngine` does; `cancelled` too when the turn is over, or
    /// another server has to be asked in one.
    func query(
        _ request: QueryRequest, until deadline: ContinuousClock.Instant? = nil,
        waiting: @escaping SiteIdentify.Waiting = { $0() }, turn: TaskTurn? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(Failure) -> QueryAnswer {
        let (map, isStale) = try site.map(
            named: request.map, past: request.past, minSequence: request.minSequence,
            until: deadline, waiting: waiting)
        if let turn, map.description.layer(request.layer)?.kind.source?.isRemote == true {
            throw turn.giveUp()
        }
        let answer = try queries.answer(
            request, in: map.description, isStale: isStale,
            featureByteLimit: turn == nil ? .max : QueryRequest.soonFeatureBytes,
            isCancelled: { isCancelled() || turn?.isOver ?? false },
            remotes: remoteFeatures(
                until: deadline.map { $0 - .milliseconds(250) }, waiting: waiting,
                isCancelled: isCancelled))
        try turn?.check()
        return answer
    }

    /// Asks the servers of layers of features, each question until `end`, and waits inside `waiting`.
    private func remoteFeatures(
        until end: ContinuousClock.Instant?, waiting: @escaping SiteIdentify.Waiting,
        isCancelled: @escaping @Sendable () -> Bool
    ) -> QueryEngine.RemoteProvider {
        { [remotes] question throws(Failure) in
            try remotes.answer(question, until: end, waiting: waiting, isCancelled: isCancelled)
        }
    }
}

extension IdentifyOperations: RowIdentifier {
    /// A map as it was; waits a little for a sequence number that is not known here yet.
    public func map(named name: MapName, at position: Int64) throws(Failure) -> MapDescription {
        guard let map = try site.map(named: name, at: position) else {
            throw Failure(
                .notFound, "there was no map '\(name)' at sequence number \(position)")
        }
        return map
    }

    /// Answers as ``identify(_:until:isCancelled:)`` does.
    public func answer(
        _ request: IdentifyRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> IdentifyAnswer {
        try identify(request, isCancelled: isCancelled)
    }
}
