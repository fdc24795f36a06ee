// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import Synchronization

/// Bounded buffer of published messages.
///
/// When full it drops new messages: the next message that gets in shows the gap, and the log has it
/// all.
final class LogInbox: Sendable {
    static let capacity = 10_000
    static let byteCapacity = 64 << 20

    private struct State {
        var messages: [Message] = []
        var byteCount = 0
        var isClosed = false
        var waiting: CheckedContinuation<[Message], Never>?
    }

    private let state = Mutex(State())

    /// Appends a message, or drops it; never waits.
    func put(_ message: Message) {
        let waiting: CheckedContinuation<[Message], Never>? = state.withLock { state in
            guard !state.isClosed else { return nil }
            if let waiting = state.waiting {
                state.waiting = nil
                return waiting
            }
            guard state.messages.count < Self.capacity,
                state.byteCount + message.payload.count <= Self.byteCapacity
            else { return nil }
            state.messages.append(message)
            state.byteCount += message.payload.count
            return nil
        }
        waiting?.resume(returning: [message])
    }

    /// Takes all messages, waiting for one; empty once closed.
    ///
    /// One task at a time.
    func take() async -> [Message] {
        await withCheckedContinuation { continuation in
            let messages: [Message]? = state.withLock { state in
                guard !state.isClosed else { return [] }
                guard !state.messages.isEmpty else {
                    state.waiting = continuation
                    return nil
                }
                defer {
                    state.messages = []
                    state.byteCount = 0
                }
                return state.messages
            }
            if let messages { continuation.resume(returning: messages) }
        }
    }

    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            state.messages = []
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: [])
    }
}
