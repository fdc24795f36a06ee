// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnClient
internal import CairnModel
internal import EventLog
internal import Jobs
internal import MapState

extension Session {
    /// The global position of the last event; 0 for an empty log.
    func head() async throws -> Int64 { try await readableLog().head() }

    /// The head within a time limit; nil otherwise.
    ///
    /// A suspended log process is not waited for.
    func head(within limit: Duration) async -> Int64? {
        if isOfFiles { return try? await head() }
        guard let process = logProcess ?? supervisor, !RunningProcess.isStopped(process) else {
            return nil
        }
        return try? await log().head(timeout: limit).head
    }

    /// Records an event of the site, with the caller as its actor; where the site is down, in the
    /// log's file.
    func record(_ payload: some EventPayload, in stream: StreamName) async throws {
        let event = try payload.newEvent(
            id: .timeOrdered(),
            metadata: EventMetadata(actor: Self.actor, producer: "cairn/" + Release.version))
        guard !isUp, supervisor == nil else {
            try await log().append([event], to: stream, expected: .any)
            return
        }
        try withStoppedLog { log throws(Failure) in
            _ = try log.append([StreamAppend(stream: stream, expected: .any, events: [event])])
        }
    }

    /// Time limit for the log where it is optional: it answers heads from memory.
    static let hearingLimit = Duration.milliseconds(500)

    /// The result of `body` within a time limit; throws `Failure` (`timedOut`), and the errors of
    /// `body`.
    func within<Value: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: limit)
                throw Failure(.timedOut, "there was no answer within \(limit)")
            }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }

    /// Runs `body`, which is cancelled at the end of a time limit; true where it ended before.
    @discardableResult
    static func until(
        _ limit: Duration?, _ body: @escaping @Sendable () async throws -> Void
    ) async throws -> Bool {
        guard let limit else {
            try await body()
            return true
        }
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                try await body()
                return true
            }
            group.addTask {
                try await Task.sleep(for: limit)
                return false
            }
            return try await group.next() ?? true
        }
    }

    /// Calls `body` for every event after a position, in order, up to `last` or the present end.
    ///
    /// Returns the position reached.
    @discardableResult
    func forEachEvent(
        after: Int64 = 0, through last: Int64? = nil, stream: StreamName? = nil,
        category: String? = nil, _ body: (RecordedEvent) throws -> Void
    ) async throws -> Int64 {
        let log = try readableLog()
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

    /// Calls `body` for every event after a position as it is recorded, exactly once, in order,
    /// across restarts of the log, until the task is cancelled.
    ///
    /// Throws the errors of `body`, and `Failure` (`conflict`, `corrupt`) when the log cannot be
    /// followed.
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

    /// Sequence number of a past moment: for a time, that of the last event recorded at or before
    /// it.
    ///
    /// Throws `Failure` (`invalidParameter`) for a number beyond the end of the log.
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
            return try await last(until: time, before: head + 1)
        }
    }

    /// The last event, of all or of a category, recorded at or before a moment; 0 for none.
    private func last(
        until time: Timestamp, before end: Int64, category: String? = nil
    ) async throws -> Int64 {
        let log = try readableLog()
        var search = MomentSearch(at: time, before: end)
        while let next = search.next {
            let request = ReadRequest(after: next - 1, limit: 1, category: category)
            search.take(try await log.read(request).events.first)
        }
        return search.position
    }

    /// The maps, past or present; throws `Failure` (`invalidParameter`) for a number beyond the end
    /// of the log.
    func maps(at moment: AsOf? = nil) async throws -> MapsState {
        let head = try await head()
        if case .sequence(let at)? = moment, at < 0 || at > head {
            throw Failure(
                .invalidParameter,
                "sequence number \(at): expected 0 to \(head), where the log ends")
        }
        let last =
            switch moment {
            case nil: head
            case .sequence(let at)?: at
            case .time(let time)?:
                try await last(until: time, before: head + 1, category: "map")
            }
        var maps = try await kept(MapsState.self, through: last) ?? MapsState()
        try await forEachEvent(after: maps.sequence, through: last, category: "map") {
            try maps.apply($0)
        }
        var locators = MapsState()
        try await forEachEvent(through: last, category: "locator") { try locators.apply($0) }
        maps.advance(to: last)
        locators.advance(to: last)
        return maps.joined(withLocatorsOf: locators)
    }

    /// The latest snapshot up to a position that the log confirms; nil for none, and where the log
    /// is read from its files.
    func kept<State: Snapshotted>(
        _ state: State.Type, through last: Int64
    ) async throws -> State? {
        guard let log = try readableLog().service else { return nil }
        return try await StateSnapshots<State>(site: site, log: log).restore(through: last)
    }

    // MARK: One map, one job

    /// The fold of one map's events up to `last`, continuing from an earlier fold.
    ///
    /// If more than a page remains, it continues from the latest snapshot.
    func maps(
        with name: MapName, from start: MapsState = MapsState(), through last: Int64
    ) async throws -> MapsState {
        var state = start
        let after = state.lastChange(of: name) ?? 0
        try await forEachEvent(of: .map(name), after: after, through: last) { position in
            let kept = try await kept(MapsState.self, through: last)
            guard let kept, kept.sequence > position, let alone = kept.alone(name) else {
                return nil
            }
            state = alone
            return kept.sequence
        } _: { event in
            try state.apply(event)
        }
        return state
    }

    /// A job at position `last`; nil if it did not exist; otherwise as
    /// ``maps(with:from:through:)``.
    func job(
        _ id: JobID, from start: JobState? = nil, through last: Int64
    ) async throws -> JobState? {
        var state = start
        try await forEachEvent(of: .job(id), after: state?.sequence ?? 0, through: last) {
            position in
            let kept = try await kept(JobTable.self, through: last)
            guard let kept, kept.sequence > position, let job = kept[id] else { return nil }
            state = job
            return kept.sequence
        } _: { event in
            if state == nil {
                state = try JobState(first: event)
            } else {
                try state?.apply(event)
            }
        }
        return state
    }

    /// Calls `body` for the events of a stream up to `last`; after the first page `skip` is called
    /// once, with the position reached, for a later one.
    private func forEachEvent(
        of stream: StreamName, after: Int64, through last: Int64,
        skip: (Int64) async throws -> Int64?, _ body: (RecordedEvent) throws -> Void
    ) async throws {
        guard after < last else { return }
        let log = try readableLog()
        let page = try await log.read(ReadRequest(after: after, limit: 1_000, stream: stream))
        for event in page.events where event.globalPosition <= last { try body(event) }
        guard page.through < min(page.head, last) else { return }
        let next = try await skip(page.through) ?? page.through
        guard next < last else { return }
        try await forEachEvent(after: next, through: last, stream: stream, body)
    }
}
