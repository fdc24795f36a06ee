// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Bus
public import CairnModel
public import FoundationEssentials
public import MapState
internal import Synchronization

/// The maps and locators of a site, folded from the log as it grows, in the memory of their
/// readers: no request about a map has to wait for another service.
///
/// Its feed is a log subscription of its own or an external caller of ``ingest(_:upTo:)``. With the
/// snapshots of a site it starts at the last one that the log confirms, and reads of the past start
/// at the last one before the moment; without them, everything is folded from the log, to the same
/// answers. Thread-safe. The fold is the pure ``MapsState``, so two followers at one sequence
/// number hold equal maps.
public final class MapFollower: Sendable {
    /// Reads the log: the events that a request names, in rising order of global position, up to
    /// its limit; fewer only where there are no more.
    public typealias Reader =
        @Sendable (_ request: ReadRequest) async throws(Failure) -> [RecordedEvent]

    /// Limit of concurrent waits for a sequence number; further ones get `busy`.
    public static let waiterLimit = 10_000
    /// Capacity of the cache of ``history(at:)``.
    static let historyLimit = 8
    /// Capacity of the cache of snapshot states.
    static let restoredLimit = 2
    /// Page size when folding the past.
    static let usualPageSize = 1000

    struct Waiter {
        var minSequence: Int64
        /// Whether an event at `minSequence` or later suffices, though the state before it may
        /// still be incomplete.
        var takesEvents = false
        var body: @Sendable (Result<MapsState, Failure>) -> Void

        func isServed(by state: MapsState) -> Bool {
            state.sequence >= minSequence || (takesEvents && state.lastEvent >= minSequence)
        }
    }

    struct Inner {
        var state = MapsState()
        /// The states of the two subscriptions, where there are two; `state` joins them.
        var maps = MapsState()
        var locators = MapsState()
        var fault: Failure?
        var isStale = false
        var isCaughtUp = false
        var waiters: [UInt64: Waiter] = [:]
        var nextWaiter: UInt64 = 0
        var history: [MapsState] = []
        var changes = ChangeIndex()
        var past = PastMaps()
        var foldedCount = 0
        /// Snapshot states that reads of the past started from, least recently used first.
        var restored: [MapsState] = []
        /// The sequence numbers of unusable snapshots.
        var refused: Set<Int64> = []
    }

    let inner = Mutex(Inner())
    /// The source of snapshots.
    let snapshots: StateSnapshots<MapsState>?
    let pageSize: Int
    let feed = Mutex<Feed?>(nil)
    private let onStop: @Sendable (Failure) -> Void

    struct Feed {
        var log: LogReader
        var subscriptions: [LogSubscription]
        var beginning: Task<Void, Never>?
        /// Whether the subscription to maps has started.
        var hasMaps: Bool
        var isStopped = false
    }

    /// Creates an empty follower with an external feed; `snapshots` serve its reads of the past.
    public convenience init(snapshots: StateSnapshots<MapsState>? = nil) {
        self.init(snapshots: snapshots, pageSize: Self.usualPageSize)
    }

    /// Creates it with another page size.
    package init(
        snapshots: StateSnapshots<MapsState>?, pageSize: Int,
        onStop: @escaping @Sendable (Failure) -> Void = { _ in }
    ) {
        self.snapshots = snapshots
        self.pageSize = pageSize
        self.onStop = onStop
    }

    /// Follows the site of a bus thread; the log may still be down.
    ///
    /// - Parameters:
    ///   - bus: The bus thread of the process.
    ///   - log: The log to read; nil for a connection of its own.
    ///   - hasLocators: Whether locators are followed beside maps.
    ///   - snapshots: The snapshots to start from; nil for the first event.
    ///   - onFault: Receives, on any thread, the fault that ends the subscription; see
    ///     `LogSubscription`.
    ///   - onStop: Receives, on any thread, a line about the event that ended the fold for good.
    ///
    /// Throws `Failure` when the bus thread has ended.
    public convenience init(
        following bus: BusThread, log: LogReader? = nil, hasLocators: Bool = true,
        from snapshots: StateSnapshots<MapsState>? = nil,
        onFault: @escaping @Sendable (Failure) -> Void = { _ in },
        onStop: @escaping @Sendable (Failure) -> Void = { _ in }
    ) throws(Failure) {
        self.init(snapshots: snapshots, pageSize: Self.usualPageSize, onStop: onStop)
        let reader = if let log { log } else { try LogReader(bus: bus) }
        // One subscription per category: a subscription to several reads the whole log, and most of
        // a long log is jobs.
        var started: [LogSubscription] = []
        if hasLocators {
            started.append(
                try LogSubscription(
                    bus: bus, log: reader, categories: ["locator"], onFault: onFault
                ) { [weak self] events, position in
                    self?.ingest(events, upTo: position, into: .locators)
                })
        }
        let source = MapSource(
            bus: bus, log: reader, part: hasLocators ? .maps : .all, onFault: onFault)
        guard let snapshots else {
            started.append(try source.follow(self, from: nil))
            feed.withLock { [started] in
                $0 = Feed(log: reader, subscriptions: started, hasMaps: true)
            }
            return
        }
        feed.withLock { [started] in
            $0 = Feed(log: reader, subscriptions: started, hasMaps: false)
        }
        let beginning = Task { [weak self] in
            guard let found = await source.beginning(in: snapshots) else { return }
            self?.begin(at: found, source)
        }
        feed.withLock { $0?.beginning = beginning }
    }

    deinit { stop() }

    /// Ends the subscription; the state stays.
    public func stop() {
        let ended = feed.withLock { feed in
            feed?.isStopped = true
            return feed
        }
        ended?.beginning?.cancel()
        ended?.subscriptions.forEach { $0.cancel() }
    }

    /// A part of the fold.
    enum Part {
        case all
        case maps
        case locators

        var path: WritableKeyPath<Inner, MapsState> {
            switch self {
            case .all: \.state
            case .maps: \.maps
            case .locators: \.locators
            }
        }
    }

    static func join(_ inner: inout Inner, _ part: Part) {
        if part != .all { inner.state = inner.maps.joined(withLocatorsOf: inner.locators) }
    }

    /// Number of events of maps and locators folded since the start, without those of the initial
    /// snapshot.
    public var foldedCount: Int { inner.withLock { $0.foldedCount } }

    /// The latest state; that of an empty log until something was read.
    public var current: MapsState { inner.withLock { $0.state } }

    /// Whether the log is out of reach, so that the maps may have changed since.
    ///
    /// Set by the external feed, where there is one.
    public var isStale: Bool {
        get {
            if fault != nil { return true }
            guard let feed = feed.withLock({ $0 }) else { return inner.withLock { $0.isStale } }
            return !feed.hasMaps || feed.subscriptions.contains(where: \.isStale)
        }
        set { inner.withLock { $0.isStale = newValue } }
    }

    /// The reason why the fold stopped (an event this build cannot follow); nil while it goes on.
    public var fault: Failure? {
        inner.withLock { $0.fault }
            ?? feed.withLock { $0 }?.subscriptions.lazy.compactMap(\.fault).first
    }

    /// The incarnation of the followed log; nil until it is known, and with an external feed.
    public var incarnation: UUID? {
        feed.withLock { $0 }?.subscriptions.lazy.compactMap(\.incarnation).first
    }

    /// Folds records, in rising order of global position, and resumes waiting readers.
    ///
    /// `position` is the watermark: the log holds no further event of ``MapsState/categories`` up
    /// to there. Records folded before are skipped. An event that does not fit, or is of a newer
    /// build, stops the follower for good: it keeps the state before it and the ``fault``, with
    /// which every wait for a state fails.
    public func ingest(_ records: [RecordedEvent], upTo position: Int64) {
        ingest(records, upTo: position, into: .all)
    }

    func ingest(_ records: [RecordedEvent], upTo position: Int64, into part: Part) {
        let path = part.path
        var stopped: Failure?
        let woken: [(Waiter, Result<MapsState, Failure>)] = inner.withLock { inner in
            if inner.fault == nil {
                do throws(Failure) {
                    for record in records {
                        let known = inner[keyPath: path].sequence
                        try inner[keyPath: path].apply(record)
                        if record.globalPosition > known { inner.foldedCount += 1 }
                        inner.changes.note(record)
                    }
                    inner[keyPath: path].advance(to: position)
                } catch {
                    inner.fault = error
                    stopped = error
                }
                Self.join(&inner, part)
            }
            return Self.takeReady(&inner)
        }
        for (waiter, result) in woken { waiter.body(result) }
        if let stopped { onStop(stopped) }
    }

    /// Waits, the first time, until the log has been read up to its present end; later it returns
    /// at once, so that readers continue with the known state during an outage of the log.
    ///
    /// Throws `Failure`: `logUnavailable`, `timedOut`, the ``fault``.
    public func catchUp(timeout: Duration = .seconds(5)) async throws(Failure) {
        guard let log = feed.withLock({ $0 })?.log, !inner.withLock({ $0.isCaughtUp }) else {
            return
        }
        let head = try await log.head(timeout: timeout).head
        _ = try await snapshot(minSequence: head, timeout: timeout)
        inner.withLock { $0.isCaughtUp = true }
    }

    /// Whether the log has been read up to its end at the time of the first request.
    var isCaughtUp: Bool { inner.withLock { $0.isCaughtUp } }

    /// Calls `body` once, on any thread: with a state that has reached `minSequence`, as soon as
    /// there is one; or with a `Failure`: `timedOut` after `timeout`, `busy`, or the ``fault``.
    ///
    /// For a sequence number that a client has received: where the events seen here are below it,
    /// the length of the log is requested.
    public func whenReached(
        _ minSequence: Int64, timeout: Duration = .seconds(5),
        _ body: @escaping @Sendable (Result<MapsState, Failure>) -> Void
    ) {
        guard wait(Waiter(minSequence: minSequence, body: body), timeout) else { return }
        let behind = feed.withLock { $0 }?.subscriptions.filter { $0.position < minSequence }
        behind?.forEach { $0.askForHead() }
    }

    /// Registers a waiting reader, or serves it at once; returns whether it waits.
    private func wait(_ waiter: Waiter, _ timeout: Duration) -> Bool {
        let registered: UInt64? = inner.withLock { inner in
            guard inner.fault == nil, !waiter.isServed(by: inner.state),
                inner.waiters.count < Self.waiterLimit
            else { return nil }
            inner.nextWaiter += 1
            inner.waiters[inner.nextWaiter] = waiter
            return inner.nextWaiter
        }
        guard let registered else {
            waiter.body(ready(waiter))
            return false
        }
        Task { [weak self] in
            try? await Task.sleep(for: timeout)
            self?.expire(registered)
        }
        return true
    }

    /// A state that has reached `minSequence`; throws as ``whenReached(_:timeout:_:)`` does.
    public func snapshot(
        minSequence: Int64 = 0, timeout: Duration = .seconds(5)
    ) async throws(Failure) -> MapsState {
        let result: Result<MapsState, Failure> = await withCheckedContinuation { continuation in
            whenReached(minSequence, timeout: timeout) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// A state later than `sequence`: as soon as there is an event of a map or locator after it, or
    /// a head of the log beyond it; throws as ``whenReached(_:timeout:_:)`` does.
    ///
    /// Sends no request to the log.
    public func snapshot(
        beyond known: MapsState, timeout: Duration
    ) async throws(Failure) -> MapsState {
        let next = max(known.sequence, known.lastEvent) + 1
        let result: Result<MapsState, Failure> = await withCheckedContinuation { continuation in
            let waiter = Waiter(minSequence: next, takesEvents: true) {
                continuation.resume(returning: $0)
            }
            _ = wait(waiter, timeout)
        }
        return try result.get()
    }

    /// The maps as they were when the log ended at sequence number `position`.
    ///
    /// Folds the log from a snapshot or a cached past state, else from its first event; costs about
    /// 20 µs for each event of a map or locator in between. Throws `Failure`: `invalidParameter`
    /// for a position below 0 or ahead of the log (after a short wait), and what `read` throws.
    public func history(
        at position: Int64, reading read: Reader
    ) async throws(Failure) -> MapsState {
        let present = try await reach(position)
        if let past = present.asOf(position) { return past }
        let known = inner.withLock { inner in
            inner.history.filter { $0.sequence <= position }.max { $0.sequence < $1.sequence }
        }
        if let known, known.sequence == position { return known }
        var start = known ?? MapsState()
        if position - start.sequence > pageSize,
            let kept = try await restored(through: position), kept.sequence > start.sequence
        {
            start = try await kept.withLocators(read)
        }
        let past = try await fold(from: start, to: position, reading: read)
        inner.withLock { inner in
            inner.history.removeAll { $0.sequence == past.sequence }
            inner.history.append(past)
            if inner.history.count > Self.historyLimit { inner.history.removeFirst() }
        }
        return past
    }

    /// The present, once it has reached a past position; throws `invalidParameter` for a position
    /// ahead of the log.
    @discardableResult
    func reach(_ position: Int64) async throws(Failure) -> MapsState {
        guard position >= 0 else {
            throw Failure(.invalidParameter, "sequence number \(position): expected 0 or more")
        }
        do {
            return try await snapshot(minSequence: position, timeout: .seconds(1))
        } catch  where error.code == .timedOut {
            throw Failure(
                .invalidParameter,
                "sequence number \(position) is ahead of the log, which ends at "
                    + "\(current.sequence)")
        }
    }

    /// The log of the follower's own subscription; nil with an external feed.
    var followedLog: LogReader? { feed.withLock { $0?.log } }

    /// The maps at `position`, read from the followed log; throws `unavailable` without one.
    public func history(at position: Int64) async throws(Failure) -> MapsState {
        try await history(at: position, reading: try ownReader())
    }

    private func fold(
        from start: MapsState, to position: Int64, reading read: Reader
    ) async throws(Failure) -> MapsState {
        var state = start
        var pages = MapsState.categories.map {
            CategoryPages(category: $0, after: start.sequence, pageSize: pageSize)
        }
        while true {
            var next: (page: Int, record: RecordedEvent)?
            for number in pages.indices {
                guard let record = try await pages[number].first(reading: read),
                    record.globalPosition <= position,
                    record.globalPosition < next?.record.globalPosition ?? .max
                else { continue }
                next = (number, record)
            }
            guard let next else { break }
            try state.apply(next.record)
            pages[next.page].removeFirst()
        }
        state.advance(to: position)
        return state
    }

    private func ready(_ waiter: Waiter) -> Result<MapsState, Failure> {
        inner.withLock { inner in
            if let fault = inner.fault { return .failure(fault) }
            if waiter.isServed(by: inner.state) { return .success(inner.state) }
            return .failure(
                Failure(.busy, "\(Self.waiterLimit) callers are already waiting for the log"))
        }
    }

    private func expire(_ id: UInt64) {
        let (waiter, reached) = inner.withLock {
            ($0.waiters.removeValue(forKey: id), $0.state.sequence)
        }
        waiter?.body(
            .failure(
                Failure(
                    .timedOut,
                    "sequence number \(waiter?.minSequence ?? 0) was not reached in time; the log "
                        + "is "
                        + "known up to \(reached)")))
    }

    static func takeReady(
        _ inner: inout Inner
    ) -> [(Waiter, Result<MapsState, Failure>)] {
        var woken: [(Waiter, Result<MapsState, Failure>)] = []
        for (id, waiter) in inner.waiters {
            if waiter.isServed(by: inner.state) {
                woken.append((waiter, .success(inner.state)))
            } else if let fault = inner.fault {
                woken.append((waiter, .failure(fault)))
            } else {
                continue
            }
            inner.waiters[id] = nil
        }
        return woken
    }
}

/// One category of the log, a page at a time.
private struct CategoryPages {
    let category: String
    let pageSize: Int
    var after: Int64
    private var page: ArraySlice<RecordedEvent> = []
    private var isLastPage = false

    init(category: String, after: Int64, pageSize: Int) {
        self.category = category
        self.after = after
        self.pageSize = pageSize
    }

    mutating func first(
        reading read: MapFollower.Reader
    ) async throws(Failure) -> RecordedEvent? {
        if page.isEmpty, !isLastPage {
            let events = try await read(
                ReadRequest(after: after, limit: pageSize, category: category))
            isLastPage = events.count < pageSize
            after = events.last?.globalPosition ?? after
            page = events[...]
        }
        return page.first
    }

    mutating func removeFirst() { page = page.dropFirst() }
}
