// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnClient
public import CairnModel
internal import Geometry
public import Identify
internal import MapState
internal import Platform
internal import Synchronization

/// Identify on the maps of a site: the engine, joined to a follower of the maps.
///
/// Workers answer every request with it; workers and gateway also answer in line what is cheap.
/// Thread-safe.
public final class SiteIdentify: Sendable {
    /// Timeout for a sequence number that is not known yet.
    public static let sequencePatience = Duration.seconds(2)
    /// Page size, and number of pages, when catching up on an unknown map; a follower that is
    /// further behind answers `notFound`.
    private static let (lookSize, lookLimit) = (100, 10)
    /// Size limit of WHERE clauses answered in line, in bytes.
    private static let clauseByteLimit = 1_024

    private let engine: IdentifyEngine
    private let follower: MapFollower
    private let isStale: @Sendable () -> Bool
    private let readLog: MapFollower.Reader?
    private let pace: LatencyGate
    private let maps = RecentMaps()
    private let rehearsal: Prefetcher?

    /// - Parameters:
    ///   - engine: Answers; lends its open datasets to requests answered in line.
    ///   - follower: The maps, kept up to date by the caller.
    ///   - isStale: Whether the maps may have changed unnoticed.
    ///   - rehearses: Whether a request that lacked preparation or a past map has it prepared on a
    ///     background thread. Not needed where ``identify(_:until:waiting:remotes:isCancelled:)``
    ///     is called next.
    ///   - readLog: Reads the log for requests about the past; not needed where the follower has a
    ///     log of its own.
    ///   - pace: Time limit of an in-line answer.
    ///
    /// Throws `Failure` when the system has no thread left.
    public init(
        engine: IdentifyEngine, follower: MapFollower, isStale: @escaping @Sendable () -> Bool,
        rehearses: Bool, readLog: MapFollower.Reader? = nil, pace: LatencyGate = LatencyGate()
    ) throws(Failure) {
        self.pace = pace
        self.engine = engine
        self.follower = follower
        self.isStale = isStale
        self.readLog = readLog
        rehearsal = rehearses ? Prefetcher() : nil
        do throws(PlatformError) {
            try rehearsal?.start()
        } catch {
            throw Failure(error)
        }
    }

    deinit { rehearsal?.end() }

    // MARK: In line

    /// Answers a request in line where that is cheap: the same answer as
    /// ``identify(_:until:waiting:remotes:isCancelled:)`` gives.
    ///
    /// Holds the thread for about as long as its pace allows (half a millisecond) and never waits.
    /// Nil for everything else: unknown maps, a sequence number that is not known yet, more than
    /// one position, layers that are neither an open dataset nor ready graphics, maps with high
    /// recent latency. Throws `Failure` for an invalid request, as `identify` does.
    public func identifyAtOnce(_ request: IdentifyRequest) throws(Failure) -> IdentifyAnswer? {
        guard request.geometry.coordinateCount == 1,
            request.layerDefinitions.values.reduce(0, { $0 + $1.utf8.count })
                <= Self.clauseByteLimit,
            pace.isWorthTrying(request.map),
            let map = mapAtHand(request, named: request.map, minSequence: request.minSequence)
        else { return nil }
        let start = MonotonicClock.nanoseconds()
        let outcome = try engine.answerAtOnce(
            request, in: map, isStale: mayBeStale(request.asOf)
        ) { [pace] in MonotonicClock.nanoseconds() - start > pace.tryLimit }
        switch outcome {
        case .answer(let answer):
            pace.note(request.map, nanoseconds: MonotonicClock.nanoseconds() - start)
            return answer
        case .elsewhere: pace.note(request.map, nanoseconds: pace.tryLimit)
        case .unprepared:
            // The result is discarded: the request itself is answered elsewhere.
            rehearsal?.offer(for: request.map.rawValue) { [weak self] isEnding in
                _ = try? self?.identify(request, isCancelled: isEnding)
            }
        }
        return nil
    }

    /// Whether the state may have changed unnoticed: a past sequence number is final, a past time
    /// is not.
    func mayBeStale(_ moment: AsOf?) -> Bool {
        if case .sequence? = moment { false } else { isStale() }
    }

    /// The map of a request, where that takes neither waiting nor reading; a past map that has to
    /// be read is prefetched for later requests.
    func mapAtHand(
        _ request: some PastRequest, named name: MapName, minSequence: Int64?
    ) -> PreparedMap? {
        if let past = request.past { return pastAtHand(name, past) }
        let state = follower.current
        guard minSequence ?? 0 <= state.sequence else { return nil }
        return present(name, in: state)
    }

    private func pastAtHand(_ name: MapName, _ past: SeenPast) -> PreparedMap? {
        if let known = remembered(name, past) { return known.map }
        // A future position is not waited for.
        let position = max(follower.knownPosition(of: past.moment) ?? 0, past.seenFrom ?? 0)
        guard 0...follower.current.sequence ~= position else { return nil }
        rehearsal?.offer(for: name.rawValue) { [weak self] _ in
            _ = try? self?.past(name, past) { $0() }
        }
        return nil
    }

    /// A past map from memory; nil for a map that did not exist.
    private struct Recollection {
        var map: PreparedMap?
    }

    /// Looks up a past map in memory; nil where the log has to be read.
    private func remembered(_ name: MapName, _ past: SeenPast) -> Recollection? {
        guard let position = follower.knownPosition(of: past.moment) else { return nil }
        switch follower.remembered(name, at: position) {
        case .absent: return Recollection(map: nil)
        case .unknown: return nil
        case .map(let map, let change):
            guard let seenFrom = past.seenFrom, seenFrom > position else {
                return Recollection(map: maps.map(name, since: change, at: map.sequence) { map })
            }
            guard case .map(let later, let seenChange) = follower.remembered(name, at: seenFrom)
            else { return nil }
            return Recollection(
                map: maps.map(name, since: change, seenSince: seenChange, at: map.sequence) {
                    map.seen(from: later)
                })
        }
    }

    // MARK: Blocking

    /// Runs its argument, which blocks its thread until another thread has done its part.
    public typealias Waiting = @Sendable (() -> Void) -> Void

    /// Answers a request on the calling thread, blocking inside `waiting` where it must.
    ///
    /// Layers on other servers are queried through `remotes`; without it they are failures in the
    /// answer. Throws `Failure`: `notFound` for an unknown map, `logUnavailable` for a map that the
    /// unreachable log may hold, `timedOut` for a sequence number that is not reached,
    /// `invalidParameter`, `tooLarge`, `cancelled`, and what log and datasets throw.
    public func identify(
        _ request: IdentifyRequest, until deadline: ContinuousClock.Instant? = nil,
        waiting: Waiting = { $0() }, remotes: IdentifyEngine.RemoteProvider? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(Failure) -> IdentifyAnswer {
        let (map, isStale) = try map(
            named: request.map, past: request.past, minSequence: request.minSequence,
            until: deadline, waiting: waiting)
        return try engine.identify(
            request, in: map, isStale: isStale, remotes: remotes, isCancelled: isCancelled)
    }

    /// Prepares a map, at `minSequence` or later or at a past moment; with whether it may have
    /// changed unnoticed.
    ///
    /// Without a moment, an unknown map is looked up in the log before it counts as missing. Blocks
    /// the calling thread inside `waiting` where it must. Throws `Failure`: `notFound` for an
    /// unknown map, `logUnavailable` for a map that the unreachable log may hold, `timedOut` for a
    /// sequence number that is not reached, and what the log throws.
    public func map(
        named name: MapName, past: SeenPast?, minSequence: Int64?,
        until deadline: ContinuousClock.Instant? = nil, waiting: Waiting = { $0() }
    ) throws(Failure) -> (map: PreparedMap, isStale: Bool) {
        let isStale = mayBeStale(past?.moment)
        if let map = try find(name, past, minSequence, until: deadline, waiting) {
            return (map, isStale)
        }
        guard !isStale else {
            throw Failure(
                .logUnavailable,
                "the log is unreachable, and the part read so far has no map '\(name)'")
        }
        for _ in 0..<Self.lookLimit where past == nil {
            guard try learnMore(until: deadline, waiting) else { break }
            if let map = present(name, in: follower.current) { return (map, isStale) }
        }
        let when = past.map { " at \($0.moment)" } ?? ""
        throw Failure(.notFound, "there is no map '\(name)'\(when)")
    }

    /// Reads changes of maps that the follower has not received yet, and waits for them; returns
    /// whether there were any.
    ///
    /// A stalled or new process is behind, while its client may have read that the map exists. The
    /// cost is one log read for each request that names a missing map.
    private func learnMore(
        until deadline: ContinuousClock.Instant?, _ waiting: Waiting
    ) throws(Failure) -> Bool {
        let known = follower.current.sequence
        let request = ReadRequest(after: known, limit: Self.lookSize, category: "map")
        let last: Int64? = try wait(waiting) { [follower, readLog] done in
            guard let read = readLog ?? (try? follower.ownReader()) else {
                return done(.success(nil))
            }
            Task {
                do throws(Failure) {
                    done(.success(try await read(request).last?.globalPosition))
                } catch {
                    done(.failure(error))
                }
            }
        }
        guard let last else { return false }
        _ = try wait(waiting) { [follower] done in
            follower.whenReached(last, timeout: Self.patience(until: deadline), done)
        }
        return true
    }

    private static func patience(until deadline: ContinuousClock.Instant?) -> Duration {
        min(
            sequencePatience,
            deadline.map { ContinuousClock.now.duration(to: $0) } ?? sequencePatience)
    }

    /// A map at a past sequence number; nil when it did not exist.
    ///
    /// Waits briefly for a sequence number that is not known yet. Throws `Failure`: `timedOut`, and
    /// what the log throws.
    public func map(named name: MapName, at position: Int64) throws(Failure) -> MapDescription? {
        _ = try wait({ $0() }) { [follower] done in
            follower.whenReached(position, timeout: Self.sequencePatience, done)
        }
        return try past(name, SeenPast(.sequence(position)), { $0() })?.description
    }

    private func find(
        _ name: MapName, _ past: SeenPast?, _ minSequence: Int64?,
        until deadline: ContinuousClock.Instant?, _ waiting: Waiting
    ) throws(Failure) -> PreparedMap? {
        if let minSequence {
            _ = try wait(waiting) { [follower] done in
                follower.whenReached(
                    minSequence, timeout: Self.patience(until: deadline), done)
            }
        }
        guard let past else { return present(name, in: follower.current) }
        return try self.past(name, past, waiting)
    }

    private func past(
        _ name: MapName, _ past: SeenPast, _ waiting: Waiting
    ) throws(Failure) -> PreparedMap? {
        if let known = remembered(name, past) { return known.map }
        return try wait(waiting) { [follower, readLog] done in
            Task {
                do throws(Failure) {
                    let read = if let readLog { readLog } else { try follower.ownReader() }
                    done(
                        .success(
                            try await follower.map(named: name, past, reading: read)
                                .map(PreparedMap.init)))
                } catch {
                    done(.failure(error))
                }
            }
        }
    }

    /// Blocks the calling thread, never one of Swift's cooperative pool, until `start` has called
    /// back.
    private func wait<Value: Sendable>(
        _ waiting: Waiting,
        _ start: (@escaping @Sendable (Result<Value, Failure>) -> Void) -> Void
    ) throws(Failure) -> Value {
        let mailbox = BlockingQueue<Result<Value, Failure>>(capacity: 1)
        start { _ = mailbox.tryPush($0) }
        var result: Result<Value, Failure>?
        if mailbox.count > 0 { result = mailbox.pop() } else { waiting { result = mailbox.pop() } }
        guard let result else {
            throw Failure(.internal, "the follower returned no maps")
        }
        return try result.get()
    }

    private func present(_ name: MapName, in state: MapsState) -> PreparedMap? {
        state.lastChange(of: name).flatMap { change in
            maps.map(name, since: change, at: state.sequence) { state.map(named: name) }
        }
    }
}
