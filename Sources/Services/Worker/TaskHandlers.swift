// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
package import CairnModel
package import FoundationEssentials
package import JobKinds
internal import Platform
internal import Recording
package import Site
internal import Synchronization

/// Context of an operation besides its payload, with its progress reporting.
package struct OperationContext: Sendable {
    /// Name of the operation, `identify`, `BatchGeocode.plan`.
    package let operation: String
    /// The actor of the request, if it has one.
    package let actor: String?
    /// The map of the request, if it has one.
    package let map: String?
    /// Format of the request's and the answer's payload: JSON, or the operation's fixed layout.
    package let contentType: UInt8
    /// Deadline of the answer; nil for job chunks.
    package let deadline: ContinuousClock.Instant?
    private let control: WorkControl
    private let threads: ComputeThreads?

    init(
        metadata: RequestMetadata, contentType: UInt8, deadline: ContinuousClock.Instant?,
        control: WorkControl, threads: ComputeThreads? = nil
    ) {
        operation = metadata.operation
        actor = metadata.actor
        map = metadata.map
        self.contentType = contentType
        self.deadline = deadline
        self.control = control
        self.threads = threads
    }

    /// Whether other work is queued for the calling thread.
    package var keepsOthersWaiting: Bool { threads?.hasWaitingWork ?? false }

    /// Whether the work should stop because it was cancelled or its deadline has passed; to be
    /// checked at least twice a second in long loops, which then throw `Failure` (`cancelled`).
    package var isCancelled: Bool {
        control.isCancelled || deadline.map { $0 < .now } ?? false
    }

    /// Runs a blocking `body`; meanwhile another thread computes in this one's place.
    package func waiting<Value>(_ body: () -> Value) -> Value {
        threads?.lend()
        defer { threads?.takeBack() }
        return body()
    }

    /// Reports progress, 0…1, as a sign of life; cheap.
    package func report(_ fraction: Double) { control.report(fraction) }
}

/// Executes the payload of a task: returns the answer's payload, in the request's format, or throws
/// a `Failure`.
///
/// Called on a compute thread, concurrently where the host has several. Blocking calls go through
/// the context's `waiting`. Any other error becomes a `Failure` (`internal`).
package typealias TaskHandler = @Sendable (OperationContext, Data) throws -> Data

/// Executes a task if it is fast enough for the calling thread; nil sends it on to another.
package typealias TrialHandler = @Sendable (OperationContext, Data) throws -> Data?

/// The operations of a pool's workers, with their handlers and threads.
///
/// Operations that are `.long` run on threads of their own, so that no short one waits behind them.
/// Those that are `.tried` are first tried on the threads for tasks.
package struct TaskHandlers: Sendable {
    private(set) var handlers: [String: TaskHandler]
    /// Tried on the bus thread.
    private(set) var prompt: [String: TrialHandler]
    /// Tried on the threads for tasks.
    private(set) var tried: [String: TrialHandler]
    private(set) var long: Set<String>

    /// Handlers of raw payloads, such as those of chunks, by operation.
    package init(
        _ handlers: [String: TaskHandler] = [:], prompt: [String: TrialHandler] = [:],
        tried: [String: TrialHandler] = [:], long: Set<String> = []
    ) {
        self.handlers = handlers
        self.prompt = prompt
        self.tried = tried
        self.long = long
    }

    /// The names of all operations.
    package var names: Set<String> { Set(handlers.keys) }

    /// The handlers for a worker without threads for long work: everything runs on the threads for
    /// tasks.
    var withoutLongThreads: Self { Self(handlers, prompt: prompt) }

    /// Adds the handler of an operation.
    package mutating func on<Request, Answer>(
        _ operation: Operation<Request, Answer>,
        _ body: @escaping @Sendable (Request, OperationContext) throws -> Answer
    ) {
        if operation.effort == .long { long.insert(operation.name) }
        handlers[operation.name] = { context, payload in
            let request = try operation.decode(request: payload, context.contentType)
            return try operation.answer.encode(
                try body(request, context), context.contentType)
        }
    }

    /// Adds a trial of a `.tried` operation, on a thread that it must not hold for long while
    /// others wait.
    ///
    /// Nil sends the task to the threads for long work, where the handler of ``on(_:_:)`` starts
    /// from the beginning.
    package mutating func trying<Request, Answer>(
        _ operation: Operation<Request, Answer>,
        _ body: @escaping @Sendable (Request, OperationContext) throws -> Answer?
    ) {
        tried[operation.name] = Self.trial(operation, body)
    }

    /// Adds a trial on the bus thread, for payloads up to a size in the operation's own layout.
    package mutating func promptly<Request, Answer>(
        _ operation: Operation<Request, Answer>, upTo byteLimit: Int,
        _ body: @escaping @Sendable (Request, OperationContext) throws -> Answer?
    ) {
        let trial = Self.trial(operation, body)
        prompt[operation.name] = { context, payload in
            guard context.contentType == operation.contentType, payload.count <= byteLimit else {
                return nil
            }
            return try trial(context, payload)
        }
    }

    private static func trial<Request, Answer>(
        _ operation: Operation<Request, Answer>,
        _ body: @escaping @Sendable (Request, OperationContext) throws -> Answer?
    ) -> TrialHandler {
        { context, payload in
            let request = try operation.decode(request: payload, context.contentType)
            return try body(request, context).map {
                try operation.answer.encode($0, context.contentType)
            }
        }
    }
}

/// Shared state between one piece of work and other threads.
final class WorkControl: Sendable {
    private let cancelled = Atomic<Bool>(false)
    private let beats = Atomic<Int>(0)
    private let fractionBits = Atomic<UInt64>(0)

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
    var beatCount: Int { beats.load(ordering: .relaxed) }
    var fraction: Double { Double(bitPattern: fractionBits.load(ordering: .relaxed)) }

    func cancel() { cancelled.store(true, ordering: .relaxed) }

    func report(_ fraction: Double) {
        let bounded = fraction.isNaN ? 0 : min(max(fraction, 0), 1)
        fractionBits.store(bounded.bitPattern, ordering: .relaxed)
        beats.add(1, ordering: .relaxed)
    }
}

/// The chunk operations of job kinds as handlers of a worker.
package enum ChunkOperations {
    /// Digest of this process's program, as recordings have it; nil if its file cannot be read.
    ///
    /// Computed once, at the first use.
    static let build = OwnProgram.path().flatMap(Recorder.digest(ofProgram:)).map {
        WorkerProcess.version + "+" + $0
    }

    /// Handlers that decode a `ChunkAssignment` and encode a `ChunkOutcome`, with the build.
    package static func hosted(
        _ operations: [String: ChunkOperation], blobs: BlobStore
    ) -> [String: TaskHandler] {
        operations.mapValues { operation in
            { context, payload in
                let assignment = try CairnJSON.decode(ChunkAssignment.self, from: payload)
                var outcome = try operation(
                    ChunkContext(
                        assignment: assignment, blobs: blobs,
                        report: { context.report($0) }, isCancelled: { context.isCancelled }))
                outcome.build = build
                return try CairnJSON.encode(outcome)
            }
        }
    }
}
