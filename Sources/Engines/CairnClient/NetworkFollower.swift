// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Bus
public import CairnModel
public import FoundationEssentials
public import MapState
internal import Synchronization

/// The road networks of a site, folded from the log as it grows, in the memory of their readers.
///
/// Thread-safe; it reads the streams of networks alone, from their first event.
public final class NetworkFollower: Sendable {
    private struct Waiter: Sendable {
        var minSequence: Int64
        var body: @Sendable () -> Void
    }

    private struct Inner {
        var state = NetworksState()
        var fault: Failure?
        var waiters: [UInt64: Waiter] = [:]
        var nextWaiter: UInt64 = 0
    }

    /// Limit of concurrent waits for a sequence number; further ones get `busy`.
    public static let waiterLimit = 10_000

    private let inner = Mutex(Inner())
    private let log: LogReader
    private let feed = Mutex<LogSubscription?>(nil)
    private let onChange: @Sendable (NetworksState) -> Void

    /// Follows the site of a bus thread; the log may still be down.
    ///
    /// - Parameters:
    ///   - bus: The bus thread of the process.
    ///   - log: The log to read.
    ///   - onFault: Receives, on any thread, the fault of the subscription; see `LogSubscription`.
    ///   - onStop: Receives, on any thread, the event's fault that ended the fold for good.
    ///   - onChange: Receives each state after events were folded, one call at a time.
    /// - Throws: `Failure` when the bus thread has ended.
    public init(
        following bus: BusThread, log: LogReader,
        onFault: @escaping @Sendable (Failure) -> Void = { _ in },
        onStop: @escaping @Sendable (Failure) -> Void = { _ in },
        onChange: @escaping @Sendable (NetworksState) -> Void = { _ in }
    ) throws(Failure) {
        self.log = log
        self.onChange = onChange
        let subscription = try LogSubscription(
            bus: bus, log: log, categories: [NetworksState.category], onFault: onFault
        ) { [weak self] events, position in
            if let fault = self?.ingest(events, upTo: position) { onStop(fault) }
        }
        feed.withLock { $0 = subscription }
    }

    deinit { stop() }

    /// Ends the subscription; the state stays.
    public func stop() { feed.withLock { $0 }?.cancel() }

    /// The latest state; that of an empty log until something was read.
    public var current: NetworksState { inner.withLock { $0.state } }

    /// Whether the log may have grown unheard.
    public var isStale: Bool {
        inner.withLock { $0.fault } != nil || feed.withLock { $0 }?.isStale ?? true
    }

    /// The incarnation of the followed log; nil until it is known.
    public var incarnation: UUID? { feed.withLock { $0 }?.incarnation }

    private func ingest(_ records: [RecordedEvent], upTo position: Int64) -> Failure? {
        var changed: NetworksState?
        let (woken, fault) = inner.withLock { inner -> ([@Sendable () -> Void], Failure?) in
            guard inner.fault == nil else { return ([], nil) }
            do throws(Failure) {
                for record in records { try inner.state.apply(record) }
                inner.state.advance(to: position)
                if !records.isEmpty { changed = inner.state }
            } catch { inner.fault = error }
            let sequence = inner.state.sequence
            let ready = inner.waiters.filter {
                inner.fault != nil || $0.value.minSequence <= sequence
            }
            for key in ready.keys { inner.waiters[key] = nil }
            return (ready.values.map { $0.body }, inner.fault)
        }
        if let changed { onChange(changed) }
        for body in woken { body() }
        return fault
    }

    /// A state that has reached `minSequence`; throws `Failure`: `timedOut`, `busy`, or the fault
    /// of the fold.
    public func snapshot(
        minSequence: Int64 = 0, timeout: Duration = .seconds(5)
    ) async throws(Failure) -> NetworksState {
        let deadline = ContinuousClock.now + timeout
        while true {
            let (state, fault) = inner.withLock { ($0.state, $0.fault) }
            if let fault { throw fault }
            if state.sequence >= minSequence { return state }
            guard ContinuousClock.now < deadline else {
                throw Failure(
                    .timedOut,
                    "the networks are known up to sequence number \(state.sequence); "
                        + "\(minSequence) was not reached in time")
            }
            try await wait(for: minSequence, until: deadline, asksLog: true)
        }
    }

    /// A state later than `known` as soon as there is one, or the latest after the timeout; throws
    /// `Failure`: `busy`, or the fault of the fold.
    ///
    /// Sends no request to the log.
    public func snapshot(
        beyond known: NetworksState, timeout: Duration
    ) async throws(Failure) -> NetworksState {
        try await wait(for: known.sequence + 1, until: .now + timeout, asksLog: false)
        let (state, fault) = inner.withLock { ($0.state, $0.fault) }
        if let fault { throw fault }
        return state
    }

    private func wait(
        for minSequence: Int64, until deadline: ContinuousClock.Instant, asksLog: Bool
    ) async throws(Failure) {
        let isFull: Bool = await withCheckedContinuation { continuation in
            let (number, isFull): (UInt64?, Bool) = inner.withLock { inner in
                if inner.fault != nil || inner.state.sequence >= minSequence { return (nil, false) }
                guard inner.waiters.count < Self.waiterLimit else { return (nil, true) }
                inner.nextWaiter += 1
                inner.waiters[inner.nextWaiter] = Waiter(minSequence: minSequence) {
                    continuation.resume(returning: false)
                }
                return (inner.nextWaiter, false)
            }
            guard let number else { return continuation.resume(returning: isFull) }
            if asksLog { feed.withLock { $0 }?.askForHead() }
            Task { [weak self] in
                try? await Task.sleep(until: deadline, clock: .continuous)
                self?.inner.withLock { $0.waiters.removeValue(forKey: number) }?.body()
            }
        }
        if isFull { throw Failure(.busy, "too many requests wait for the log") }
    }

    /// The networks as they were when the log ended at sequence number `position`.
    ///
    /// Folds their streams from the first event. Throws `Failure`: `invalidParameter` for a
    /// position below 0, and what the log throws.
    public func history(at position: Int64) async throws(Failure) -> NetworksState {
        try await Self.history(at: position) { request async throws(Failure) in
            try await log.read(request).events
        }
    }

    /// The same, by another way of reading; pages until it has all events up to `position`.
    public static func history(
        at position: Int64,
        reading read: (ReadRequest) async throws(Failure) -> [RecordedEvent]
    ) async throws(Failure) -> NetworksState {
        guard position >= 0 else {
            throw Failure(.invalidParameter, "sequence number \(position): expected 0 or more")
        }
        var state = NetworksState()
        var last: Int64 = 0
        while true {
            let page = try await read(
                ReadRequest(after: last, limit: 1000, category: NetworksState.category))
            for event in page where event.globalPosition <= position { try state.apply(event) }
            guard let end = page.last?.globalPosition, end < position else { break }
            last = end
        }
        state.advance(to: position)
        return state
    }
}
