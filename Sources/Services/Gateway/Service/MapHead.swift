// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import Platform
internal import Site
internal import Synchronization

/// The position of the last committed event of any map: a read that knows it sees every write that
/// was answered before, through whichever gateway.
///
/// The log raises it in a file of the site before it answers an append, and this process maps the
/// file. Where the file cannot be mapped, on another machine than the log's, it is the position of
/// the last write through this process. Callable on any thread.
final class MapHead: Sendable {
    private let shared: SharedNumber?
    private let own = Atomic<Int64>(0)

    init(of site: Site?) {
        shared = site.flatMap { try? SharedNumber(readingFrom: $0.mapHeadPath) }
    }

    /// The position; while the log is away, that of this process' own writes: what is known is
    /// answered then, and nothing newer can be had.
    func sequence(logIsAway: Bool) -> Int64 {
        max(logIsAway ? 0 : shared?.value ?? 0, own.load(ordering: .acquiring))
    }

    /// Records a write through this process.
    func note(_ sequence: Int64) { own.max(sequence, ordering: .acquiringAndReleasing) }
}

/// A request about one map, present or past.
protocol MapQuestion: PastRequest {
    var map: MapName { get }
    /// Minimum sequence number of the answer; nil for any.
    var minSequence: Int64? { get set }
}

extension MapQuestion {
    /// The question with `sequence` as `minSequence` where that is later; unchanged about the past.
    func reaching(_ sequence: Int64) -> Self {
        guard asOf == nil, sequence > minSequence ?? 0 else { return self }
        var later = self
        later.minSequence = sequence
        return later
    }
}

extension IdentifyRequest: MapQuestion {}
extension ExportRequest: MapQuestion {}
extension QueryRequest: MapQuestion {}
extension FindRequest: MapQuestion {}
extension LegendRequest: MapQuestion {}
