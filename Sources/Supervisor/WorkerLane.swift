// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import FoundationEssentials
internal import Jobs

/// A worker as the hub knows it: its lane, its credit, and what it has been given; the hub's alone.
final class WorkerLane {
    /// A chunk it holds the lease of.
    struct HeldChunk: Sendable {
        let held: HeldAttempt
        /// When it was given to the worker; monotonic nanoseconds.
        let since: Int64
        var watch: AttemptWatch
        /// Whether it was told to stop because it showed no sign of life.
        var isStalled = false
        /// Whether its result has come; it is being recorded.
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
    /// Whether its connection to the sink has ended and everything that came over it has been taken.
    var isHeardOut = false
    /// Whether it has answered since its lane was opened.
    var isReady = false
    var isDraining: Bool
    var taskCredit: Int
    /// How many of its tasks take long.
    private(set) var longTaskCount = 0
    var chunkCredit: Int
    /// Interactive tasks it has, by dispatch.
    var tasks: [UUID: PendingTask] = [:]
    /// Tasks it has answered straight, of which their askers have not said yet that the answer came.
    var unconfirmed: [UUID: PendingTask] = [:]
    /// Chunks it has, by lease.
    var chunks: [UUID: HeldChunk] = [:]
    var doneCount = 0
    /// How long a task has taken it of late; nanoseconds.
    var taskNanoseconds: Int64?
    /// Monotonic nanoseconds of its last message.
    var lastHeard: Int64
    /// Since when it says hello although it has been welcomed.
    var unheardSince: Int64?

    init(
        instance: UUID, hello: WorkerHello, generation: Int, since: Timestamp, now: Int64
    ) {
        self.instance = instance
        self.hello = hello
        self.generation = generation
        self.since = since
        isDraining = hello.isDraining
        taskCredit = min(max(0, hello.taskCredit), Self.creditBound)
        chunkCredit = min(max(0, hello.chunkCredit), Self.creditBound)
        lastHeard = now
    }

    /// The most credit a worker is believed to have.
    static let creditBound = 1_000

    /// Tasks whose askers may still need an answer if this worker is no more.
    var owedTasks: [PendingTask] { Array(tasks.values) + unconfirmed.values }

    /// How many further tasks that take long it would take.
    var longTaskCredit: Int {
        let capacity = min(max(0, hello.longTaskCapacity ?? 0), Self.creditBound)
        return max(0, capacity - longTaskCount)
    }

    /// A task is sent to it.
    func spendCredit(for task: PendingTask) {
        if task.isLong { longTaskCount += 1 } else { taskCredit -= 1 }
    }

    /// It refused a task that nobody had asked back: the credit was wrong.
    func correctCredit(for task: PendingTask?) {
        guard task?.isLong == true else { return }
        longTaskCount -= 1
        taskCredit = max(0, taskCredit - 1)
    }

    /// A task was answered or handed back, or is no longer one of its kind; nil for one from before this supervisor.
    func returnCredit(of task: PendingTask?) {
        if task?.isLong == true { return longTaskCount -= 1 }
        taskCredit = min(taskCredit + 1, min(max(0, hello.taskCapacity), Self.creditBound))
    }

    /// Tasks it has beyond those it works on, unless it works on more because some of them wait for others.
    var waitingTaskCount: Int { max(0, tasks.count - max(1, hello.taskThreadCount)) }

    /// Whether it has a task that must be alone.
    var triesSuspect: Bool { tasks.count == 1 && tasks.values.allSatisfy(\.isSuspect) }

    /// Whether it may be given a task, beside others that it has.
    var mayBeGiven: Bool { takesWork && taskCredit > 0 && !triesSuspect }

    /// What it has to do at a moment; monotonic nanoseconds.
    func backlog(at now: Int64) -> Backlog {
        Backlog(
            taskNanoseconds: taskNanoseconds, count: tasks.count,
            oldestNanoseconds: now - (tasks.values.lazy.map { $0.givenAt }.min() ?? now))
    }

    var takesWork: Bool { isReady && isConnected && !hasExited && !isDraining && lane != nil }

    var description: WorkerDescription {
        WorkerDescription(
            instance: instance, pool: hello.pool, processID: hello.processID,
            taskCredit: takesWork ? taskCredit : 0, chunkCredit: takesWork ? chunkCredit : 0,
            runningTaskCount: tasks.count,
            held: chunks.values.map(\.held).sorted { $0.attempt.chunk < $1.attempt.chunk },
            doneCount: doneCount, isDraining: isDraining, build: hello.build, since: since)
    }
}

/// A process that fell silent and was given up, but not seen to end: it may wake up and go on writing.
struct StrayWorker: Sendable {
    let processID: Int32
    let watch: BusThread.Watch
    /// The jobs whose attempts it may still be working on.
    var attempts: [UUID: JobID]
}
