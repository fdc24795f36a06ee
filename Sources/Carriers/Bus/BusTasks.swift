// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Platform

/// Runs tasks on a bus thread, for those that prefer it: `Task(executorPreference: bus.tasks)`.
///
/// Awaiting the bus then wakes no other thread. As with handlers, the rest of the bus waits while a
/// task runs: each piece between two suspensions must be brief and must not block. After the end of
/// the bus thread the tasks continue, on whichever thread resumes them.
public final class BusTasks: TaskExecutor {
    private let thread: BusThread

    init(_ thread: BusThread) { self.thread = thread }

    /// Takes a piece of a task; called by the runtime.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = ThreadJob(job)
        let run = { @Sendable in job.run(for: self) }
        if !thread.loop.mailbox.postFromInside(run) { thread.lateJobs.run(run) }
    }
}

extension BusThread {
    /// An executor for tasks that are brief.
    public var tasks: BusTasks { BusTasks(self) }
}
