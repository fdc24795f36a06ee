// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Foundation
internal import Synchronization

/// A value that comes once, with any number of tasks that wait for it.
final class Latch<Value: Sendable>: Sendable {
    private struct State {
        var value: Result<Value, any Error>?
        var waiting: [UUID: CheckedContinuation<Value, any Error>] = [:]
    }

    private let state = Mutex(State())

    /// Sets the value, unless one came before.
    func set(_ value: Result<Value, any Error>) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, any Error>] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for each in waiting { each.resume(with: value) }
    }

    /// Waits for the value; a cancelled task stops waiting with `CancellationError`.
    func wait() async throws -> Value {
        let key = UUID()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let value = state.withLock { state -> Result<Value, any Error>? in
                    if let value = state.value { return value }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiting[key] = continuation
                    return nil
                }
                if let value { return continuation.resume(with: value) }
                guard Task.isCancelled else { return }
                giveUp(key)
            }
        } onCancel: {
            giveUp(key)
        }
    }

    private func giveUp(_ key: UUID) {
        state.withLock { $0.waiting.removeValue(forKey: key) }?
            .resume(throwing: CancellationError())
    }
}
