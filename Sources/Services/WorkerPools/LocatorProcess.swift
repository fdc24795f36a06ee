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
    /// Follows the published locators of a site and serves the locator pool.
    ///
    /// It accepts no work before it has read the log up to its head at the start (or after ten
    /// seconds without the log): otherwise it would report existing names as missing.
    static let locator = PoolProcess(
        // One heap for both threads: with two, memory freed by one is lost to the other.
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
            // It must not go on answering from an outdated state.
            if let fault = follower.fault { daemon.requestShutdown(because: fault) }
        }
        defer { subscription.cancel() }
        recorder.nameLog { subscription.incarnation }
        daemon.showKnown({ follower.current.sequence }, isStale: { subscription.isStale })
        do {
            let state = try await daemon.untilShutdown {
                let head = try await log.head().head
                // Appends may have continued since it read the log to the end.
                subscription.askForHead()
                return try await follower.snapshot(minSequence: head, timeout: .seconds(10))
            }
            guard state != nil else { return }
        } catch {
            daemon.logger.warning(
                "accepting work before the log has been read", metadata: ["reason": "\(error)"])
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
