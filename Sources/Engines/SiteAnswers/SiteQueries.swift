// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FeatureQuery
internal import Geometry
internal import Identify
internal import Platform
internal import Synchronization

/// Queries on the maps of a site, answered where they are asked, on threads of its own, as long as
/// that is soon done.
///
/// Workers answer with the same engine, so the bytes are the same. Any thread may ask.
public final class SiteQueries: Sendable {
    /// Queries that wait for a thread; further ones are for workers.
    private static let waitingLimit = 16
    /// The most features of a layer, whose order by object id is worked out here.
    private static let featureLimit = 2_000_000

    private let engine: QueryEngine
    private let maps: SiteIdentify
    private let pace: LatencyGate
    private let queue = BlockingQueue<Attempt>(capacity: SiteQueries.waitingLimit)

    /// Starts the threads, which end soon after this is released.
    ///
    /// - Parameters:
    ///   - engine: Answers.
    ///   - maps: Knows the maps.
    ///   - threadCount: How many queries are answered at once.
    ///
    /// Throws `Failure` when the system has no thread left.
    public convenience init(
        engine: QueryEngine, maps: SiteIdentify, threadCount: Int
    ) throws(Failure) {
        // Some times what 2,000 features of a hundred coordinates take.
        try self.init(
            engine: engine, maps: maps, threadCount: threadCount,
            pace: LatencyGate(tryLimit: 60_000_000, averageLimit: 30_000_000))
    }

    /// The same with a pace of its own.
    init(
        engine: QueryEngine, maps: SiteIdentify, threadCount: Int, pace: LatencyGate
    ) throws(Failure) {
        self.engine = engine
        self.maps = maps
        self.pace = pace
        do throws(PlatformError) {
            for number in 0..<max(threadCount, 1) {
                _ = try PinnedThread(name: "query-\(number)") { [queue, engine, pace] in
                    while let attempt = queue.pop() { attempt.run(by: engine, pace) }
                }
            }
        } catch {
            queue.close()
            throw Failure(error)
        }
    }

    deinit { queue.close() }

    /// The whole answer to a query, where it is at hand and soon written: the bytes that a worker
    /// gives.
    ///
    /// Nil for everything else: unknown maps and layers, a sequence number that has not come yet,
    /// layers on other servers and of more than two million features, a clause of more than 1,024
    /// bytes, relations that GEOS tests, distances and geometries of more than 2,000 coordinates,
    /// features of more than 1 MiB, answers of several parts or of more than 60 ms of processor
    /// time, maps on which it took long of late, and when sixteen others wait or `end` has come.
    /// Throws `Failure`: `invalidParameter` and `tooLarge` in the worker's words, `cancelled` soon
    /// after the calling task was.
    public func answerAtOnce(
        _ request: QueryRequest, until end: ContinuousClock.Instant = .now + .seconds(60)
    ) async throws(Failure) -> QueryAnswer? {
        guard request.isSoonStopped, pace.isWorthTrying(request.map),
            let map = maps.mapAtHand(request, named: request.map, minSequence: request.minSequence)
        else { return nil }
        // A worker may know of a layer that is new.
        guard let layer = map.description.layer(request.layer) else { return nil }
        // Only workers wait for other servers.
        if layer.kind.source?.isRemote == true { return nil }
        if let properties = layer.properties, properties.featureCount > Self.featureLimit {
            return nil
        }
        let attempt = Attempt(
            request: request, map: map.description, isStale: maps.mayBeStale(request.asOf), end: end
        )
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                attempt.done.withLock { $0 = continuation }
                if !queue.tryPush(attempt) { attempt.finish(.success(nil)) }
            }
        } onCancel: {
            attempt.isCancelled.store(true, ordering: .relaxed)
        }
        return try outcome.get()
    }
}

extension QueryRequest {
    /// The most bytes of the clause: how long one feature can take grows with them.
    private static let soonClauseBytes = 1_024
    /// The most coordinates of the geometry.
    private static let soonCoordinates = 2_000
    /// The most bytes of a feature that is read where an answer must be stopped soon: its text is
    /// at most six times that.
    public static let soonFeatureBytes = 1 << 20

    /// Whether it is for the first part of an answer, and one that can be given up at any feature:
    /// GEOS, distances and long clauses cannot be interrupted.
    public var isSoonStopped: Bool {
        part == nil && (clause?.utf8.count ?? 0) + (text?.utf8.count ?? 0) <= Self.soonClauseBytes
            && having?.utf8.count ?? 0 <= Self.soonClauseBytes
            && spatialFilter?.isPlain ?? true
            && spatialFilter?.geometry.coordinateCount ?? 0 <= Self.soonCoordinates
    }
}

extension QuerySpatialFilter {
    /// Whether our own predicates decide, without a detour.
    fileprivate var isPlain: Bool {
        guard distanceMeters ?? 0 == 0 else { return false }
        return switch relation {
        case .intersects, .envelopeIntersects, .indexIntersects: true
        case .contains, .within, .crosses, .overlaps, .touches, .pattern: false
        }
    }
}

/// One query on its way to a thread and back.
private final class Attempt: Sendable {
    typealias Outcome = Result<QueryAnswer?, Failure>

    let request: QueryRequest
    let map: MapDescription
    let isStale: Bool
    let end: ContinuousClock.Instant
    let isCancelled = Atomic<Bool>(false)
    let done = Mutex<CheckedContinuation<Outcome, Never>?>(nil)

    init(
        request: QueryRequest, map: MapDescription, isStale: Bool, end: ContinuousClock.Instant
    ) {
        self.request = request
        self.map = map
        self.isStale = isStale
        self.end = end
    }

    func finish(_ outcome: Outcome) { done.withLock { $0.take() }?.resume(returning: outcome) }

    func run(by engine: QueryEngine, _ pace: LatencyGate) {
        do throws(Failure) {
            finish(.success(try answer(by: engine, pace)))
        } catch {
            switch error.code {
            case .invalidParameter, .tooLarge: finish(.failure(error))
            case .cancelled where isCancelled.load(ordering: .relaxed): finish(.failure(error))
            // Its time is over, or the files are not as they should be: let a worker say what is
            // wrong.
            default: finish(.success(nil))
            }
        }
    }

    private var isOver: Bool { isCancelled.load(ordering: .relaxed) || .now > end }

    private func answer(by engine: QueryEngine, _ pace: LatencyGate) throws(Failure) -> QueryAnswer?
    {
        // Once for each dataset and edit.
        try engine.prepare(request, in: map) { self.isOver }
        // However busy the machine is, the same queries are given up.
        let start = ThreadClock.nanoseconds()
        defer { pace.note(request.map, nanoseconds: ThreadClock.nanoseconds() - start) }
        let answer = try engine.answer(
            request, in: map, isStale: isStale, featureByteLimit: QueryRequest.soonFeatureBytes
        ) {
            self.isOver || ThreadClock.nanoseconds() - start > pace.tryLimit
        }
        return answer.next == nil ? answer : nil
    }
}
