// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Dataset
internal import FoundationEssentials
internal import Identify
internal import Remote
internal import Rendering
internal import SiteAnswers
internal import Worker

extension IdentifyOperations {
    /// Queries the map's servers and reads its rasters; blocks the thread.
    func legends(
        _ request: LegendRequest, in context: OperationContext
    ) throws -> LayerLegends {
        let (map, _) = try site.map(
            named: request.map, past: request.past, minSequence: request.minSequence,
            until: context.deadline, waiting: context.waiting)
        // Earlier than the deadline, to leave time to report the failures of servers.
        return remotes.legends(
            of: map.description.layers,
            rasters: { [rasters] id throws(Failure) in
                try RasterFile(id, in: rasters).legend { context.isCancelled }
            },
            until: context.deadline.map { $0 - .milliseconds(500) }, waiting: context.waiting
        ) { context.isCancelled }
    }
}

extension RasterFile {
    /// An image for each row; throws the failures of its legend, and `unavailable` when out of
    /// memory.
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
