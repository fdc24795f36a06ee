// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FeatureQuery
internal import Geometry
internal import Identify
internal import SiteAnswers
internal import VectorTiles
internal import Worker

extension IdentifyOperations {
    /// Makes a vector tile on the calling thread, which waits for the map inside the context's
    /// `waiting`.
    ///
    /// Throws `Failure`: `notFound` for an unknown map, `timedOut` for a sequence number that is
    /// not reached, `invalidParameter`, `tooLarge`, `cancelled`, and the failures of log and
    /// datasets.
    func vectorTile(
        _ request: VectorTileRequest, in context: OperationContext
    ) throws(Failure) -> VectorTileAnswer {
        let tile = try request.tile()
        let (map, isStale) = try site.map(
            named: request.map, past: request.past, minSequence: request.minSequence,
            until: context.deadline, waiting: context.waiting)
        let layers = map.description.tileLayers(request.layers).filter { $0.levels ~= tile.level }
        let contents = try queries.tileContent(
            of: layers, in: map.description,
            meeting: VectorTileOptions.standard.reach(of: tile),
            isCancelled: { context.isCancelled })
        var builder = try VectorTileBuilder(contents)
        return VectorTileAnswer(
            sequence: map.description.sequence, isStale: isStale,
            bytes: builder.tile(tile).bytes ?? [])
    }
}
