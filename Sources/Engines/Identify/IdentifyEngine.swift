// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import Dataset
internal import Geometry

/// Answers identify requests on a folded map and immutable datasets: no clock, no socket, no
/// randomness.
///
/// The same request on the same map gives the same answer, in every process. `Docs/identify.md`
/// defines the parameters. Thread-safe, without a lock held during a request. An engine caches what
/// it computes for its datasets and spatial references.
public final class IdentifyEngine: Sendable {
    /// Lends a dataset; throws `Failure` when it cannot be opened.
    public typealias DatasetProvider = @Sendable (ContentID) throws(Failure) -> Dataset

    /// Lends a dataset that is already open; nil for any other.
    public typealias OpenDatasets = @Sendable (ContentID) -> Dataset?

    /// Opens a raster anew; throws `Failure` when it cannot be opened.
    public typealias RasterProvider = @Sendable (ContentID) throws(Failure) -> sending RasterFile

    /// Sends requests for layers on other servers, all at once, without waiting; the returned
    /// closure waits for the answer to the request at an index.
    ///
    /// Timeouts and cancellation are its own.
    public typealias RemoteProvider =
        ([RemoteQuestion]) -> (Int) -> Result<RemoteAnswer, Failure>

    /// Sends picture requests for layers on other servers, all at once, without waiting; the
    /// returned closure waits for the answer to the request at an index, nil where the layer is not
    /// visible.
    public typealias RemotePictureProvider =
        ([RemotePictureQuestion]) -> (Int) -> Result<RemotePicture?, Failure>

    let sources: LayerSources
    let kept = SharedState()

    /// Creates an engine on the datasets that `datasets` lends and the rasters that `rasters`
    /// opens.
    ///
    /// `openDatasets` serves ``answerAtOnce(_:in:isStale:isOver:)``. Without `rasters` a map with a
    /// raster layer is refused.
    public init(
        datasets: @escaping DatasetProvider, openDatasets: @escaping OpenDatasets = { _ in nil },
        rasters: @escaping RasterProvider = { id throws(Failure) in
            throw Failure(.notFound, "raster \(id): this program does not open rasters")
        }
    ) {
        sources = LayerSources(datasets: datasets, openDatasets: openDatasets, rasters: rasters)
    }

    /// The features of `map` near the request's geometry: top layer first, then by distance, then
    /// by object id.
    ///
    /// `isStale` is passed on. Layers on other servers are queried through `remotes`; without it
    /// they are failures in the answer. A map without a spatial reference, whose basemap is not
    /// loaded, is blank and has no features anywhere. Throws `invalidParameter` and `tooLarge` for
    /// an invalid request, `cancelled` soon after `isCancelled` returns true, and whatever the
    /// datasets throw.
    public func identify(
        _ request: IdentifyRequest, in map: PreparedMap, isStale: Bool = false,
        remotes: RemoteProvider? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(Failure) -> IdentifyAnswer {
        try answer(request, map, isStale, remotes, isCancelled, nil)
    }

    /// Identify on a map that is used once.
    public func identify(
        _ request: IdentifyRequest, in map: MapDescription, isStale: Bool = false,
        remotes: RemoteProvider? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(Failure) -> IdentifyAnswer {
        try identify(
            request, in: PreparedMap(map), isStale: isStale, remotes: remotes,
            isCancelled: isCancelled)
    }

    /// Answers in line where that is cheap: for threads that must not block.
    ///
    /// Only for one position, on open datasets and prepared graphics. Opens, projects and requests
    /// nothing, and gives up soon after `isOver` returns true. Throws as `identify` would, but
    /// never `cancelled`.
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

/// The providers of layer content.
struct LayerSources: Sendable {
    let datasets: IdentifyEngine.DatasetProvider
    let openDatasets: IdentifyEngine.OpenDatasets
    let rasters: IdentifyEngine.RasterProvider
}
