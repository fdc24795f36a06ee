// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import MapState

extension Session {
    /// The global position of the last event; 0 for an empty log.
    func head() async throws -> Int64 { try await log().head().head }

    /// Calls `body` for every event after a position, in order, up to `last` or the present end.
    ///
    /// Returns the position that was reached.
    @discardableResult
    func forEachEvent(
        after: Int64 = 0, through last: Int64? = nil, stream: StreamName? = nil,
        category: String? = nil, _ body: (RecordedEvent) throws -> Void
    ) async throws -> Int64 {
        let log = try log()
        var position = after
        while true {
            let page = try await log.read(
                ReadRequest(after: position, limit: 1000, stream: stream, category: category))
            for event in page.events {
                if let last, event.globalPosition > last { return last }
                try body(event)
            }
            position = max(position, page.through)
            if page.through >= min(page.head, last ?? page.head) { return position }
        }
    }

    /// The maps as they were, or now; throws `Failure` (`invalidParameter`) for a number the log has
    /// not reached.
    func maps(at moment: AsOf? = nil) async throws -> MapsState {
        let log = try log()
        let head = try await log.head().head
        if case .sequence(let at)? = moment, at < 0 || at > head {
            throw Failure(
                .invalidParameter,
                "sequence number \(at): expected 0 to \(head), where the log ends")
        }
        var state = MapsState()
        var events: [RecordedEvent] = []
        for category in MapsState.categories {
            events += try await log.events(category: category, after: 0, limit: .max)
        }
        events.sort { $0.globalPosition < $1.globalPosition }
        let last =
            switch moment {
            case nil: head
            case .sequence(let at)?: at
            case .time(let time)?: Self.position(at: time, in: events)
            }
        for event in events where event.globalPosition <= last { try state.apply(event) }
        state.advance(to: last)
        return state
    }

    /// The last change of a map recorded at or before a moment; 0 when there was none.
    ///
    /// A change that follows one of a later time, because the log's clock went back, counts as no earlier.
    private static func position(at time: Timestamp, in events: [RecordedEvent]) -> Int64 {
        events.filter { $0.stream.category == "map" }
            .prefix { $0.recordedAt <= time }.last?.globalPosition ?? 0
    }
}
