// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Daemon
internal import Logging
internal import MapState
internal import Platform
internal import Recording
internal import Site
internal import Worker

extension PoolProcess {
    /// Follows which locator each name stands for, and answers.
    ///
    /// It takes no work before it has read the log as far as it went at the start (or for ten
    /// seconds the log could not be reached): otherwise it would deny names that exist.
    static let locator = PoolProcess(
        // Two threads answer; with a heap for each, what one has freed would be lost to the other.
        .locator, keptHeapByteCount: 1 << 20
    ) { daemon, start in
        let recorder = try Recorder(daemon, .locator, rate: start.recording)
        defer { recorder.close() }
        let log = try LogReader(bus: daemon.bus)
        let follower = MapFollower()
        let subscription = try LogSubscription(
            bus: daemon.bus, log: log,
            categories: ["locator"],
            onFault: { if $0.code == .conflict { daemon.requestShutdown(because: $0) } }
        ) { events, position in
            follower.ingest(events, upTo: position)
            // It must not go on answering from what it knew before.
            if let fault = follower.fault { daemon.requestShutdown(because: fault) }
        }
        defer { subscription.cancel() }
        recorder.nameLog { subscription.incarnation }
        daemon.showKnown({ follower.current.sequence }, isStale: { subscription.isStale })
        do {
            let state = try await daemon.untilShutdown {
                let head = try await log.head().head
                // Jobs may have been going on since it read the log to the end.
                subscription.askForHead()
                return try await follower.snapshot(minSequence: head, timeout: .seconds(10))
            }
            guard state != nil else { return }
        } catch {
            daemon.logger.warning(
                "answers before it has read the log", metadata: ["reason": "\(error)"])
        }
        let shelf = LocatorShelf(site: daemon.site) { follower.current.locator(named: $0) }
        try await WorkerProcess.run(
            daemon, pool: .locator,
            handlers: LocatorOperations(
                on: shelf, isStale: { subscription.isStale }, recorder: recorder,
                sequence: { follower.current.sequence }
            ).handlers(blobs: start.scratch?.blobs ?? daemon.site.blobs),
            slots: WorkerSlots(taskCredit: 32, taskThreadCount: 2, chunkCount: 1),
            alone: start.scratch)
    }
}
