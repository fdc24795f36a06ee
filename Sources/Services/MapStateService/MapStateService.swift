// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import Bus
internal import CairnClient
package import CairnModel
internal import CoreMetrics
package import Daemon
package import Logging
internal import MapState
internal import Platform
package import Site

/// Semantics of map events as a service: executes commands one after the other, and loads layers in
/// the background.
///
/// A command is decided on the folded state, appended on condition that its map's stream has not
/// moved on, and answered after the commit. A load is two events, `loadStarted` and `loaded` or
/// `loadFailed`; a load that a crash interrupted starts again after the restart. A crash at any
/// moment loses nothing that was answered.
package actor MapStateService {
    private let inbox = Inbox()
    private let bus: BusThread
    private let site: Site
    private let logger: Logger
    private let log: MapLog
    private let snapshots: StateSnapshots<MapsState>
    private let pace: SnapshotPace
    private let compactionFeatureCount: Int?
    private var loader: LayerLoader?
    private var lanes = LoadLanes()
    private let features: LayerFeatures
    private var compactor: LayerCompactor?
    private var timer: BusThread.Timer?
    private var isHashing = false
    private let failpoints = Failpoints()
    private let metrics: MapStateMetrics

    /// Maximum number of attempts at a command when the map changes concurrently.
    private static let attempts = 5
    private static let retryInterval = Duration.milliseconds(500)

    /// Makes a service that is idle until ``run()``; its sockets belong to `bus`.
    ///
    /// `pace` sets the frequency of snapshots; `compactionFeatureCount` the number of changed
    /// features that triggers a compaction, 1,000 by default.
    package init(
        site: Site, bus: BusThread, logger: Logger, pace: SnapshotPace = .usual,
        compactionFeatureCount: Int? = nil, metrics: MetricsRegistry = MetricsRegistry()
    ) throws(Failure) {
        self.metrics = MapStateMetrics(metrics)
        self.site = site
        self.bus = bus
        self.logger = logger
        self.pace = pace
        self.compactionFeatureCount = compactionFeatureCount
        let reader = try LogReader(bus: bus)
        snapshots = StateSnapshots(site: site, log: reader) { reason in
            logger.warning("snapshot not used", metadata: ["reason": "\(reason)"])
        }
        log = MapLog(log: reader, snapshots: snapshots, pace: pace)
        features = LayerFeatures(datasets: site.datasetsDirectory)
    }

    /// Folds the log, opens `map.req` and serves until ``stop()``.
    ///
    /// Waits while the log is unreachable. Throws `Failure`: `corrupt` or `newerVersion` when the
    /// log holds map events that cannot be folded, `conflict` when another process serves
    /// `map.req`, `fenced` when another one has claimed the maps.
    package func run() async throws(Failure) {
        guard try await foldAtStart() else { return }
        let inbox = inbox
        let loader = try LayerLoader(site: site) { inbox.put(.loaded($0)) }
        self.loader = loader
        lanes.refill(from: log.state)
        compactor = try LayerCompactor(
            site, log.state, threshold: compactionFeatureCount, logger: logger
        ) { inbox.put(.compacted($0)) }
        try bus.bindRouter(.mapRequests) { inbox.put($0) }
        timer = bus.schedule(every: Self.retryInterval) { inbox.wake() }
        logger.info(
            "maps ready",
            metadata: [
                "sequence": "\(log.state.sequence)", "maps": "\(log.state.mapNames.count)",
                "toLoad": "\(lanes.waitingCount)", "folded": "\(log.foldedCount)",
            ])
        showState()
        inbox.wake()
        for await _ in inbox.signals {
            for item in inbox.takeAll() where log.fault == nil { await handle(item) }
            if log.fault != nil { break }
            showState()
            keepIfDue()
        }
        timer?.cancel()
        loader.stop()
        compactor?.stop()
        if let fault = log.fault { throw fault }
    }

    /// Ends ``run()``; queued commands are answered `draining`.
    package nonisolated func stop() { inbox.close() }

    /// False when the service was stopped before the log could be read.
    private func foldAtStart() async throws(Failure) -> Bool {
        while true {
            do throws(Failure) {
                try await log.takeOver()
                return true
            } catch {
                // Stopped before the log was reachable.
                if error.code == .cancelled { return false }
                guard error.isRetriable || error.code == .noSpace else { throw error }
                logger.warning("waiting for the log", metadata: ["reason": "\(error)"])
                do { try await Task.sleep(for: Self.retryInterval) } catch { return false }
            }
        }
    }

    private func showState() {
        metrics.sequence.set(log.state.sequence)
        metrics.waitingLoads.set(lanes.waitingCount)
    }

    /// Starts a snapshot in the background where one is due.
    private func keepIfDue() {
        guard pace.isDue(after: log.unkeptCount, log.state), snapshots.keepBeside(log.state) else {
            return
        }
        log.noteKept()
    }

    private func handle(_ item: Inbox.Item) async {
        switch item {
        case .command(let request): await answer(request)
        case .loaded(let loaded): await record(loaded)
        case .compacted(let compacted): await record(compacted)
        case .wake: if log.isBehind { try? await catchUp() }
        }
        await loadNext()
        // On a state that lacks events, a compaction would produce a dataset that the log never
        // names.
        if !log.isBehind { compactor?.startNext(log.state) }
    }

    // MARK: Commands

    private func answer(_ request: IncomingRequest) async {
        defer {
            metrics.commandSeconds.recordNanoseconds(
                MonotonicClock.nanoseconds() - request.arrivedAt)
        }
        do {
            try await Self.operations.handler(for: request)(self, request)
        } catch {
            metrics.refusedCommands.increment()
            let error = error as? Failure ?? Failure(.internal, "\(error)")
            // The process ends during a command: the client has not cancelled, and the next process
            // determines the outcome.
            let isEnding = error.code == .cancelled
            request.reply(
                failure: isEnding
                    ? Failure(.draining, "the map state is shutting down; ask again") : error)
        }
    }

    static let operations: OperationTable<Handler> = {
        var table = OperationTable<Handler>(of: "the map state")
        table.on(.mapCommand) { service, request in
            let result = try await service.carryOut(
                Operation.mapCommand.request(in: request.message))
            service.failpoints.pass("mapstate.beforeReply")
            request.reply(encoding: result, sequence: result.sequence)
        }
        table.on(.mapsHash) { service, request in
            try service.hash(for: request)
        }
        return table
    }()

    typealias Handler =
        @Sendable (isolated MapStateService, IncomingRequest) async throws -> Void

    /// Answers with the hash of the current state, computed concurrently with the commands that
    /// follow.
    private func hash(for request: IncomingRequest) throws(Failure) {
        guard !isHashing else {
            throw Failure(.busy, "a state hash is already in progress; try again")
        }
        isHashing = true
        Task { [state = log.state] in
            request.reply(hashOf: await Self.hash(state))
            isHashing = false
        }
    }

    @concurrent private static func hash(_ state: MapsState) async -> Result<StateHash, Failure> {
        Result { () throws(Failure) in try state.hash().message }
    }

    private func carryOut(_ request: MapCommandRequest) async throws(Failure) -> MapCommandResult {
        var attempt = 1
        while true {
            do throws(Failure) {
                return try await attemptOnce(request)
            } catch {
                guard error.code == .conflict, log.isBehind, attempt < Self.attempts else {
                    throw error
                }
                attempt += 1
            }
        }
    }

    private func attemptOnce(_ request: MapCommandRequest) async throws(Failure) -> MapCommandResult
    {
        do throws(Failure) { try await catchUp() } catch {
            guard error.isRetriable else { throw error }
            throw Failure(
                .logUnavailable, "the log is unreachable: nothing was changed",
                details: [error.message])
        }
        switch request.command {
        case .editFeatures(let layer, let edits):
            var result = try await edit(request, [LayerFeatureEdits(layer, edits)])
            (result.edits, result.layerEdits) = (result.layerEdits?.first, nil)
            return result
        case .editLayers(let edits): return try await edit(request, edits)
        case .undo(let undo): return try await self.undo(request, undo)
        case .replaceData(let layer, let replacement):
            return try await replace(request, layer, replacement)
        default: break
        }
        if let known = log.state.outcome(of: request.id) { return known }
        let changes =
            if case .renameMap(let name) = request.command {
                try log.state.decideRename(of: request.map, to: name)
            } else {
                [(map: request.map, events: try log.state.decide(request))]
            }
        guard changes.contains(where: { !$0.events.isEmpty }) else {
            return MapCommandResult(
                sequence: log.state.lastChange(of: request.map) ?? log.state.sequence)
        }
        let sequence = try await log.append(changes, because: request)
        if log.isBehind {
            try await catchUp()
            if let known = log.state.outcome(of: request.id) { return known }
        }
        for change in changes { for event in change.events { noteLoad(event, of: change.map) } }
        switch request.command {
        case .installMap, .renameMap: compactor?.noteEdits(in: log.state)
        default: break
        }
        return log.state.outcome(of: request.id) ?? MapCommandResult(sequence: sequence)
    }

    private func edit(
        _ request: MapCommandRequest, _ edits: [LayerFeatureEdits]
    ) async throws(Failure) -> MapCommandResult {
        if let known = try await outcome(of: request, edits) { return known }
        let (event, results) = try log.state.decide(edits, in: request.map) {
            layer, dataset throws(Failure) in
            let reference = log.state.layer(layer, in: request.map)?.properties?.spatialReference
            return try features.lend(dataset, in: reference)
        }
        guard let event else {
            return MapCommandResult(
                sequence: log.state.lastChange(of: request.map) ?? log.state.sequence,
                layerEdits: results)
        }
        let sequence = try await log.append([event], to: request.map, because: request)
        if log.isBehind {
            try await catchUp()
            if let known = try await outcome(of: request, edits) { return known }
        }
        for each in edits { compactor?.noteEdit(of: each.layer, in: request.map) }
        return MapCommandResult(sequence: sequence, layerEdits: results)
    }

    /// Plans the undo on the whole stream of the map, and appends its event.
    private func undo(
        _ request: MapCommandRequest, _ undo: UndoRequest
    ) async throws(Failure) -> MapCommandResult {
        if let known = log.state.outcome(of: request.id) { return known }
        guard log.state.streamPosition(of: request.map) != nil else {
            throw Failure(.notFound, "there never was a map '\(request.map)'")
        }
        var plan = MapUndo(of: request.map, undo)
        try await log.forEachRecord(of: request.map) { record throws(Failure) in
            try plan.take(record)
        }
        let (event, report) = try plan.plan { _, dataset throws(Failure) in
            try features.lend(dataset, in: nil)
        }
        var result = MapCommandResult(
            sequence: log.state.lastChange(of: request.map) ?? log.state.sequence)
        result.undo = report
        guard let event, !undo.isDryRun else { return result }
        // What was appended meanwhile makes this one a conflict, and the command is tried again.
        guard plan.streamPosition == log.state.streamPosition(of: request.map) else {
            log.fallBehind()
            throw Failure(.conflict, "map '\(request.map)' changed during the undo: try again")
        }
        result.sequence = try await log.append([event], to: request.map, because: request)
        if log.isBehind { try await catchUp() }
        lanes.refill(from: log.state)
        compactor?.noteEdits(in: log.state)
        return result
    }

    /// Plans the replacement of a layer's data on the whole stream of the map, and appends its
    /// event.
    private func replace(
        _ request: MapCommandRequest, _ layer: LayerID, _ replacement: ReplacementRequest
    ) async throws(Failure) -> MapCommandResult {
        if let known = log.state.outcome(of: request.id) { return known }
        var plan = MapReplacement(of: layer, in: request.map)
        try await log.forEachRecord(of: request.map) { record throws(Failure) in
            try plan.take(record)
        }
        var properties = try features.properties(of: replacement.dataset)
        if properties.geographicExtent == nil {
            properties.geographicExtent = GeographicExtent.of(properties)
        }
        let (event, report) = try plan.plan(replacement, properties) {
            dataset throws(Failure) in try features.lend(dataset, in: nil)
        }
        var result = MapCommandResult(
            sequence: log.state.lastChange(of: request.map) ?? log.state.sequence)
        result.replacement = report
        guard let event else { return result }
        // What was appended meanwhile makes this one a conflict, and the command is tried again.
        guard plan.streamPosition == log.state.streamPosition(of: request.map) else {
            log.fallBehind()
            throw Failure(
                .conflict, "map '\(request.map)' changed during the replacement: try again")
        }
        result.sequence = try await log.append([event], to: request.map, because: request)
        if log.isBehind { try await catchUp() }
        lanes.refill(from: log.state)
        compactor?.noteEdits(in: log.state)
        return result
    }

    /// The outcome of edits that were carried out before; the event has what the state does not
    /// keep.
    private func outcome(
        of request: MapCommandRequest, _ edits: [LayerFeatureEdits]
    ) async throws(Failure) -> MapCommandResult? {
        guard var known = log.state.outcome(of: request.id) else { return nil }
        let event = try await log.featuresEdited(at: known.sequence)
        known.layerEdits = zip(edits, event.layers).map { FeatureEditResults($0.edits, $1) }
        return known
    }

    private func noteLoad(_ event: MapEvent, of map: MapName) {
        switch event {
        case .layerAdded(let event) where event.kind != .group:
            lanes.add(map, event.layer, log.state)
        case .layerSourceChanged(let event): lanes.add(map, event.layer, log.state)
        case .layerLoadStarted(let event): lanes.add(map, event.layer, log.state)
        case .restored: lanes.refill(from: log.state)
        default: break
        }
    }

    // MARK: Loading

    /// Folds the events that the state lacks: unacknowledged appends, whose loads and compactions
    /// are not scheduled yet.
    private func catchUp() async throws(Failure) {
        let before = log.foldedCount
        defer {
            if log.foldedCount > before {
                lanes.refill(from: log.state)
                compactor?.noteEdits(in: log.state)
            }
        }
        try await log.catchUp()
    }

    /// Starts the next loads up to capacity; while the log is unreachable they are postponed.
    private func loadNext() async {
        for lane in LayerLoader.Lane.allCases { await loadNext(in: lane) }
    }

    private func loadNext(in lane: LayerLoader.Lane) async {
        while let next = lanes.next(in: lane) {
            do throws(Failure) {
                try await catchUp()
                guard let layer = log.state.layerToLoad(next.map, next.layer),
                    LayerLoader.Lane(layer.source) == lane
                else {
                    lanes.removeFirst(in: lane)
                    // Its source changed while it was queued: it is in the other lane by then.
                    continue
                }
                if log.state.status(of: next.layer, in: next.map) == .notLoaded {
                    _ = try await log.append(
                        .layerLoadStarted(LayerLoadStarted(layer: next.layer)), to: next.map,
                        loading: next.layer)
                }
                failpoints.pass("mapstate.afterLoadStarted")
                if loader?.start(layer) == true { lanes.started(in: lane) }
                lanes.removeFirst(in: lane)
            } catch {
                guard error.code == .conflict else {
                    logger.warning("load postponed", metadata: ["reason": "\(error)"])
                    return
                }
            }
        }
    }

    /// Records the result of a load, unless the layer has changed since.
    private func record(_ loaded: LoadedLayer) async {
        failpoints.pass("mapstate.beforeLoaded")
        lanes.ended(in: LayerLoader.Lane(loaded.layer.source))
        let (map, layer) = (loaded.layer.map, loaded.layer.layer)
        var event = Self.event(of: loaded)
        for _ in 0..<Self.attempts {
            do throws(Failure) {
                try await catchUp()
                guard let current = log.state.layerToLoad(map, layer) else { return }
                guard current.source == loaded.layer.source,
                    log.state.status(of: layer, in: map) == .loading
                else { break }
                _ = try await log.append(event, to: map, loading: layer)
                if case .layerLoaded = event {
                    metrics.loadedLayers.increment()
                } else {
                    metrics.failedLoads.increment()
                }
                logger.info("layer settled", metadata: ["map": "\(map)", "layer": "\(layer)"])
                return
            } catch {
                switch error.code {
                case .conflict: continue
                case .tooLarge:
                    // More fields than an event can hold: a retry would fail as well.
                    event = .layerLoadFailed(LayerLoadFailed(layer: layer, error: error))
                    continue
                default: break
                }
                logger.warning("load to be retried", metadata: ["reason": "\(error)"])
                break
            }
        }
        lanes.add(map, layer, log.state)
    }

    // MARK: Compaction

    /// Records a new dataset, unless the layer has another source since.
    private func record(_ compacted: CompactedLayer) async {
        let entry = compacted.layer
        failpoints.pass("mapstate.beforeCompacted")
        do throws(Failure) {
            let (dataset, properties) = try compacted.result.get()
            var isSettled = false
            for _ in 0..<Self.attempts where !isSettled {
                try await catchUp()
                let layer = log.state.layer(entry.layer, in: entry.map)
                guard layer?.kind.dataset == compacted.base else {
                    compactor?.noteUnrecorded(dataset, over: compacted.base, of: entry, layer)
                    isSettled = true
                    break
                }
                do throws(Failure) {
                    _ = try await log.append(
                        .layerCompacted(
                            LayerCompacted(
                                layer: entry.layer, dataset: dataset,
                                through: compacted.through, properties: properties)),
                        to: entry.map)
                    logger.info(
                        "layer compacted",
                        metadata: ["map": "\(entry.map)", "layer": "\(entry.layer)"])
                    metrics.compactedLayers.increment()
                    isSettled = true
                } catch {
                    guard error.code == .conflict else { throw error }
                }
            }
            compactor?.ended(compacted, isDone: isSettled)
        } catch {
            metrics.failedCompactions.increment()
            logger.warning(
                "layer not compacted",
                metadata: [
                    "map": "\(entry.map)", "layer": "\(entry.layer)", "reason": "\(error)",
                ])
            compactor?.ended(compacted, isDone: false)
        }
    }

    private static func event(of loaded: LoadedLayer) -> MapEvent {
        switch loaded.result {
        case .success(let properties):
            .layerLoaded(LayerLoaded(layer: loaded.layer.layer, properties: properties))
        case .failure(let error):
            .layerLoadFailed(LayerLoadFailed(layer: loaded.layer.layer, error: error))
        }
    }
}

extension MapsState {
    /// The load that a layer is waiting for; nil for a layer that needs none.
    func layerToLoad(_ map: MapName, _ layer: LayerID) -> LayerToLoad? {
        guard let found = self.layer(layer, in: map), case .layer(let source) = found.kind,
            found.loadStatus == .notLoaded || found.loadStatus == .loading
        else { return nil }
        return LayerToLoad(
            map: map, layer: layer, source: source,
            definitionExpression: found.definitionExpression, timeInfo: found.timeInfo)
    }

    func status(of layer: LayerID, in map: MapName) -> LoadStatus? {
        self.layer(layer, in: map)?.loadStatus
    }
}
