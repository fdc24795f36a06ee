// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
public import CairnClient
public import CairnModel
public import Dataset
internal import FoundationEssentials
internal import Identify
public import JobKinds
internal import MapState
internal import Platform
internal import Raster
public import Remote
public import Site
internal import Synchronization

/// What `cairn-identify` does: `identify`, on the maps of a follower and the datasets of a shelf.
///
/// A request waits until the maps have reached its `minSequence`, or asks the maps as they were
/// `at` a sequence number. Any number of compute threads may ask; they share an engine.
public final class IdentifyOperations: Sendable {
    /// How long a request waits for a sequence number that has not come yet.
    public static let sequencePatience = Duration.seconds(2)

    private let follower: MapFollower
    private let isStale: @Sendable () -> Bool
    private let readLog: MapFollower.Reader
    private let engine: IdentifyEngine
    private let remotes: RemoteServices
    private let clicks = PromptIdentify()
    private let lastMap = Mutex<MapDescription?>(nil)

    /// - Parameters:
    ///   - follower: The maps, kept up to date by somebody else.
    ///   - isStale: Whether the maps may have changed unnoticed.
    ///   - shelf: The datasets.
    ///   - rasters: The directory of rasters.
    ///   - remotes: What asks other servers.
    ///   - readLog: Reads the log, for requests about the past.
    public init(
        follower: MapFollower, isStale: @escaping @Sendable () -> Bool, shelf: DatasetShelf,
        rasters: String, remotes: RemoteServices, readLog: @escaping MapFollower.Reader
    ) {
        self.follower = follower
        self.isStale = isStale
        self.readLog = readLog
        self.remotes = remotes
        engine = IdentifyEngine { id throws(Failure) in
            try shelf.dataset(id)
        } rasters: { id throws(Failure) in
            try RasterFile(id, in: rasters)
        }
    }

    /// The operations by name, for a worker's host: the interactive one, and the chunks of batches.
    public func hosted(blobs: BlobStore) -> [String: Operation] {
        var operations = ChunkOperations.hosted(
            BatchIdentify.identifyOperations(self), blobs: blobs)
        operations["identify"] = { [self] in try identifyOperation($0, $1) }
        return operations
    }

    /// Decodes an `IdentifyRequest`, answers it, encodes the `IdentifyAnswer` in the same form; blocks
    /// the thread.
    private func identifyOperation(_ context: OperationContext, _ payload: Data) throws -> Data {
        let isFixed = context.contentType == MessageHeader.fixedLayout
        let request =
            isFixed
            ? try FixedLayout.identifyRequest(payload)
            : try CairnJSON.decode(IdentifyRequest.self, from: payload)
        let start = MonotonicClock.nanoseconds()
        let answer = try identify(request, until: context.deadline, waiting: context.waiting) {
            context.isCancelled
        }
        guard isFixed else { return try CairnJSON.encode(answer) }
        let encoded = FixedLayout.encode(answer)
        if PromptIdentify.isClick(request), request.minSequence == nil {
            clicks.note(request.map, nanoseconds: MonotonicClock.nanoseconds() - start)
        }
        return encoded
    }

    /// What of them can be answered at once, for a worker's host.
    public func prompt() -> [String: PromptOperation] {
        ["identify": { [self] in try promptIdentify($0, $1) }]
    }

    /// Answers a click on a map on which clicks are cheap; bus thread.
    private func promptIdentify(_ context: OperationContext, _ payload: Data) throws -> Data? {
        guard context.contentType == MessageHeader.fixedLayout,
            payload.count <= PromptIdentify.byteLimit
        else { return nil }
        let start = MonotonicClock.nanoseconds()
        let request = try FixedLayout.identifyRequest(payload)
        guard PromptIdentify.isClick(request), clicks.isCheap(request.map) else { return nil }
        let state = follower.current
        guard request.minSequence ?? 0 <= state.sequence,
            let map = description(of: request.map, in: state), PromptIdentify.isLocal(map)
        else { return nil }
        let answer = try identify(request, in: map, isStale: isStale()) { context.isCancelled }
        let encoded = FixedLayout.encode(answer)
        clicks.note(request.map, nanoseconds: MonotonicClock.nanoseconds() - start)
        return encoded
    }

    /// The map as it is in a state; the last one is kept, because most requests follow each other on
    /// one map that does not change.
    private func description(of name: MapName, in state: MapsState) -> MapDescription? {
        let last = lastMap.withLock { $0 }
        if let last, last.name == name, last.sequence == state.sequence { return last }
        let map = state.map(named: name)
        lastMap.withLock { $0 = map }
        return map
    }

    /// Runs its argument, which blocks its thread until others have done something.
    public typealias Waiting = @Sendable (() -> Void) -> Void

    /// Answers a request on the calling thread, which waits where it must, inside `waiting`.
    ///
    /// Throws `Failure`: `notFound` for an unknown map, `timedOut` for a sequence number that does
    /// not come, `invalidParameter`, `tooLarge`, `cancelled`, and what log and datasets throw.
    public func identify(
        _ request: IdentifyRequest, until deadline: ContinuousClock.Instant? = nil,
        waiting: @escaping Waiting = { $0() },
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(Failure) -> IdentifyAnswer {
        // What is known of the past cannot have changed unnoticed.
        let isStale = request.at == nil && isStale()
        guard let map = try map(request, until: deadline, waiting) else {
            let when = request.asOf.map { " at \($0)" } ?? ""
            throw Failure(.notFound, "there is no map '\(request.map)'\(when)")
        }
        return try identify(
            request, in: map, isStale: isStale, until: deadline, waiting: waiting,
            isCancelled: isCancelled)
    }

    private func identify(
        _ request: IdentifyRequest, in map: MapDescription, isStale: Bool,
        until deadline: ContinuousClock.Instant? = nil, waiting: @escaping Waiting = { $0() },
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(Failure) -> IdentifyAnswer {
        // A little earlier, so that what other servers have failed to say by then is still said in time.
        let end = deadline.map { $0 - .milliseconds(250) }
        return try engine.identify(
            request, in: map, isStale: isStale,
            remotes: { [remotes] questions in
                let inquiry = remotes.ask(questions, until: end, isCancelled: isCancelled)
                return {
                    waiting { inquiry.wait() }
                    return inquiry.answers()
                }
            }, isCancelled: isCancelled)
    }

    private func map(
        _ request: IdentifyRequest, until deadline: ContinuousClock.Instant?,
        _ waiting: @escaping Waiting
    ) throws(Failure) -> MapDescription? {
        let patience = min(
            Self.sequencePatience,
            deadline.map { ContinuousClock.now.duration(to: $0) } ?? Self.sequencePatience)
        if let minSequence = request.minSequence {
            _ = try wait(waiting) { [follower] done in
                follower.whenReached(minSequence, timeout: patience, done)
            }
        }
        guard let moment = request.asOf else {
            return description(of: request.map, in: follower.current)
        }
        return try past(request.map, follower.position(of: moment), waiting)
    }

    private func past(
        _ name: MapName, _ position: Int64, _ waiting: Waiting
    ) throws(Failure) -> MapDescription? {
        switch follower.remembered(name, at: position) {
        case .map(let map): return map
        case .absent: return nil
        case .unknown: break
        }
        return try wait(waiting) { [follower, readLog] done in
            Task {
                do throws(Failure) {
                    done(
                        .success(
                            try await follower.map(named: name, at: position, reading: readLog)))
                } catch {
                    done(.failure(error))
                }
            }
        }
    }

    /// Blocks the calling thread, which is never one of Swift's own, until `start`'s callback has been
    /// called.
    private func wait<Value: Sendable>(
        _ waiting: Waiting,
        _ start: (@escaping @Sendable (Result<Value, Failure>) -> Void) -> Void
    ) throws(Failure) -> Value {
        let mailbox = BlockingQueue<Result<Value, Failure>>(capacity: 1)
        start { _ = mailbox.tryPush($0) }
        var result: Result<Value, Failure>?
        if mailbox.count > 0 { result = mailbox.pop() } else { waiting { result = mailbox.pop() } }
        guard let result else {
            throw Failure(.internal, "the maps were not handed over")
        }
        return try result.get()
    }
}

extension IdentifyOperations: RowIdentifier {
    /// A map as it was; waits a little for a sequence number that is not known here yet.
    public func map(named name: MapName, at position: Int64) throws(Failure) -> MapDescription {
        _ = try wait({ $0() }) { [follower] done in
            follower.whenReached(position, timeout: Self.sequencePatience, done)
        }
        guard let map = try past(name, position, { $0() }) else {
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
