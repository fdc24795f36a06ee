// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnCore
public import FoundationEssentials

/// A worker process as the supervisor sees it.
public struct WorkerDescription: Hashable, Sendable, Codable {
    /// Instance id, new for every start of the process.
    public var instance: UUID
    /// The worker's pool.
    public var pool: WorkerPool
    /// Its process id on its own machine.
    public var processID: Int32
    /// Interactive tasks it would take now.
    public var taskCredit: Int
    /// Job chunks it would take now.
    public var chunkCredit: Int
    /// Interactive tasks it has been given and not answered.
    public var runningTaskCount: Int
    /// The attempts it holds.
    public var held: [HeldAttempt]
    /// Number of tasks and chunks answered since the supervisor knows the worker.
    public var doneCount: Int
    /// Whether it accepts no further work.
    public var isDraining: Bool
    /// The build, `cairn-worker/0.1.0`.
    public var build: String
    /// Registration time at the supervisor.
    public var since: Timestamp

    /// Makes a description.
    public init(
        instance: UUID, pool: WorkerPool, processID: Int32, taskCredit: Int, chunkCredit: Int,
        runningTaskCount: Int, held: [HeldAttempt], doneCount: Int, isDraining: Bool,
        build: String, since: Timestamp
    ) {
        self.instance = instance
        self.pool = pool
        self.processID = processID
        self.taskCredit = taskCredit
        self.chunkCredit = chunkCredit
        self.runningTaskCount = runningTaskCount
        self.held = held
        self.doneCount = doneCount
        self.isDraining = isDraining
        self.build = build
        self.since = since
    }
}
