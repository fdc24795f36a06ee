// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import MapState
internal import Platform
internal import Synchronization

/// What came of making the edits of a layer part of a new dataset.
struct CompactedLayer: Sendable {
    var layer: LoadQueue.Entry
    /// The dataset that was under the edits.
    var base: ContentID
    /// The last of the edits that are in the new one.
    var through: Int64
    /// The new dataset; nil when no feature was left to put into one.
    var result: Result<(dataset: ContentID, properties: LayerProperties)?, Failure>
}

/// Makes new datasets of layers with many edits, one after the other on a thread of its own.
///
/// Used from one task at a time. Nothing depends on when it is done, or whether: edits count as they lie
/// over the dataset. What a kill interrupts is begun again at the next start.
final class LayerCompactor {
    /// Layers with fewer changed features stay as they are.
    private static let changeThreshold = 1_000
    /// The same for coordinates of features that were added or changed.
    private static let coordinateThreshold = 200_000
    /// How long a layer rests whose compaction came to nothing.
    private static let rest = Duration.seconds(60)

    /// Whether the thread shall give up.
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

    /// Starts the thread, on which `deliver` is called with every result.
    init(
        datasets directory: String, _ state: MapsState,
        deliver: @escaping @Sendable (CompactedLayer) -> Void
    ) throws(Failure) {
        let stopping = Stopping()
        self.stopping = stopping
        do {
            thread = try PinnedThread(name: "compact") { [queue] in
                let shelf = DatasetShelf(directory: directory)
                while let task = queue.pop() {
                    deliver(
                        Self.compact(task, shelf, directory) {
                            stopping.isAsked.load(ordering: .relaxed)
                        })
                }
            }
        } catch {
            throw Failure(error)
        }
        for name in state.mapNames {
            for layer in state.map(named: name)?.layers ?? [] where layer.edits != nil {
                edited.insert(LoadQueue.Entry(map: name, layer: layer.id))
            }
        }
    }

    private static func compact(
        _ task: Task, _ shelf: DatasetShelf, _ directory: String, _ isCancelled: () -> Bool
    ) -> CompactedLayer {
        let result = Result {
            () throws(Failure) -> (dataset: ContentID, properties: LayerProperties)? in
            let features = try EditedDataset(try shelf.dataset(task.base), task.edits)
            guard
                var made = try DatasetBuilder.compact(
                    features, into: directory, isCancelled: isCancelled)
            else { return nil }
            if made.properties.geographicExtent == nil {
                made.properties.geographicExtent = GeographicExtent.of(made.properties)
            }
            return made
        }
        return CompactedLayer(
            layer: task.layer, base: task.base, through: task.edits.sequence, result: result)
    }

    /// A layer was edited.
    func noteEdit(of layer: LayerID, in map: MapName) {
        edited.insert(LoadQueue.Entry(map: map, layer: layer))
    }

    /// Begins with a layer that has enough edits, unless one is under way.
    func startNext(_ state: MapsState) {
        guard running == nil else { return }
        for entry in edited {
            if let since = resting[entry] {
                guard since.duration(to: .now) > Self.rest else { continue }
                resting[entry] = nil
            }
            guard let layer = state.layer(entry.layer, in: entry.map), let edits = layer.edits,
                let base = layer.kind.dataset, layer.loadStatus == .loaded
            else {
                edited.remove(entry)
                continue
            }
            guard
                edits.changes.count >= Self.changeThreshold
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

    /// The compaction of a layer has ended; one that came to nothing is tried again later.
    func ended(_ entry: LoadQueue.Entry, isDone: Bool) {
        running = nil
        resting[entry] = isDone ? nil : .now
    }

    /// Gives up what is under way, and ends the thread.
    func stop() {
        stopping.isAsked.store(true, ordering: .relaxed)
        queue.close()
        thread.join()
    }
}
