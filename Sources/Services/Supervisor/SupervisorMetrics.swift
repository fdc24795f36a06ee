// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import CoreMetrics
internal import Daemon
internal import Jobs

/// What the supervisor shows of its state, and counts.
///
/// Tasks are counted by the dispatcher, without a handle; ``Hub/showMetrics()`` shows its numbers
/// before each text.
struct SupervisorMetrics: Sendable {
    /// Of one pool.
    struct OfPool: Sendable {
        let workers: Meter
        let waitingTasks: Meter
        let runningTasks: Meter
        let runningChunks: Meter
        let doneTasks: CountedTotal
        let refusedTasks: CountedTotal
        let recalledTasks: CountedTotal
        let redispatchedTasks: CountedTotal
        let abandonedTasks: CountedTotal
        let expiredTasks: CountedTotal
        let taskSeconds: FloatingPointCounter
        let completedChunks: Counter
        let failedChunks: Counter
        let releasedChunks: Counter
        let lostChunks: Counter

        init(_ pool: WorkerPool, _ registry: MetricsRegistry) {
            let labels = [("pool", pool.name)]
            func meter(_ name: String, _ help: String) -> Meter {
                registry.meter(name, help, labels)
            }
            func total(_ name: String, _ help: String) -> CountedTotal {
                registry.total(name, help, labels)
            }
            func chunks(_ result: String) -> Counter {
                registry.counter(
                    "cairn_supervisor_chunks_total", "Attempts at chunks that ended, by result.",
                    labels + [("result", result)])
            }
            workers = meter("cairn_supervisor_workers", "Workers known.")
            waitingTasks = meter("cairn_supervisor_waiting_tasks", "Tasks that no worker has.")
            runningTasks = meter("cairn_supervisor_running_tasks", "Tasks that workers have.")
            runningChunks = meter("cairn_supervisor_running_chunks", "Chunks that workers have.")
            doneTasks = total("cairn_supervisor_done_tasks_total", "Tasks answered by workers.")
            refusedTasks = total(
                "cairn_supervisor_refused_tasks_total", "Tasks refused, expired ones among them.")
            recalledTasks = total(
                "cairn_supervisor_recalled_tasks_total",
                "Tasks that a worker was asked to hand back for another.")
            redispatchedTasks = total(
                "cairn_supervisor_redispatched_tasks_total", "Tasks given to another worker.")
            abandonedTasks = total(
                "cairn_supervisor_abandoned_tasks_total", "Tasks whose client no longer waited.")
            expiredTasks = total(
                "cairn_supervisor_expired_tasks_total",
                "Tasks whose time was over before a worker had room.")
            taskSeconds = registry.sum(
                "cairn_supervisor_task_seconds_total",
                "From the dispatch of the tasks done to their answers, together.", labels)
            completedChunks = chunks("completed")
            failedChunks = chunks("failed")
            releasedChunks = chunks("released")
            lostChunks = chunks("lost")
        }

        /// Counts how an attempt ended.
        func count(_ report: ChunkReport) {
            switch report {
            case .completed: completedChunks.increment()
            case .failed: failedChunks.increment()
            case .released: releasedChunks.increment()
            }
        }
    }

    private let pools: [WorkerPool: OfPool]
    private let openJobs: [(status: JobStatus, count: Meter)]
    private let endedJobs: [(status: JobStatus, count: Counter)]
    private let staleResults: CountedTotal
    private let lostWorkers: CountedTotal

    init(_ registry: MetricsRegistry) {
        pools = Dictionary(
            uniqueKeysWithValues: WorkerPool.allCases.map { ($0, OfPool($0, registry)) })
        openJobs = [JobStatus.submitted, .waiting, .executing, .cancelling].map { status in
            (
                status,
                registry.meter(
                    "cairn_supervisor_open_jobs", "Jobs that have not ended, by status.",
                    [("status", status.rawValue)])
            )
        }
        endedJobs = [JobStatus.succeeded, .failed, .timedOut, .cancelled].map { status in
            (
                status,
                registry.counter(
                    "cairn_supervisor_ended_jobs_total", "Jobs that have ended, by status.",
                    [("status", status.rawValue)])
            )
        }
        staleResults = registry.total(
            "cairn_supervisor_stale_results_total", "Results whose attempt had lost its lease.")
        lostWorkers = registry.total(
            "cairn_supervisor_lost_workers_total", "Workers that died or fell silent.")
    }

    subscript(pool: WorkerPool) -> OfPool? { pools[pool] }

    /// Counts a job that has ended.
    func countEnd(_ status: JobStatus?) {
        endedJobs.first { $0.status == status }?.count.increment()
    }

    fileprivate func show(open: [JobStatus: Int], _ counters: HubCounters) {
        for (status, count) in openJobs { count.set(open[status] ?? 0) }
        staleResults.set(counters.staleResultCount)
        lostWorkers.set(counters.lostWorkerCount)
    }
}

extension Hub {
    /// Sets what is not counted as it happens.
    func showMetrics() {
        for pool in dispatcher.pools.values {
            guard let shown = metrics[pool.pool] else { continue }
            let lanes = workers.values.filter { $0.hello.pool == pool.pool }
            shown.workers.set(lanes.count)
            shown.waitingTasks.set(pool.waitingCount)
            shown.runningTasks.set(pool.workers.reduce(0) { $0 + $1.tasks.count })
            shown.runningChunks.set(
                lanes.reduce(0) { $0 + $1.chunks.values.count { !$0.isReported } })
            shown.doneTasks.set(pool.counters.done)
            shown.refusedTasks.set(pool.counters.refused)
            shown.recalledTasks.set(pool.counters.recalled)
            shown.redispatchedTasks.set(pool.counters.redispatched)
            shown.abandonedTasks.set(pool.counters.abandoned)
            shown.expiredTasks.set(pool.counters.expired)
            let nanoseconds = pool.counters.nanoseconds
            shown.taskSeconds.increment(
                by: Double(nanoseconds - (shownTaskNanoseconds[pool.pool] ?? 0)) / 1e9)
            shownTaskNanoseconds[pool.pool] = nanoseconds
        }
        var open: [JobStatus: Int] = [:]
        for job in openJobs {
            if let status = table[job]?.status { open[status, default: 0] += 1 }
        }
        metrics.show(open: open, counters)
    }
}
