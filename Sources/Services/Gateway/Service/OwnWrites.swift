// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Synchronization

/// The last edit of each map that went through this gateway: a client that edits and then asks,
/// without a sequence number, sees what it did, whichever worker answers.
///
/// Any thread may ask. At most as many maps as a site has.
final class OwnWrites: Sendable {
    private let sequences = Mutex<[MapName: Int64]>([:])
    private let isEmpty = Atomic<Bool>(true)

    /// The map was edited.
    func note(_ sequence: Int64, in map: MapName) {
        sequences.withLock { $0[map] = max($0[map] ?? 0, sequence) }
        isEmpty.store(false, ordering: .releasing)
    }

    /// The request, waiting for what this gateway knows of its map; requests about the past, and
    /// about no map, stay as they are.
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

/// A question about one map, now or as it was.
protocol MapQuestion: PastRequest {
    /// The map.
    var map: MapName { get }
    /// The change that the answer must know; nil for any.
    var minSequence: Int64? { get set }
}

extension IdentifyRequest: MapQuestion {}
extension ExportRequest: MapQuestion {}
extension QueryRequest: MapQuestion {}
extension FindRequest: MapQuestion {}
extension LegendRequest: MapQuestion {}
