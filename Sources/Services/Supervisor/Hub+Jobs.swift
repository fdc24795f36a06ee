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
    // MARK: After a restart

    /// The jobs are loaded: returning workers get their attempts, the others a grace period.
    func jobsLoaded() {
        failpoints.pass("supervisor.beforeAdoption")
        ledger.isLoaded = true
        ledger.isReachable = true
        openJobs = table.jobs.values.filter { !$0.status.isTerminal }
            .sorted { $0.submittedAt < $1.submittedAt }.map(\.id)
        let (time, monotonic) = (now, MonotonicClock.nanoseconds())
        for state in openJobs.compactMap({ table[$0] }) {
            ages.begin(state.id, submittedAt: state.submittedAt, logTime: time, at: monotonic)
            rests.begin(state, logTime: time, at: monotonic)
        }
        adoptionEnd = monotonic + timing.adoption.wholeNanoseconds
        for (instance, hello) in unadopted { adopt(hello, by: instance) }
        unadopted = [:]
        for job in openJobs { tend(job) }
        logger.info(
            "jobs",
            metadata: [
                "count": "\(table.jobs.count)", "open": "\(openJobs.count)",
                "folded": "\(ledger.foldedCount)",
            ])
        keepIfDue()
        dispatchChunks()
    }

    /// Restores the leases that the log records for a worker, and cancels all others that it holds.
    ///
    /// A lease of this worker that the worker does not know of never reached it.
    func adopt(_ hello: WorkerHello, by instance: UUID) {
        let now = MonotonicClock.nanoseconds()
        let items = hello.running.map { ($0, true) } + hello.finished.map { ($0, false) }
        for (item, isRunning) in items {
            let lease = item.attempt.lease
            guard let state = table[item.job], state.holds(item.attempt),
                state.running[item.attempt.chunk]?.worker == instance
            else {
                if isRunning {
                    send(.cancel(lease), to: instance)
                }
                continue
            }
            guard workers[instance]?.chunks[lease] == nil else { continue }
            var chunk = WorkerLane.HeldChunk(held: item, since: now)
            chunk.occupiesSlot = isRunning
            workers[instance]?.chunks[lease] = chunk
            if state.status == .cancelling { cancel(lease, of: instance) }
        }
        for job in openJobs {
            for running in table[job]?.running.values.map(\.self) ?? []
            where running.worker == instance
                && workers[instance]?.chunks[running.attempt.lease] == nil
            {
                perform(
                    .report(running.attempt, .released(reason: "it never reached its worker")),
                    on: job)
            }
        }
    }

    /// Ends the grace period: workers that have not returned count as lost.
    func closeAdoption(_ now: Int64) {
        guard let end = adoptionEnd, now > end else { return }
        adoptionEnd = nil
        for job in openJobs {
            for running in table[job]?.running.values.map(\.self) ?? []
            where running.subJob == nil
                && workers[running.worker]?.chunks[running.attempt.lease] == nil
            {
                perform(
                    .lose(
                        running.attempt,
                        reason: "process \(running.processID) did not come back to a new supervisor"
                    ), on: job)
            }
        }
    }

    // MARK: Leases

    /// Leases chunks to workers with room: jobs take turns, each chunk goes to the freest worker.
    func dispatchChunks() {
        guard ledger.isLoaded, ledger.isReachable, !isDraining else { return }
        for pool in WorkerPool.allCases where !isResting(pool) {
            var grants: [JobID: [LeaseGrant]] = [:]
            while let worker = freestForChunks(in: pool), let (job, chunk) = nextChunk(in: pool) {
                workers[worker.instance]?.chunkCredit -= 1
                reserved[job, default: []].insert(chunk)
                grants[job, default: []].append(
                    LeaseGrant(
                        chunk: chunk, lease: .timeOrdered(), worker: worker.instance,
                        processID: worker.hello.processID))
            }
            for (job, grants) in grants { lease(grants, of: job) }
        }
    }

    private func freestForChunks(in pool: WorkerPool) -> WorkerLane? {
        func room(_ worker: WorkerLane) -> (Int, Int) {
            (worker.chunkCredit, dispatcher.worker(worker.instance, in: pool)?.credit ?? 0)
        }
        return workers.values.filter {
            $0.hello.pool == pool && $0.takesWork && $0.chunkCredit > 0
        }.max { room($0) < room($1) }
    }

    /// The next chunk for a pool, of the job whose turn it is.
    private func nextChunk(in pool: WorkerPool) -> (JobID, Int)? {
        let now = MonotonicClock.nanoseconds()
        var chunks: [JobID: Int] = [:]
        var candidates: [FairShares.Candidate] = []
        for job in openJobs {
            let taken = reserved[job] ?? []
            guard let state = table[job],
                let chunk = state.runnableChunks(
                    in: pool, limit: 1,
                    isHeld: {
                        taken.contains($0) || rests.isResting($0, of: job, at: now)
                    }
                ).first, !table.isBelowAnEnd(job)
            else { continue }
            chunks[job] = chunk
            candidates.append(
                FairShares.Candidate(
                    job: job, actor: state.submission.actor ?? "",
                    weight: (state.submission.priority ?? .normal).weight))
        }
        guard let job = shares[pool, default: FairShares()].next(among: candidates) else {
            return nil
        }
        return chunks[job].map { (job, $0) }
    }

    private func lease(_ grants: [LeaseGrant], of job: JobID) {
        perform(.lease(grants), on: job) { hub, result in
            for grant in grants { hub.reserved[job]?.remove(grant.chunk) }
            if hub.reserved[job]?.isEmpty == true { hub.reserved[job] = nil }
            for grant in grants {
                if case .success = result {
                    hub.hand(grant, of: job)
                } else {
                    hub.workers[grant.worker]?.chunkCredit += 1
                }
            }
        }
    }

    /// Sends a lease to its worker, which happens only after the commit.
    private func hand(_ grant: LeaseGrant, of job: JobID) {
        failpoints.pass("supervisor.afterLeaseBeforeTask")
        guard let state = table[job], let assignment = state.assignment(chunk: grant.chunk),
            assignment.held.attempt.lease == grant.lease
        else { return }
        let attempt = assignment.held.attempt
        do throws(Failure) {
            guard state.isRunning || state.isPaused, let worker = workers[grant.worker],
                worker.takesWork, let lane = worker.lane
            else { throw Failure(.unavailable, "its worker has gone") }
            let metadata = RequestMetadata(
                operation: assignment.operation, actor: state.submission.actor)
            let order = WorkOrder(
                id: grant.lease, metadata: try CairnJSON.encode(metadata),
                payload: try CairnJSON.encode(assignment))
            try lane.send(LaneMessage.chunk(order).message(to: grant.worker))
            workers[grant.worker]?.chunks[grant.lease] = WorkerLane.HeldChunk(
                held: assignment.held, since: MonotonicClock.nanoseconds())
            failpoints.pass("supervisor.afterTask")
        } catch {
            workers[grant.worker]?.chunkCredit += 1
            let report: ChunkReport =
                error.code == .tooLarge
                ? .failed(error) : .released(reason: "it never reached its worker")
            perform(.report(attempt, report), on: job)
        }
    }

    // MARK: Results

    /// Records the end of an attempt and acknowledges it, in this order.
    func take(_ result: ChunkResult, from sender: UUID) {
        guard ledger.isLoaded else { return }
        let lease = result.held.attempt.lease
        var report = result.report
        if let chunk = workers[sender]?.chunks[lease] {
            guard !chunk.isReported else { return }
            workers[sender]?.chunks[lease]?.isReported = true
            if chunk.occupiesSlot { workers[sender]?.chunkCredit += 1 }
            workers[sender]?.doneCount += 1
            if chunk.isStalled, case .released = report { report = .failed(stalled(chunk)) }
            if let pool = workers[sender]?.hello.pool { metrics[pool]?.count(report) }
            learn(from: chunk, report, of: sender)
        }
        failpoints.pass("supervisor.beforeResult")
        perform(.report(result.held.attempt, report), on: result.held.job) { hub, outcome in
            hub.failpoints.pass("supervisor.afterResultBeforeAck")
            hub.workers[sender]?.chunks[lease] = nil
            hub.ended(lease, by: sender)
            var isStale = false
            if case .failure(let failure) = outcome {
                guard failure.code == .conflict || failure.code == .notFound else { return }
                isStale = true
                hub.counters.staleResultCount += 1
            }
            hub.send(.resultTaken(lease: lease, isStale: isStale), to: sender)
            hub.failpoints.pass("supervisor.afterAck")
        }
        dispatchChunks()
    }

    /// Applies a result to the health and the fair shares of its pool.
    private func learn(
        from chunk: WorkerLane.HeldChunk, _ report: ChunkReport, of instance: UUID
    ) {
        guard let pool = workers[instance]?.hello.pool else { return }
        if case .released = report { return }
        handle(.succeeded, in: pool)
        let seconds = Double(MonotonicClock.nanoseconds() - chunk.since) / 1e9
        shares[pool]?.learn(chunk.held.job, seconds: seconds)
    }

    /// Not retriable: an operation that hangs and stops when cancelled would otherwise be retried
    /// for ever.
    private func stalled(_ chunk: WorkerLane.HeldChunk) -> Failure {
        Failure(
            .timedOut,
            "the operation showed no sign of life for "
                + "\(stallLimit(of: chunk.held.job) / 1_000_000_000) s and was stopped")
    }

    // MARK: Consequences

    /// Acts on committed events of a job and publishes them.
    func applied(_ records: [RecordedEvent], to job: JobID) throws(Failure) {
        for record in records {
            switch try JobEvent(record.event) {
            case .submitted:
                openJobs.append(job)
                ages.begin(job, at: MonotonicClock.nanoseconds())
            case .chunkFailed(let ended):
                rests.begin(
                    ended.attempt.chunk, of: job, milliseconds: ended.retryAfterMilliseconds ?? 0,
                    at: MonotonicClock.nanoseconds())
            case .cancelRequested:
                failpoints.pass("supervisor.afterCancelBeforeOrder")
                cancelAttempts(of: job)
            case .succeeded, .failed, .timedOut, .cancelled:
                cancelAttempts(of: job)
                openJobs.removeAll { $0 == job }
                ages.end(job)
                rests.end(job)
                let actor = table[job]?.submission.actor ?? ""
                for pool in WorkerPool.allCases { shares[pool]?.forget(job, of: actor) }
                metrics.countEnd(table[job]?.status)
                logger.info(
                    "job ended",
                    metadata: [
                        "job": "\(job)", "status": "\(table[job]?.status.rawValue ?? "")",
                    ])
            default: break
            }
        }
        failpoints.pass("supervisor.beforePublish")
        publish(job: job)
        tend(job)
        dispatchChunks()
    }

    private func cancelAttempts(of job: JobID) {
        for (instance, worker) in workers {
            for (lease, chunk) in worker.chunks
            where chunk.held.job == job && !chunk.isReported && chunk.watch.cancelledAt == nil {
                cancel(lease, of: instance)
            }
        }
    }

    /// Reported progress of the running attempts, by chunk.
    func fractions(of job: JobID) -> [Int: Double] {
        var fractions: [Int: Double] = [:]
        for worker in workers.values {
            for chunk in worker.chunks.values where chunk.held.job == job {
                fractions[chunk.held.attempt.chunk] = chunk.watch.fraction
            }
        }
        for (number, running) in table[job]?.running ?? [:] {
            guard let child = running.subJob.flatMap({ table[$0] }) else { continue }
            fractions[number] = child.progress(running: self.fractions(of: child.id)) / 100
        }
        return fractions
    }

    /// Once a second: records progress and enforces time limits.
    func tickJobs() {
        checkLog()
        guard ledger.isLoaded else { return }
        for job in openJobs where ledger.writers[job] == nil {
            guard let state = table[job] else { continue }
            let age = ages.age(of: job, at: MonotonicClock.nanoseconds())
            for action in [JobAction.tick(age: age), .progress(fractions(of: job))] {
                let changes = (try? state.decide(action, at: now)) ?? []
                if !changes.isEmpty { perform(action, on: job) }
            }
        }
    }
}
