// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import FoundationEssentials
internal import Platform

/// Tasks that wait behind others at one worker are taken back for a worker that has nothing to do.
extension Hub {
    /// How long a task must have waited at its worker: several times the way there and back, so that
    /// what a busy pool will have done in a moment stays where it is.
    static let recallAge = Duration.milliseconds(2)

    /// A worker has become idle, and nothing waits here for it.
    func expectRecall(in pool: WorkerPool) {
        guard !expectedRecalls.contains(pool), isAnyCrowded(in: pool) else { return }
        expectedRecalls.insert(pool)
        after(Self.recallAge) { hub in
            hub.expectedRecalls.remove(pool)
            hub.recallTasks(in: pool)
        }
    }

    private func isAnyCrowded(in pool: WorkerPool) -> Bool {
        workers.values.contains { $0.hello.pool == pool && $0.waitingTaskCount > 0 }
    }

    /// Asks the worker with most waiting tasks for half of them, the oldest, where another one is idle.
    func recallTasks(in pool: WorkerPool) {
        guard (queues[pool]?.count ?? 0) == 0, (suspects[pool]?.count ?? 0) == 0,
            !isResting(pool)
        else { return }
        var idleCredit = 0
        var donor: WorkerLane?
        for worker in workers.values where worker.hello.pool == pool {
            if worker.takesWork, worker.tasks.isEmpty {
                idleCredit = max(idleCredit, worker.taskCredit)
            }
            if worker.waitingTaskCount > donor?.waitingTaskCount ?? 0 { donor = worker }
        }
        guard idleCredit > 0, let donor else { return }
        let candidates = donor.tasks.sorted { $0.value.givenAt < $1.value.givenAt }
            .dropFirst(donor.hello.taskThreadCount)
            .filter { !$0.value.isRecalled && !$0.value.isCancelled }
        let limit = MonotonicClock.nanoseconds() - Self.recallAge.wholeNanoseconds
        let count = min(idleCredit, (donor.waitingTaskCount + 1) / 2)
        let recalled = candidates.filter { $0.value.givenAt <= limit }.prefix(count)
        for dispatch in recalled.map(\.key) {
            donor.tasks[dispatch]?.isRecalled = true
            counters.recalledTaskCount += 1
            send(.recall(dispatch), to: donor.instance)
        }
        if recalled.isEmpty, !candidates.isEmpty { expectRecall(in: pool) }
    }
}
