// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Synchronization

/// Sequence number of the last edit of each map through this gateway, for read-your-writes: a
/// client that reads after an edit sees it without a sequence number, whichever worker answers.
///
/// Callable on any thread. Bounded by the number of maps of a site.
final class OwnWrites: Sendable {
    private let sequences = Mutex<[MapName: Int64]>([:])
    private let isEmpty = Atomic<Bool>(true)

    /// Records an edit of a map.
    func note(_ sequence: Int64, in map: MapName) {
        sequences.withLock { $0[map] = max($0[map] ?? 0, sequence) }
        isEmpty.store(false, ordering: .releasing)
    }

    /// The request with this gateway's last edit of its map as `minSequence`; requests about the
    /// past, or about no map, are unchanged.
    func asking<Request>(_ request: Request) -> Request {
        guard !isEmpty.load(ordering: .acquiring),
            let question = request as? any MapQuestion, question.asOf == nil,
            let own = sequences.withLock({ $0[question.map] }), own > question.minSequence ?? 0
        else { return request }
        var later = question
        later.minSequence = own
        return later as? Request ?? request
    }
}

/// A request about one map, present or past.
protocol MapQuestion: PastRequest {
    var map: MapName { get }
    /// Minimum sequence number of the answer; nil for any.
    var minSequence: Int64? { get set }
}

extension IdentifyRequest: MapQuestion {}
extension ExportRequest: MapQuestion {}
extension QueryRequest: MapQuestion {}
extension FindRequest: MapQuestion {}
extension LegendRequest: MapQuestion {}
