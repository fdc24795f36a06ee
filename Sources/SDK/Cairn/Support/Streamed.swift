// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Synchronization

/// A property that can be followed: `job.status` is its value, `job.$status` the value now and
/// every change after it, in order, for any number of readers.
///
/// The sequence never throws. It ends with the object that has the property, or, of a job, after
/// the value of its end. A slow reader misses the oldest of more than 1,024 values that wait.
@propertyWrapper
public struct Streamed<Value: Sendable>: Sendable {
    let source: Source

    /// Begins with a value.
    public init(wrappedValue: Value) { source = Source(wrappedValue) }

    /// The value now.
    public var wrappedValue: Value {
        get { source.value }
        nonmutating set { source.set(newValue) }
    }

    /// The value now and every later one.
    public var projectedValue: Values { Values(source: source) }

    /// The values of a followed property.
    public struct Values: AsyncSequence, Sendable {
        let source: Source

        /// Reads one value after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            var stream: AsyncStream<Value>.AsyncIterator

            /// The next value; nil at the end, and in a cancelled task.
            public mutating func next() async -> Value? { await next(isolation: #isolation) }

            /// The next value; nil at the end, and in a cancelled task.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(Never) -> Value? {
                await stream.next(isolation: actor)
            }
        }

        /// Starts to follow.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(stream: source.follow().makeAsyncIterator())
        }
    }

    /// The value and its readers.
    final class Source: Sendable {
        private struct State {
            var value: Value
            var readers: [Int: AsyncStream<Value>.Continuation] = [:]
            var nextReader = 0
            var isEnded = false
        }

        private let state: Mutex<State>

        init(_ value: Value) { state = Mutex(State(value: value)) }

        deinit { end() }

        var value: Value { state.withLock { $0.value } }

        func set(_ value: Value) {
            state.withLock { state in
                guard !state.isEnded else { return }
                state.value = value
                for reader in state.readers.values { reader.yield(value) }
            }
        }

        /// Changes the value; returns what `body` does.
        func update<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
            state.withLock { state in
                let result = body(&state.value)
                guard !state.isEnded else { return result }
                for reader in state.readers.values { reader.yield(state.value) }
                return result
            }
        }

        /// Ends the sequences of all readers; the value stays.
        func end() {
            let readers = state.withLock { state in
                state.isEnded = true
                defer { state.readers = [:] }
                return Array(state.readers.values)
            }
            for reader in readers { reader.finish() }
        }

        func follow() -> AsyncStream<Value> {
            AsyncStream(bufferingPolicy: .bufferingNewest(1_024)) { reader in
                let number = state.withLock { state -> Int? in
                    reader.yield(state.value)
                    guard !state.isEnded else { return nil }
                    state.nextReader += 1
                    state.readers[state.nextReader] = reader
                    return state.nextReader
                }
                guard let number else { return reader.finish() }
                reader.onTermination = { [weak self] _ in
                    _ = self?.state.withLock { $0.readers.removeValue(forKey: number) }
                }
            }
        }
    }
}
