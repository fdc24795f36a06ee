// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
package import CairnClient
package import CairnModel
package import Dataset
internal import FeatureQuery
internal import FoundationEssentials
package import Geometry
internal import Identify
internal import JobKinds
internal import MapState
package import Recording
package import Remote
internal import Rendering
package import Site
package import SiteAnswers
package import VectorTiles
package import Worker

/// The operations of an identify worker: `identify`, `query`, `find`, `export`,
/// `vectorTile`, `styleResource` and `legend`, on the maps of a follower and the datasets of a
/// shelf.
///
/// A request waits until the maps have reached its `minSequence`, or reads the maps `at` a sequence
/// number. Callable from any number of compute threads; they share an engine.
package final class IdentifyOperations: Sendable {
    /// Maximum size of a payload that is decoded on the bus thread.
    private static let promptByteLimit = 1_024

    /// Parts of the state that a state hash of this worker covers.
    private static let hashed: Set<String> = ["commands", "map"]

    private let recorder: Recorder?
    private let follower: MapFollower
    let engine: IdentifyEngine
    let site: SiteIdentify
    let remotes: RemoteServices
    let rasters: String
    let queries: QueryEngine
    /// Pace of queries tried on a thread for tasks.
    private let queryPace = LatencyGate(tryLimit: 20_000_000, averageLimit: 10_000_000)
    /// Processor time of an identify on a thread for tasks while others wait for it, in
    /// nanoseconds.
    private static let identifyShare: Int64 = 100_000_000

    /// - Parameters:
    ///   - follower: The maps, kept up to date elsewhere.
    ///   - isStale: Whether the maps may be out of date.
    ///   - shelf: The datasets.
    ///   - rasters: The directory of rasters.
    ///   - remotes: Access to other servers.
    ///   - recorder: Records interactive requests with their answers.
    ///   - readLog: Reads the log, for requests about the past.
    ///
    /// Throws `Failure` when the system is out of threads.
    package init(
        follower: MapFollower, isStale: @escaping @Sendable () -> Bool, shelf: DatasetCache,
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

    /// The handlers for a worker's host: interactive operations, and chunks of jobs on maps.
    package func handlers(blobs: BlobStore) -> TaskHandlers {
        var handlers = TaskHandlers(
            ChunkOperations.hosted(
                JobKinds.operations(in: .identify, with: JobCapabilities(maps: self)),
                blobs: blobs))
        handlers.on(.identify) { [self] in try identify($0, in: $1, nil) }
        handlers.trying(.identify) { [self] request, context in
            let turn = TaskTurn(context, shareNanoseconds: Self.identifyShare)
            return try turn.tries { try identify(request, in: context, turn) }
        }
        handlers.promptly(.identify, upTo: Self.promptByteLimit) { [self] request, _ in
            guard let answer = try site.identifyAtOnce(request) else { return nil }
            record(request, answer)
            return answer
        }
        handlers.on(.query) { [self] in try query($0, in: $1, nil) }
        handlers.trying(.query) { [self] request, context in
            guard request.isSoonStopped, queryPace.isWorthTrying(request.map) else { return nil }
            let turn = TaskTurn(context, shareNanoseconds: queryPace.tryLimit)
            defer { queryPace.note(request.map, nanoseconds: turn.usedNanoseconds) }
            return try turn.tries { try query(request, in: context, turn) }
        }
        handlers.on(.find) { [self] in try find($0, in: $1) }
        handlers.on(.export) { [self] request, context in
            try export(request, until: context.deadline, waiting: context.waiting) {
                context.isCancelled
            }
        }
        handlers.on(.vectorTile) { [self] in try vectorTile($0, in: $1) }
        handlers.on(.styleResource) { [self] in try styleResource($0, in: $1) }
        handlers.on(.legend) { [self] in try legends($0, in: $1) }
        handlers.on(.workerHash) { [follower] _, _ in
            try follower.current.hash().limited(to: Self.hashed).message
        }
        return handlers
    }

    /// Answers and records; blocks the thread.
    private func identify(
        _ request: IdentifyRequest, in context: OperationContext, _ turn: TaskTurn?
    ) throws -> IdentifyAnswer {
        let answer = try identify(
            request, until: context.deadline, waiting: context.waiting, turn: turn
        ) { context.isCancelled }
        try turn?.check()
        record(request, answer)
        return answer
    }

    /// Answers and records; blocks the thread.
    private func query(
        _ request: QueryRequest, in context: OperationContext, _ turn: TaskTurn?
    ) throws -> QueryAnswer {
        let answer = try query(
            request, until: context.deadline, waiting: context.waiting, turn: turn
        ) { context.isCancelled }
        if request.isAuxiliary != true {
            record(.query, request, answer, of: [request.layer], on: request.map)
        }
        return answer
    }

    /// Answers and records; blocks the thread.
    private func find(
        _ request: FindRequest, in context: OperationContext
    ) throws -> QueryAnswer {
        let (map, isStale) = try site.map(
            named: request.map, past: request.past, minSequence: request.minSequence,
            until: context.deadline, waiting: context.waiting)
        // Earlier than for one layer: late layers are named with the others.
        let answer = try queries.find(
            request, in: map.description, isStale: isStale,
            isCancelled: { context.isCancelled },
            remotes: remoteFeatures(
                until: context.deadline.map { $0 - .milliseconds(750) },
                waiting: context.waiting, isCancelled: { context.isCancelled }))
        record(
            .find, request, answer, of: request.layers ?? map.description.layers.map(\.id),
            on: request.map)
        return answer
    }

    private func record(_ request: IdentifyRequest, _ answer: IdentifyAnswer) {
        recorder?.note(
            .identify, request, answer,
            Recorder.Context(
                sequence: answer.sequence, datasets: follower.datasets(of: answer, on: request.map))
        )
    }

    private func record<Request: RecordedQuestion>(
        _ operation: Operation<Request, QueryAnswer>, _ request: Request, _ answer: QueryAnswer,
        of layers: @autoclosure () -> [LayerID], on map: MapName
    ) {
        recorder?.note(
            operation, request, answer,
            Recorder.Context(
                sequence: answer.sequence,
                datasets: follower.datasets(of: layers(), on: map, at: answer.sequence)))
    }

    /// Answers a request on the calling thread, which waits inside `waiting`.
    ///
    /// Throws `Failure`: `notFound` for an unknown map, `timedOut` for a sequence number that is
    /// not reached, `invalidParameter`, `tooLarge`, `cancelled`, and the failures of log and
    /// datasets.
    package func identify(
        _ request: IdentifyRequest, until deadline: ContinuousClock.Instant? = nil,
        waiting: @escaping SiteIdentify.Waiting = { $0() },
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(Failure) -> IdentifyAnswer {
        try identify(
            request, until: deadline, waiting: waiting, turn: nil, isCancelled: isCancelled)
    }

    /// Answers a request within a turn; also throws `cancelled` when the turn is over, unless
    /// remote servers have been queried.
    private func identify(
        _ request: IdentifyRequest, until deadline: ContinuousClock.Instant?,
        waiting: @escaping SiteIdentify.Waiting, turn: TaskTurn?,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> IdentifyAnswer {
        // Earlier than the deadline, to leave time to report the failures of remote servers.
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
    /// Answers a query on the calling thread, which waits inside `waiting`.
    ///
    /// Throws `Failure` as identify does, and as `QueryEngine` does; also `cancelled` when the turn
    /// is over, or a remote server has to be queried in one.
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

    /// Queries remote feature layers, each request until `end`, and waits inside `waiting`.
    private func remoteFeatures(
        until end: ContinuousClock.Instant?, waiting: @escaping SiteIdentify.Waiting,
        isCancelled: @escaping @Sendable () -> Bool
    ) -> QueryEngine.RemoteProvider {
        { [remotes] question throws(Failure) in
            try remotes.answer(question, until: end, waiting: waiting, isCancelled: isCancelled)
        }
    }
}

extension IdentifyOperations: JobMaps {
    /// A map as it was; waits a little for a sequence number that is not known here yet.
    package func map(named name: MapName, at position: Int64) throws(Failure) -> MapDescription {
        guard let map = try site.map(named: name, at: position) else {
            throw Failure(
                .notFound, "there was no map '\(name)' at sequence number \(position)")
        }
        return map
    }

    /// Answers as ``identify(_:until:isCancelled:)`` does.
    package func answer(
        _ request: IdentifyRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> IdentifyAnswer {
        try identify(request, isCancelled: isCancelled)
    }

    /// Reads features by the engine of queries.
    package func forEachFeature(
        _ request: QueryRequest, in map: MapDescription, ids: ClosedRange<Int64>,
        isCancelled: @escaping @Sendable () -> Bool,
        _ body: (FeatureRow) throws(Failure) -> Void
    ) throws(Failure) -> FeatureTable {
        try queries.forEachFeature(request, in: map, ids: ids, isCancelled: isCancelled, body)
    }

    /// Draws as for a request of a client.
    package func picture(
        _ request: ExportRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> ExportedPicture {
        try export(request, isCancelled: isCancelled)
    }

    /// Compares the map's two states.
    package func changes(
        of map: MapName, from first: Int64, to last: Int64,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> MapChanges {
        let (old, new) = (try self.map(named: map, at: first), try self.map(named: map, at: last))
        return try engine.changes(
            from: old, to: new, reach: MapPicture.reachPixels, isCancelled: isCancelled)
    }

    /// Reads features by the engine of queries.
    package func tileContent(
        of layers: [TileLayer], in map: MapDescription, meeting area: Envelope,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> [VectorTileLayer] {
        try queries.tileContent(of: layers, in: map, meeting: area, isCancelled: isCancelled)
    }
}
