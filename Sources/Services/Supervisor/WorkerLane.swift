// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import FoundationEssentials
internal import Jobs

/// The hub's view of a worker: its lane and its leased chunks; used by the hub only.
final class WorkerLane {
    /// A chunk leased to the worker.
    struct HeldChunk: Sendable {
        let held: HeldAttempt
        /// When it was sent to the worker; monotonic nanoseconds.
        let since: Int64
        var watch: AttemptWatch
        /// Whether it was cancelled because it showed no sign of life.
        var isStalled = false
        /// Whether its result has arrived and is being recorded.
        var isReported = false
        /// Whether it takes up one of the worker's chunk slots.
        var occupiesSlot = true

        init(held: HeldAttempt, since: Int64) {
            self.held = held
            self.since = since
            watch = AttemptWatch(since: since)
        }
    }

    let instance: UUID
    let hello: WorkerHello
    let since: Timestamp
    /// Distinguishes this lane from an earlier one of the same instance.
    let generation: Int
    var lane: Pusher?
    var watch: BusThread.Watch?
    var isConnected = true
    var hasExited = false
    /// Whether its connection to the sink has ended and all messages from it have been processed.
    var isHeardOut = false
    /// Whether it has answered since its lane was opened.
    var isReady = false
    var isDraining: Bool
    var chunkCredit: Int
    /// Its chunks, by lease.
    var chunks: [UUID: HeldChunk] = [:]
    /// Number of chunks completed.
    var doneCount = 0
    /// Monotonic nanoseconds of its last message.
    var lastHeard: Int64
    /// Since when it has repeated its hello in spite of the welcome.
    var unheardSince: Int64?

    init(
        instance: UUID, hello: WorkerHello, generation: Int, since: Timestamp, now: Int64
    ) {
        self.instance = instance
        self.hello = hello
        self.generation = generation
        self.since = since
        isDraining = hello.isDraining
        chunkCredit = min(max(0, hello.chunkCredit), DispatchWorker.creditBound)
        lastHeard = now
    }

    var takesWork: Bool { isReady && isConnected && !hasExited && !isDraining && lane != nil }

    /// The worker, with what the dispatcher knows of it.
    func description(_ tasks: DispatchWorker?) -> WorkerDescription {
        WorkerDescription(
            instance: instance, pool: hello.pool, processID: hello.processID,
            taskCredit: takesWork ? tasks?.credit ?? 0 : 0,
            chunkCredit: takesWork ? chunkCredit : 0,
            runningTaskCount: tasks?.tasks.count ?? 0,
            held: chunks.values.map(\.held).sorted { $0.attempt.chunk < $1.attempt.chunk },
            doneCount: doneCount + (tasks?.doneCount ?? 0), isDraining: isDraining,
            build: hello.build, since: since)
    }
}

/// A process that fell silent and was given up, but whose end was not observed: it may resume and
/// write.
struct UnreapedWorker: Sendable {
    let processID: Int32
    let watch: BusThread.Watch
    /// The jobs of the attempts it may still be running.
    var attempts: [UUID: JobID]
}
