// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Platform
import Synchronization

/// A value that several tasks share.
final class Shared<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        state.withLock { value in body(&value) }
    }
}

/// Waits for asynchronous work on a thread of one's own.
enum Blocking {
    static func run(_ work: @escaping @Sendable () async throws -> Void) throws {
        let outcome = BlockingQueue<Result<Void, any Error>>(capacity: 1)
        Task {
            do {
                try await work()
                _ = outcome.tryPush(.success(()))
            } catch {
                _ = outcome.tryPush(.failure(error))
            }
        }
        try outcome.pop()?.get()
    }
}
