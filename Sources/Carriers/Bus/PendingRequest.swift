// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Synchronization

/// Why nobody waits for a service's answer to a task any more.
public enum TaskEnd: Hashable, Sendable {
    /// Its asker has gone, or says that it no longer waits.
    case abandoned
    /// Its asker has the answer, straight from a worker.
    case taken
}

/// A task that its asker waits for; ended once, on the bus thread.
final class PendingRequest: Sendable {
    private struct State {
        var end: TaskEnd?
        var body: (@Sendable (TaskEnd) -> Void)?
    }

    private let state = Mutex(State())

    var isOver: Bool { state.withLock { $0.end != nil } }

    func end(_ end: TaskEnd) {
        let body = state.withLock { state in
            if state.end == nil { state.end = end }
            return state.body.take()
        }
        body?(end)
    }

    /// Calls `body` when it ends, at once where it has.
    func whenOver(_ body: @escaping @Sendable (TaskEnd) -> Void) {
        let end = state.withLock { state in
            if state.end == nil { state.body = body }
            return state.end
        }
        if let end { body(end) }
    }
}
