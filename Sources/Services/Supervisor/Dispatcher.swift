// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Jobs

/// Which worker does which interactive task, as a value: time is handed in, and what is to be done
/// comes out.
///
/// Moments are monotonic nanoseconds. A task is named by its serial number, at a worker by its
/// dispatch.
struct Dispatcher: Sendable {
    /// What has happened in a pool.
    enum Event: Sendable {
        /// A client asks.
        case asked(DispatchedTask)
        /// The client of a task is gone, or no longer waits.
        case abandoned(serial: UInt64)
        /// The client of a task has its answer, straight from a worker.
        case taken(serial: UInt64, question: UUID)
        /// A worker is known, in place of an earlier one of its instance; it is given nothing yet.
        case came(DispatchWorker)
        /// A worker may be given tasks, or may not.
        case takesWork(UUID, Bool)
        /// A worker is no more; with what it was given last beside tasks.
        case gone(UUID, isDeath: Bool, chunkGivenAt: Int64?)
        /// How long a task took a worker of late; nil where it had none.
        case pace(UUID, nanoseconds: Int64?)
        /// A worker has answered a task by the supervisor.
        case answer(UUID, by: UUID)
        /// A worker has handed a task back; `isLong`: it takes long, and the worker has enough of
        /// those.
        case refused(UUID, isLong: Bool, by: UUID)
        /// A worker has found that a task takes long, and does it beside the others.
        case tookLong(UUID, by: UUID)
        /// A worker has answered a task straight.
        case answered(UUID, by: UUID)
        /// The lane of a worker has no room for these tasks, in the order in which they were given.
        case notSent([UUID], to: UUID)
        /// A task fits into no message to a worker, and has been refused.
        case unsendable(UUID, to: UUID)
        /// The pool has done something besides tasks.
        case succeeded
        /// Answers are shown to others from now on.
        case shown
        /// The time of ``Action/recallLater`` is over.
        case recallDue
        /// A tenth of a second has passed.
        case patrol
        /// Nothing more is given; what waits is refused.
        case draining
    }

    /// What is to be done.
    enum Action: Hashable, Sendable {
        /// Give a task to a worker; its client waits for so many milliseconds.
        case give(DispatchedTask, dispatch: UUID, to: UUID, milliseconds: UInt32)
        /// Tell a worker to stop a task.
        case cancel(UUID, at: UUID)
        /// Ask a worker to hand a task back.
        case recall(UUID, from: UUID)
        /// Ask a worker whether it has answered a task straight.
        case inquire(UUID, at: UUID)
        /// Pass the answer that just came on to the client of a task.
        case answer(serial: UInt64)
        /// Refuse a task.
        case refuse(serial: UInt64, Failure)
        /// A task is over without an answer by the supervisor.
        case forget(serial: UInt64)
        /// Come back with ``Event/recallDue`` after ``Pool/recallAge``.
        case recallLater
        /// Workers die of what they are given; the pool rests.
        case rests(deathCount: Int, milliseconds: Int64)
    }

    /// What has been counted since the start.
    struct Counters: Hashable, Sendable {
        /// Answers to tasks that are not known.
        var late = 0
        /// Tasks given to another worker.
        var redispatched = 0
        /// Tasks whose client went away or no longer waited.
        var abandoned = 0
        /// Those of them that a worker had and was told to stop.
        var cancelled = 0
        /// Tasks that a worker was asked to hand back for another.
        var recalled = 0
        /// Tasks whose time was over before a worker had room for them.
        var expired = 0
        /// Tasks answered by workers.
        var done = 0
        /// How long workers had those, together.
        var nanoseconds: Int64 = 0
        /// Tasks refused.
        var refused = 0

        static func + (left: Counters, right: Counters) -> Counters {
            var sum = left
            sum.late += right.late
            sum.redispatched += right.redispatched
            sum.abandoned += right.abandoned
            sum.cancelled += right.cancelled
            sum.recalled += right.recalled
            sum.expired += right.expired
            sum.done += right.done
            sum.nanoseconds += right.nanoseconds
            sum.refused += right.refused
            return sum
        }
    }

    private(set) var pools: [WorkerPool: Pool]

    /// Begins without workers; `absence` is how long a pool may have none before its tasks are
    /// refused.
    init(
        at now: Int64, absence: Duration,
        makeID: @escaping @Sendable () -> UUID = { .timeOrdered() }
    ) {
        pools = Dictionary(
            uniqueKeysWithValues: WorkerPool.allCases.map {
                ($0, Pool($0, at: now, absence: absence.wholeNanoseconds, makeID: makeID))
            })
    }

    /// Takes note of an event in a pool; what it returns is to be done in that order.
    mutating func handle(_ event: Event, in pool: WorkerPool, at now: Int64) -> [Action] {
        pools[pool]?.handle(event, at: now) ?? []
    }

    /// Of all pools together.
    var counters: Counters { pools.values.reduce(Counters()) { $0 + $1.counters } }

    /// A worker, as long as it is known.
    func worker(_ instance: UUID, in pool: WorkerPool) -> DispatchWorker? {
        pools[pool]?.workers.first { $0.instance == instance }
    }
}
