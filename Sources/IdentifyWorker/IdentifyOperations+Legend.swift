// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Identify
internal import Remote
internal import SiteAnswers
internal import Worker

extension IdentifyOperations {
    /// Decodes a `LegendRequest` from JSON, asks the map's servers, gives `RemoteLegends` as JSON; blocks the
    /// thread.
    func legendOperation(_ context: OperationContext, _ payload: Data) throws -> Data {
        let request = try CairnJSON.decode(LegendRequest.self, from: payload)
        let (map, _) = try site.map(
            named: request.map, asOf: request.asOf, minSequence: request.minSequence,
            until: context.deadline, waiting: context.waiting)
        // A little earlier, so that what servers have failed to say by then is still said in time.
        let legends = remotes.legends(
            of: map.description.layers,
            until: context.deadline.map { $0 - .milliseconds(500) }, waiting: context.waiting
        ) { context.isCancelled }
        return try CairnJSON.encode(legends)
    }
}
