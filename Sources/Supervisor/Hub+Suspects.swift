// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import FoundationEssentials
internal import Platform

/// Tasks that two workers died with are tried alone: so the one that kills is told from those that were
/// merely there.
extension Hub {
    /// Gives each suspect to a worker that has nothing else to do, and nothing else to that worker.
    ///
    /// Returns the worker that is left to become idle for the next suspect.
    func trySuspects(_ pool: WorkerPool) -> UUID? {
        while let suspect = suspects[pool]?.first {
            guard let worker = emptiest(in: pool) else { return nil }
            guard suspect.isWanted else {
                dropFirstSuspect(of: pool)
                continue
            }
            guard worker.tasks.isEmpty, worker.taskCredit > 0 else { return worker.instance }
            _ = suspects[pool]?.popFirst()
            give(suspect, to: worker, MonotonicClock.nanoseconds())
        }
        return nil
    }

    private func dropFirstSuspect(of pool: WorkerPool) {
        guard let suspect = suspects[pool]?.popFirst(), !suspect.request.isOver else { return }
        expire(suspect)
    }

    private func emptiest(in pool: WorkerPool) -> WorkerLane? {
        workers.values.filter {
            $0.hello.pool == pool && $0.takesWork && $0.hello.taskCapacity > 0 && !$0.triesSuspect
        }.min { $0.tasks.count < $1.tasks.count }
    }

    /// Puts a task that its worker did not do in front of those that wait.
    func putBack(_ task: PendingTask) {
        if task.isSuspect {
            suspects[task.pool, default: TaskQueue()].putBack(task)
        } else if task.isLong {
            longQueues[task.pool, default: TaskQueue()].putBack(task)
        } else {
            queues[task.pool, default: TaskQueue()].putBack(task)
        }
    }
}
