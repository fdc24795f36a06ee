// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
public import Daemon
internal import Logging
internal import MapState
internal import Platform
public import Recording
internal import Site
internal import Worker

/// The process `cairn-locator`: follows which locator each name stands for, and answers.
public enum LocatorProcess {
    /// Serves until the process is asked to end.
    ///
    /// It takes no work before it has read the log as far as it went at the start (or for ten seconds
    /// the log could not be reached): otherwise it would deny names that exist.
    ///
    /// With the path of a work order, it does that one chunk alone instead.
    public static func run(
        _ daemon: Daemon, recording rate: RecordingRate, alone path: String? = nil
    ) async throws {
        let scratch = try path.map { path throws(Failure) in try ScratchChunk(path: path) }
        let recorder = try Recorder(
            site: daemon.site, process: daemon.name, version: WorkerProcess.version, rate: rate)
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
            ).handlers(blobs: scratch?.blobs ?? daemon.site.blobs),
            slots: WorkerSlots(taskCredit: 32, taskThreadCount: 2, chunkCount: 1), alone: scratch)
    }
}
