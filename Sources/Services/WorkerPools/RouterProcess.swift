// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Daemon
internal import Dataset
internal import Logging
internal import MapState
internal import Recording
internal import Site
internal import SiteAnswers
internal import Synchronization
internal import Worker

extension PoolProcess {
    /// Follows the published networks of a site and the changes of their roads, and serves the
    /// router pool.
    ///
    /// It accepts no work before it has read the log up to its head at the start (or after ten
    /// seconds without the log), and has opened the networks.
    static let router = PoolProcess(
        // What opening a network leaves free is given back.
        .router, keptHeapByteCount: 64 << 10
    ) { daemon, start in
        let recorder = try Recorder(daemon, .router, rate: start.recording)
        defer { recorder.close() }
        let log = try LogReader(bus: daemon.bus)
        let changes = LatestNetworks()
        let following = Mutex<RoadFollower?>(nil)
        let follower = try NetworkFollower(
            following: daemon.bus, log: log,
            onFault: { if $0.code == .conflict { daemon.requestShutdown(because: $0) } },
            // It must not go on answering from an outdated state.
            onStop: { daemon.requestShutdown(because: $0) },
            onChange: { networks in
                changes.take(networks)
                following.withLock { $0 }?.poke()
            })
        defer { follower.stop() }
        recorder.nameLog { follower.incarnation }
        daemon.showKnown({ follower.current.sequence }, isStale: { follower.isStale })
        let shelf = NetworkShelf(site: daemon.site)
        let layers = LayerRoads(shelf: DatasetCache(directory: daemon.site.datasetsDirectory))
        let roads = RoadFollower(
            log: FollowedNetworks(follower: follower, log: log), layers: layers,
            open: { published throws(Failure) in try shelf.network(published) },
            makeMaps: { () throws(Failure) in
                try MapFollower(
                    following: daemon.bus, log: log, hasLocators: false,
                    from: StateSnapshots<MapsState>(site: daemon.site, log: log) { reason in
                        daemon.logger.warning(
                            "snapshot not used", metadata: ["reason": "\(reason)"])
                    },
                    onFault: { if $0.code == .conflict { daemon.requestShutdown(because: $0) } },
                    // Roads would stay as they are, whatever happens to the layers.
                    onStop: { daemon.requestShutdown(because: $0) })
            },
            report: { reason in
                daemon.logger.warning(
                    "roads do not follow a layer", metadata: ["reason": "\(reason)"])
            })
        defer { roads.stop() }
        let operations = RouterOperations(
            follower: follower, shelf: shelf, log: log, layers: layers, roads: roads,
            recorder: recorder)
        // A process for one chunk changes nothing.
        if start.scratch == nil {
            following.withLock { $0 = roads }
            roads.start()
        }
        changes.begin(operations.prepare)
        do {
            let state = try await daemon.untilShutdown {
                let head = try await log.head().head
                return try await follower.snapshot(minSequence: head, timeout: .seconds(10))
            }
            guard let state else { return }
            operations.warmUp(state)
        } catch {
            daemon.logger.warning(
                "accepting work before the log has been read", metadata: ["reason": "\(error)"])
        }
        try await WorkerProcess.run(
            daemon, pool: .router,
            handlers: operations.handlers(blobs: start.scratch?.blobs ?? daemon.site.blobs),
            slots: WorkerSlots(
                taskCredit: 32, taskThreadCount: 2, longThreadCount: 1, chunkCount: 1),
            alone: start.scratch)
    }
}

/// Hands each state of the networks to a consumer on another thread, the latest one alone where
/// several came meanwhile.
private final class LatestNetworks: Sendable {
    private struct State {
        var waiting: NetworksState?
        var isBusy = false
        var consume: (@Sendable (NetworksState) -> Void)?
    }

    private let state = Mutex(State())

    func take(_ networks: NetworksState) {
        state.withLock { $0.waiting = networks }
        run()
    }

    func begin(_ consume: @escaping @Sendable (NetworksState) -> Void) {
        state.withLock { $0.consume = consume }
        run()
    }

    private func run() {
        let isFirst = state.withLock { state in
            guard !state.isBusy, state.waiting != nil, state.consume != nil else { return false }
            state.isBusy = true
            return true
        }
        guard isFirst else { return }
        Task { [self] in
            while let (networks, consume) = next() { consume(networks) }
        }
    }

    private func next() -> (NetworksState, @Sendable (NetworksState) -> Void)? {
        state.withLock { state in
            guard let networks = state.waiting, let consume = state.consume else {
                state.isBusy = false
                return nil
            }
            state.waiting = nil
            return (networks, consume)
        }
    }
}
