// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

public import CairnModel
public import FoundationEssentials

/// A command or an observation that may change a job.
public enum JobAction: Hashable, Sendable {
    /// Lease chunks to workers.
    case lease([LeaseGrant])
    /// Start the sub-jobs that are due.
    case delegate
    /// A worker reports the end of an attempt.
    case report(ChunkAttempt, ChunkReport)
    /// The worker of an attempt is dead, or presumed dead.
    case lose(ChunkAttempt, reason: String)
    /// A user's command; its id is kept over retries.
    case command(JobCommand, id: UUID)
    /// Progress of running attempts, 0…1 by chunk.
    case progress([Int: Double])
    /// Time passes; with the age of the job by a monotonic clock.
    case tick(age: Duration)
}

/// A lease to be given.
public struct LeaseGrant: Hashable, Sendable {
    /// The chunk.
    public var chunk: Int
    /// The new lease.
    public var lease: UUID
    /// The worker's instance.
    public var worker: UUID
    /// The worker's process id.
    public var processID: Int32

    /// Creates a grant of a chunk to a worker.
    public init(chunk: Int, lease: UUID, worker: UUID, processID: Int32) {
        self.chunk = chunk
        self.lease = lease
        self.worker = worker
        self.processID = processID
    }
}

extension JobState {
    /// The events that result from an action, to be appended atomically and in this order; none
    /// when it changes nothing.
    ///
    /// Throws `Failure` (`conflict`) for an action that the job's present state does not allow: a
    /// result of an attempt that no longer holds its lease, a command to an ended job. `now` is
    /// only compared with times of the log's clock.
    public func decide(
        _ action: JobAction, at now: Timestamp, policy: JobPolicy = JobPolicy()
    ) throws(Failure) -> [JobChange] {
        switch action {
        case .lease(let grants): return try decideLeases(grants)
        case .delegate: return decideDelegations(at: now)
        case .report(let attempt, let report): return try decide(attempt, report, policy)
        case .lose(let attempt, let reason): return try decideLoss(attempt, reason, policy)
        case .command(let command, let id): return try decide(command, id: id)
        case .progress(let fractions): return decideProgress(fractions, at: now, policy)
        case .tick(let age): return decideTick(age)
        }
    }

    func change(_ event: JobEvent, _ name: String) -> JobChange {
        JobChange(event, job: id, name: name)
    }

    /// A retry delay is no reason to refuse: the dispatcher tracks delays by a better clock than
    /// the log's.
    private func decideLeases(_ grants: [LeaseGrant]) throws(Failure) -> [JobChange] {
        guard isRunning else { throw Failure(.conflict, "job \(id) grants no leases now") }
        var changes: [JobChange] = []
        for grant in grants {
            guard chunks.indices.contains(grant.chunk), isWaiting(grant.chunk),
                chunks[grant.chunk].description.subJob == nil
            else {
                throw Failure(.conflict, "chunk \(grant.chunk) of job \(id) cannot be leased now")
            }
            let attempt = ChunkAttempt(
                chunk: grant.chunk, number: chunks[grant.chunk].attemptCount + 1,
                lease: grant.lease)
            changes.append(
                change(
                    .chunkLeased(
                        JobChunkLeased(
                            attempt: attempt, worker: grant.worker, processID: grant.processID)),
                    "leased/\(attempt.chunk)/\(attempt.number)"))
        }
        return changes
    }

    private func requireHeld(_ attempt: ChunkAttempt) throws(Failure) {
        guard holds(attempt) else {
            throw Failure(
                .conflict,
                "attempt \(attempt.number) of chunk \(attempt.chunk) of job \(id) no longer holds "
                    + "the lease")
        }
    }

    private func decide(
        _ attempt: ChunkAttempt, _ report: ChunkReport, _ policy: JobPolicy
    ) throws(Failure) -> [JobChange] {
        if chunks.indices.contains(attempt.chunk),
            chunks[attempt.chunk].completedBy == attempt.lease
        {
            return []
        }
        try requireHeld(attempt)
        if status == .cancelling { return release(attempt, "the job is being cancelled") }
        switch report {
        case .released(let reason): return release(attempt, policy.trim(reason))
        case .failed(let error):
            return chunks[attempt.chunk].description.subJob.map {
                failed(attempt, $0, error, policy)
            }
                ?? fail(attempt, policy.trim(error), policy)
        case .completed(let outcome):
            do {
                return try complete(attempt, outcome, policy)
            } catch {
                return fail(attempt, error, policy)
            }
        }
    }

    private func release(_ attempt: ChunkAttempt, _ reason: String) -> [JobChange] {
        let event = JobEvent.chunkReleased(JobChunkReleased(attempt: attempt, reason: reason))
        return [change(event, attempt.endName)] + cancelledIfLast(attempt)
    }

    /// Ends a cancelled job, when this is its last running attempt.
    private func cancelledIfLast(_ attempt: ChunkAttempt) -> [JobChange] {
        guard status == .cancelling, running.keys.allSatisfy({ $0 == attempt.chunk }) else {
            return []
        }
        return [change(.cancelled(JobCancelled()), "over")]
    }

    private func fail(
        _ attempt: ChunkAttempt, _ error: Failure, _ policy: JobPolicy
    ) -> [JobChange] {
        let delay = policy.retryDelayMilliseconds(
            after: error, errorCount: chunks[attempt.chunk].errorCount + 1)
        let event = JobEvent.chunkFailed(
            JobChunkFailed(attempt: attempt, error: error, retryAfterMilliseconds: delay))
        guard delay == nil else { return [change(event, attempt.endName)] }
        return [
            change(event, attempt.endName), change(.failed(JobFailed(error: error)), "over"),
        ]
    }

    private func decideLoss(
        _ attempt: ChunkAttempt, _ reason: String, _ policy: JobPolicy
    ) throws(Failure) -> [JobChange] {
        try requireHeld(attempt)
        let lost = change(
            .chunkLost(JobChunkLost(attempt: attempt, reason: policy.trim(reason))),
            attempt.endName)
        guard status != .cancelling else { return [lost] + cancelledIfLast(attempt) }
        let deathCount = chunks[attempt.chunk].deathCount + 1
        guard deathCount >= policy.maximumDeaths else { return [lost] }
        let quarantined = JobChunkQuarantined(chunk: attempt.chunk, deathCount: deathCount)
        let error = Failure(
            .internal,
            "chunk \(attempt.chunk) (\(chunks[attempt.chunk].description.operation)) ended "
                + "\(deathCount) worker processes and is not tried again",
            details: [policy.trim(reason)])
        return [
            lost, change(.chunkQuarantined(quarantined), "quarantined/\(attempt.chunk)"),
            change(.failed(JobFailed(error: error)), "over"),
        ]
    }

    private func decide(
        _ command: JobCommand, id commandID: UUID
    ) throws(Failure) -> [JobChange] {
        let eventID = JobChange.commandEventID(job: id, command: commandID)
        guard !commands.contains(eventID) else { return [] }
        guard !status.isTerminal else {
            if command == .cancel, status == .cancelled { return [] }
            throw Failure(
                .conflict,
                "job \(id) has ended (\(status.rawValue)), and a job that has ended is not changed "
                    + "or started again: submit a new one")
        }
        switch command {
        case .pause:
            guard status != .cancelling else {
                throw Failure(.conflict, "job \(id) is being cancelled")
            }
            return isPaused ? [] : [JobChange(.paused(JobPaused()), id: eventID)]
        case .resume:
            return isPaused ? [JobChange(.resumed(JobResumed()), id: eventID)] : []
        case .cancel:
            guard status != .cancelling else { return [] }
            let asked = JobChange(.cancelRequested(JobCancelRequested()), id: eventID)
            guard running.isEmpty else { return [asked] }
            return [asked, change(.cancelled(JobCancelled()), "over")]
        }
    }

    private func decideProgress(
        _ fractions: [Int: Double], at now: Timestamp, _ policy: JobPolicy
    ) -> [JobChange] {
        let figure = progress(running: fractions)
        guard !status.isTerminal, figure >= progress + policy.progressStep else { return [] }
        if let last = lastProgressAt,
            (0..<policy.progressIntervalMicroseconds).contains(
                now.microseconds - last.microseconds)
        {
            return []
        }
        return [
            change(.progressed(JobProgressed(progress: figure)), "at/\(streamPosition + 1)")
        ]
    }

    private func decideTick(_ age: Duration) -> [JobChange] {
        guard let limit = submission.timeLimitSeconds, !status.isTerminal, age >= .seconds(limit)
        else { return [] }
        return [change(.timedOut(JobTimedOut(limitSeconds: limit)), "over")]
    }
}

extension ChunkAttempt {
    /// All ends of an attempt share one event id: it ends once.
    var endName: String { "ended/\(chunk)/\(number)" }
}
