// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import Daemon
internal import FoundationEssentials
internal import Jobs
internal import Logging
internal import Platform

extension Hub {
    // MARK: Requests

    func answer(_ request: IncomingRequest) {
        guard request.message.header.kind == .request else { return take(task: request) }
        do {
            try Self.operations.handler(for: request)(self, request)
        } catch {
            request.reply(failure: error as? Failure ?? Failure(.internal, "\(error)"))
        }
    }

    typealias Handler =
        @Sendable (isolated Hub, IncomingRequest) throws -> Void

    static let operations: OperationTable<Handler> = {
        var table = OperationTable<Handler>(of: "the supervisor")
        table.on(.submit) { hub, request in try hub.submit(request) }
        table.on(.jobCommand) { hub, request in try hub.command(request) }
        table.on(.describe) { hub, request in
            try hub.requireJobs()
            let id = try Operation.describe.request(in: request.message)
            guard let description = hub.table.description(of: id) else {
                throw Failure(.notFound, "there is no job \(id)")
            }
            request.reply(encoding: description)
        }
        table.on(.list) { hub, request in
            try hub.requireJobs()
            request.reply(encoding: hub.list)
        }
        table.on(.usage) { hub, request in
            try hub.requireJobs()
            let actor = try Operation.usage.request(in: request.message)
            request.reply(encoding: hub.table.usage(of: actor))
        }
        table.on(.workers) { hub, request in
            request.reply(encoding: hub.workerDescriptions)
        }
        table.on(.status) { hub, request in
            request.reply(encoding: hub.status)
        }
        table.on(.jobsHash) { hub, request in
            try hub.requireJobs()
            try hub.hash(for: request)
        }
        return table
    }()

    /// Maximum number of jobs in a list, and the approximate number of bytes they may take up.
    static let listBound = 1_000
    static let listByteBound = 4 << 20

    /// The newest jobs, without their messages.
    private var list: [JobDescription] {
        var byteCount = 0
        return table.newestFirst.prefix(Self.listBound).prefix { state in
            byteCount += 2_048 + state.submission.parametersByteCount
            return byteCount < Self.listByteBound
        }.map { state in
            var description = state.description
            description.messages = []
            return description
        }
    }

    /// Fails until the log has been read, as if the supervisor were unreachable: clients retry
    /// until their time limit.
    private func requireJobs() throws(Failure) {
        if let fault = ledger.fault { throw fault }
        guard ledger.isLoaded else {
            throw Failure(
                .unavailable, "the log has not been read yet, so jobs are unknown; try again")
        }
    }

    /// Fails while the log is unreachable: a promise that cannot be recorded is not made.
    private func requireLog() throws(Failure) {
        guard !isDraining else { throw .draining }
        try requireJobs()
        guard ledger.isReachable else {
            throw Failure(
                .logUnavailable, "the log is unreachable, so nothing can be recorded; try again")
        }
        guard ledger.commandCount < LedgerState.commandBound else {
            throw Failure(.busy, "\(LedgerState.commandBound) commands wait for the log")
        }
    }

    private func submit(_ request: IncomingRequest) throws(Failure) {
        try requireLog()
        let submission = try Operation.submit.request(in: request.message)
        guard submission.parent == nil else {
            throw Failure(
                .invalidParameter, "'parent' is set by the supervisor, for jobs that a job starts")
        }
        record(.submit(submission), on: submission.id, for: request)
    }

    private func command(_ request: IncomingRequest) throws(Failure) {
        try requireLog()
        let command = try Operation.jobCommand.request(in: request.message)
        record(.act(.command(command.command, id: command.id)), on: command.job, for: request)
    }

    /// Answers with the job once the action is committed.
    ///
    /// If the log does not answer in time, the client learns that the outcome is unknown: a retry
    /// with the same id settles it.
    private func record(
        _ action: LedgerState.Action, on job: JobID, for request: IncomingRequest
    ) {
        ledger.commandCount += 1
        let actor = (try? request.metadata())?.actor.map { String($0.prefix(100)) }
        let entry = LedgerState.Entry(action: action, actor: actor) { hub, result in
            hub.ledger.commandCount -= 1
            hub.failpoints.pass("supervisor.afterCommandBeforeReply")
            switch result {
            case .success:
                guard let state = hub.table[job] else { return }
                request.reply(encoding: state.description, sequence: state.sequence)
            case .failure(let failure): request.reply(failure: failure)
            }
        }
        enqueue(entry, on: job)
        after(timing.commitWait) { _ in
            request.reply(
                failure: Failure(
                    .logUnavailable,
                    "the log has not answered, so whether this was recorded is not known yet; ask "
                        + "again with the same id"))
        }
    }

    /// Answers with the hash of the current jobs, computed on another thread.
    private func hash(for request: IncomingRequest) throws(Failure) {
        guard !isHashing else {
            throw Failure(.busy, "a state hash is already in progress; try again")
        }
        isHashing = true
        Task { [table] in
            request.reply(hashOf: await Self.hash(table))
            isHashing = false
        }
    }

    @concurrent private static func hash(_ table: JobTable) async -> Result<StateHash, Failure> {
        Result { () throws(Failure) in try table.hash().message }
    }

    // MARK: Descriptions

    var workerDescriptions: [WorkerDescription] {
        workers.values.map { worker in
            worker.description(dispatcher.worker(worker.instance, in: worker.hello.pool))
        }.sorted {
            ($0.pool.rawValue, $0.since.microseconds, $0.instance.uuidString)
                < ($1.pool.rawValue, $1.since.microseconds, $1.instance.uuidString)
        }
    }

    var status: SupervisorStatus {
        let now = MonotonicClock.nanoseconds()
        let pools = WorkerPool.allCases.compactMap { dispatcher.pools[$0] }.map { pool in
            PoolStatus(
                pool: pool.pool,
                workerCount: workers.values.count { $0.hello.pool == pool.pool },
                waitingTaskCount: pool.waitingCount,
                runningTaskCount: pool.workers.reduce(0) { $0 + $1.tasks.count },
                cancellingTaskCount: pool.workers.reduce(0) { count, worker in
                    count + worker.tasks.values.count(where: \.isCancelled)
                },
                taskCredit: pool.workers.reduce(0) { $0 + $1.credit },
                deathsInRow: pool.health?.deathCount,
                restMilliseconds: pool.health.map { Int($0.restLeft(at: now) / 1_000_000) })
        }
        let tasks = dispatcher.counters
        return SupervisorStatus(
            pools: pools, abandonedTaskCount: tasks.abandoned,
            cancelledTaskCount: tasks.cancelled, expiredTaskCount: tasks.expired,
            redispatchedTaskCount: tasks.redispatched,
            lostWorkerCount: counters.lostWorkerCount)
    }

    // MARK: Live

    func subscribed(to topic: String) {
        if topic.isEmpty || topic.hasPrefix("result/") {
            hasResultSubscribers = true
            handle(.shown, in: .identify)
        }
        if WorkerWire.presenceTopic.hasPrefix(topic) { announce() }
        if "workers".hasPrefix(topic) { publishWorkers(always: true) }
        if "job/".hasPrefix(topic) {
            for job in openJobs { publish(job: job) }
        } else if topic.hasPrefix("job/"), let id = JobID(String(topic.dropFirst(4))) {
            publish(job: id)
        }
    }

    /// Publishes the present state of a job, never its record.
    func publish(job: JobID) {
        guard let state = table[job], let payload = try? CairnJSON.encode(state.description) else {
            return
        }
        let header = MessageHeader(kind: .live, sequence: state.sequence)
        try? live?.publish(
            topic: "job/" + job.rawValue.uuidString.lowercased(),
            Message(header: header, payload: payload))
    }

    func publishWorkers(always: Bool) {
        let descriptions = workerDescriptions
        guard always || descriptions != lastWorkers else { return }
        lastWorkers = descriptions
        guard let payload = try? CairnJSON.encode(descriptions) else { return }
        try? live?.publish(
            topic: "workers", Message(header: MessageHeader(kind: .live), payload: payload))
    }
}
