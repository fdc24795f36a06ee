// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ
internal import Synchronization

/// Caches of an engine across requests; none affects an answer.
///
/// A running request owns a state exclusively, so its content needs no lock; expensive values are
/// shared by all states of an engine.
struct EngineState {
    /// A dataset, projected to a map's spatial reference.
    struct Key: Hashable {
        var dataset: ContentID
        var reference: SpatialReference
    }

    /// A layer of graphics, projected to a map's spatial reference.
    struct GraphicsKey: Hashable {
        var map: MapName
        var layer: LayerID
        var reference: SpatialReference
    }

    /// The part owned by one thread at a time.
    fileprivate let own: OwnState
    fileprivate let shared: SharedState
    /// The budget of an in-line request; nil without one.
    let haste: PromptBudget?

    var transforms: Transforms { own.transforms }

    /// The cached shapes of datasets.
    var shapes: KeptShapes { KeptShapes(shared: shared) }

    /// The cached plan of a layer; nil before its first request.
    func plan(of layer: PreparedLayer) -> LayerPlan? { own.plans[layer] }

    func keep(_ plan: LayerPlan) { own.plans.keep(plan) }

    /// The index of a dataset's projected features, built on first use.
    func index(
        _ source: FeatureSource, _ isCancelled: () -> Bool
    ) throws(Failure) -> ProjectedIndex {
        if let haste { throw haste.giveUp() }
        return try shared.indexes.value(source.key) { () throws(Failure) in
            try ProjectedIndex(source, isCancelled)
        }
    }

    /// The prepared graphics of a layer, built on first use after each change.
    func graphics(
        _ key: GraphicsKey, _ graphics: [Graphic], _ toMap: CoordinateTransform?
    ) throws(Failure) -> PreparedGraphics {
        if let haste, graphics.count > PromptBudget.graphicLimit { throw haste.giveUp() }
        // Arrays that share their storage compare equal at once; a changed map has another one.
        return try shared.drawings.value(key, unless: { $0.graphics != graphics }) {
            () throws(Failure) in
            if let haste { throw haste.lack() }
            return PreparedGraphics(graphics, toMap)
        }
    }

    /// The edited features of a layer, prepared on first use after each edit, with the content id
    /// of the added and changed ones.
    func edited(
        _ base: Dataset, _ layer: LayerDescription, in map: MapName
    ) throws(Failure) -> (EditedDataset, overlay: ContentID?) {
        let (features, overlay) = try shared.edited.value(base, layer, in: map) {
            () throws(Failure) in
            if let haste { throw haste.lack() }
        } _: { edited throws(Failure) in
            try edited.overlay?.contentID()
        }
        return (features, overlay)
    }

    /// The object-id order of a dataset's features, built on first use.
    func order(
        _ id: ContentID, _ dataset: Dataset, _ isCancelled: () -> Bool
    ) throws(Failure) -> ObjectOrder {
        if let haste {
            guard let known = shared.orders.known(id) else { throw haste.lack() }
            return known
        }
        return try shared.orders.order(id, dataset, isCancelled)
    }

    /// A raster, which stays open for later requests.
    func raster(
        _ id: ContentID, _ open: IdentifyEngine.RasterProvider
    ) throws(Failure) -> RasterFile {
        if let haste { throw haste.giveUp() }
        if let known = own.rasters[id] { return known }
        if own.rasters.count >= OwnState.rasterLimit { own.rasters.removeAll() }
        let raster = try open(id)
        own.rasters[id] = raster
        return raster
    }
}

/// The cached shapes of datasets, looked up on demand: an index often answers without them.
struct KeptShapes {
    fileprivate let shared: SharedState

    /// The cache of one dataset.
    func cache(of source: FeatureSource) -> ShapeCache {
        shared.caches.value(source.key) { ShapeCache() }
    }
}

/// Caches that only one request at a time may use.
private final class OwnState {
    /// Capacity in open rasters; all are closed when exceeded.
    static let rasterLimit = 32

    let transforms = Transforms()
    var plans = LayerPlans()
    var rasters: [ContentID: RasterFile] = [:]
}

/// Thread-safe caches shared by all states of an engine, and a pool of idle states.
final class SharedState: Sendable {
    /// An idle state.
    ///
    /// It may move between threads, because only one request owns it at a time.
    private struct Idle: @unchecked Sendable {
        // Removal from the pool ensures that one thread at a time uses it.
        let own: OwnState
    }

    /// Capacity of the pool.
    private static let idleLimit = 16

    fileprivate let caches = KeptValues<EngineState.Key, ShapeCache>()
    fileprivate let indexes = KeptValues<EngineState.Key, ProjectedIndex>()
    fileprivate let edited = EditedDatasets<ContentID?>()
    fileprivate let orders = ObjectOrders()
    fileprivate let drawings = KeptValues<EngineState.GraphicsKey, PreparedGraphics>()
    private let idle = Mutex<[Idle]>([])

    /// Takes a state for one request, with a budget or without.
    func take(_ haste: PromptBudget?) -> EngineState {
        let known = idle.withLock { $0.popLast() }
        let state = EngineState(own: known?.own ?? OwnState(), shared: self, haste: haste)
        state.transforms.haste = haste
        return state
    }

    /// Returns a state to the pool.
    func giveBack(_ state: EngineState) {
        state.transforms.haste = nil
        let returned = Idle(own: state.own)
        idle.withLock { if $0.count < Self.idleLimit { $0.append(returned) } }
    }
}

/// A small, thread-safe cache of values by key, computed on first use.
///
/// The lock is not held during the computation: two threads may compute the same value, and one
/// result is kept.
private final class KeptValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Capacity; exceeding it clears the cache.
    private static var limit: Int { 32 }

    private let values = Mutex<[Key: Value]>([:])

    /// The cached value of a key, unless it is stale, else the result of `make`.
    func value<E: Error>(
        _ key: Key, unless isOutdated: (Value) -> Bool = { _ in false },
        _ make: () throws(E) -> Value
    ) throws(E) -> Value {
        if let known = values.withLock({ $0[key] }), !isOutdated(known) { return known }
        let value = try make()
        values.withLock { values in
            if values.count >= Self.limit { values.removeAll() }
            values[key] = value
        }
        return value
    }
}
