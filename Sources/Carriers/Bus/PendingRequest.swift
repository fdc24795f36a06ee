// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Synchronization

/// The reason a task ends without an answer from the service.
public enum TaskEnd: Hashable, Sendable {
    /// The requester is gone or has cancelled.
    case abandoned
    /// The requester has the answer, straight from a worker.
    case taken
}

/// A task with a waiting requester; ended once, on the bus thread.
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
