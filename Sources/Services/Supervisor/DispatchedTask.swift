// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import DequeModule
internal import FoundationEssentials

/// An interactive task that is queued or dispatched to a worker.
struct DispatchedTask: Hashable, Sendable {
    /// Unique among the tasks of this supervisor.
    let serial: UInt64
    /// Message id of its request.
    let question: UUID
    /// Whether its client accepts the answer directly from a worker.
    let offersStraight: Bool
    /// When it expires; monotonic nanoseconds.
    let deadline: Int64
    /// The client's time limit, in milliseconds.
    let limitMilliseconds: UInt32
    /// Number of workers that died while they had it.
    var deathCount = 0
    /// Number of workers that died while they had nothing else.
    var aloneDeathCount = 0
    /// Whether a worker has classified it as long-running, outside the credit for the others.
    var isLong = false
    /// When it was dispatched to its worker; monotonic nanoseconds.
    var givenAt: Int64 = 0
    /// Whether a cancellation was sent to that worker.
    var isCancelled = false
    /// Whether a recall was sent to that worker.
    var isRecalled = false
    /// Whether that worker answers its client directly.
    var isStraight = false
    /// When its worker was last asked about it; monotonic nanoseconds.
    var inquiredAt: Int64 = 0

    init(
        serial: UInt64, question: UUID, offersStraight: Bool, deadline: Int64,
        limitMilliseconds: UInt32
    ) {
        self.serial = serial
        self.question = question
        self.offersStraight = offersStraight
        self.deadline = deadline
        self.limitMilliseconds = limitMilliseconds
    }

    /// Number of worker deaths after which a task is refused.
    static let deathBound = 3

    /// Whether it must be tried alone: one death may be chance, two are not.
    var isSuspect: Bool { deathCount >= Self.deathBound - 1 }

    /// Whether it kills workers: enough have died with it, and more than one with it alone.
    var isDeadly: Bool { deathCount >= Self.deathBound && aloneDeathCount > 1 }

    /// Milliseconds left, at least 1.
    func timeLeft(at now: Int64) -> UInt32 {
        UInt32(clamping: max(1, (deadline - now) / 1_000_000))
    }
}

/// The queued tasks of one pool, oldest first; bounded.
struct TaskQueue: Sendable {
    /// Maximum number of queued tasks.
    static let capacity = 10_000
    /// Time limit of a task whose client set none.
    static let longestWait = Duration.seconds(60)

    private var tasks: Deque<DispatchedTask> = []

    var count: Int { tasks.count }

    var isEmpty: Bool { tasks.isEmpty }

    var first: DispatchedTask? { tasks.first }

    /// False when the queue is full.
    mutating func append(_ task: DispatchedTask) -> Bool {
        guard tasks.count < Self.capacity else { return false }
        tasks.append(task)
        return true
    }

    /// Returns a task to its place; never refused, since it was queued before.
    mutating func putBack(_ task: DispatchedTask) { tasks.prepend(task) }

    mutating func popFirst() -> DispatchedTask? { tasks.popFirst() }

    /// Takes out the tasks for which `isOver` holds.
    mutating func remove(where isOver: (DispatchedTask) -> Bool) -> [DispatchedTask] {
        guard tasks.contains(where: isOver) else { return [] }
        defer { tasks.removeAll(where: isOver) }
        return tasks.filter(isOver)
    }

    mutating func removeAll() -> [DispatchedTask] {
        defer { tasks = [] }
        return Array(tasks)
    }
}

/// The dispatcher's view of a worker: its credit and its tasks.
struct DispatchWorker: Sendable {
    let instance: UUID
    /// Number of concurrent tasks, without long-running ones.
    let capacity: Int
    /// Number of tasks executed in parallel.
    let threadCount: Int
    /// Number of concurrent long-running tasks.
    let longCapacity: Int
    /// Number of further tasks it accepts.
    private(set) var credit: Int
    private(set) var longCount = 0
    /// Whether it may be given tasks: its lane is open and it is not draining.
    var takesWork = false
    /// Its tasks, by dispatch id.
    var tasks: [UUID: DispatchedTask] = [:]
    /// Tasks answered directly and not yet confirmed by their clients.
    var unconfirmed: [UUID: DispatchedTask] = [:]
    /// Number of tasks answered.
    var doneCount = 0
    /// Recent duration of a task; nil where the worker has reported none.
    var taskNanoseconds: Int64?

    /// Upper bound of a worker's credit.
    static let creditBound = 1_000

    init(instance: UUID, hello: WorkerHello) {
        func bounded(_ number: Int) -> Int { min(max(0, number), Self.creditBound) }
        self.instance = instance
        capacity = bounded(hello.taskCapacity)
        threadCount = hello.taskThreadCount
        longCapacity = bounded(hello.longTaskCapacity ?? 0)
        credit = bounded(hello.taskCredit)
    }

    /// Number of further long-running tasks it accepts.
    var longCredit: Int { max(0, longCapacity - longCount) }

    mutating func spendCredit(for task: DispatchedTask) {
        if task.isLong { longCount += 1 } else { credit -= 1 }
    }

    /// Returns the credit of a task that was answered, handed back or reclassified; nil for a task
    /// from before this supervisor.
    mutating func returnCredit(of task: DispatchedTask?) {
        if task?.isLong == true { longCount -= 1 } else { credit = min(credit + 1, capacity) }
    }

    /// Corrects the credit after a refusal without a recall.
    mutating func correctCredit(for task: DispatchedTask?) {
        guard task?.isLong == true else { return }
        longCount -= 1
        credit = max(0, credit - 1)
    }

    /// Sets the credit to zero when its lane is full, until a task comes back.
    mutating func loseCredit(for task: DispatchedTask) {
        if task.isLong { longCount -= 1 }
        credit = 0
    }

    /// Number of tasks beyond its threads; fewer are queued while running tasks wait for others.
    var waitingCount: Int { max(0, tasks.count - max(1, threadCount)) }

    /// Whether it has a task that must run alone.
    var triesSuspect: Bool { tasks.count == 1 && tasks.values.allSatisfy(\.isSuspect) }

    /// Whether it may be given a further task.
    var mayBeGiven: Bool { takesWork && credit > 0 && !triesSuspect }

    /// Its backlog at a moment; monotonic nanoseconds.
    func backlog(at now: Int64) -> Backlog {
        Backlog(
            taskNanoseconds: taskNanoseconds, count: tasks.count,
            oldestNanoseconds: now - (tasks.values.lazy.map { $0.givenAt }.min() ?? now))
    }
}
