// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Logging
internal import MapState
internal import Platform
internal import Site
internal import Synchronization

/// The outcome of a compaction: the edits of a layer merged into a new dataset.
struct CompactedLayer: Sendable {
    var layer: LoadQueue.Entry
    /// The dataset below the edits.
    var base: ContentID
    /// The last edit merged into the new dataset.
    var through: Int64
    /// The new dataset.
    var result: Result<(dataset: ContentID, properties: LayerProperties), Failure>
}

/// Compacts layers with many edits into new datasets, one at a time on a thread of its own.
///
/// Used from one task at a time. Correctness does not depend on it: edits take effect as an overlay
/// of the dataset. A compaction that a crash interrupted starts again after the restart, or is
/// recorded then if its dataset was already published.
final class LayerCompactor {
    /// Minimum number of changed features for a compaction.
    private let changeThreshold: Int
    /// Minimum number of coordinates of added or changed features for a compaction.
    private static let coordinateThreshold = 200_000
    /// Delay before a failed compaction is retried.
    private static let rest = Duration.seconds(60)

    /// Cancellation flag of the thread.
    private final class Stopping: Sendable {
        let isAsked = Atomic<Bool>(false)
    }

    private struct Task: Sendable {
        var layer: LoadQueue.Entry
        var base: ContentID
        var edits: LayerEdits
    }

    private let queue = BlockingQueue<Task>(capacity: 1)
    private let thread: PinnedThread
    private let stopping: Stopping
    private var edited: Set<LoadQueue.Entry> = []
    private var resting: [LoadQueue.Entry: ContinuousClock.Instant] = [:]
    private var running: LoadQueue.Entry?
    private let files: UnrecordedCompactions
    private var unrecorded: [UnrecordedCompaction]
    private let logger: Logger
    private let deliver: @Sendable (CompactedLayer) -> Void

    /// Starts the thread, on which `deliver` is called with each result.
    init(
        _ site: Site, _ state: MapsState, threshold: Int?, logger: Logger,
        deliver: @escaping @Sendable (CompactedLayer) -> Void
    ) throws(Failure) {
        let stopping = Stopping()
        self.stopping = stopping
        self.logger = logger
        self.deliver = deliver
        changeThreshold = threshold ?? 1_000
        let files = UnrecordedCompactions(site)
        self.files = files
        unrecorded = files.read()
        let directory = site.datasetsDirectory
        do {
            thread = try PinnedThread(name: "compact") { [queue] in
                let shelf = DatasetCache(directory: directory)
                while let task = queue.pop() {
                    deliver(
                        Self.compact(task, shelf, directory, files) {
                            stopping.isAsked.load(ordering: .relaxed)
                        })
                }
            }
        } catch {
            throw Failure(error)
        }
        noteEdits(in: state)
    }

    private static func compact(
        _ task: Task, _ shelf: DatasetCache, _ directory: String,
        _ files: UnrecordedCompactions, _ isCancelled: () -> Bool
    ) -> CompactedLayer {
        let result = Result {
            () throws(Failure) -> (dataset: ContentID, properties: LayerProperties) in
            let features = try EditedDataset(try shelf.dataset(task.base), task.edits)
            var properties: LayerProperties?
            let made = try DatasetBuilder.compact(
                features, into: directory, isCancelled: isCancelled
            ) { dataset, found throws(Failure) in
                var whole = found
                if whole.geographicExtent == nil {
                    whole.geographicExtent = GeographicExtent.of(whole)
                }
                properties = whole
                try files.write(
                    UnrecordedCompaction(
                        map: task.layer.map, layer: task.layer.layer, base: task.base,
                        through: task.edits.sequence, dataset: dataset, properties: whole))
            }
            return (made.dataset, properties ?? made.properties)
        }
        return CompactedLayer(
            layer: task.layer, base: task.base, through: task.edits.sequence, result: result)
    }

    /// Marks every layer that has edits as edited.
    func noteEdits(in state: MapsState) {
        for name in state.mapNames {
            for layer in state.map(named: name)?.layers ?? [] where layer.edits != nil {
                noteEdit(of: layer.id, in: name)
            }
        }
    }

    /// Marks a layer as edited.
    func noteEdit(of layer: LayerID, in map: MapName) {
        edited.insert(LoadQueue.Entry(map: map, layer: layer))
    }

    /// Starts the next compaction that is due, unless one is in progress; `state` must be up to
    /// date with everything this process has appended.
    func startNext(_ state: MapsState) {
        guard running == nil else { return }
        for known in unrecorded {
            let compacted = known.compacted
            let layer = state.layer(known.layer, in: known.map)
            if known.isObsolete(layer) {
                noteUnrecorded(known.dataset, over: known.base, of: compacted.layer, layer)
                forget(known.dataset)
            } else if known.fits(layer), isRested(compacted.layer) {
                running = compacted.layer
                return deliver(compacted)
            }
        }
        let waiting = Set(unrecorded.map(\.compacted.layer))
        for entry in edited where !waiting.contains(entry) {
            guard isRested(entry) else { continue }
            guard let layer = state.layer(entry.layer, in: entry.map), let edits = layer.edits,
                let base = layer.kind.dataset, layer.loadStatus == .loaded
            else {
                edited.remove(entry)
                continue
            }
            guard
                edits.changes.count >= changeThreshold
                    || edits.coordinateCount >= Self.coordinateThreshold
            else {
                // The next edit puts it in again.
                edited.remove(entry)
                continue
            }
            if queue.tryPush(Task(layer: entry, base: base, edits: edits)) { running = entry }
            return
        }
    }

    private func isRested(_ entry: LoadQueue.Entry) -> Bool {
        guard let since = resting[entry] else { return true }
        guard since.duration(to: .now) > Self.rest else { return false }
        resting[entry] = nil
        return true
    }

    /// Ends the compaction of a layer; a failed one is retried later, one that could not be
    /// recorded is recorded later.
    func ended(_ compacted: CompactedLayer, isDone: Bool) {
        running = nil
        resting[compacted.layer] = isDone ? nil : .now
        // A failed one may have published its dataset before.
        if isDone, let (dataset, _) = try? compacted.result.get() {
            forget(dataset)
        } else {
            unrecorded = files.read()
        }
    }

    /// Logs that no event will name a dataset, unless the layer has it.
    func noteUnrecorded(
        _ dataset: ContentID, over base: ContentID, of entry: LoadQueue.Entry,
        _ layer: LayerDescription?
    ) {
        guard layer?.kind.dataset != dataset else { return }
        logger.notice(
            "compacted dataset not recorded: its layer has another one",
            metadata: [
                "map": "\(entry.map)", "layer": "\(entry.layer)", "dataset": "\(dataset)",
                "base": "\(base)", "now": "\(layer?.kind.dataset?.rawValue ?? "none")",
            ])
    }

    private func forget(_ dataset: ContentID) {
        unrecorded.removeAll { $0.dataset == dataset }
        files.remove(dataset)
    }

    /// Cancels the compaction in progress and ends the thread.
    func stop() {
        stopping.isAsked.store(true, ordering: .relaxed)
        queue.close()
        thread.join()
    }
}
