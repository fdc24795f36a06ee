// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Bus
public import CairnModel
public import MapState
internal import Synchronization

/// The maps and locators of a site, folded from the log as it grows, in the memory of whoever reads
/// them: no request about a map has to wait for another service.
///
/// A log subscription feeds it: its own (``init(following:)``) or one that calls ``ingest(_:upTo:)``.
/// Any thread may ask. The fold is the pure
/// ``MapsState``, so two followers at one sequence number hold equal maps.
public final class MapFollower: Sendable {
    /// Reads the log: at most `limit` events of one category after a position, in rising order of
    /// global position; fewer only where the category ends.
    public typealias Reader =
        @Sendable (
            _ category: String, _ after: Int64, _ limit: Int
        ) async throws(Failure) -> [RecordedEvent]

    /// The most callers that may wait for a sequence number at once; further ones get `busy`.
    public static let waiterLimit = 10_000
    /// How many past states ``history(at:)`` keeps for its next callers.
    static let historyLimit = 8

    struct Waiter {
        var minSequence: Int64
        var body: @Sendable (Result<MapsState, Failure>) -> Void
    }

    struct Inner {
        var state = MapsState()
        /// What the two subscriptions have brought, where there are two; `state` joins them.
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
    }

    let inner = Mutex(Inner())
    private let feed = Mutex<Feed?>(nil)

    private struct Feed {
        var log: LogReader
        var subscriptions: [LogSubscription]
    }

    /// A follower that has read nothing and waits to be fed.
    public init() {}

    /// A follower of the site that the bus thread belongs to; the log need not be up yet.
    ///
    /// `onFault` is told, on any thread, why the log cannot be followed any more; see `LogSubscription`.
    public convenience init(
        following bus: BusThread, onFault: @escaping @Sendable (Failure) -> Void = { _ in }
    ) throws(Failure) {
        self.init()
        let log = try LogReader(bus: bus)
        // One subscription for each category: a subscription to several reads the whole log, and
        // most of a long log is jobs.
        let maps = try LogSubscription(
            bus: bus, log: log, categories: ["map"], onFault: onFault
        ) { [weak self] events, position in
            self?.ingest(events, upTo: position, into: \.maps)
        }
        let locators = try LogSubscription(
            bus: bus, log: log, categories: ["locator"], onFault: onFault
        ) { [weak self] events, position in
            self?.ingest(events, upTo: position, into: \.locators)
        }
        feed.withLock { $0 = Feed(log: log, subscriptions: [maps, locators]) }
    }

    deinit { stop() }

    /// Ends the subscription; what is known stays.
    public func stop() { feed.withLock { $0 }?.subscriptions.forEach { $0.cancel() } }

    /// The newest state; it may be that of an empty log when nothing was read yet.
    public var current: MapsState { inner.withLock { $0.state } }

    /// Whether the log is out of reach, so that the maps may have changed since.
    ///
    /// Whoever feeds the follower itself sets it.
    public var isStale: Bool {
        get {
            fault != nil
                || feed.withLock { $0 }?.subscriptions.contains(where: \.isStale)
                    ?? inner.withLock { $0.isStale }
        }
        set { inner.withLock { $0.isStale = newValue } }
    }

    /// Why the fold stopped (an event this build cannot follow); nil while it goes on.
    public var fault: Failure? {
        inner.withLock { $0.fault }
            ?? feed.withLock { $0 }?.subscriptions.lazy.compactMap(\.fault).first
    }

    /// Folds records in, in rising order of global position, and wakes whoever waits for them.
    ///
    /// `position` states that the log holds no further event of ``MapsState/categories`` up to there.
    /// Records folded before are passed over. An event that does not fit, or is of a newer build, stops
    /// the follower for good: it keeps the state before it, says why (``fault``), and everybody who asks
    /// for a state gets that failure.
    public func ingest(_ records: [RecordedEvent], upTo position: Int64) {
        ingest(records, upTo: position, into: \.state)
    }

    private func ingest(
        _ records: [RecordedEvent], upTo position: Int64,
        into part: WritableKeyPath<Inner, MapsState>
    ) {
        let woken: [(Waiter, Result<MapsState, Failure>)] = inner.withLock { inner in
            if inner.fault == nil {
                do throws(Failure) {
                    for record in records {
                        try inner[keyPath: part].apply(record)
                        inner.changes.note(record)
                    }
                    inner[keyPath: part].advance(to: position)
                } catch {
                    inner.fault = error
                }
                if part != \.state {
                    inner.state = inner.maps.joined(withLocatorsOf: inner.locators)
                }
            }
            return Self.takeReady(&inner)
        }
        for (waiter, result) in woken { waiter.body(result) }
    }

    /// Waits, the first time, until the log has been read to where it ends now; later it returns at
    /// once, so that a reader goes on with what it knows while the log is away.
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

    /// Calls `body` once, on any thread: with a state that has reached `minSequence`, at once where
    /// it has, else as soon as it does; or with a `Failure`: `timedOut` after `timeout`, `busy`, or
    /// the ``fault``.
    public func whenReached(
        _ minSequence: Int64, timeout: Duration = .seconds(5),
        _ body: @escaping @Sendable (Result<MapsState, Failure>) -> Void
    ) {
        let registered: UInt64? = inner.withLock { inner in
            guard inner.fault == nil, inner.state.sequence < minSequence,
                inner.waiters.count < Self.waiterLimit
            else { return nil }
            inner.nextWaiter += 1
            inner.waiters[inner.nextWaiter] = Waiter(minSequence: minSequence, body: body)
            return inner.nextWaiter
        }
        guard let registered else {
            body(ready(minSequence))
            return
        }
        Task { [weak self] in
            try? await Task.sleep(for: timeout)
            self?.expire(registered)
        }
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

    /// The maps as they were when the log ended at sequence number `position`.
    ///
    /// Folds the log from its start, or from a past state that is still at hand; costs about 20 µs for
    /// each event of a map or locator in between. Throws `Failure`: `invalidParameter` for a position
    /// below 0 or one the log has not reached (after a short wait), and what `read` throws.
    public func history(
        at position: Int64, reading read: Reader
    ) async throws(Failure) -> MapsState {
        let present = try await reach(position)
        if let past = present.asOf(position) { return past }
        let start = inner.withLock { inner in
            inner.history.filter { $0.sequence <= position }.max { $0.sequence < $1.sequence }
        }
        if let start, start.sequence == position { return start }
        let past = try await Self.fold(
            from: start ?? MapsState(), to: position, reading: read)
        inner.withLock { inner in
            inner.history.removeAll { $0.sequence == past.sequence }
            inner.history.append(past)
            if inner.history.count > Self.historyLimit { inner.history.removeFirst() }
        }
        return past
    }

    /// The present, once it has reached a past position; throws `invalidParameter` where there is no
    /// such position.
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
                "sequence number \(position) lies ahead of the log, which ends at "
                    + "\(current.sequence)")
        }
    }

    /// The log that the follower follows by itself; nil where somebody feeds it.
    var followedLog: LogReader? { feed.withLock { $0?.log } }

    /// The same, reading the log that the follower follows; throws `unavailable` when it follows none.
    public func history(at position: Int64) async throws(Failure) -> MapsState {
        guard let log = feed.withLock({ $0 })?.log else {
            throw Failure(.unavailable, "this follower has no log to read the past from")
        }
        return try await history(at: position) { category, after, limit async throws(Failure) in
            try await log.events(category: category, after: after, limit: limit)
        }
    }

    private static func fold(
        from start: MapsState, to position: Int64, reading read: Reader
    ) async throws(Failure) -> MapsState {
        var state = start
        var pages = MapsState.categories.map {
            CategoryPages(category: $0, after: start.sequence)
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

    private func ready(_ minSequence: Int64) -> Result<MapsState, Failure> {
        inner.withLock { inner in
            if let fault = inner.fault { return .failure(fault) }
            if inner.state.sequence >= minSequence { return .success(inner.state) }
            return .failure(
                Failure(.busy, "\(Self.waiterLimit) callers wait for the log already"))
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
                    "sequence number \(waiter?.minSequence ?? 0) was not reached in time; the log is "
                        + "known up to \(reached)")))
    }

    private static func takeReady(
        _ inner: inout Inner
    ) -> [(Waiter, Result<MapsState, Failure>)] {
        var woken: [(Waiter, Result<MapsState, Failure>)] = []
        for (id, waiter) in inner.waiters {
            if inner.state.sequence >= waiter.minSequence {
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
    var after: Int64
    private var page: ArraySlice<RecordedEvent> = []
    private var isLastPage = false

    private static let pageSize = 1000

    init(category: String, after: Int64) {
        self.category = category
        self.after = after
    }

    mutating func first(
        reading read: MapFollower.Reader
    ) async throws(Failure) -> RecordedEvent? {
        if page.isEmpty, !isLastPage {
            let events = try await read(category, after, Self.pageSize)
            isLastPage = events.count < Self.pageSize
            after = events.last?.globalPosition ?? after
            page = events[...]
        }
        return page.first
    }

    mutating func removeFirst() { page = page.dropFirst() }
}
