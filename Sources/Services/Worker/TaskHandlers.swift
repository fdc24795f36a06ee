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

/// What an operation is told besides its payload, and by which it talks back.
package struct OperationContext: Sendable {
    /// What was asked, `identify`, `BatchGeocode.plan`.
    package let operation: String
    /// Who asks, where the asker said so.
    package let actor: String?
    /// The map it is about, where there is one.
    package let map: String?
    /// The form of the question's payload, and of the answer's: JSON, or the operation's fixed
    /// layout.
    package let contentType: UInt8
    /// The moment after which nobody waits for the answer; nil for job chunks.
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

    /// Whether other work waits for the calling thread.
    package var keepsOthersWaiting: Bool { threads?.hasWaitingWork ?? false }

    /// Whether the work should stop: nobody waits for it any more, or its time is over; ask at
    /// least twice a second in long loops, and throw `Failure` (`cancelled`) then.
    package var isCancelled: Bool {
        control.isCancelled || deadline.map { $0 < .now } ?? false
    }

    /// Runs `body`, which waits for others; meanwhile another thread computes in this one's place.
    package func waiting<Value>(_ body: () -> Value) -> Value {
        threads?.lend()
        defer { threads?.takeBack() }
        return body()
    }

    /// Says how much is done, 0…1, and that the operation is alive; cheap.
    package func report(_ fraction: Double) { control.report(fraction) }
}

/// What a worker does with the payload of a task: the answer's payload, in the question's form, or
/// a thrown `Failure`.
///
/// Called on a compute thread; several calls run side by side where the host has several such
/// threads. Waits for others go through the context's `waiting`. Anything thrown that is no
/// `Failure` becomes one (`internal`).
package typealias TaskHandler = @Sendable (OperationContext, Data) throws -> Data

/// The same for what can be answered soon enough for the thread it is called on; nil sends the task
/// on to another.
package typealias TrialHandler = @Sendable (OperationContext, Data) throws -> Data?

/// The operations of a pool's workers, with what does them and on which threads.
///
/// Operations that are `.long` are done on threads of their own, so that nothing short waits behind
/// them. Those that are `.tried` are tried on the threads for tasks first.
package struct TaskHandlers: Sendable {
    private(set) var handlers: [String: TaskHandler]
    /// Tried on the bus thread.
    private(set) var prompt: [String: TrialHandler]
    /// Tried on the threads for tasks.
    private(set) var tried: [String: TrialHandler]
    private(set) var long: Set<String>

    /// Handlers of payloads as they are, such as those of chunks, by the names of their operations.
    package init(
        _ handlers: [String: TaskHandler] = [:], prompt: [String: TrialHandler] = [:],
        tried: [String: TrialHandler] = [:], long: Set<String> = []
    ) {
        self.handlers = handlers
        self.prompt = prompt
        self.tried = tried
        self.long = long
    }

    /// The names of all of them.
    package var names: Set<String> { Set(handlers.keys) }

    /// The same for a worker without threads for long work: everything is done on the threads for
    /// tasks.
    var withoutLongThreads: Self { Self(handlers, prompt: prompt) }

    /// Does an operation from its beginning.
    package mutating func on<Request, Answer>(
        _ operation: Operation<Request, Answer>,
        _ body: @escaping @Sendable (Request, OperationContext) throws -> Answer
    ) {
        if operation.effort == .long { long.insert(operation.name) }
        handlers[operation.name] = { context, payload in
            let request = try operation.request.decode(payload, context.contentType)
            return try operation.answer.encode(
                try body(request, context), context.contentType)
        }
    }

    /// Tries an operation that is `.tried`, on a thread that it must not hold for long while others
    /// wait.
    ///
    /// Nil sends the task to the threads for long work, where ``on(_:_:)`` does it from its
    /// beginning.
    package mutating func trying<Request, Answer>(
        _ operation: Operation<Request, Answer>,
        _ body: @escaping @Sendable (Request, OperationContext) throws -> Answer?
    ) {
        tried[operation.name] = Self.trial(operation, body)
    }

    /// Tries an operation on the bus thread, when its payload has at most so many bytes and is in
    /// its own layout.
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
            let request = try operation.request.decode(payload, context.contentType)
            return try body(request, context).map {
                try operation.answer.encode($0, context.contentType)
            }
        }
    }
}

/// What other threads may say to, and hear from, one piece of work.
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
    /// The build of this process's program, as recordings name it; nil where its file cannot be
    /// read.
    ///
    /// Worked out once, at the first use.
    static let build = OwnProgram.path().flatMap(Recorder.digest(ofProgram:)).map {
        WorkerProcess.version + "+" + $0
    }

    /// Each decodes its `ChunkAssignment` and encodes its `ChunkOutcome`, with the build.
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
