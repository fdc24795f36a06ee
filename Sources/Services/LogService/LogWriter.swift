// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnCore
internal import CoreMetrics
internal import Daemon
internal import EventLog
internal import Logging
internal import Platform
internal import Synchronization

/// Group commit: commits the queued appends together, then has the bus thread publish and answer
/// them.
///
/// Two threads commit, never at the same time. A brief group that arrives while the writer's thread
/// is idle is committed by the bus thread at the end of its turn: waking two threads takes longer
/// than such a commit. Everything else goes to the writer's thread, as does all that arrives until
/// that thread has finished, so the order of arrival is kept. Decision 0180.
final class LogWriter: Sendable {
    /// Maximum number of queued appends, and of the bytes of their requests; beyond either an
    /// append fails with `busy`.
    ///
    /// The bytes are held twice, with some 90 bytes more for each event.
    static let queueCapacity = 8_192
    static let queueByteCapacity = 16 << 20
    /// Maximum number of appends per commit: more would delay the first of them until the last is
    /// written.
    static let commitCapacity = 512
    static let commitByteCapacity = 1 << 20
    /// Maximum size of a commit on the bus thread.
    static let briefByteCapacity = 16 << 10
    /// A commit that took longer shows that the disk is slow: the next one does not block the bus
    /// thread.
    static let briefNanoseconds: Int64 = 4_000_000

    private enum Task: Sendable {
        /// The bytes are nil for an append in JSON, whose decoding would block the bus thread for
        /// too long.
        case append(AppendBytes?, IncomingRequest)
        case claim(IncomingRequest)
        /// Maintenance in an idle moment.
        case putInOrder

        var request: IncomingRequest? {
            switch self {
            case .append(_, let request), .claim(let request): request
            case .putInOrder: nil
            }
        }

        var byteCount: Int { request?.message.payload.count ?? 0 }
    }

    private typealias Append = (bytes: AppendBytes?, request: IncomingRequest)

    /// State of the bus thread; only that thread changes it.
    private struct Turn {
        /// Tasks that arrived in this turn.
        var tasks: [Task] = []
        /// Number of tasks given to the writer's thread and not yet published and answered.
        var awayCount = 0
    }

    private let turn = Mutex(Turn())
    private let queue = BlockingQueue<Task>(capacity: queueCapacity)
    private let queuedByteCount = Atomic<Int>(0)
    private let isStopping = Atomic<Bool>(false)
    /// Duration of the last commit, in nanoseconds.
    private let lastTook = Atomic<Int64>(0)
    /// Nil once stopped: the file is closed and its lock released.
    private let store: Mutex<SQLiteEventStore?>
    private let bus: BusThread
    private let tail: LogTail
    private let logger: Logger
    private let thread = Mutex<PinnedThread?>(nil)
    private let failpoints: Failpoints
    private let metrics: LogMetrics

    init(
        _ store: sending SQLiteEventStore, bus: BusThread, tail: LogTail, logger: Logger,
        failpoints: Failpoints, metrics: LogMetrics
    ) throws(Failure) {
        self.metrics = metrics
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

    // MARK: On the bus thread

    /// Enqueues an append; appends and claims are processed in order of arrival; throws
    /// `invalidParameter` when the request is malformed, `busy` when the queue is full, `draining`
    /// during shutdown.
    func append(_ request: IncomingRequest) throws(Failure) {
        let message = request.message
        let isFixed = message.header.contentType == MessageHeader.fixedLayout
        try take(.append(isFixed ? try AppendBytes(fixedLayout: message.payload) : nil, request))
    }

    /// Enqueues a claim; otherwise as ``append(_:)``.
    func claim(_ request: IncomingRequest) throws(Failure) { try take(.claim(request)) }

    private func take(_ task: Task) throws(Failure) {
        guard !isStopping.load(ordering: .relaxed) else { throw Self.draining }
        let size = task.byteCount
        let byteCount = queuedByteCount.wrappingAdd(size, ordering: .relaxed).newValue
        let taken = turn.withLock { turn -> Int? in
            guard byteCount <= Self.queueByteCapacity,
                turn.tasks.count + turn.awayCount < Self.queueCapacity
            else { return nil }
            turn.tasks.append(task)
            return turn.tasks.count
        }
        guard let taken else {
            queuedByteCount.wrappingSubtract(size, ordering: .relaxed)
            throw Failure(.busy, "the log has too many appends waiting; try again")
        }
        if taken == 1 { bus.post { [self] in endTurn() } }
    }

    /// Commits the tasks of this turn, or hands them to the writer's thread.
    private func endTurn() {
        let (tasks, isAlone) = turn.withLock { turn in
            defer { turn.tasks = [] }
            return (turn.tasks, turn.awayCount == 0)
        }
        if isAlone, lastTook.load(ordering: .relaxed) <= Self.briefNanoseconds,
            let group = Self.brief(tasks), commitHere(group)
        {
            letGo(tasks)
        } else {
            handOver(tasks)
        }
    }

    /// The group that the bus thread commits; nil where it is too large or of another kind.
    private static func brief(_ tasks: [Task]) -> Group? {
        var (appends, asked): Group = ([], [])
        appends.reserveCapacity(tasks.count)
        asked.reserveCapacity(tasks.count)
        var byteCount = 0
        for task in tasks {
            guard case .append(.some(let bytes), let request) = task else { return nil }
            byteCount += task.byteCount
            appends.append(bytes)
            asked.append(request)
        }
        return byteCount <= briefByteCapacity ? (appends, asked) : nil
    }

    /// False while the writer's thread holds the file, or after it was closed.
    private func commitHere(_ group: Group) -> Bool {
        let done = store.withLockIfAvailable { store in
            store.map { store in (append(group, to: store), store.isOrderDue) }
        }
        guard case .some(.some(let (committed, isOrderDue))) = done else { return false }
        tell(committed, to: group)
        if isOrderDue { handOver([.putInOrder]) }
        return true
    }

    private func handOver(_ tasks: [Task]) {
        turn.withLock { $0.awayCount += tasks.count }
        for task in tasks where !queue.pushPastBound(task) {
            letGo([task])
            task.request?.reply(failure: Self.draining)
        }
    }

    private func getBack(_ count: Int) { turn.withLock { $0.awayCount -= count } }

    /// Publishes, then answers: subscribers wait for the disk only, and a client that has its
    /// answer finds the events published.
    private func tell(_ committed: CommittedBatch, to group: Group) {
        tail.publish(committed)
        failpoints.pass("log.afterPublishBeforeReply")
        let now = MonotonicClock.nanoseconds()
        for (request, result) in zip(group.asked, committed.results) {
            failpoints.pass("log.duringReplies")
            switch result {
            case .success(let value):
                metrics.appendSeconds.recordNanoseconds(now - request.arrivedAt)
                answer(request, value)
            case .failure(let failure):
                metrics.refusedAppends.increment()
                report(failure)
                request.reply(failure: failure)
            }
        }
    }

    private func answer(_ request: IncomingRequest, _ result: AppendResult) {
        guard request.takesFixedLayout else {
            return request.reply(encoding: result, sequence: result.lastPosition)
        }
        request.reply(
            result.fixedLayout, sequence: result.lastPosition,
            contentType: MessageHeader.fixedLayout)
    }

    // MARK: On either thread

    /// Appends committed together, with their requests.
    private typealias Group = (appends: [AppendBytes], asked: [IncomingRequest])

    private func append(_ group: Group, to store: SQLiteEventStore) -> CommittedBatch {
        failpoints.pass("log.beforeCommit")
        let began = MonotonicClock.nanoseconds()
        failpoints.pass("log.duringCommit")
        let committed = store.append(batch: group.appends)
        let took = MonotonicClock.nanoseconds() - began
        lastTook.store(took, ordering: .relaxed)
        if !committed.records.isEmpty {
            metrics.commitSeconds.recordNanoseconds(took)
            metrics.events.increment(by: committed.records.count)
        }
        failpoints.pass("log.afterCommitBeforeReply")
        tail.commit(committed)
        return committed
    }

    private func letGo(_ tasks: [Task]) {
        let byteCount = tasks.reduce(0) { $0 + $1.byteCount }
        queuedByteCount.wrappingSubtract(byteCount, ordering: .relaxed)
    }

    /// Logs a failure that concerns the operator; a refused append concerns only its client.
    private func report(_ failure: Failure) {
        switch failure.code {
        case .noSpace, .corrupt, .internal:
            logger.error("append failed", metadata: ["reason": "\(failure)"])
        default: break
        }
    }

    private static let draining = Failure(.draining, "the log is shutting down")

    /// Commits the queued appends, ends the thread and checkpoints the write-ahead log.
    ///
    /// Blocks; not to be called on the bus thread.
    func stop() {
        isStopping.store(true, ordering: .relaxed)
        queue.close()
        // Breaks the retain cycle between the thread's function and the writer.
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

    // MARK: On the writer's thread

    private func run() {
        while true {
            let tasks = queue.popBatch(limit: Self.commitCapacity)
            guard !tasks.isEmpty else { return }
            letGo(tasks)
            var rest = tasks[...]
            var doneCount = 0
            while let first = rest.first {
                if case .append = first {
                    commit(Self.takeGroup(from: &rest))
                    continue
                }
                if case .claim(let request) = first { record(claim: request) }
                rest.removeFirst()
                doneCount += 1
            }
            putInOrder()
            if doneCount > 0 { bus.post { [self, doneCount] in getBack(doneCount) } }
        }
    }

    /// The appends before the next claim, up to the capacity of one commit.
    private static func takeGroup(from rest: inout ArraySlice<Task>) -> [Append] {
        var group: [Append] = []
        var byteCount = 0
        while byteCount < commitByteCapacity, let next = rest.first,
            case .append(let bytes, let request) = next
        {
            group.append((bytes, request))
            byteCount += next.byteCount
            rest.removeFirst()
        }
        return group
    }

    /// Decodes appends in JSON; a malformed one is refused.
    private func read(_ group: [Append]) -> Group {
        var (appends, asked): Group = ([], [])
        appends.reserveCapacity(group.count)
        asked.reserveCapacity(group.count)
        for (bytes, request) in group {
            do throws(Failure) {
                appends.append(try Self.bytes(bytes, of: request.message))
                asked.append(request)
            } catch {
                request.reply(failure: error)
            }
        }
        return (appends, asked)
    }

    private static func bytes(
        _ read: AppendBytes?, of message: Message
    ) throws(Failure) -> AppendBytes {
        if let read { return read }
        return try AppendBytes(try message.decode(AppendRequest.self))
    }

    private func commit(_ appends: [Append]) {
        let group = read(appends)
        let committed = store.withLock { store in store.map { append(group, to: $0) } }
        // Handed over as a group: after each single answer the bus thread would preempt this one.
        bus.post { [self] in
            getBack(appends.count)
            tell(committed ?? CommittedBatch(results: []), to: group)
        }
    }

    private func record(claim request: IncomingRequest) {
        do throws(Failure) {
            let asked = try request.message.decode(ClaimRequest.self)
            let claim = try store.withLock { store throws(Failure) in try store?.claim(asked) }
            guard let claim else { throw Self.draining }
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

    /// Maintenance between two commits: optimises and checkpoints the file where that is due.
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
            let isDone = try store.withLock { store throws(Failure) in
                try store?.checkpointIfDue() ?? false
            }
            if isDone { metrics.checkpoints.increment() }
        } catch {
            logger.warning("checkpoint failed", metadata: ["reason": "\(error)"])
        }
        failpoints.pass("log.afterCheckpoint")
    }
}

extension LogWriter {
    // MARK: Archives

    /// Makes an archive the place of its events; callable on any thread.
    func adopt(_ archive: LogArchive) throws(Failure) {
        try store.withLock { store throws(Failure) in try store?.adopt(archive) }
    }

    /// Removes a batch of archived events; returns whether more remain.
    ///
    /// Callable on any thread; appends wait meanwhile, some milliseconds.
    func evict() throws(Failure) -> Bool {
        try store.withLock { store throws(Failure) in
            guard let store else { return false }
            defer { if (try? store.checkpointIfDue()) == true { metrics.checkpoints.increment() } }
            return try store.evict(limit: 500)
        }
    }
}
