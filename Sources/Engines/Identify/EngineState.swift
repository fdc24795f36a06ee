// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import Geometry
internal import PROJ
internal import Synchronization

/// What an engine keeps from request to request; none of it changes an answer.
///
/// Each request has a state of its own while it runs, so what is in it needs no lock; what is dear
/// to compute again is shared by all states of an engine.
struct EngineState {
    /// A dataset as a map with that spatial reference sees it.
    struct Key: Hashable {
        var dataset: ContentID
        var reference: SpatialReference
    }

    /// A layer of graphics as a map with that spatial reference sees it.
    struct GraphicsKey: Hashable {
        var map: MapName
        var layer: LayerID
        var reference: SpatialReference
    }

    /// What one thread at a time may use.
    fileprivate let own: OwnState
    fileprivate let shared: SharedState
    /// Of the request; nil where it has time.
    let haste: PromptBudget?

    var transforms: Transforms { own.transforms }

    /// The shapes kept of datasets.
    var shapes: KeptShapes { KeptShapes(shared: shared) }

    /// What is known of a layer before anything is asked; nil at its first question.
    func plan(of layer: PreparedLayer) -> LayerPlan? { own.plans[layer] }

    func keep(_ plan: LayerPlan) { own.plans.keep(plan) }

    /// The index of a dataset's projected features, made at the first question.
    func index(
        _ source: FeatureSource, _ isCancelled: () -> Bool
    ) throws(Failure) -> ProjectedIndex {
        if let haste { throw haste.giveUp() }
        return try shared.indexes.value(source.key) { () throws(Failure) in
            try ProjectedIndex(source, isCancelled)
        }
    }

    /// The graphics of a layer, made ready at the first question after each change.
    func graphics(
        _ key: GraphicsKey, _ graphics: [Graphic], _ toMap: CoordinateTransform?
    ) throws(Failure) -> PreparedGraphics {
        if let haste, graphics.count > PromptBudget.graphicLimit { throw haste.giveUp() }
        // Arrays that share their storage are equal at once; a changed map has another one.
        return try shared.drawings.value(key, unless: { $0.graphics != graphics }) {
            () throws(Failure) in
            if let haste { throw haste.lack() }
            return PreparedGraphics(graphics, toMap)
        }
    }

    /// A layer's features under its edits, made ready at the first question after each of them, and
    /// the name of the content of what they added or changed.
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

    /// The features of a dataset by object id, put in order at the first question.
    func order(
        _ id: ContentID, _ dataset: Dataset, _ isCancelled: () -> Bool
    ) throws(Failure) -> ObjectOrder {
        if let haste {
            guard let known = shared.orders.known(id) else { throw haste.lack() }
            return known
        }
        return try shared.orders.order(id, dataset, isCancelled)
    }

    /// A raster, which stays open for further questions.
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

/// The shapes kept of datasets, which are looked up where one is needed: an index often answers
/// without.
struct KeptShapes {
    fileprivate let shared: SharedState

    /// Those of one dataset.
    func cache(of source: FeatureSource) -> ShapeCache {
        shared.caches.value(source.key) { ShapeCache() }
    }
}

/// What only one request at a time may use.
private final class OwnState {
    /// When there are more rasters open, all are closed.
    static let rasterLimit = 32

    let transforms = Transforms()
    var plans = LayerPlans()
    var rasters: [ContentID: RasterFile] = [:]
}

/// What the states of an engine share, and what of them no request is using; any thread may ask.
final class SharedState: Sendable {
    /// What one request used and another will.
    ///
    /// It may move between threads, because only one request holds it at a time.
    private struct Idle: @unchecked Sendable {
        // Taking it out of the list ensures that one thread at a time uses it.
        let own: OwnState
    }

    /// More than these are not kept.
    private static let idleLimit = 16

    fileprivate let caches = KeptValues<EngineState.Key, ShapeCache>()
    fileprivate let indexes = KeptValues<EngineState.Key, ProjectedIndex>()
    fileprivate let edited = EditedDatasets<ContentID?>()
    fileprivate let orders = ObjectOrders()
    fileprivate let drawings = KeptValues<EngineState.GraphicsKey, PreparedGraphics>()
    private let idle = Mutex<[Idle]>([])

    /// A state for one request, in haste or not.
    func take(_ haste: PromptBudget?) -> EngineState {
        let known = idle.withLock { $0.popLast() }
        let state = EngineState(own: known?.own ?? OwnState(), shared: self, haste: haste)
        state.transforms.haste = haste
        return state
    }

    /// Keeps what the state has for another request.
    func giveBack(_ state: EngineState) {
        state.transforms.haste = nil
        let returned = Idle(own: state.own)
        idle.withLock { if $0.count < Self.idleLimit { $0.append(returned) } }
    }
}

/// A few values by key, made when they are first asked for; any thread may ask.
///
/// The lock is never held while a value is made: two threads may make the same one, and one of them
/// stays.
private final class KeptValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// When there are more, all are forgotten.
    private static var limit: Int { 32 }

    private let values = Mutex<[Key: Value]>([:])

    /// The value kept for a key, unless it is out of date, else what `make` makes.
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
