// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// A piece of an actor's or task's work, handed to an executor, to be run exactly once on its
/// thread.
public struct ThreadJob: Sendable {
    private let job: UnownedJob

    /// Takes the job over.
    public init(_ job: consuming ExecutorJob) { self.job = UnownedJob(job) }

    /// Runs it on the calling thread, as the executor's work.
    ///
    /// Call once.
    public func run(on executor: some SerialExecutor) {
        unsafe job.runSynchronously(on: executor.asUnownedSerialExecutor())
    }

    /// Runs the job as the work of a task that prefers the executor.
    public func run(for executor: some TaskExecutor) {
        unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
    }
}

extension SerialExecutor {
    /// The result of an actor's `unownedExecutor`; the actor must keep the executor alive.
    @safe public var unownedReference: UnownedSerialExecutor {
        unsafe asUnownedSerialExecutor()
    }
}
