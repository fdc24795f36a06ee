// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import MapState

/// Layers waiting to be loaded, without duplicates, oldest first; bounded by the number of layers.
struct LoadQueue {
    struct Entry: Hashable {
        var map: MapName
        var layer: LayerID
    }

    private var entries: [Entry] = []
    private var head = 0
    private var known: Set<Entry> = []

    var count: Int { entries.count - head }
    var first: Entry? { head < entries.count ? entries[head] : nil }

    mutating func add(_ map: MapName, _ layer: LayerID) {
        let entry = Entry(map: map, layer: layer)
        if known.insert(entry).inserted { entries.append(entry) }
    }

    mutating func removeFirst() {
        guard let first else { return }
        known.remove(first)
        head += 1
        if head == entries.count {
            entries = []
            head = 0
        }
    }
}

/// The queue and the number of loads in progress of each lane.
struct LoadLanes {
    private var queues = LayerLoader.Lane.allCases.map { _ in LoadQueue() }
    private var running = LayerLoader.Lane.allCases.map { _ in 0 }

    var waitingCount: Int { queues.reduce(0) { $0 + $1.count } }

    /// The layer to load next; nil when the queue is empty or the lane is at capacity.
    func next(in lane: LayerLoader.Lane) -> LoadQueue.Entry? {
        running[lane.rawValue] < lane.width ? queues[lane.rawValue].first : nil
    }

    mutating func add(_ map: MapName, _ layer: LayerID, _ state: MapsState) {
        let lane = LayerLoader.Lane(state.layer(layer, in: map)?.kind.source)
        queues[lane.rawValue].add(map, layer)
    }

    mutating func removeFirst(in lane: LayerLoader.Lane) { queues[lane.rawValue].removeFirst() }

    mutating func started(in lane: LayerLoader.Lane) { running[lane.rawValue] += 1 }

    mutating func ended(in lane: LayerLoader.Lane) { running[lane.rawValue] -= 1 }

    /// Enqueues every layer that is not loaded, or whose load was in progress.
    mutating func refill(from state: MapsState) {
        for name in state.mapNames {
            for layer in state.map(named: name)?.layers ?? []
            where layer.loadStatus == .notLoaded || layer.loadStatus == .loading {
                add(name, layer.id, state)
            }
        }
    }
}
