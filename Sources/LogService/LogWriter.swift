// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import Daemon
internal import EventLog
internal import Logging
internal import Platform
internal import Synchronization

/// The thread that appends: it takes what is queued and commits it as one; the bus thread then publishes and
/// answers, while the next commit is under way.
final class LogWriter: Sendable {
    /// Appends that may wait, and the bytes of their requests; beyond either the asker gets `busy`.
    ///
    /// The bytes are there twice, with some 90 bytes more for each event.
    static let queueCapacity = 8_192
    static let queueByteCapacity = 16 << 20
    /// What one commit takes at most: more would make those at its front wait for those at its end.
    static let commitCapacity = 512
    static let commitByteCapacity = 1 << 20

    /// What the writer thread does.
    private enum Operation: Sendable {
        /// Nil for an append in JSON, which takes longer to read than the bus thread has time for.
        case append(AppendBytes?)
        case claim
    }

    private typealias Task = (operation: Operation, request: IncomingRequest)
    private let queue = BlockingQueue<Task>(capacity: queueCapacity)
    private let queuedByteCount = Atomic<Int>(0)
    private let isStopping = Atomic<Bool>(false)
    /// Nil once stopped: the file is closed and its lock given back.
    private let store: Mutex<SQLiteEventStore?>
    private let bus: BusThread
    private let tail: LogTail
    private let logger: Logger
    private let thread = Mutex<PinnedThread?>(nil)
    private let failpoints: Failpoints

    init(
        _ store: sending SQLiteEventStore, bus: BusThread, tail: LogTail, logger: Logger,
        failpoints: Failpoints
    ) throws(Failure) {
        self.failpoints = failpoints
        self.store = Mutex(store)
        self.bus = bus
        self.tail = tail
        self.logger = logger
        do {
            let started = try PinnedThread(name: "log-writer") { [self] in run() }
            thread.withLock { $0 = started }
        } catch {
            throw Failure(error)
        }
    }

    /// Takes an append, which is done in the order in which they and claims come; throws `invalidParameter` when it is
    /// none, `busy` when the queue is full, `draining` at the end.
    func append(_ request: IncomingRequest) throws(Failure) {
        let message = request.message
        let isFixed = message.header.contentType == MessageHeader.fixedLayout
        try enqueue(
            .append(isFixed ? try AppendBytes(fixedLayout: message.payload) : nil), request)
    }

    /// Takes a claim, as an append.
    func claim(_ request: IncomingRequest) throws(Failure) { try enqueue(.claim, request) }

    private func enqueue(_ operation: Operation, _ request: IncomingRequest) throws(Failure) {
        let size = request.message.payload.count
        let before = queuedByteCount.wrappingAdd(size, ordering: .relaxed).oldValue
        guard before + size <= Self.queueByteCapacity, queue.tryPush((operation, request)) else {
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
            let tasks = queue.popBatch(limit: Self.commitCapacity)
            guard !tasks.isEmpty else { return }
            for task in tasks {
                queuedByteCount.wrappingSubtract(
                    task.request.message.payload.count, ordering: .relaxed)
            }
            var rest = tasks[...]
            while let first = rest.first {
                if case .claim = first.operation {
                    record(claim: rest.removeFirst().request)
                    continue
                }
                commit(Self.takeGroup(from: &rest))
            }
            putInOrder()
        }
    }

    /// The appends before the next claim, as many as one commit takes.
    private static func takeGroup(
        from rest: inout ArraySlice<Task>
    ) -> [(append: AppendBytes?, request: IncomingRequest)] {
        var group: [(append: AppendBytes?, request: IncomingRequest)] = []
        var byteCount = 0
        while byteCount < commitByteCapacity, let next = rest.first,
            case .append(let append) = next.operation
        {
            group.append((append, next.request))
            byteCount += next.request.message.payload.count
            rest.removeFirst()
        }
        return group
    }

    /// Makes an archive the place of its events; any thread.
    func adopt(_ archive: LogArchive) throws(Failure) {
        try store.withLock { store throws(Failure) in try store?.adopt(archive) }
    }

    /// Removes some events that are in an archive; whether there are more.
    ///
    /// Any thread; appends wait meanwhile, some milliseconds.
    func evict() throws(Failure) -> Bool {
        try store.withLock { store throws(Failure) in
            guard let store else { return false }
            defer { try? store.checkpointIfDue() }
            return try store.evict(limit: 500)
        }
    }

    private func record(claim request: IncomingRequest) {
        do throws(Failure) {
            let asked = try request.message.decode(ClaimRequest.self)
            let claim = try store.withLock { store throws(Failure) in try store?.claim(asked) }
            guard let claim else { throw Failure(.draining, "the log is shutting down") }
            logger.info(
                "claimed",
                metadata: [
                    "category": "\(claim.category)", "epoch": "\(claim.epoch)",
                    "holder": "\(claim.holder)",
                ])
            request.reply(encoding: claim)
        } catch {
            report(error)
            request.reply(failure: error)
        }
    }

    private func commit(_ group: [(append: AppendBytes?, request: IncomingRequest)]) {
        var asked: [IncomingRequest] = []
        var appends: [AppendBytes] = []
        asked.reserveCapacity(group.count)
        appends.reserveCapacity(group.count)
        for (append, request) in group {
            do throws(Failure) {
                appends.append(try Self.taken(append, from: request.message))
                asked.append(request)
            } catch {
                request.reply(failure: error)
            }
        }
        failpoints.pass("log.beforeCommit")
        let committed = store.withLock { store in
            store?.append(batch: appends) ?? CommittedBatch(results: [])
        }
        failpoints.pass("log.afterCommitBeforeReply")
        tail.commit(committed)
        // Handed over at once: after each single answer the bus thread would run in this thread's place.
        bus.post { [self, asked] in tell(committed, to: asked) }
    }

    /// On the bus thread: publishes, then answers: what follows the log waits for the disk and nothing else, and who is
    /// answered finds that it has been told.
    private func tell(_ committed: CommittedBatch, to asked: [IncomingRequest]) {
        tail.publish(committed)
        failpoints.pass("log.afterPublishBeforeReply")
        for (request, result) in zip(asked, committed.results) {
            failpoints.pass("log.duringReplies")
            switch result {
            case .success(let value):
                answer(request, value)
            case .failure(let failure):
                report(failure)
                request.reply(failure: failure)
            }
        }
    }

    private static func taken(
        _ append: AppendBytes?, from message: Message
    ) throws(Failure) -> AppendBytes {
        if let append { return append }
        return try AppendBytes(try message.decode(AppendRequest.self))
    }

    private func answer(_ request: IncomingRequest, _ result: AppendResult) {
        guard request.takesFixedLayout else {
            return request.reply(encoding: result, sequence: result.lastPosition)
        }
        request.reply(
            result.fixedLayout, sequence: result.lastPosition,
            contentType: MessageHeader.fixedLayout)
    }

    /// What an operator should see; a refused append is the asker's own affair.
    private func report(_ failure: Failure) {
        switch failure.code {
        case .noSpace, .corrupt, .internal:
            logger.error("append failed", metadata: ["reason": "\(failure)"])
        default: break
        }
    }

    /// Between two commits: what makes the file good to read and short to write, where that is due.
    private func putInOrder() {
        let isIdle = queue.count == 0
        do {
            try store.withLock { store throws(Failure) in
                try store?.writeIndexesIfDue(isIdle: isIdle)
            }
        } catch {
            logger.warning("indexes not written yet", metadata: ["reason": "\(error)"])
        }
        if isIdle { checkpointIfDue() }
    }

    private func checkpointIfDue() {
        failpoints.pass("log.beforeCheckpoint")
        do {
            try store.withLock { store throws(Failure) in try store?.checkpointIfDue() }
        } catch {
            logger.warning("checkpoint failed", metadata: ["reason": "\(error)"])
        }
        failpoints.pass("log.afterCheckpoint")
    }
}
