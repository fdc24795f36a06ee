// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

package import Bus
package import CairnModel
internal import CoreMetrics
package import Daemon
internal import DequeModule
internal import FoundationEssentials
internal import Glibc
package import Logging
internal import Platform

/// Capacity of a worker.
package struct WorkerSlots: Hashable, Sendable {
    /// Maximum number of outstanding interactive tasks: the supervisor's credit.
    package var taskCredit: Int
    /// Additional outstanding tasks for the long-running threads; 0 without such threads.
    package var longTaskCredit: Int
    /// Number of threads for interactive tasks.
    package var taskThreadCount: Int
    /// Number of threads for long-running interactive tasks; started at the first one.
    package var longThreadCount: Int
    /// Number of concurrent job chunks, each on a thread of its own.
    package var chunkCount: Int

    /// Number of long-running tasks held per thread: the running one, and enough to bridge the time
    /// until the supervisor sends more.
    private static let longTasksPerThread = 4

    package init(
        taskCredit: Int, taskThreadCount: Int, longThreadCount: Int = 0, chunkCount: Int
    ) {
        self.taskCredit = taskCredit
        longTaskCredit = longThreadCount * Self.longTasksPerThread
        self.taskThreadCount = taskThreadCount
        self.longThreadCount = longThreadCount
        self.chunkCount = chunkCount
    }
}

/// The worker's end of a lane: receives tasks and chunks, runs them on compute threads, and sends
/// the results.
///
/// It sends heartbeats from the bus thread while compute threads work, keeps results of chunks
/// until the supervisor acknowledges them, and repeats its hello whenever the supervisor is gone or
/// has changed: results computed meanwhile are not lost.
package actor WorkerHost {
    package nonisolated let pool: WorkerPool
    /// The process's bus; the actor runs on its thread.
    package nonisolated let bus: BusThread
    let slots: WorkerSlots
    let build: String
    let logger: Logger
    private let handlers: TaskHandlers
    let failpoints = Failpoints()
    private var taskThreads: ComputeThreads?
    private var longThreads: ComputeThreads?
    private var chunkThreads: ComputeThreads?
    var sink: Pusher?
    /// The supervisor that has welcomed this worker; nil while saying hello.
    var supervisor: UUID?
    var lastEcho: Int64 = 0
    /// Whether an unreadable message of a supervisor was logged; this happens once.
    var hasRefusedMessage = false
    /// Unanswered interactive tasks, by dispatch id.
    var tasks: [UUID: Work] = [:]
    /// Tasks on, or queued for, the long-running threads.
    private var longTasks: Set<UUID> = []
    /// Unfinished chunks, by lease.
    var chunks: [UUID: Work] = [:]
    /// Unacknowledged results of chunks, by lease.
    var results: [UUID: ChunkResult] = [:]
    /// Reports buffered while the sink was full.
    var outbox: Deque<WorkerReport> = []
    /// Direct connections to clients, by instance.
    var straightWays: [UUID: StraightWay] = [:]
    var reported: [WorkerBeat.Entry] = []
    var taskTimes: TaskTimes
    let metrics: WorkerMetrics
    var timers: [BusThread.Timer] = []
    var presence: Subscriber?
    var isDraining = false
    /// Whether the supervisor has announced that it sends nothing more.
    var isDrained = false
    var onIdle: (@Sendable () -> Void)?

    /// The bus thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        bus.unownedReference
    }

    /// Makes a worker that is idle until `start`.
    ///
    /// - Parameters:
    ///   - pool: The pool, which determines the tasks it gets.
    ///   - handlers: Its operations.
    ///   - slots: Its capacity.
    ///   - build: Name and version of the process, `cairn-worker/0.1.0`.
    package init(
        pool: WorkerPool, handlers: TaskHandlers, slots: WorkerSlots, bus: BusThread,
        build: String, logger: Logger, metrics: MetricsRegistry = MetricsRegistry()
    ) {
        self.metrics = WorkerMetrics(metrics)
        taskTimes = TaskTimes(self.metrics.taskSeconds)
        self.handlers = slots.longThreadCount > 0 ? handlers : handlers.withoutLongThreads
        self.pool = pool
        self.slots = slots
        self.bus = bus
        self.build = build
        self.logger = logger
    }

    /// Starts the threads and says hello until a supervisor answers.
    ///
    /// Throws `Failure` when the system is out of threads or sockets.
    package func start() throws(Failure) {
        let finish: ComputeThreads.Finish = { [weak self, bus] work, result, nanoseconds in
            bus.post { [weak self] in
                self?.assumeIsolated { host in
                    if work.held == nil {
                        host.taskTimes.add(nanoseconds)
                    } else {
                        host.metrics.chunkSeconds.recordNanoseconds(nanoseconds)
                    }
                    if let result { host.finish(work, result) } else { host.handOn(work) }
                }
            }
        }
        taskThreads = try ComputeThreads(
            name: "task", count: slots.taskThreadCount, capacity: slots.taskCredit,
            handlers: handlers.handlers, tried: handlers.tried, finish: finish)
        longThreads = try ComputeThreads(
            name: "long", count: slots.longThreadCount,
            // Tasks of an earlier supervisor may still be outstanding.
            capacity: slots.taskCredit + slots.longTaskCredit, startsLate: true,
            handlers: handlers.handlers.mapValues { [failpoints] handler in
                { context, payload in
                    failpoints.pass("worker.longTask")
                    return try handler(context, payload)
                }
            }, finish: finish)
        chunkThreads = try ComputeThreads(
            name: "chunk", count: slots.chunkCount, capacity: slots.chunkCount, startsLate: true,
            handlers: handlers.handlers, finish: finish)
        sink = try bus.connectPush(.supervisorSink) { [weak self] in
            self?.assumeIsolated { $0.flush() }
        }
        try bus.connectPull(.lane(bus.instance)) { [weak self] message in
            self?.assumeIsolated { $0.receive(message) }
        }
        presence = try bus.subscribe(
            .supervisorLive, topics: [WorkerWire.presenceTopic]
        ) { [weak self] _, message in
            self?.assumeIsolated { $0.hear(supervisor: message.header.sender) }
        }
        startTimers()
    }

    // MARK: Work

    func take(_ task: TaskOrder) {
        failpoints.pass("worker.taskTaken")
        let work = Work(task)
        if let result = taskTimes.measure({ work.runPromptly(handlers.prompt) }) {
            return answer(work, result)
        }
        if work.isKnownLong || work.isAny(of: handlers.long), slots.longThreadCount > 0 {
            return take(long: work)
        }
        guard let taskThreads, taskThreads.take(work) else {
            metrics.refusedTasks.increment()
            return send(.refused(task: work.id, isLong: false))
        }
        tasks[work.id] = work
    }

    /// Runs a task on the long-running threads.
    ///
    /// The supervisor is notified of a task newly classified as long-running, and gets it back when
    /// the capacity for those is exhausted: it knows a worker with room.
    private func take(long work: Work) {
        guard work.isKnownLong || longTasks.count < slots.longTaskCredit, let longThreads,
            longThreads.take(work)
        else {
            forget(work.id)
            metrics.refusedTasks.increment()
            return send(.refused(task: work.id, isLong: !work.isKnownLong))
        }
        tasks[work.id] = work
        longTasks.insert(work.id)
        if !work.isKnownLong { send(.tookLong(task: work.id)) }
    }

    /// Moves a task to the long-running threads after its trial was too long.
    private func handOn(_ work: Work) {
        if work.control.isCancelled { return finish(work, .failure(.stopped)) }
        take(long: work)
        checkIdle()
    }

    private func forget(_ id: UUID) {
        tasks[id] = nil
        longTasks.remove(id)
    }

    /// Removes a queued task; false when a thread has begun it.
    private func withdraw(_ id: UUID) -> Bool {
        taskThreads?.remove(id) == true || longThreads?.remove(id) == true
    }

    /// Cancels a task; a queued one ends at once.
    func cancel(task id: UUID) {
        guard let work = tasks[id] else { return send(.answered(task: id)) }
        work.control.cancel()
        if withdraw(id) { finish(work, .failure(.stopped)) }
    }

    /// Hands a queued task back for another worker; one that has begun continues.
    func handBack(task id: UUID) {
        guard tasks[id] != nil, withdraw(id) else { return }
        forget(id)
        metrics.refusedTasks.increment()
        send(.refused(task: id, isLong: false))
        checkIdle()
    }

    func take(chunk order: WorkOrder) {
        let lease = order.id
        guard chunks[lease] == nil, results[lease] == nil else { return }
        do throws(Failure) {
            let work = try Work(chunk: order)
            guard let chunkThreads, !isDraining, chunkThreads.take(work) else {
                return keep(work, .released(reason: "the worker takes no more chunks"))
            }
            chunks[lease] = work
            failpoints.pass("worker.chunkTaken", of: work.held?.job.rawValue)
        } catch {
            logger.error("chunk refused", metadata: ["reason": "\(error)"])
            send(.refused(task: lease, isLong: false))
        }
    }

    private func finish(_ work: Work, _ result: Result<Data, Failure>) {
        if work.held == nil {
            forget(work.id)
            failpoints.pass("worker.beforeAnswer")
            answer(work, result)
        } else {
            chunks[work.id] = nil
            failpoints.pass("worker.beforeResult")
            keep(work, report(of: work, result))
            failpoints.pass("worker.afterResult")
        }
        checkIdle()
    }

    private func report(of work: Work, _ result: Result<Data, Failure>) -> ChunkReport {
        do throws(Failure) {
            return .completed(try CairnJSON.decode(ChunkOutcome.self, from: try result.get()))
        } catch {
            guard error.code == .cancelled, work.control.isCancelled else {
                return .failed(error)
            }
            return .released(reason: isDraining ? "the worker stops" : "the attempt was cancelled")
        }
    }

    /// Stores a chunk's result until it is acknowledged, and sends it.
    private func keep(_ work: Work, _ report: ChunkReport) {
        guard let held = work.held else { return }
        metrics.count(report)
        let result = ChunkResult(held: held, report: report)
        results[work.id] = result
        send(.result(result))
    }

    private func answer(_ work: Work, _ result: Result<Data, Failure>) {
        let answer = TaskAnswer(to: work.order, result)
        // A cancelled task has no client left to confirm a direct answer.
        if !work.control.isCancelled, let asker = work.asker, send(answer, straightTo: asker) {
            return
        }
        send(.answer(answer))
    }

    /// Ends the threads and timers; running work is abandoned.
    func close() {
        for timer in timers { timer.cancel() }
        timers = []
        presence?.close()
        for way in straightWays.values { way.pusher.close() }
        taskThreads?.close()
        longThreads?.close()
        chunkThreads?.close()
    }
}
