// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Synchronization

/// A value behind a lock, as an object: for parameter objects, whose members app code changes
/// through a `let`, from any thread.
final class Guarded<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try value.withLock { value in try body(&value) }
    }

    /// A copy.
    var current: Value {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }
}
