// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import Daemon
internal import DequeModule
internal import FoundationEssentials
internal import Jobs
internal import Logging

/// The queue of appends to the log.
///
/// Actions on one job are decided and appended one after the other; different jobs are independent.
struct LedgerState {
    enum Action: Sendable {
        case submit(JobSubmission)
        case act(JobAction)
    }

    struct Entry: Sendable {
        let action: Action
        /// The user that gave the command; nil for an action of the supervisor.
        var actor: String?
        let done: @Sendable (isolated Hub, Result<Void, Failure>) -> Void
    }

    struct Writer {
        var waiting: Deque<Entry> = []
        var underWay: (entry: Entry, append: StreamAppend)?
    }

    /// Maximum number of queued commands of users.
    static let commandBound = 1_000

    var isLoaded = false
    /// The claim on the job streams; nil before the log has granted it.
    var claim: WriterClaim?
    let instance = UUID.timeOrdered()
    /// Why jobs cannot be folded: an event this build does not know.
    var fault: Failure?
    /// Whether the log answered the last request.
    var isReachable = false
    var writers: [JobID: Writer] = [:]
    /// Number of events read and folded at the start.
    var foldedCount = 0
    /// Number of events folded since the last snapshot.
    var unkeptCount = 0
    /// Whether a snapshot is being written.
    var isKeeping = false
    /// Whether further appends are held back until those in progress have been answered.
    var isResting = false
    var commandCount = 0

    var isWriting: Bool { !writers.isEmpty }
}

extension Hub {
    static let producer = "cairn-supervisor/" + Release.version
    private static let appendTimeout = Duration.seconds(2)

    // MARK: Reading

    /// Becomes the one writer of jobs: appends of an earlier supervisor that was suspended and
    /// resumed are refused from then on.
    func claimJobs() {
        let request = ClaimRequest(
            category: "job", instance: ledger.instance, holder: Self.producer)
        ask("claim", request) { hub, answer in
            do throws(Failure) {
                hub.ledger.claim = try answer.get().decode(WriterClaim.self)
                hub.restoreJobs()
            } catch {
                hub.logger.notice("jobs not claimed yet", metadata: ["reason": "\(error)"])
                guard error.isRetriable || error.code == .noSpace else {
                    return hub.ledger.fault = error
                }
                hub.after(.milliseconds(500)) { $0.claimJobs() }
            }
        }
    }

    /// Folds every job event of the log; no decision about jobs is made before.
    func loadJobs() {
        let request = ReadRequest(after: table.sequence, limit: 1_000, category: "job")
        ask("read", request) { hub, answer in
            do throws(Failure) {
                let page = try answer.get().decode(ReadPage.self)
                for record in page.events { try hub.table.apply(record) }
                hub.ledger.unkeptCount += page.events.count
                hub.ledger.foldedCount += page.events.count
                hub.keepOnTheWay(towards: page.head)
                page.events.isEmpty ? hub.readClock() : hub.loadJobs()
            } catch {
                hub.logger.notice("jobs not read yet", metadata: ["reason": "\(error)"])
                // Tasks go on without jobs; only another build can fold these events.
                guard error.isRetriable else { return hub.ledger.fault = error }
                hub.after(.milliseconds(500)) { $0.loadJobs() }
            }
        }
    }

    /// Reads the log's clock, by which the ages of existing jobs are measured.
    private func readClock() {
        ask("head", [String: String]()) { hub, answer in
            do throws(Failure) {
                if let time = try answer.get().decode(LogHead.self).time { hub.setClock(time) }
                hub.jobsLoaded()
            } catch {
                hub.logger.notice("the log's clock not read yet", metadata: ["reason": "\(error)"])
                hub.after(.milliseconds(500)) { $0.readClock() }
            }
        }
    }

    private func ask(
        _ operation: String, _ body: some Encodable & Sendable,
        _ done: @escaping @Sendable (isolated Hub, Result<Message, Failure>) -> Void
    ) {
        do throws(Failure) {
            let message = Message(
                header: MessageHeader(kind: .request, ttlMilliseconds: 2_000),
                metadata: try CairnJSON.encode(RequestMetadata(operation: operation)),
                payload: try CairnJSON.encode(body))
            logRequester?.ask(message, timeout: Self.appendTimeout) { [weak self] answer in
                self?.assumeIsolated { done($0, answer) }
            }
        } catch {
            done(self, .failure(error))
        }
    }

    /// Detects an outage of the log before a user does.
    func checkLog() {
        ask("head", [String: String]()) { hub, answer in
            if case .success = answer {
                hub.ledger.isReachable = true
            } else {
                hub.ledger.isReachable = false
            }
        }
    }

    // MARK: Writing

    /// Decides an action on a job, appends and folds its events, and calls `done`: with success
    /// once they are committed (or nothing changes), or with the refusal.
    ///
    /// Waits while the log is unreachable.
    func perform(
        _ action: JobAction, on job: JobID,
        done: @escaping @Sendable (isolated Hub, Result<Void, Failure>) -> Void = { _, _ in }
    ) {
        enqueue(LedgerState.Entry(action: .act(action), done: done), on: job)
    }

    func enqueue(_ entry: LedgerState.Entry, on job: JobID) {
        if case .act(.command(.cancel, _)) = entry.action, killStrays(of: job) {
            // Once they have ended: no byte may be written after `cancelled`.
            return after(.milliseconds(20)) { $0.enqueue(entry, on: job) }
        }
        ledger.writers[job, default: LedgerState.Writer()].waiting.append(entry)
        pump(job)
    }

    func pump(_ job: JobID) {
        while !ledger.isResting, let writer = ledger.writers[job], writer.underWay == nil {
            guard let entry = ledger.writers[job]?.waiting.popFirst() else {
                ledger.writers[job] = nil
                return
            }
            do throws(Failure) {
                guard let append = try decide(entry.action, by: entry.actor, on: job) else {
                    entry.done(self, .success(()))
                    continue
                }
                ledger.writers[job]?.underWay = (entry, append)
                send(append, of: job)
            } catch {
                entry.done(self, .failure(error))
            }
        }
    }

    private func decide(
        _ action: LedgerState.Action, by actor: String?, on job: JobID
    ) throws(Failure) -> StreamAppend? {
        let changes: [JobChange]
        var metadata = EventMetadata(correlation: job.rawValue, producer: Self.producer)
        switch action {
        case .submit(let submission):
            changes = try table.decide(submit: submission)
            metadata.actor = submission.actor
            metadata.causation = submission.id.rawValue
        case .act(let action):
            metadata.actor = actor
            metadata.causation = action.cause(in: job)
            guard let state = table[job] else {
                throw Failure(.notFound, "there is no job \(job)")
            }
            changes = try state.decide(action, at: now)
        }
        guard !changes.isEmpty else { return nil }
        return try JobChange.append(
            changes, to: job, at: table[job]?.streamPosition ?? -1, metadata: metadata)
    }

    private func send(_ append: StreamAppend, of job: JobID) {
        let isLease = append.events[0].type == JobChunkLeased.eventType
        failpoints.pass(isLease ? "supervisor.beforeLease" : "supervisor.beforeCommit")
        let epochs = ledger.claim.map { [$0.category: $0.epoch] }
        ask("append", AppendRequest(appends: [append], epochs: epochs)) { hub, answer in
            do throws(Failure) {
                hub.committed(job, try answer.get().decode(AppendResult.self))
            } catch {
                hub.notCommitted(job, error)
            }
        }
    }

    private func committed(_ job: JobID, _ result: AppendResult) {
        ledger.isReachable = true
        guard let (entry, append) = ledger.writers[job]?.underWay else { return }
        let position = table[job]?.streamPosition ?? -1
        let records = append.events.enumerated().map { offset, event in
            RecordedEvent(
                globalPosition: result.firstPosition + Int64(offset), stream: append.stream,
                streamPosition: position + 1 + Int64(offset), recordedAt: result.recordedAt,
                event: event)
        }
        do throws(Failure) {
            try table.applyOwn(records)
            ledger.writers[job]?.underWay = nil
            try applied(records, to: job)
        } catch {
            return requestShutdown(error)
        }
        ledger.unkeptCount += records.count
        entry.done(self, .success(()))
        keepIfDue()
        pump(job)
    }

    /// The append failed or its outcome is unknown: repeating it settles that, since ids and bytes
    /// are the same.
    private func notCommitted(_ job: JobID, _ failure: Failure) {
        guard let (entry, append) = ledger.writers[job]?.underWay else { return }
        switch failure.code {
        case .fenced:
            // Workers and clients belong to the successor now: this supervisor sends them nothing.
            ledger.fault = failure
            requestShutdown(failure)
        case .conflict, .idReused:
            logger.critical("another process writes this job", metadata: ["job": "\(job)"])
            requestShutdown(failure)
        case .invalidParameter, .tooLarge, .corrupt, .newerVersion, .notFound:
            logger.error("append refused", metadata: ["reason": "\(failure)"])
            ledger.writers[job]?.underWay = nil
            entry.done(self, .failure(failure))
            keepIfDue()
            pump(job)
        default:
            if ledger.isReachable {
                logger.notice("the log is unreachable", metadata: ["reason": "\(failure)"])
            }
            ledger.isReachable = false
            after(.milliseconds(200)) { $0.send(append, of: job) }
        }
    }
}
