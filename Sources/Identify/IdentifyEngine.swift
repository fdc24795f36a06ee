// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Dataset
internal import Expression
internal import Geometry
internal import PROJ
public import Raster
internal import Synchronization

/// Answers "what is here?" on a folded map and immutable datasets: no clock, no socket, no chance.
///
/// The same request on the same map gives the same answer, in every process. What each parameter
/// means is in `Docs/identify.md`. Any thread may ask; an engine answers one request at a time, and
/// keeps what it had to compute for its datasets and spatial references.
public final class IdentifyEngine: Sendable {
    /// Lends the dataset of that name; throws `Failure` when it cannot be opened.
    public typealias DatasetProvider = @Sendable (ContentID) throws(Failure) -> Dataset

    /// Opens the raster of that name anew; throws `Failure` when it cannot be opened.
    public typealias RasterProvider = @Sendable (ContentID) throws(Failure) -> sending RasterFile

    private let sources: LayerSources
    private let kept = Mutex(EngineState())

    /// An engine on the datasets that `datasets` lends and the rasters that `rasters` opens.
    ///
    /// Without `rasters` a map with a raster layer is refused.
    public init(
        datasets: @escaping DatasetProvider,
        rasters: @escaping RasterProvider = { id throws(Failure) in
            throw Failure(.notFound, "raster \(id): this program opens none")
        }
    ) {
        sources = LayerSources(datasets: datasets, rasters: rasters)
    }

    /// The features of `map` near the request's geometry: top layer first, then by distance, then by
    /// object id.
    ///
    /// `isStale` is passed on. A map without a spatial reference, whose basemap is not loaded, is
    /// blank and has nothing at any place. Throws `invalidParameter` and `tooLarge` for a request
    /// that cannot be answered, `cancelled` soon after `isCancelled` says so, and whatever the
    /// datasets throw.
    public func identify(
        _ request: IdentifyRequest, in map: MapDescription, isStale: Bool = false,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(Failure) -> IdentifyAnswer {
        try request.check()
        let output =
            request.spatialReference ?? map.spatialReference ?? request.geometrySpatialReference
            ?? .wgs84
        var answer = IdentifyAnswer(
            layers: [], spatialReference: output, sequence: map.sequence, isStale: isStale)
        guard let reference = map.spatialReference else {
            if request.explain {
                answer.explanation = IdentifyExplanation(
                    mapSpatialReference: nil, resolution: nil, scale: nil, tolerance: 0,
                    toleranceMeters: 0,
                    layers: LayerResolution(map).explanation(
                        request, map.rootLayers, scale: nil, nil))
            }
            return answer
        }
        try kept.withLock { kept throws(Failure) in
            let run = IdentifyRun(
                request: request, map: map, reference: reference, output: output,
                sources: sources, isCancelled: isCancelled)
            try run.answer(&answer, &kept)
        }
        return answer
    }
}

/// Where the content of layers comes from.
struct LayerSources: Sendable {
    let datasets: IdentifyEngine.DatasetProvider
    let rasters: IdentifyEngine.RasterProvider
}

/// What an engine keeps from request to request; none of it changes an answer.
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

    /// The most datasets of which something is kept.
    private static let limit = 32

    let transforms = Transforms()
    private var indexes: [Key: ProjectedIndex] = [:]
    private var caches: [Key: ShapeCache] = [:]
    private var rasters: [ContentID: RasterFile] = [:]
    private var drawings: [GraphicsKey: PreparedGraphics] = [:]

    /// The shapes kept of a dataset.
    mutating func cache(_ key: Key) -> ShapeCache {
        if let known = caches[key] { return known }
        if caches.count >= Self.limit { caches.removeAll() }
        let cache = ShapeCache()
        caches[key] = cache
        return cache
    }

    /// The index of a dataset's projected features, made at the first question.
    mutating func index(
        _ key: Key, _ source: FeatureSource, _ isCancelled: () -> Bool
    ) throws(Failure) -> ProjectedIndex {
        if let known = indexes[key] { return known }
        let index = try ProjectedIndex(source, isCancelled)
        if indexes.count >= Self.limit { indexes.removeAll() }
        indexes[key] = index
        return index
    }

    /// The graphics of a layer, made ready at the first question after each change.
    mutating func graphics(
        _ key: GraphicsKey, _ graphics: [Graphic], _ toMap: CoordinateTransform?
    ) -> PreparedGraphics {
        // Arrays that share their storage are equal at once; a changed map has another one.
        if let known = drawings[key], known.graphics == graphics { return known }
        if drawings.count >= Self.limit { drawings.removeAll() }
        let prepared = PreparedGraphics(graphics, toMap)
        drawings[key] = prepared
        return prepared
    }

    /// A raster, which stays open for further questions.
    mutating func raster(
        _ id: ContentID, _ open: IdentifyEngine.RasterProvider
    ) throws(Failure) -> RasterFile {
        if let known = rasters[id] { return known }
        if rasters.count >= Self.limit { rasters.removeAll() }
        let raster = try open(id)
        rasters[id] = raster
        return raster
    }
}
