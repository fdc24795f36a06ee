// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

/// Wakes one waiting task from any thread.
///
/// Signals before a wait coalesce into one, and end it at once; the waiter checks its own
/// condition.
public final class TaskSignal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    /// Makes a signal that is not raised.
    public init() {
        (stream, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Raises the signal.
    ///
    /// Never blocks; any thread.
    public func raise() { continuation.yield() }

    /// Waits for the signal, at most until `end`, and takes it down; one task at a time may wait.
    ///
    /// False when that task is cancelled: the signal is of no use afterwards.
    public func wait(until end: ContinuousClock.Instant? = nil) async -> Bool {
        let timer = end.map { end in
            Task { [continuation] in
                try await Task.sleep(until: end, clock: .continuous)
                continuation.yield()
            }
        }
        defer { timer?.cancel() }
        var iterator = stream.makeAsyncIterator()
        return await iterator.next() != nil
    }
}
