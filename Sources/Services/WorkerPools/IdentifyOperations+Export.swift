// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import CairnModel
internal import Remote
internal import Rendering
package import SiteAnswers

extension IdentifyOperations {
    /// Draws a picture on the calling thread, which waits for the map and for other servers inside
    /// `waiting`.
    ///
    /// Throws `Failure`: `notFound` for an unknown map, `timedOut` for a sequence number that is
    /// not reached, `invalidParameter`, `tooLarge`, `cancelled`, and the failures of log and
    /// datasets.
    package func export(
        _ request: ExportRequest, until deadline: ContinuousClock.Instant? = nil,
        waiting: @escaping SiteIdentify.Waiting = { $0() },
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(Failure) -> ExportedPicture {
        let (map, isStale) = try site.map(
            named: request.map, past: request.past, minSequence: request.minSequence,
            until: deadline, waiting: waiting)
        // Earlier than the deadline, to leave time to draw the picture without the missing layers.
        let end = deadline.map { $0 - .milliseconds(750) }
        return try MapPicture.draw(
            request, of: map, by: engine, isStale: isStale,
            remotes: { [remotes] questions in
                let inquiry = remotes.draw(questions, until: end, isCancelled: isCancelled)
                return { inquiry.answer(at: $0, waiting: waiting) }
            }, isCancelled: isCancelled)
    }
}
