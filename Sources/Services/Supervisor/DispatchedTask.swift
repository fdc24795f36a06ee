// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import DequeModule
internal import FoundationEssentials

/// An interactive task that waits for a worker or has been given to one.
struct DispatchedTask: Hashable, Sendable {
    /// Distinguishes it from every other task of this supervisor.
    let serial: UInt64
    /// The message id of its question.
    let question: UUID
    /// Whether its client takes the answer straight from a worker.
    let offersStraight: Bool
    /// When it goes without an answer; monotonic nanoseconds.
    let deadline: Int64
    /// How long its client waits in all, in milliseconds.
    let limitMilliseconds: UInt32
    /// Workers that died while they had it.
    var deathCount = 0
    /// Those of them that had nothing else.
    var aloneDeathCount = 0
    /// Whether a worker has found that it takes long: it has no part in the credit for the others.
    var isLong = false
    /// When it was given to the worker that has it; monotonic nanoseconds.
    var givenAt: Int64 = 0
    /// Whether that worker has been told to stop.
    var isCancelled = false
    /// Whether that worker has been asked to hand it back.
    var isRecalled = false
    /// Whether that worker answers its client itself.
    var isStraight = false
    /// When that worker was asked last whether it has; monotonic nanoseconds.
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

    /// Workers that may die of a task before it is refused.
    static let deathBound = 3

    /// Whether it must be tried alone: one more death may be chance, and two are not.
    var isSuspect: Bool { deathCount >= Self.deathBound - 1 }

    /// Whether it ends workers: enough have died with it, and more than one with it alone.
    var isDeadly: Bool { deathCount >= Self.deathBound && aloneDeathCount > 1 }

    /// Milliseconds left, at least 1.
    func timeLeft(at now: Int64) -> UInt32 {
        UInt32(clamping: max(1, (deadline - now) / 1_000_000))
    }
}

/// The tasks of one pool that no worker has, oldest first; bounded.
struct TaskQueue: Sendable {
    /// Tasks that may wait.
    static let capacity = 10_000
    /// How long a task may wait whose client set no limit.
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

    /// Gives a task back its place; never refused, it was in before.
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

/// A worker as the dispatcher knows it: its credit and its tasks.
struct DispatchWorker: Sendable {
    let instance: UUID
    /// Tasks it holds at once, beside those that take long.
    let capacity: Int
    /// Tasks it works on at once.
    let threadCount: Int
    /// Tasks that take long which it holds at once.
    let longCapacity: Int
    /// Further tasks it would take.
    private(set) var credit: Int
    private(set) var longCount = 0
    /// Whether it may be given anything: its lane is open, and it does not end.
    var takesWork = false
    /// Its tasks, by dispatch.
    var tasks: [UUID: DispatchedTask] = [:]
    /// Tasks it has answered straight, until their clients have said that the answer came.
    var unconfirmed: [UUID: DispatchedTask] = [:]
    /// Tasks answered.
    var doneCount = 0
    /// How long a task has taken it of late; nil where it has not said.
    var taskNanoseconds: Int64?

    /// The most credit a worker is believed to have.
    static let creditBound = 1_000

    init(instance: UUID, hello: WorkerHello) {
        func bounded(_ number: Int) -> Int { min(max(0, number), Self.creditBound) }
        self.instance = instance
        capacity = bounded(hello.taskCapacity)
        threadCount = hello.taskThreadCount
        longCapacity = bounded(hello.longTaskCapacity ?? 0)
        credit = bounded(hello.taskCredit)
    }

    /// How many further tasks that take long it would take.
    var longCredit: Int { max(0, longCapacity - longCount) }

    mutating func spendCredit(for task: DispatchedTask) {
        if task.isLong { longCount += 1 } else { credit -= 1 }
    }

    /// A task was answered or handed back, or is no longer one of its kind; nil for one from before
    /// this supervisor.
    mutating func returnCredit(of task: DispatchedTask?) {
        if task?.isLong == true { longCount -= 1 } else { credit = min(credit + 1, capacity) }
    }

    /// It refused a task without a recall: the credit was wrong.
    mutating func correctCredit(for task: DispatchedTask?) {
        guard task?.isLong == true else { return }
        longCount -= 1
        credit = max(0, credit - 1)
    }

    /// Its lane takes nothing more: it gets no task until one comes back.
    mutating func loseCredit(for task: DispatchedTask) {
        if task.isLong { longCount -= 1 }
        credit = 0
    }

    /// Tasks it has beyond those it works on, unless it works on more because some of them wait for
    /// others.
    var waitingCount: Int { max(0, tasks.count - max(1, threadCount)) }

    /// Whether it has a task that must be alone.
    var triesSuspect: Bool { tasks.count == 1 && tasks.values.allSatisfy(\.isSuspect) }

    /// Whether it may be given a task, beside others that it has.
    var mayBeGiven: Bool { takesWork && credit > 0 && !triesSuspect }

    /// What it has to do at a moment; monotonic nanoseconds.
    func backlog(at now: Int64) -> Backlog {
        Backlog(
            taskNanoseconds: taskNanoseconds, count: tasks.count,
            oldestNanoseconds: now - (tasks.values.lazy.map { $0.givenAt }.min() ?? now))
    }
}
