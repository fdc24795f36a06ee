// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FeatureQuery
internal import Geometry
internal import Identify
internal import SiteAnswers
internal import TileStyles
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

    /// Draws a file that the style of a map's vector tiles refers to, on the calling thread, which
    /// waits for the map as ``vectorTile(_:in:)`` does.
    ///
    /// Throws `Failure`: also `invalidParameter` for a name of fonts or a scale that there is not.
    func styleResource(
        _ request: StyleResourceRequest, in context: OperationContext
    ) throws(Failure) -> VectorTileAnswer {
        let (map, isStale) = try site.map(
            named: request.map, past: nil, minSequence: request.minSequence,
            until: context.deadline, waiting: context.waiting)
        let bytes: [UInt8]
        switch request.resource {
        case .glyphs(let name, let range):
            guard let fonts = FontStack(name: name) else {
                throw Failure(
                    .invalidParameter,
                    "fonts '\(name.prefix(40))': expected names of at most "
                        + "\(FontStack.byteBound) bytes, with commas between them")
            }
            bytes = try GlyphSheet.bytes(of: fonts, range) { context.isCancelled }
        case .sprite(let scale):
            guard StyleResource.scales.contains(scale) else {
                throw Failure(.invalidParameter, "sprite scale \(scale): expected 1 or 2")
            }
            bytes = try MapStyle(title: "", map.description.tileLayers()).sprites
                .picture(scale: scale)
        }
        return VectorTileAnswer(
            sequence: map.description.sequence, isStale: isStale, bytes: bytes)
    }
}
