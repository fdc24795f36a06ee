// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import DequeModule
internal import Platform

/// An interactive task that waits for a worker or has been given to one.
struct PendingTask: Sendable {
    let request: IncomingRequest
    let pool: WorkerPool
    /// Tells it from every other task of this supervisor.
    let serial: UInt64
    /// When it goes without an answer, in monotonic nanoseconds: the asker's limit, or
    /// `TaskQueue.longestWait`.
    let deadline: Int64
    /// Workers that died while they had it.
    var deathCount = 0
    /// Those of them that had nothing else.
    var aloneDeathCount = 0
    /// Whether a worker has found that it takes long: it has no part in the credit for the others.
    var isLong = false
    /// When it was given to the worker that has it; monotonic nanoseconds.
    var givenAt: Int64
    /// Whether that worker has been told to stop.
    var isCancelled = false
    /// Whether that worker has been asked to hand it back.
    var isRecalled = false
    /// Whether that worker answers its asker itself.
    var isStraight = false
    /// When that worker was asked last whether it has; monotonic nanoseconds.
    var inquiredAt: Int64 = 0

    init(
        _ request: IncomingRequest, pool: WorkerPool, serial: UInt64, now: Int64
    ) {
        self.request = request
        self.pool = pool
        self.serial = serial
        givenAt = now
        deadline = request.deadline ?? now + TaskQueue.longestWait.wholeNanoseconds
    }

    /// Workers that may die of a task before its asker is told.
    static let deathBound = 3

    /// Whether it must be tried alone: once more may be chance, and once more is not.
    var isSuspect: Bool { deathCount >= Self.deathBound - 1 }

    /// Whether it ends workers: enough have died with it, and more than one with it alone.
    var isDeadly: Bool { deathCount >= Self.deathBound && aloneDeathCount > 1 }

    /// Whether somebody still waits for it.
    var isWanted: Bool { !request.isOver && deadline > MonotonicClock.nanoseconds() }

    /// How long its asker waits in all, in milliseconds.
    var limitMilliseconds: UInt32 {
        let asked = request.message.header.ttlMilliseconds
        return asked > 0 ? asked : UInt32(TaskQueue.longestWait.wholeNanoseconds / 1_000_000)
    }

    /// Milliseconds left, at least 1.
    func timeLeft(at now: Int64) -> UInt32 {
        UInt32(clamping: max(1, (deadline - now) / 1_000_000))
    }
}

/// The tasks of one pool that no worker has taken yet, oldest first; bounded.
struct TaskQueue: Sendable {
    /// Tasks that may wait.
    static let capacity = 10_000
    /// How long a task may wait whose asker set no limit.
    static let longestWait = Duration.seconds(60)

    private var tasks: Deque<PendingTask> = []

    var count: Int { tasks.count }

    var first: PendingTask? { tasks.first }

    /// False when the queue is full.
    mutating func append(_ task: PendingTask) -> Bool {
        if tasks.count >= Self.capacity { tasks.removeAll { $0.request.isOver } }
        guard tasks.count < Self.capacity else { return false }
        tasks.append(task)
        return true
    }

    /// Gives a task whose worker died its place back; never refused, it was in before.
    mutating func putBack(_ task: PendingTask) { tasks.prepend(task) }

    mutating func popFirst() -> PendingTask? { tasks.popFirst() }

    /// Takes the tasks out whose time is over, and drops those nobody waits for any more.
    mutating func removeExpired(at now: Int64) -> [PendingTask] {
        guard tasks.contains(where: { $0.deadline <= now || $0.request.isOver }) else {
            return []
        }
        let expired = tasks.filter { $0.deadline <= now && !$0.request.isOver }
        tasks.removeAll { $0.deadline <= now || $0.request.isOver }
        return Array(expired)
    }

    mutating func removeAll() -> [PendingTask] {
        defer { tasks = [] }
        return Array(tasks)
    }
}
