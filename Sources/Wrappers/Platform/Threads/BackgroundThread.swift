// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Synchronization

/// Work on a dedicated thread while the caller continues; for callers that may block.
///
/// Releasing it waits for the work to end.
public final class BackgroundThread<Value: Sendable>: Sendable {
    private final class Outcome: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    private let outcome = Outcome()
    private let thread: PinnedThread

    /// Starts the work; throws when the system has no thread left.
    public init(
        _ name: String, _ body: @escaping @Sendable () throws -> Value
    ) throws(PlatformError) {
        thread = try PinnedThread(name: name) { [outcome] in
            let result = Result { try body() }
            outcome.result.withLock { $0 = result }
        }
    }

    /// The result; waits for the end, blocking, and throws the error of the work.
    public func value() throws -> Value {
        thread.join()
        guard let result = outcome.result.withLock({ $0 }) else {
            preconditionFailure("a thread has ended without its function")
        }
        return try result.get()
    }

    deinit { thread.join() }
}
