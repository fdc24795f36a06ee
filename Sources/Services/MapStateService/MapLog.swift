// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import Daemon
internal import FoundationEssentials
internal import MapState
internal import Site

/// The state of the maps folded from the log, and the writer of map events; used from one task at a
/// time.
///
/// An append whose answer is lost leaves the state ``isBehind``: the log is folded again before the
/// next decision, so decisions always rest on a complete state.
final class MapLog {
    private let log: LogReader
    private let snapshots: StateSnapshots<MapsState>
    private let pace: SnapshotPace
    private let failpoints = Failpoints()
    /// The maps up to the last event folded.
    private(set) var state = MapsState()
    /// Whether the log may hold map events that `state` lacks.
    private(set) var isBehind = true
    /// Number of events read and folded.
    private(set) var foldedCount = 0
    /// Number of events folded since the last snapshot.
    private(set) var unkeptCount = 0
    /// Set once another process has taken over: this one may append no more.
    private(set) var fault: Failure?
    private var claim: WriterClaim?
    private let instance = UUID.timeOrdered()

    private static let producer = "cairn-mapstate/" + Release.version
    private static let pageSize = 1000
    /// A step is this fraction of what remains to be folded.
    private static let stepDivisor: Int64 = 4
    /// Shorter than the clients' time limit for a command, so that they get the reason.
    private static let patience = Duration.seconds(8)

    init(log: LogReader, snapshots: StateSnapshots<MapsState>, pace: SnapshotPace) {
        self.log = log
        self.snapshots = snapshots
        self.pace = pace
    }

    /// Claims the map streams, then folds the log from the last snapshot on, with intermediate
    /// snapshots where that takes long; throws the failures of the claim, of reads and of the fold.
    func takeOver() async throws(Failure) {
        claim = try await log.claim(
            ClaimRequest(category: "map", instance: instance, holder: Self.producer))
        if state.sequence == 0, let kept = try await snapshots.restore() { state = kept }
        try await catchUp(keepingUpTo: try await log.head().head)
    }

    /// The log may hold events that the state lacks.
    func fallBehind() { isBehind = true }

    /// Records that a snapshot of the current state exists.
    func noteKept() { unkeptCount = 0 }

    /// Folds the events that the state lacks; throws the failures of reads and of the fold.
    ///
    /// If `head` is given, snapshots are written in steps that get shorter towards it, like those
    /// of a site that always had them.
    func catchUp(keepingUpTo head: Int64? = nil) async throws(Failure) {
        guard isBehind else { return }
        while true {
            let records = try await log.events(
                category: "map", after: state.sequence, limit: Self.pageSize)
            for record in records {
                failpoints.pass("mapstate.duringFold")
                try state.apply(record)
            }
            unkeptCount += records.count
            foldedCount += records.count
            if let head, Int64(unkeptCount) >= (head - state.sequence) / Self.stepDivisor,
                pace.isDue(after: unkeptCount, state), snapshots.keepBeside(state)
            {
                unkeptCount = 0
            }
            if records.count < Self.pageSize { break }
        }
        isBehind = false
    }

    /// The edit event at a global position; throws the failure of the read.
    func featuresEdited(at position: Int64) async throws(Failure) -> FeaturesEdited {
        let records = try await log.events(category: "map", after: position - 1, limit: 1)
        guard let record = records.first, record.globalPosition == position else {
            throw Failure(.internal, "the log has no event \(position) of a map")
        }
        return try FeaturesEdited.decode(record.event)
    }

    /// Hands every record of a map's stream to `body`, in order; throws the failures of reads.
    func forEachRecord(
        of map: MapName, _ body: (RecordedEvent) throws(Failure) -> Void
    ) async throws(Failure) {
        var position: Int64 = 0
        while true {
            let page = try await log.read(
                ReadRequest(after: position, limit: Self.pageSize, stream: .map(map)))
            for record in page.events { try body(record) }
            position = max(position, page.through)
            if page.through >= page.head { return }
        }
    }

    /// Appends events to a map's stream on condition that it has not moved on, and folds them;
    /// returns the global position of the last one.
    ///
    /// Throws `conflict` when the stream has moved on and `logUnavailable` when the outcome is
    /// unknown; in both cases the state is behind. It is also behind after a successful return if
    /// the log had the events already because its first answer was lost. Throws `unavailable` when
    /// another process has taken over, so that the client turns to that one; ``fault`` is set from
    /// then on.
    func append(
        _ events: [MapEvent], to map: MapName, because request: MapCommandRequest
    ) async throws(Failure) -> Int64 {
        try await append([(map, events)], because: request)
    }

    /// Appends events to the streams of several maps by one commit; otherwise as
    /// `append(_:to:because:)`.
    func append(
        _ changes: [(map: MapName, events: [MapEvent])], because request: MapCommandRequest
    ) async throws(Failure) -> Int64 {
        let metadata = EventMetadata(
            causation: request.id, correlation: request.id, actor: request.actor,
            producer: Self.producer)
        var number = 0
        var appends: [StreamAppend] = []
        for change in changes {
            var new: [NewEvent] = []
            for event in change.events {
                let id = request.id.named("map-event-\(number)")
                new.append(try event.payload.newEvent(id: id, metadata: metadata))
                number += 1
            }
            appends.append(append(of: new, to: change.map))
        }
        return try await commit(appends)
    }

    /// Appends an event that no command caused; otherwise as `append(_:to:because:)`.
    func append(_ event: MapEvent, to map: MapName) async throws(Failure) -> Int64 {
        let new = try event.payload.newEvent(
            id: .timeOrdered(), metadata: EventMetadata(producer: Self.producer))
        return try await commit([append(of: [new], to: map)])
    }

    /// Appends an event of a layer's load; otherwise as `append(_:to:because:)`.
    func append(
        _ event: MapEvent, to map: MapName, loading layer: LayerID
    ) async throws(Failure) -> Int64 {
        let cause = state.loadCause(of: layer, in: map)
        let metadata = EventMetadata(
            causation: cause?.event, correlation: cause?.correlation, producer: Self.producer)
        let new = try event.payload.newEvent(id: .timeOrdered(), metadata: metadata)
        return try await commit([append(of: [new], to: map)])
    }

    /// Events for a map's stream as it is known here.
    private func append(of new: [NewEvent], to map: MapName) -> StreamAppend {
        StreamAppend(
            stream: .map(map),
            expected: state.streamPosition(of: map).map { .exact($0) } ?? .noStream, events: new)
    }

    private func commit(_ appends: [StreamAppend]) async throws(Failure) -> Int64 {
        isBehind = true
        failpoints.pass("mapstate.beforeAppend")
        let result: AppendResult
        do throws(Failure) {
            result = try await log.append(appends, under: claim, timeout: Self.patience)
        } catch {
            if error.code == .fenced {
                fault = error
                throw Failure(
                    .unavailable, "another cairn-mapstate has taken over: nothing was changed",
                    details: [error.message])
            }
            guard error.isRetriable else { throw error }
            throw Failure(
                .logUnavailable,
                "the log did not confirm the change; it may or may not be in it: repeat the "
                    + "command "
                    + "with the same id", details: [error.message])
        }
        failpoints.pass("mapstate.afterAppendBeforeFold")
        if result.isRepeat { return result.lastPosition }
        var position = result.firstPosition
        for append in appends {
            let first =
                if case .exact(let last) = append.expected { last + 1 } else { Int64(0) }
            for (number, event) in append.events.enumerated() {
                try state.apply(
                    RecordedEvent(
                        globalPosition: position, stream: append.stream,
                        streamPosition: first + Int64(number),
                        recordedAt: Timestamp(microseconds: 0), event: event))
                position += 1
            }
        }
        unkeptCount += Int(position - result.firstPosition)
        isBehind = false
        return result.lastPosition
    }
}
