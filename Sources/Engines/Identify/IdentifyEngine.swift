// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Dataset
internal import Geometry

/// Answers "what is here?" on a folded map and immutable datasets: no clock, no socket, no chance.
///
/// The same request on the same map gives the same answer, in every process. What each parameter
/// means is in `Docs/identify.md`. Any number of threads may ask at once: no lock is held while a
/// request is answered. An engine keeps what it had to compute for its datasets and spatial
/// references.
public final class IdentifyEngine: Sendable {
    /// Lends the dataset of that name; throws `Failure` when it cannot be opened.
    public typealias DatasetProvider = @Sendable (ContentID) throws(Failure) -> Dataset

    /// Lends the dataset of that name if that takes no time, because it is open.
    public typealias OpenDatasets = @Sendable (ContentID) -> Dataset?

    /// Opens the raster of that name anew; throws `Failure` when it cannot be opened.
    public typealias RasterProvider = @Sendable (ContentID) throws(Failure) -> sending RasterFile

    /// Asks layers on other servers, all at once, and returns at once; what it returns waits for
    /// the answer to the question at an index.
    ///
    /// When and whether to give up is its own matter: it knows who asks.
    public typealias RemoteProvider =
        ([RemoteQuestion]) -> (Int) -> Result<RemoteAnswer, Failure>

    /// Asks for what a picture shows of layers on other servers, all at once, and returns at once;
    /// what it returns waits for the answer to the question at an index, nil where nothing is seen
    /// of the layer.
    public typealias RemotePictureProvider =
        ([RemotePictureQuestion]) -> (Int) -> Result<RemotePicture?, Failure>

    let sources: LayerSources
    let kept = SharedState()

    /// An engine on the datasets that `datasets` lends and the rasters that `rasters` opens.
    ///
    /// `openDatasets` are those that ``answerAtOnce(_:in:isStale:isOver:)`` may use. Without
    /// `rasters` a map with a raster layer is refused.
    public init(
        datasets: @escaping DatasetProvider, openDatasets: @escaping OpenDatasets = { _ in nil },
        rasters: @escaping RasterProvider = { id throws(Failure) in
            throw Failure(.notFound, "raster \(id): this program opens none")
        }
    ) {
        sources = LayerSources(datasets: datasets, openDatasets: openDatasets, rasters: rasters)
    }

    /// The features of `map` near the request's geometry: top layer first, then by distance, then
    /// by object id.
    ///
    /// `isStale` is passed on. Layers on other servers are asked through `remotes`; without it they
    /// are failures in the answer. A map without a spatial reference, whose basemap is not loaded,
    /// is blank and has nothing at any place. Throws `invalidParameter` and `tooLarge` for a
    /// request that cannot be answered, `cancelled` soon after `isCancelled` says so, and whatever
    /// the datasets throw.
    public func identify(
        _ request: IdentifyRequest, in map: PreparedMap, isStale: Bool = false,
        remotes: RemoteProvider? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(Failure) -> IdentifyAnswer {
        try answer(request, map, isStale, remotes, isCancelled, nil)
    }

    /// The same for a map that is asked once.
    public func identify(
        _ request: IdentifyRequest, in map: MapDescription, isStale: Bool = false,
        remotes: RemoteProvider? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(Failure) -> IdentifyAnswer {
        try identify(
            request, in: PreparedMap(map), isStale: isStale, remotes: remotes,
            isCancelled: isCancelled)
    }

    /// The same answer, where it is at hand: for threads that must not be held up.
    ///
    /// Only for one position, from datasets that are open and graphics that are ready. Opens,
    /// projects and asks nothing, and gives up soon after `isOver` says so. Throws as `identify`
    /// would, but never `cancelled`.
    public func answerAtOnce(
        _ request: IdentifyRequest, in map: PreparedMap, isStale: Bool = false,
        isOver: @escaping () -> Bool
    ) throws(Failure) -> PromptAnswer {
        guard request.geometry.coordinateCount == 1 else { return .elsewhere }
        let haste = PromptBudget(isOver)
        do throws(Failure) {
            return .answer(try answer(request, map, isStale, nil, isOver, haste))
        } catch {
            guard error.code == .cancelled else { throw error }
            return haste.reason
        }
    }

    private func answer(
        _ request: IdentifyRequest, _ map: PreparedMap, _ isStale: Bool,
        _ remotes: RemoteProvider?, _ isCancelled: @escaping () -> Bool, _ haste: PromptBudget?
    ) throws(Failure) -> IdentifyAnswer {
        try request.check()
        let output =
            request.spatialReference ?? map.description.spatialReference
            ?? request.geometrySpatialReference ?? .wgs84
        var answer = IdentifyAnswer(
            layers: [], spatialReference: output, sequence: map.description.sequence,
            isStale: isStale)
        guard let reference = map.description.spatialReference else {
            if request.explain {
                answer.explanation = IdentifyExplanation(
                    mapSpatialReference: nil, resolution: nil, scale: nil, tolerance: 0,
                    toleranceMeters: 0,
                    layers: map.resolution.explanation(request, scale: nil, nil))
            }
            return answer
        }
        var state = kept.take(haste)
        defer { kept.giveBack(state) }
        let run = IdentifyRun(
            request: request, map: map, reference: reference, output: output,
            sources: sources, remotes: remotes, isCancelled: isCancelled)
        try run.answer(&answer, &state)
        return answer
    }
}

/// Where the content of layers comes from.
struct LayerSources: Sendable {
    let datasets: IdentifyEngine.DatasetProvider
    let openDatasets: IdentifyEngine.OpenDatasets
    let rasters: IdentifyEngine.RasterProvider
}
