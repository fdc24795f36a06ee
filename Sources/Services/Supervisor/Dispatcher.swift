// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Jobs

/// Assigns interactive tasks to workers, as a value: events and the time go in, actions come out.
///
/// Moments are monotonic nanoseconds. A task is identified by its serial number, at a worker by its
/// dispatch id.
struct Dispatcher: Sendable {
    /// An event in a pool.
    enum Event: Sendable {
        /// A client's request.
        case asked(DispatchedTask)
        /// The client of a task is gone, or no longer waits.
        case abandoned(serial: UInt64)
        /// The client of a task has its answer, directly from a worker.
        case taken(serial: UInt64, question: UUID)
        /// A worker registered, in place of an earlier one of its instance; it gets no task yet.
        case came(DispatchWorker)
        /// A worker starts or stops accepting tasks.
        case takesWork(UUID, Bool)
        /// A worker is gone; with the time of the last chunk it was given.
        case gone(UUID, isDeath: Bool, chunkGivenAt: Int64?)
        /// Recent duration of a task at a worker; nil where it had none.
        case pace(UUID, nanoseconds: Int64?)
        /// A worker has answered a task through the supervisor.
        case answer(UUID, by: UUID)
        /// A worker has handed a task back; `isLong`: the task is long-running, and the worker is
        /// at its limit of those.
        case refused(UUID, isLong: Bool, by: UUID)
        /// A worker has classified a task as long-running, and continues it beside the others.
        case tookLong(UUID, by: UUID)
        /// A worker has answered a task directly.
        case answered(UUID, by: UUID)
        /// The lane of a worker is full for these tasks, in the order in which they were
        /// dispatched.
        case notSent([UUID], to: UUID)
        /// A task is too large for a message to a worker, and has been refused.
        case unsendable(UUID, to: UUID)
        /// The pool has completed a chunk.
        case succeeded
        /// Answers are published from now on.
        case shown
        /// The delay of ``Action/recallLater`` is over.
        case recallDue
        /// A tenth of a second has passed.
        case patrol
        /// Nothing more is dispatched; queued tasks are refused.
        case draining
    }

    /// An effect for the hub to carry out.
    enum Action: Hashable, Sendable {
        /// Send a task to a worker; its client waits for so many milliseconds.
        case give(DispatchedTask, dispatch: UUID, to: UUID, milliseconds: UInt32)
        /// Send a worker the cancellation of a task.
        case cancel(UUID, at: UUID)
        /// Ask a worker to hand a task back.
        case recall(UUID, from: UUID)
        /// Ask a worker whether it has answered a task directly.
        case inquire(UUID, at: UUID)
        /// Pass the current answer on to the client of a task.
        case answer(serial: UInt64)
        /// Refuse a task.
        case refuse(serial: UInt64, Failure)
        /// A task is over without an answer through the supervisor.
        case forget(serial: UInt64)
        /// Send ``Event/recallDue`` after ``Pool/recallAge``.
        case recallLater
        /// Workers die of their tasks; the pool rests.
        case rests(deathCount: Int, milliseconds: Int64)
    }

    /// Counters since the start.
    struct Counters: Hashable, Sendable {
        /// Answers to unknown tasks.
        var late = 0
        /// Tasks dispatched again, to another worker.
        var redispatched = 0
        /// Tasks whose client went away or no longer waited.
        var abandoned = 0
        /// Abandoned tasks that were cancelled at a worker.
        var cancelled = 0
        /// Tasks recalled from a worker for another one.
        var recalled = 0
        /// Tasks that expired before a worker had room for them.
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

    /// Begins without workers; `absence` is the time a pool may have none before its tasks are
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

    /// Applies an event in a pool; the returned actions are to be carried out in order.
    mutating func handle(_ event: Event, in pool: WorkerPool, at now: Int64) -> [Action] {
        pools[pool]?.handle(event, at: now) ?? []
    }

    /// Sum over all pools.
    var counters: Counters { pools.values.reduce(Counters()) { $0 + $1.counters } }

    /// A worker; nil when it is not registered.
    func worker(_ instance: UUID, in pool: WorkerPool) -> DispatchWorker? {
        pools[pool]?.workers.first { $0.instance == instance }
    }
}
