// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnClient
internal import CairnModel
internal import Daemon
internal import FoundationEssentials
internal import Jobs
internal import Logging
internal import Platform
internal import Site

/// Everything the supervisor knows, on its bus thread: workers with their lanes, interactive tasks,
/// and jobs.
actor Hub {
    nonisolated let bus: BusThread
    let logger: Logger
    let timing: SupervisorTiming
    let snapshots: StateSnapshots<JobTable>
    let pace: SnapshotPace
    nonisolated let requestShutdown: @Sendable (Failure) -> Void

    /// Workers by instance.
    var workers: [UUID: WorkerLane] = [:]
    var nextGeneration = 0
    /// The serial number given to a task last.
    var nextTask: UInt64 = 0
    /// Which worker does which interactive task.
    var dispatcher: Dispatcher
    /// Their questions, by serial number.
    var requests: [UInt64: IncomingRequest] = [:]

    /// The jobs as committed.
    var table = JobTable()
    var ledger = LedgerState()
    /// Chunks whose lease is on its way to the log, by job.
    var reserved: [JobID: Set<Int>] = [:]
    /// Jobs that have not ended, in the order of their submission.
    var openJobs: [JobID] = []
    /// Whose turn it is, by pool.
    var shares: [WorkerPool: FairShares] = [:]
    /// Processes that fell silent while they held attempts and have not been seen to end.
    var strays: [UUID: UnreapedWorker] = [:]
    /// Workers of another protocol that were asked to end.
    var foreigners: Set<UUID> = []
    /// What workers said they hold before the jobs were known.
    var unadopted: [UUID: WorkerHello] = [:]
    /// Until when workers of an earlier supervisor may come back; nil before the jobs are known.
    var adoptionEnd: Int64?

    var live: Publisher?
    var logRequester: Requester?
    var timers: [BusThread.Timer] = []
    var isDraining = false
    var hasResultSubscribers = false
    /// Whether the jobs are being hashed for somebody.
    var isHashing = false
    var lastWorkers: [WorkerDescription] = []
    var lastPatrol: Int64
    var counters = HubCounters()
    let failpoints = Failpoints()
    let metrics: SupervisorMetrics
    /// What of the dispatcher's count of nanoseconds is in the metrics, by pool.
    var shownTaskNanoseconds: [WorkerPool: Int64] = [:]
    /// What the wall clock showed at some moment of the steady one.
    private var moment: (wall: Int64, monotonic: Int64)
    /// How old open jobs are.
    var ages = JobAges()
    /// Which chunks rest after an error.
    var rests = ChunkRests()

    nonisolated var unownedExecutor: UnownedSerialExecutor { bus.unownedReference }

    init(
        bus: BusThread, logger: Logger, timing: SupervisorTiming,
        snapshots: StateSnapshots<JobTable>, pace: SnapshotPace, metrics: MetricsRegistry,
        requestShutdown: @escaping @Sendable (Failure) -> Void
    ) {
        self.bus = bus
        self.logger = logger
        self.timing = timing
        self.snapshots = snapshots
        self.pace = pace
        self.requestShutdown = requestShutdown
        self.metrics = SupervisorMetrics(metrics)
        moment = (WallClock.microseconds(), MonotonicClock.nanoseconds())
        lastPatrol = moment.monotonic
        dispatcher = Dispatcher(at: moment.monotonic, absence: timing.poolAbsence)
        metrics.beforeWriting { [weak self] in await self?.showMetrics() }
    }

    /// What the log's clock showed when the jobs were read, and goes on steadily from there,
    /// whatever is done to clocks meanwhile; this process's own clock before.
    var now: Timestamp {
        Timestamp(
            microseconds: moment.wall + (MonotonicClock.nanoseconds() - moment.monotonic) / 1_000)
    }

    func setClock(_ time: Timestamp) {
        moment = (time.microseconds, MonotonicClock.nanoseconds())
    }

    /// Opens the endpoints and begins; throws `Failure` (`conflict`) when they are taken.
    func start() throws(Failure) {
        live = try bus.bindPublisher(.supervisorLive) { [weak self] topic in
            self?.assumeIsolated { $0.subscribed(to: topic) }
        }
        try bus.bindPull(.supervisorSink) { [weak self] worker in
            self?.assumeIsolated { $0.heardOut(worker) }
        } _: { [weak self] message in
            self?.assumeIsolated { $0.receive(message) }
        }
        try bus.bindRouter(.supervisorRequests) { [weak self] request in
            self?.assumeIsolated { $0.answer(request) }
        }
        logRequester = try bus.connectRequester(.logRequests)
        schedule(.milliseconds(100)) { $0.patrol() }
        schedule(.seconds(1)) { $0.everySecond() }
        announce()
        claimJobs()
    }

    private func schedule(
        _ interval: Duration, _ body: @escaping @Sendable (isolated Hub) -> Void
    ) {
        timers.append(
            bus.schedule(every: interval) { [weak self] in self?.assumeIsolated { body($0) } })
    }

    /// Runs `body` here after a delay.
    func after(_ delay: Duration, _ body: @escaping @Sendable (isolated Hub) -> Void) {
        bus.schedule(after: delay) { [weak self] in self?.assumeIsolated { body($0) } }
    }

    /// Workers that hear this from a supervisor they do not know say hello.
    func announce() {
        try? live?.publish(
            topic: WorkerWire.presenceTopic,
            Message(header: MessageHeader(kind: .live, sender: bus.instance)))
    }

    private func everySecond() {
        announce()
        tickJobs()
        publishWorkers(always: false)
    }

    /// What waits is looked after ten times a second: tasks nobody waits for, workers not heard of.
    private func patrol() {
        let now = MonotonicClock.nanoseconds()
        // Had this thread itself been stopped, silence says nothing about others.
        let wasAsleep = now - lastPatrol > 1_000_000_000
        lastPatrol = now
        if wasAsleep {
            for instance in workers.keys { workers[instance]?.lastHeard = now }
        }
        for pool in WorkerPool.allCases { handle(.patrol, in: pool) }
        checkWorkers(now)
        closeAdoption(now)
        dispatchChunks()
    }

    // MARK: The end

    /// Tasks that workers have.
    private var runningTaskCount: Int {
        dispatcher.pools.values.reduce(0) { $0 + $1.workers.reduce(0) { $0 + $1.tasks.count } }
    }

    /// Refuses new work from now on and waits, at most `limit`, until no worker owes anything; then
    /// says what is left, which the next supervisor adopts.
    func drain(limit: Duration) async -> DrainSummary {
        isDraining = true
        for pool in WorkerPool.allCases { handle(.draining, in: pool) }
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            let owes = runningTaskCount > 0 || workers.values.contains { !$0.chunks.isEmpty }
            guard owes || ledger.isWriting, ledger.fault?.code != .fenced else { break }
            try? await Task.sleep(for: .milliseconds(20))
        }
        for timer in timers { timer.cancel() }
        timers = []
        let held = workers.values.flatMap { $0.chunks.values.map(\.held) }
        let left = DrainSummary(
            chunkCount: held.count, jobCount: Set(held.map(\.job)).count,
            taskCount: runningTaskCount,
            unfinishedJobCount: openJobs.count, isWriting: ledger.isWriting)
        logger.notice("drained", metadata: ["left": "\(left)"])
        return left
    }
}

/// What a supervisor that stops leaves to the next one.
package struct DrainSummary: Hashable, Sendable, CustomStringConvertible {
    /// Chunks that workers still run.
    package var chunkCount: Int
    /// The jobs they belong to.
    package var jobCount: Int
    /// Interactive tasks not answered.
    package var taskCount: Int
    /// Jobs that have not ended.
    package var unfinishedJobCount: Int
    /// Whether an append was under way; the next supervisor finds out what became of it.
    package var isWriting: Bool

    /// The same in words.
    package var description: String {
        "\(chunkCount) running chunks of \(jobCount) jobs, \(taskCount) tasks, "
            + "\(unfinishedJobCount) unfinished jobs" + (isWriting ? ", an append under way" : "")
    }
}

/// How patient a supervisor is; tests shorten it.
package struct SupervisorTiming: Sendable {
    /// After how long a silence a worker counts as lost.
    package var silence = Duration.milliseconds(WorkerWire.silenceMilliseconds)
    /// How long workers of an earlier supervisor may take to come back.
    package var adoption = Duration.seconds(5)
    /// How long a dead worker's last messages may take from the sink to here, when it is not seen
    /// that there are no more.
    package var sinkDrain = Duration.milliseconds(10)
    /// How long an operation may show no sign of life.
    package var stall = Duration.seconds(60)
    /// How long a cancelled attempt may go on before its process is killed.
    package var cancelGrace = Duration.seconds(10)
    /// How long a pool may have no worker before its tasks are refused.
    package var poolAbsence = Duration.seconds(5)
    /// How long a command may wait for the log.
    package var commitWait = Duration.seconds(3)

    /// The times every site uses.
    package init() {}
}

/// What the hub has counted since its start, beside what the dispatcher has.
struct HubCounters {
    var staleResultCount = 0
    var lostWorkerCount = 0
}

extension Failure {
    static let draining = Failure(.draining, "the supervisor is shutting down; try again")
}

extension Duration {
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
