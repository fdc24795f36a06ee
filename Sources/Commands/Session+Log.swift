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

    /// Calls `body` for every event after a position as it is recorded, each once, in order, over
    /// restarts of the log, until the task is cancelled.
    ///
    /// Throws what `body` throws, and `Failure` (`conflict`, `corrupt`) where the log cannot be followed.
    func follow(
        after: Int64, category: String? = nil,
        _ body: @escaping @Sendable (RecordedEvent) throws -> Void
    ) async throws {
        let (troubles, ending) = AsyncThrowingStream.makeStream(of: Never.self)
        let subscription = try LogSubscription(
            bus: client().bus, log: log(), categories: category.map { [$0] } ?? [], after: after,
            onFault: { ending.finish(throwing: $0) }
        ) { events, _ in
            do {
                for event in events { try body(event) }
            } catch {
                ending.finish(throwing: error)
            }
        }
        defer { subscription.cancel() }
        for try await _ in troubles {}
    }

    /// The sequence number of a past moment: of a time, that of the last event recorded at or before it.
    ///
    /// Throws `Failure` (`invalidParameter`) for a number the log has not reached.
    func position(of moment: AsOf?) async throws -> Int64 {
        let head = try await head()
        switch moment {
        case nil: return head
        case .sequence(let at)?:
            guard 0...head ~= at else {
                throw Failure(
                    .invalidParameter,
                    "sequence number \(at): expected 0 to \(head), where the log ends")
            }
            return at
        case .time(let time)?:
            // The log's clock never goes back, so times can be searched by halves.
            var (known, beyond) = (Int64(0), head + 1)
            while beyond - known > 1 {
                let middle = known + (beyond - known) / 2
                let page = try await log().read(ReadRequest(after: middle - 1, limit: 1))
                guard let event = page.events.first else { break }
                if event.recordedAt <= time { known = middle } else { beyond = middle }
            }
            return known
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
        var (maps, locators) = (MapsState(), MapsState())
        var last = head
        if case .sequence(let at)? = moment { last = at }
        if case .time? = moment {
        } else {
            maps = try await StateSnapshots(site: site, log: log).restore(through: last) ?? maps
        }
        let events = try await log.events(category: "map", after: maps.sequence, limit: .max)
        if case .time(let time)? = moment { last = Self.position(at: time, in: events) }
        for event in events where event.globalPosition <= last { try maps.apply(event) }
        for event in try await log.events(category: "locator", after: 0, limit: .max)
        where event.globalPosition <= last { try locators.apply(event) }
        maps.advance(to: last)
        locators.advance(to: last)
        return maps.joined(withLocatorsOf: locators)
    }

    /// The last change of a map recorded at or before a moment; 0 when there was none.
    ///
    /// A change that follows one of a later time, because the log's clock went back, counts as no earlier.
    private static func position(at time: Timestamp, in events: [RecordedEvent]) -> Int64 {
        events.prefix { $0.recordedAt <= time }.last?.globalPosition ?? 0
    }
}
