// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnCore
internal import Synchronization

/// A gate that opens once and releases its waiting tasks.
final class ShutdownGate: Sendable {
    private struct State {
        var isOpen = false
        var failure: Failure?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var isOpen: Bool { state.withLock { $0.isOpen } }
    var failure: Failure? { state.withLock { $0.failure } }

    /// Opens the gate; the first failure given is kept.
    func open(_ failure: Failure?) {
        let waiting = state.withLock { state in
            state.isOpen = true
            if state.failure == nil { state.failure = failure }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// The result of `body`, unless the gate opens first: then nil, and `body` is cancelled without
    /// waiting for it.
    func first<Value: Sendable>(
        or body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        let (outcomes, first) = AsyncStream.makeStream(of: Result<Value, any Error>.self)
        let work = Task {
            first.yield(await Result(catching: body))
            first.finish()
        }
        // The task lives as long as the process.
        Task {
            await wait()
            // In this order: a result of the cancellation must not win.
            first.finish()
            work.cancel()
        }
        for await outcome in outcomes { return try outcome.get() }
        return nil
    }
}
