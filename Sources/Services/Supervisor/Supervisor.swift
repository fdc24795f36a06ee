// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import Bus
internal import CairnClient
package import CairnModel
package import Daemon
internal import Jobs
package import Logging
package import Site

/// The hub of a site: dispatches interactive tasks and chunks of jobs to workers, and records the
/// progress of jobs.
///
/// It decodes headers, never the payload of a task. A chunk's lease is committed before it is sent
/// to its worker, its result before the worker may discard it; so the supervisor, like any worker,
/// can be killed at any moment.
package final class Supervisor: Sendable {
    private let hub: Hub

    /// Opens `sup.req`, `sup.sink` and `sup.live` and begins to serve; jobs follow once the log has
    /// been read.
    ///
    /// `onFault` is called, on the bus thread, when the supervisor must end: another process writes
    /// jobs, or the log holds events unknown to this build. Throws `Failure` (`conflict`) when
    /// another process serves the endpoints. `pace` sets the frequency of snapshots of the jobs.
    package init(
        site: Site, bus: BusThread, logger: Logger, timing: SupervisorTiming = SupervisorTiming(),
        pace: SnapshotPace = .usual, metrics: MetricsRegistry = MetricsRegistry(),
        onFault: @escaping @Sendable (Failure) -> Void
    ) async throws(Failure) {
        let snapshots = StateSnapshots<JobTable>(site: site, log: try LogReader(bus: bus)) {
            logger.warning("snapshot not used", metadata: ["reason": "\($0)"])
        }
        hub = Hub(
            bus: bus, logger: logger, timing: timing, snapshots: snapshots, pace: pace,
            metrics: metrics, requestShutdown: onFault)
        try await hub.start()
    }

    /// Refuses new work, and waits until nothing is outstanding at workers, at most `limit`.
    ///
    /// Attempts still running then are adopted by the next supervisor; the remainder is returned
    /// and logged.
    @discardableResult
    package func drain(limit: Duration = .seconds(30)) async -> DrainSummary {
        await hub.drain(limit: limit)
    }

    /// Counters since the start, by name.
    package func counts() async -> [String: Int] { await hub.counts }
}

extension Hub {
    var counts: [String: Int] {
        let tasks = dispatcher.counters
        return [
            "staleResults": counters.staleResultCount, "lateResults": tasks.late,
            "redispatches": tasks.redispatched, "lostWorkers": counters.lostWorkerCount,
            "abandonedTasks": tasks.abandoned, "cancelledTasks": tasks.cancelled,
            "expiredTasks": tasks.expired, "recalledTasks": tasks.recalled,
            "workers": workers.count,
        ]
    }
}
