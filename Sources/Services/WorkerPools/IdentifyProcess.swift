// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import CoreMetrics
internal import Daemon
internal import Dataset
internal import Logging
internal import MapState
internal import Recording
internal import Remote
internal import Site
internal import Worker

extension PoolProcess {
    /// Follows the maps of a site and serves the identify pool.
    ///
    /// It accepts no work before it has read the log up to its head at the start (or after ten
    /// seconds without the log): otherwise it would report existing maps as missing.
    static let identify = PoolProcess(
        // Its dozen threads keep little freed memory.
        .identify, keptHeapByteCount: 64 << 10
    ) { daemon, start in
        let recorder = try Recorder(daemon, .identify, rate: start.recording)
        defer { recorder.close() }
        let log = try LogReader(bus: daemon.bus)
        let snapshots = StateSnapshots<MapsState>(site: daemon.site, log: log) { reason in
            daemon.logger.warning("snapshot not used", metadata: ["reason": "\(reason)"])
        }
        let follower = try MapFollower(
            following: daemon.bus, log: log, hasLocators: false, from: snapshots,
            onFault: { if $0.code == .conflict { daemon.requestShutdown(because: $0) } },
            // It must not go on answering from an outdated state.
            onStop: { daemon.requestShutdown(because: $0) })
        defer { follower.stop() }
        recorder.nameLog { follower.incarnation }
        daemon.showKnown({ follower.current.sequence }, isStale: { follower.isStale })
        do {
            let state = try await daemon.untilShutdown {
                let head = try await log.head().head
                return try await follower.snapshot(minSequence: head, timeout: .seconds(10))
            }
            guard let state else { return }
            daemon.logger.info(
                "map state loaded",
                metadata: [
                    "sequence": "\(state.sequence)", "maps": "\(state.mapNames.count)",
                    "folded": "\(follower.foldedCount)",
                ])
        } catch {
            daemon.logger.warning(
                "accepting work before the log has been read", metadata: ["reason": "\(error)"])
        }
        let shelf = DatasetCache(directory: daemon.site.datasetsDirectory)
        let opened = daemon.metrics.meter("cairn_worker_open_datasets", "Datasets that are open.")
        daemon.metrics.beforeWriting { opened.set(shelf.count) }
        let operations = try IdentifyOperations(
            follower: follower, isStale: { follower.isStale }, shelf: shelf,
            rasters: daemon.site.rastersDirectory,
            remotes: try RemoteServices(of: daemon.site), recorder: recorder
        ) { request throws(Failure) in
            try await log.events(request)
        }
        try await WorkerProcess.run(
            daemon, pool: .identify,
            handlers: operations.handlers(blobs: start.scratch?.blobs ?? daemon.site.blobs),
            slots: WorkerSlots(
                taskCredit: 32, taskThreadCount: 1, longThreadCount: 1, chunkCount: 1),
            alone: start.scratch)
    }
}
