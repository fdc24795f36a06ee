// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import Synchronization

/// Queue of the map state: commands from the bus thread, results from the loader's.
///
/// At most ``commandLimit`` commands are queued; further ones fail with `busy` at once.
final class Inbox: Sendable {
    /// Maximum number of queued commands.
    static let commandLimit = 1024

    /// An element of the queue.
    enum Item: Sendable {
        case command(IncomingRequest)
        case loaded(LoadedLayer)
        case compacted(CompactedLayer)
        /// The log may be reachable again: read on, and retry the loads.
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
    /// Delivers at least one element after every insertion; finishes on `close`.
    let signals: AsyncStream<Void>

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Enqueues a command, or answers it with `busy` or `draining`.
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

    /// Enqueues a result; bounded by the number of loads in progress.
    func put(_ result: Item) {
        inner.withLock { $0.items.append(result) }
        signal.yield()
    }

    /// Enqueues a wake-up unless one is queued: each may block on an unreachable log, and commands
    /// with it.
    func wake() {
        inner.withLock { inner in
            guard !inner.hasWake else { return }
            inner.hasWake = true
            inner.items.append(.wake)
        }
        signal.yield()
    }

    /// Removes all elements, oldest first.
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

    /// Refuses further commands and finishes `signals`; the queued ones are answered `draining`.
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
