// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import FoundationEssentials
internal import Glibc
internal import Jobs
internal import Logging
internal import Platform

/// Workers that were given up: those that die of their tasks, and those that may resume.
extension Hub {
    /// Whether the pool gets no tasks because its workers keep dying.
    func isResting(_ pool: WorkerPool) -> Bool {
        dispatcher.pools[pool]?.isResting(at: MonotonicClock.nanoseconds()) ?? false
    }

    // MARK: Strays

    /// Keeps track of a process that is given up without proof of its death.
    func keepWatching(_ worker: WorkerLane, _ watch: BusThread.Watch) {
        let attempts = worker.chunks.mapValues(\.held.job)
        strays[worker.instance] = UnreapedWorker(
            processID: worker.hello.processID, watch: watch, attempts: attempts)
    }

    /// A stray worker has reported its running attempts; it writes nothing for the others.
    func cameBack(_ instance: UUID, holding running: [HeldAttempt]) {
        guard var stray = strays[instance] else { return }
        let leases = Set(running.map(\.attempt.lease))
        stray.attempts = stray.attempts.filter { leases.contains($0.key) }
        strays[instance] = stray
        settle(instance)
    }

    /// A stray has ended an attempt; after its last one it is no stray any more.
    func ended(_ lease: UUID, by instance: UUID) {
        strays[instance]?.attempts[lease] = nil
        settle(instance)
    }

    private func settle(_ instance: UUID) {
        guard strays[instance]?.attempts.isEmpty == true else { return }
        strays.removeValue(forKey: instance)?.watch.cancel()
    }

    /// Whether a silent worker has a cancelled attempt: it is killed, and counts as gone once its
    /// end is observed.
    func mustBeSeenToEnd(_ worker: WorkerLane) -> Bool {
        guard worker.watch != nil, !worker.hasExited,
            worker.chunks.values.contains(where: { $0.watch.cancelledAt != nil && !$0.isReported })
        else { return false }
        kill(worker.hello.processID, SIGKILL)
        return true
    }

    /// Kills the processes that may still work on lost attempts of a job; returns whether there
    /// were any.
    func killStrays(of job: JobID) -> Bool {
        let found = strays.values.filter { $0.attempts.values.contains(job) }
        for stray in found {
            logger.warning(
                "killing a silent worker of a job that is being cancelled",
                metadata: ["job": "\(job)", "pid": "\(stray.processID)"])
            kill(stray.processID, SIGKILL)
        }
        return !found.isEmpty
    }
}
