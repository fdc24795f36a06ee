// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Cairn
public import Foundation
internal import Synchronization

/// A clock of an app's tests, which stands still until it is moved.
///
/// What the SDK does within ``run(isolation:_:)`` goes by it: how often jobs ask, how long they
/// pass over a lost network, rests before a request is sent again, ends of tokens, the ages of
/// descriptions, the times of messages. How long a request may take does not.
public final class StubClock: Sendable {
    private struct State {
        var date: Date
        var elapsed = Duration.zero
        var sleepers: [UUID: (end: Duration, continuation: CheckedContinuation<Bool, Never>)] = [:]
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>
    private let start = ContinuousClock.now
    private let skipsWaits: Bool

    /// A clock that shows a date.
    ///
    /// With `skipsWaits` nothing waits: each wait moves the clock to its end, so that ten minutes
    /// pass at once.
    public init(
        _ date: Date = Date(timeIntervalSince1970: 1_800_000_000), skipsWaits: Bool = false
    ) {
        state = Mutex(State(date: date))
        self.skipsWaits = skipsWaits
    }

    /// What it shows.
    public var date: Date { state.withLock { $0.date } }

    /// How far it was moved since it was made; ``set(to:)`` does not count.
    public var elapsed: Duration { state.withLock { $0.elapsed } }

    /// Runs code by this clock, and the tasks and jobs that are started in it.
    public func run<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await SDKTime.$own.withValue(Time(clock: self), operation: body)
    }

    /// Moves it forward; waits that end by then are over.
    public func advance(by duration: Duration) {
        let over = state.withLock { state in
            Self.move(&state, to: state.elapsed + max(duration, .zero))
        }
        for each in over { each.resume(returning: true) }
    }

    /// Shows another date, earlier or later, as where a person sets a clock; waits stay as they
    /// are.
    public func set(to date: Date) { state.withLock { $0.date = date } }

    /// Returns once something waits.
    public func slept() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if !state.sleepers.isEmpty { return true }
                state.watchers.append(continuation)
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    private static func move(
        _ state: inout State, to moment: Duration
    ) -> [CheckedContinuation<Bool, Never>] {
        guard moment > state.elapsed else { return [] }
        state.date += (moment - state.elapsed) / .seconds(1)
        state.elapsed = moment
        let over = state.sleepers.filter { $0.value.end <= moment }
        for key in over.keys { state.sleepers[key] = nil }
        return over.values.map(\.continuation)
    }

    private func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        guard duration > .zero else { return await Task.yield() }
        if skipsWaits {
            advance(by: duration)
            return await Task.yield()
        }
        let key = UUID()
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let watchers = state.withLock { state in
                    state.sleepers[key] = (state.elapsed + duration, continuation)
                    defer { state.watchers = [] }
                    return state.watchers
                }
                for each in watchers { each.resume() }
                if Task.isCancelled { cancel(key) }
            }
        } onCancel: {
            cancel(key)
        }
        guard isOver else { throw CancellationError() }
    }

    private func cancel(_ key: UUID) {
        state.withLock { $0.sleepers.removeValue(forKey: key) }?.continuation
            .resume(returning: false)
    }

    private struct Time: TimeSource {
        let clock: StubClock

        var date: Date { clock.date }
        var now: ContinuousClock.Instant { clock.start.advanced(by: clock.elapsed) }
        func sleep(for duration: Duration) async throws { try await clock.sleep(for: duration) }
    }
}
