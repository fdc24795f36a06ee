// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import Daemon
internal import EventLog
internal import Logging
internal import Platform
internal import Synchronization

/// The thread that appends: it takes what is queued, commits it as one, answers, publishes.
final class LogWriter: Sendable {
    /// Appends that may wait, and the bytes of their requests; beyond either the asker gets `busy`.
    static let queueCapacity = 8_192
    static let queueByteCapacity = 16 << 20
    /// What one commit takes at most: more would make those at its front wait for those at its end.
    static let commitCapacity = 512
    static let commitByteCapacity = 1 << 20

    private let queue = BlockingQueue<IncomingRequest>(capacity: queueCapacity)
    private let queuedByteCount = Atomic<Int>(0)
    private let isStopping = Atomic<Bool>(false)
    /// Nil once stopped: the file is closed and its lock given back.
    private let store: Mutex<SQLiteEventStore?>
    private let tail: LogTail
    private let logger: Logger
    private let thread = Mutex<PinnedThread?>(nil)
    private let failpoints = Failpoints()

    init(_ store: sending SQLiteEventStore, tail: LogTail, logger: Logger) throws(Failure) {
        self.store = Mutex(store)
        self.tail = tail
        self.logger = logger
        do {
            let started = try PinnedThread(name: "log-writer") { [self] in run() }
            thread.withLock { $0 = started }
        } catch {
            throw Failure(error)
        }
    }

    /// Takes an append; throws `busy` when the queue is full, `draining` at the end.
    func enqueue(_ request: IncomingRequest) throws(Failure) {
        let size = request.message.payload.count
        let before = queuedByteCount.wrappingAdd(size, ordering: .relaxed).oldValue
        guard before + size <= Self.queueByteCapacity, queue.tryPush(request) else {
            queuedByteCount.wrappingSubtract(size, ordering: .relaxed)
            if isStopping.load(ordering: .relaxed) {
                throw Failure(.draining, "the log is shutting down")
            }
            throw Failure(.busy, "the log has too many appends waiting; try again")
        }
    }

    /// Commits what is queued, ends the thread and empties the write-ahead log.
    ///
    /// Blocks.
    func stop() {
        isStopping.store(true, ordering: .relaxed)
        queue.close()
        // The thread's function holds the writer: without this neither would ever go.
        thread.withLock { $0.take() }?.join()
        do {
            try store.withLock { store throws(Failure) in
                defer { store = nil }
                try store?.checkpoint(truncating: true)
            }
        } catch {
            logger.warning("checkpoint failed", metadata: ["reason": "\(error)"])
        }
    }

    private func run() {
        while true {
            let requests = queue.popBatch(limit: Self.commitCapacity)
            guard !requests.isEmpty else { return }
            var rest = requests[...]
            while !rest.isEmpty {
                var byteCount = 0
                let group = rest.prefix { request in
                    defer { byteCount += request.message.payload.count }
                    return byteCount < Self.commitByteCapacity
                }
                rest = rest.dropFirst(group.count)
                commit(Array(group))
            }
            if queue.count == 0 { checkpointIfDue() }
        }
    }

    private func commit(_ requests: [IncomingRequest]) {
        for request in requests {
            queuedByteCount.wrappingSubtract(
                request.message.payload.count, ordering: .relaxed)
        }
        var asked: [(request: IncomingRequest, appends: [StreamAppend])] = []
        for request in requests {
            do throws(Failure) {
                asked.append((request, try request.message.decode(AppendRequest.self).appends))
            } catch {
                request.reply(failure: error)
            }
        }
        failpoints.pass("log.beforeCommit")
        let committed = store.withLock { store in
            store?.append(batch: asked.map(\.appends)) ?? CommittedBatch(results: [], events: [])
        }
        failpoints.pass("log.afterCommitBeforeReply")
        tail.commit(committed.events)
        for ((request, _), result) in zip(asked, committed.results) {
            switch result {
            case .success(let value):
                request.reply(encoding: value, sequence: value.lastPosition)
            case .failure(let failure):
                report(failure)
                request.reply(failure: failure)
            }
        }
        failpoints.pass("log.afterReplyBeforePublish")
        tail.publish(committed.events)
    }

    /// What an operator should see; a refused append is the asker's own affair.
    private func report(_ failure: Failure) {
        switch failure.code {
        case .noSpace, .corrupt, .internal:
            logger.error("append failed", metadata: ["reason": "\(failure)"])
        default: break
        }
    }

    private func checkpointIfDue() {
        do {
            try store.withLock { store throws(Failure) in try store?.checkpointIfDue() }
        } catch {
            logger.warning("checkpoint failed", metadata: ["reason": "\(error)"])
        }
    }
}
