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

/// How much a worker takes at a time.
package struct WorkerSlots: Hashable, Sendable {
    /// Interactive tasks it holds at once, running and waiting: the supervisor's credit.
    package var taskCredit: Int
    /// Interactive tasks beyond those that it holds for the threads for what takes long; where it
    /// has none, 0.
    package var longTaskCredit: Int
    /// Threads that do interactive tasks.
    package var taskThreadCount: Int
    /// Threads that do those of them that may take long, beside the others; started by the first of
    /// them.
    package var longThreadCount: Int
    /// Job chunks it runs at once, each on a thread of its own.
    package var chunkCount: Int

    /// How many tasks for each thread a worker holds of those that take long: what is done, and
    /// enough to go on with until the supervisor has sent more.
    private static let longTasksPerThread = 4

    /// States the numbers.
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

/// The worker's end of a lane: takes tasks and chunks, has them done on compute threads, and sends
/// what came out.
///
/// It beats on the bus thread while compute threads work, keeps the results of chunks until the
/// supervisor says they are safe, and says hello again whenever the supervisor has gone or changed:
/// what it computes meanwhile is not lost.
package actor WorkerHost {
    /// What it can do.
    package nonisolated let pool: WorkerPool
    /// The process's bus; the actor lives on its thread.
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
    /// The supervisor that knows this worker; nil while saying hello.
    var supervisor: UUID?
    var lastEcho: Int64 = 0
    /// Whether a message of a supervisor could not be read, which is logged once.
    var hasRefusedMessage = false
    /// Interactive tasks not answered yet, by dispatch.
    var tasks: [UUID: Work] = [:]
    /// Those of them that the threads for what takes long have, or will.
    private var longTasks: Set<UUID> = []
    /// Chunks not finished yet, by lease.
    var chunks: [UUID: Work] = [:]
    /// Results of chunks not acknowledged yet, by lease.
    var results: [UUID: ChunkResult] = [:]
    /// Reports the sink had no room for.
    var outbox: Deque<WorkerReport> = []
    /// The ways straight to askers, by instance.
    var straightWays: [UUID: StraightWay] = [:]
    var reported: [WorkerBeat.Entry] = []
    var taskTimes: TaskTimes
    let metrics: WorkerMetrics
    var timers: [BusThread.Timer] = []
    var presence: Subscriber?
    var isDraining = false
    /// Whether the supervisor has said that nothing more will come.
    var isDrained = false
    var onIdle: (@Sendable () -> Void)?

    /// On the bus thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        bus.unownedReference
    }

    /// Makes a worker that does nothing until `start`.
    ///
    /// - Parameters:
    ///   - pool: What the supervisor may send it.
    ///   - handlers: Its operations.
    ///   - slots: How much it takes at a time.
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
    /// Throws `Failure` when the system has no thread or socket left.
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
            // Those that an earlier supervisor gave may still be here.
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

    /// Has a task done by the long threads.
    ///
    /// The supervisor hears of a task of which it does not know yet that it takes long, and gets it
    /// back where there are enough of those here: it knows who has room.
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

    /// Has a task done by the long threads that was found too long for those that tried it.
    private func handOn(_ work: Work) {
        if work.control.isCancelled { return finish(work, .failure(.stopped)) }
        take(long: work)
        checkIdle()
    }

    private func forget(_ id: UUID) {
        tasks[id] = nil
        longTasks.remove(id)
    }

    /// Takes a task out of its queue; false when a thread has begun it.
    private func withdraw(_ id: UUID) -> Bool {
        taskThreads?.remove(id) == true || longThreads?.remove(id) == true
    }

    /// Stops a task; one that has not been begun is over at once.
    func cancel(task id: UUID) {
        guard let work = tasks[id] else { return send(.answered(task: id)) }
        work.control.cancel()
        if withdraw(id) { finish(work, .failure(.stopped)) }
    }

    /// Hands a task back, so that another worker does it; one that has been begun stays.
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

    /// Keeps a chunk's result until it is acknowledged, and sends it.
    private func keep(_ work: Work, _ report: ChunkReport) {
        guard let held = work.held else { return }
        metrics.count(report)
        let result = ChunkResult(held: held, report: report)
        results[work.id] = result
        send(.result(result))
    }

    private func answer(_ work: Work, _ result: Result<Data, Failure>) {
        let answer = TaskAnswer(to: work.order, result)
        // With a cancelled task goes the client that would say that the answer came.
        if !work.control.isCancelled, let asker = work.asker, send(answer, straightTo: asker) {
            return
        }
        send(.answer(answer))
    }

    /// Ends the threads and timers; whatever still runs is forgotten.
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
