// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore

/// The workers and interactive tasks of one pool, as the supervisor sees them now.
public struct PoolStatus: Hashable, Sendable, Codable {
    /// Which pool.
    public var pool: WorkerPool
    /// Workers that are there.
    public var workerCount: Int
    /// Tasks no worker has taken yet.
    public var waitingTaskCount: Int
    /// Tasks that workers have.
    public var runningTaskCount: Int
    /// Those of them whose worker has been told to stop and has not answered yet.
    public var cancellingTaskCount: Int
    /// Tasks that the workers would take now.
    public var taskCredit: Int
    /// Workers that died of what they were given, or may have, since one of them last did it.
    public var deathsInRow: Int?
    /// How long the pool is given nothing because its workers keep dying, in milliseconds.
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

/// What the supervisor has to do now, and what it has counted since its start.
public struct SupervisorStatus: Hashable, Sendable, Codable {
    /// Every pool.
    public var pools: [PoolStatus]
    /// Tasks whose asker went away, or said that it no longer waits, before the answer.
    public var abandonedTaskCount: Int
    /// Those of them that a worker had, and was told to stop; the others were never begun.
    public var cancelledTaskCount: Int
    /// Tasks whose time was over before a worker had room for them; never begun.
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
