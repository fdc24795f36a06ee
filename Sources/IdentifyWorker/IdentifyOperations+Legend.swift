// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Identify
internal import Raster
internal import Remote
internal import Rendering
internal import SiteAnswers
internal import Worker

extension IdentifyOperations {
    /// Decodes a `LegendRequest` from JSON, asks the map's servers, reads its rasters, gives `LayerLegends` as JSON; blocks the
    /// thread.
    func legendOperation(_ context: OperationContext, _ payload: Data) throws -> Data {
        let request = try CairnJSON.decode(LegendRequest.self, from: payload)
        let (map, _) = try site.map(
            named: request.map, past: request.past, minSequence: request.minSequence,
            until: context.deadline, waiting: context.waiting)
        // A little earlier, so that what servers have failed to say by then is still said in time.
        let legends = remotes.legends(
            of: map.description.layers,
            rasters: { [rasters] id throws(Failure) in
                try RasterFile(id, in: rasters).legend { context.isCancelled }
            },
            until: context.deadline.map { $0 - .milliseconds(500) }, waiting: context.waiting
        ) { context.isCancelled }
        return try CairnJSON.encode(legends)
    }
}

extension RasterFile {
    /// A picture for each row; throws what its legend throws, and `unavailable` where there is no memory.
    func legend(isCancelled: () -> Bool) throws(Failure) -> [LegendEntry] {
        let side = LegendEntry.symbolSide
        let rows = try legend(
            rowLimit: LegendEntry.countBound, steps: side, isCancelled: isCancelled)
        var entries: [LegendEntry] = []
        for row in rows {
            guard let picture = SymbolPicture.png(row.colors, side: side),
                let entry = LegendEntry(label: row.label, png: picture)
            else { throw Failure(.unavailable, "there is no memory for a legend") }
            entries.append(entry)
        }
        return entries
    }
}
