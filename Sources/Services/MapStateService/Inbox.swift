// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import Synchronization

/// What waits for the map state: commands from the bus thread, results from the loader's.
///
/// At most ``commandLimit`` commands wait; further ones are answered `busy` at once.
final class Inbox: Sendable {
    /// The most commands that wait.
    static let commandLimit = 1024

    /// One thing to do.
    enum Item: Sendable {
        case command(IncomingRequest)
        case loaded(LoadedLayer)
        case compacted(CompactedLayer)
        /// The log may be within reach again: look for what it has beyond the state, and for layers
        /// to load.
        case wake
    }

    private struct Inner {
        var items: [Item] = []
        var commandCount = 0
        var hasWake = false
        var isClosed = false
    }

    private let inner = Mutex(Inner())
    private let signal: AsyncStream<Void>.Continuation
    /// Delivers one element or more whenever something was put in; ends with `close`.
    let signals: AsyncStream<Void>

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Puts a command in, or answers it with `busy` or `draining`.
    func put(_ request: IncomingRequest) {
        let refusal: Failure? = inner.withLock { inner in
            if inner.isClosed {
                return Failure(.draining, "the map state is shutting down")
            }
            guard inner.commandCount < Self.commandLimit else {
                return Failure(.busy, "\(Self.commandLimit) map commands wait already")
            }
            inner.commandCount += 1
            inner.items.append(.command(request))
            return nil
        }
        if let refusal { request.reply(failure: refusal) } else { signal.yield() }
    }

    /// Puts a result in, of which there are only as many as loads under way.
    func put(_ result: Item) {
        inner.withLock { $0.items.append(result) }
        signal.yield()
    }

    /// Puts a wake-up in unless one waits: each may wait for a log that is away, and commands with
    /// it.
    func wake() {
        inner.withLock { inner in
            guard !inner.hasWake else { return }
            inner.hasWake = true
            inner.items.append(.wake)
        }
        signal.yield()
    }

    /// Takes everything out, oldest first.
    func takeAll() -> [Item] {
        inner.withLock { inner in
            defer {
                inner.items = []
                inner.commandCount = 0
                inner.hasWake = false
            }
            return inner.items
        }
    }

    /// Lets no more commands in and ends `signals`; those that wait are answered `draining`.
    func close() {
        let left = inner.withLock { inner in
            inner.isClosed = true
            defer { inner.items = [] }
            return inner.items
        }
        signal.finish()
        for case .command(let request) in left {
            request.reply(failure: Failure(.draining, "the map state is shutting down"))
        }
    }
}
