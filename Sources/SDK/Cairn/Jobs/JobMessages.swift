// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import Foundation

/// Something that a job says while it works.
public struct JobMessage: Sendable, Hashable {
    /// How grave it is.
    public enum Severity: String, Sendable, Hashable {
        case info, warning, error
    }

    /// The sentence.
    public let text: String
    /// How grave it is.
    public let severity: Severity
    /// When it was said; when it was heard, where the server gives no time.
    public let timestamp: Date
}

/// The messages of a job, each once, in order, from the first one on.
public struct JobMessages: AsyncSequence, Sendable {
    let store: JobMessageStore

    /// Reads one message after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let store: JobMessageStore
        var counts: Streamed<Int>.Values.AsyncIterator
        var waiting: ArraySlice<JobMessage> = []
        var readCount = 0

        /// The next message; nil once the job has ended.
        public mutating func next() async -> JobMessage? { await next(isolation: #isolation) }

        /// The next message; nil once the job has ended.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(Never) -> JobMessage? {
            while waiting.isEmpty {
                let isEnd = await counts.next(isolation: actor) == nil
                waiting = store.after(readCount)
                readCount += waiting.count
                if isEnd, waiting.isEmpty { return nil }
            }
            return waiting.removeFirst()
        }
    }

    /// Starts to read.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(store: store, counts: store.counts.makeAsyncIterator())
    }
}

/// What a job has said; its number is followed.
final class JobMessageStore: Sendable {
    private let messages = Guarded<[JobMessage]>([])
    private let count = Streamed(wrappedValue: 0)

    var all: [JobMessage] { messages.current }

    func append(_ fresh: [JobMessage]) {
        guard !fresh.isEmpty else { return }
        // Under one lock, so that the number never falls.
        messages.withLock { messages in
            messages += fresh
            count.source.set(messages.count)
        }
    }

    func end() { count.source.end() }

    /// The messages after so many.
    func after(_ number: Int) -> ArraySlice<JobMessage> {
        messages.withLock { $0.dropFirst(number) }
    }

    var counts: Streamed<Int>.Values { count.projectedValue }
}
