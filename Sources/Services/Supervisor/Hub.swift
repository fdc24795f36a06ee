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

/// The state of the supervisor, on its bus thread: workers with their lanes, interactive tasks, and
/// jobs.
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
    /// Serial number of the last task.
    var nextTask: UInt64 = 0
    /// Assigns interactive tasks to workers.
    var dispatcher: Dispatcher
    /// Requests of the interactive tasks, by serial number.
    var requests: [UInt64: IncomingRequest] = [:]

    /// The jobs as committed.
    var table = JobTable()
    var ledger = LedgerState()
    /// Chunks whose lease is being committed, by job.
    var reserved: [JobID: Set<Int>] = [:]
    /// Jobs that have not ended, in the order of submission.
    var openJobs: [JobID] = []
    /// Whose turn it is, by pool.
    var shares: [WorkerPool: FairShares] = [:]
    /// Processes that fell silent while they held attempts, and whose end has not been observed.
    var strays: [UUID: UnreapedWorker] = [:]
    /// Workers of another protocol that were asked to end.
    var foreigners: Set<UUID> = []
    /// Attempts that workers reported before the jobs were loaded.
    var unadopted: [UUID: WorkerHello] = [:]
    /// End of the grace period for workers of an earlier supervisor; nil before the jobs are
    /// loaded.
    var adoptionEnd: Int64?

    var live: Publisher?
    var logRequester: Requester?
    var timers: [BusThread.Timer] = []
    var isDraining = false
    var hasResultSubscribers = false
    /// Whether a state hash is being computed.
    var isHashing = false
    var lastWorkers: [WorkerDescription] = []
    var lastPatrol: Int64
    var counters = HubCounters()
    let failpoints = Failpoints()
    let metrics: SupervisorMetrics
    /// What of the dispatcher's count of nanoseconds is in the metrics, by pool.
    var shownTaskNanoseconds: [WorkerPool: Int64] = [:]
    /// The wall clock at one moment of the monotonic clock.
    private var moment: (wall: Int64, monotonic: Int64)
    /// Ages of the open jobs.
    var ages = JobAges()
    /// Back-off of chunks after an error.
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

    /// The log's clock when the jobs were read, advanced monotonically whatever happens to system
    /// clocks; before that, this process's own clock.
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

    /// Announces this supervisor; workers that do not know it say hello.
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

    /// Ten times a second: expires abandoned tasks and detects silent workers.
    private func patrol() {
        let now = MonotonicClock.nanoseconds()
        // If this process itself was suspended, the silence of others means nothing.
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

    /// Number of tasks outstanding at workers.
    private var runningTaskCount: Int {
        dispatcher.pools.values.reduce(0) { $0 + $1.workers.reduce(0) { $0 + $1.tasks.count } }
    }

    /// Refuses new work and waits, at most `limit`, until nothing is outstanding at workers;
    /// returns what remains for the next supervisor to adopt.
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

/// What a stopping supervisor leaves to the next one.
package struct DrainSummary: Hashable, Sendable, CustomStringConvertible {
    /// Number of chunks still running at workers.
    package var chunkCount: Int
    /// Number of jobs of those chunks.
    package var jobCount: Int
    /// Number of unanswered interactive tasks.
    package var taskCount: Int
    /// Number of jobs that have not ended.
    package var unfinishedJobCount: Int
    /// Whether an append was in progress; the next supervisor determines its outcome.
    package var isWriting: Bool

    /// The summary as text.
    package var description: String {
        "\(chunkCount) running chunks of \(jobCount) jobs, \(taskCount) tasks, "
            + "\(unfinishedJobCount) unfinished jobs" + (isWriting ? ", an append under way" : "")
    }
}

/// Time limits of a supervisor; tests shorten them.
package struct SupervisorTiming: Sendable {
    /// Silence after which a worker counts as lost.
    package var silence = Duration.milliseconds(WorkerWire.silenceMilliseconds)
    /// Grace period for workers of an earlier supervisor.
    package var adoption = Duration.seconds(5)
    /// Time limit for a dead worker's last messages on the sink, where the end of its connection is
    /// not observed.
    package var sinkDrain = Duration.milliseconds(10)
    /// Time limit of an operation without a sign of life.
    package var stall = Duration.seconds(60)
    /// Time limit of a cancelled attempt before its process is killed.
    package var cancelGrace = Duration.seconds(10)
    /// Time a pool may have no worker before its tasks are refused.
    package var poolAbsence = Duration.seconds(5)
    /// Time limit of a command's commit.
    package var commitWait = Duration.seconds(3)

    /// The time limits of every site.
    package init() {}
}

/// Counters since the hub's start, beside the dispatcher's.
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
