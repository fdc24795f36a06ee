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

    /// The maps as of a sequence number, or now; throws `Failure` (`invalidParameter`) for a number
    /// the log has not reached.
    func maps(at: Int64? = nil) async throws -> MapsState {
        let log = try log()
        let head = try await log.head().head
        if let at, at < 0 || at > head {
            throw Failure(
                .invalidParameter,
                "sequence number \(at): expected 0 to \(head), where the log ends")
        }
        var state = MapsState()
        var events: [RecordedEvent] = []
        for category in MapsState.categories {
            events += try await log.events(category: category, after: 0, limit: .max)
        }
        for event in events.sorted(by: { $0.globalPosition < $1.globalPosition })
        where event.globalPosition <= at ?? .max {
            try state.apply(event)
        }
        state.advance(to: at ?? head)
        return state
    }
}
