// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The workers and interactive tasks of one pool, as the supervisor sees them now.
public struct PoolStatus: Hashable, Sendable, Codable {
    /// The pool.
    public var pool: WorkerPool
    /// Workers that are there.
    public var workerCount: Int
    /// Tasks no worker has taken yet.
    public var waitingTaskCount: Int
    /// Tasks that workers have.
    public var runningTaskCount: Int
    /// Number of tasks whose worker has been stopped and has not answered yet.
    public var cancellingTaskCount: Int
    /// Tasks that the workers would take now.
    public var taskCredit: Int
    /// Number of consecutive worker deaths possibly caused by their work.
    public var deathsInRow: Int?
    /// Pause of the pool after repeated worker deaths, in milliseconds.
    public var restMilliseconds: Int?

    /// Makes a status.
    public init(
        pool: WorkerPool, workerCount: Int, waitingTaskCount: Int, runningTaskCount: Int,
        cancellingTaskCount: Int, taskCredit: Int, deathsInRow: Int? = nil,
        restMilliseconds: Int? = nil
    ) {
        self.deathsInRow = deathsInRow
        self.restMilliseconds = restMilliseconds
        self.pool = pool
        self.workerCount = workerCount
        self.waitingTaskCount = waitingTaskCount
        self.runningTaskCount = runningTaskCount
        self.cancellingTaskCount = cancellingTaskCount
        self.taskCredit = taskCredit
    }
}

/// The supervisor's current work, and its counters since its start.
public struct SupervisorStatus: Hashable, Sendable, Codable {
    /// Every pool.
    public var pools: [PoolStatus]
    /// Number of tasks abandoned before the answer: their requester disconnected or cancelled.
    public var abandonedTaskCount: Int
    /// Number of abandoned tasks that were stopped on a worker; the others never started.
    public var cancelledTaskCount: Int
    /// Number of tasks that expired in the queue; never started.
    public var expiredTaskCount: Int
    /// Tasks given to another worker because theirs died or refused.
    public var redispatchedTaskCount: Int
    /// Workers that died or fell silent.
    public var lostWorkerCount: Int

    /// Makes a status.
    public init(
        pools: [PoolStatus], abandonedTaskCount: Int, cancelledTaskCount: Int,
        expiredTaskCount: Int, redispatchedTaskCount: Int, lostWorkerCount: Int
    ) {
        self.pools = pools
        self.abandonedTaskCount = abandonedTaskCount
        self.cancelledTaskCount = cancelledTaskCount
        self.expiredTaskCount = expiredTaskCount
        self.redispatchedTaskCount = redispatchedTaskCount
        self.lostWorkerCount = lostWorkerCount
    }

    /// One pool.
    public subscript(_ pool: WorkerPool) -> PoolStatus? { pools.first { $0.pool == pool } }
}
