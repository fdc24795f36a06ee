// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FeatureQuery
internal import Geometry
internal import Identify
internal import Platform
internal import Synchronization

/// Answers cheap queries on the maps of a site in process, on threads of its own.
///
/// Workers run the same engine, so the bytes are the same. Thread-safe.
public final class SiteQueries: Sendable {
    /// Length of the queue; further queries go to workers.
    private static let waitingLimit = 16
    /// Size limit of a layer whose order by object id is computed here, in features.
    private static let featureLimit = 2_000_000

    private let engine: QueryEngine
    private let maps: SiteIdentify
    private let pace: LatencyGate
    private let queue = BlockingQueue<Attempt>(capacity: SiteQueries.waitingLimit)

    /// Starts the threads, which end soon after the last reference is gone.
    ///
    /// - Parameters:
    ///   - engine: Answers.
    ///   - maps: Knows the maps.
    ///   - threadCount: Number of queries answered at once.
    ///
    /// Throws `Failure` when the system has no thread left.
    public convenience init(
        engine: QueryEngine, maps: SiteIdentify, threadCount: Int
    ) throws(Failure) {
        // A few times the cost of 2,000 features of a hundred coordinates.
        try self.init(
            engine: engine, maps: maps, threadCount: threadCount,
            pace: LatencyGate(tryLimit: 60_000_000, averageLimit: 30_000_000))
    }

    /// Creates it with another pace.
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

    /// Answers a whole query in process where that is cheap, with the bytes that a worker gives.
    ///
    /// Nil for everything else: unknown maps and layers, a sequence number that is not known yet,
    /// layers on other servers and of more than two million features, a clause of more than 1,024
    /// bytes, relations that GEOS tests, distances and geometries of more than 2,000 coordinates,
    /// features of more than 1 MiB, answers of several parts or of more than 60 ms of processor
    /// time, maps with high recent latency, and when sixteen others wait or `end` has passed.
    /// Throws `Failure`: `invalidParameter` and `tooLarge` with the worker's sentence, `cancelled`
    /// soon after the calling task was cancelled.
    public func answerAtOnce(
        _ request: QueryRequest, until end: ContinuousClock.Instant = .now + .seconds(60)
    ) async throws(Failure) -> QueryAnswer? {
        guard request.isSoonStopped, pace.isWorthTrying(request.map),
            let map = maps.mapAtHand(request, named: request.map, minSequence: request.minSequence)
        else { return nil }
        // A worker may already know a new layer.
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
    /// Size limit of the clause in bytes: the cost per feature grows with it.
    private static let soonClauseBytes = 1_024
    /// Size limit of the geometry in coordinates.
    private static let soonCoordinates = 2_000
    /// Size limit of a feature in an answer that must stop soon, in bytes; its text is at most six
    /// times as large.
    public static let soonFeatureBytes = 1 << 20

    /// Whether it asks for the first part of an answer and can be interrupted at any feature: GEOS,
    /// distances and long clauses cannot be.
    public var isSoonStopped: Bool {
        part == nil && (clause?.utf8.count ?? 0) + (text?.utf8.count ?? 0) <= Self.soonClauseBytes
            && having?.utf8.count ?? 0 <= Self.soonClauseBytes
            && spatialFilter?.isPlain ?? true
            && spatialFilter?.geometry.coordinateCount ?? 0 <= Self.soonCoordinates
    }
}

extension QuerySpatialFilter {
    /// Whether the exact predicates of `Geometry` decide it alone.
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
            // The time is over, or the files are damaged: a worker reports the reason.
            default: finish(.success(nil))
            }
        }
    }

    private var isOver: Bool { isCancelled.load(ordering: .relaxed) || .now > end }

    private func answer(by engine: QueryEngine, _ pace: LatencyGate) throws(Failure) -> QueryAnswer?
    {
        // Once for each dataset and edit.
        try engine.prepare(request, in: map) { self.isOver }
        // Processor time, so that load does not change which queries are given up.
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
