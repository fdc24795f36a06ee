// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EventLog
import FoundationEssentials

@testable import Jobs

/// A supervisor of a simulated site: the real state of jobs and the real decisions, joined to log
/// and workers by the rules of `Docs/jobs.md`.
final class SimulatedSupervisor {
    enum Then {
        case nothing
        case answer(UUID)
        case hand(LeaseGrant)
        case acknowledge(HeldAttempt, worker: Int)
    }

    enum Wish {
        case submit(JobSubmission)
        case act(JobAction)
    }

    struct Writer {
        var waiting: [(wish: Wish, then: Then)] = []
        var underWay: (append: AppendRequest, question: UUID, then: Then, sentAt: Int64)?
    }

    struct KnownWorker {
        var instance: UUID
        var lastHeard: Int64
        /// When it last spoke of each lease it holds, or got it.
        var held: [UUID: Int64] = [:]
    }

    static let silence: Int64 = 3_000_000
    /// The stall limit of an attempt on a worker that sends heartbeats.
    static let stall: Int64 = 60_000_000
    static let policy: JobPolicy = {
        var policy = JobPolicy()
        policy.maximumDeaths = 10_000
        policy.maximumErrors = 10_000
        return policy
    }()

    let instance: UUID
    private let startedAt: Int64
    private let wallAtStart: Int64
    private var claim: WriterClaim?
    private(set) var table = JobTable()
    private var isLoaded = false
    private var adoptionEnd: Int64?
    private var writers: [JobID: Writer] = [:]
    private var workers: [Int: KnownWorker] = [:]
    private var reserved: [JobID: Set<Int>] = [:]
    private var isFenced = false

    init(_ site: SimulatedSite) {
        instance = site.uuid()
        startedAt = site.now
        wallAtStart = site.wallClock(.supervisor).microseconds
        site.count("supervisors")
    }

    /// Like the real one's: the wall clock at its start, then monotonic time.
    private func now(_ site: SimulatedSite) -> Timestamp {
        Timestamp(microseconds: wallAtStart + site.now - startedAt)
    }

    private var openJobs: [JobState] {
        table.jobs.values.filter { !$0.status.isTerminal }
            .sorted { $0.submittedSequence < $1.submittedSequence }
    }

    // A dictionary's own order differs from process to process; a seed's story must not.

    private func inOrder(_ writers: [JobID: Writer]) -> [(key: JobID, value: Writer)] {
        writers.sorted { $0.key.description < $1.key.description }
    }

    private func inOrder(_ state: JobState) -> [JobState.RunningAttempt] {
        state.running.values.sorted { $0.attempt.chunk < $1.attempt.chunk }
    }

    var isIdle: Bool { isLoaded && openJobs.isEmpty && writers.isEmpty }

    // MARK: Time

    func tick(_ site: SimulatedSite) {
        guard !isFenced else { return }
        guard claim != nil else {
            return site.send(
                .claim(ClaimRequest(category: "job", instance: instance, holder: "simulated")),
                to: .log, from: .supervisor)
        }
        guard isLoaded else {
            return site.send(.read(after: table.sequence), to: .log, from: .supervisor)
        }
        for (job, writer) in inOrder(writers) {
            guard let underWay = writer.underWay, site.now - underWay.sentAt > 1_000_000 else {
                continue
            }
            writers[job]?.underWay?.sentAt = site.now
            site.send(
                .append(underWay.append, question: underWay.question), to: .log, from: .supervisor)
        }
        loseTheSilent(site)
        dispatch(site)
    }

    /// It resumes where it was stopped, under an old epoch, and ends: none of its messages has an
    /// effect.
    func wake(_ site: SimulatedSite) {
        guard isLoaded, !isFenced else { return }
        isFenced = true
        var appends = inOrder(writers).compactMap { $0.value.underWay?.append }
        for state in openJobs {
            let chunks = WorkerPool.allCases.flatMap {
                state.runnableChunks(in: $0, at: now(site), limit: 1)
            }
            let grants = chunks.map {
                LeaseGrant(chunk: $0, lease: site.uuid(), worker: site.uuid(), processID: 1)
            }
            let changes = (try? state.decide(.lease(grants), at: now(site))) ?? []
            if !changes.isEmpty, let append = try? request(changes, state.id) {
                appends.append(append)
            }
        }
        let isReplaced = site.supervisor?.claim != nil
        for result in site.log.append(batch: appends).results {
            switch result {
            case .success(let result):
                if isReplaced, !result.isRepeat { site.fault = "a zombie has written" }
            case .failure(let failure):
                site.count("zombie refused")
                // Or, before it has been replaced, for what it has written meanwhile.
                let codes: [Failure.Code] =
                    isReplaced ? [.fenced] : [.fenced, .idReused, .conflict]
                if !codes.contains(failure.code) {
                    site.fault = "a zombie was refused: \(failure)"
                }
            }
        }
    }

    private func loseTheSilent(_ site: SimulatedSite) {
        for (number, worker) in workers.sorted(by: { $0.key < $1.key })
        where site.now - worker.lastHeard > Self.silence {
            workers[number] = nil
            for state in openJobs {
                for running in inOrder(state) where running.worker == worker.instance {
                    perform(.act(.lose(running.attempt, reason: "silence")), on: state.id, site)
                }
            }
        }
        loseTheStalled(site)
        guard let end = adoptionEnd, site.now > end else { return }
        adoptionEnd = nil
        for state in openJobs {
            for running in inOrder(state)
            where !workers.values.contains(where: { $0.instance == running.worker }) {
                perform(.act(.lose(running.attempt, reason: "not adopted")), on: state.id, site)
            }
        }
    }

    /// A task that never reached its worker is found out like one that hangs.
    private func loseTheStalled(_ site: SimulatedSite) {
        for state in openJobs {
            for running in inOrder(state) {
                let lease = running.attempt.lease
                guard
                    let number = workers.first(where: { $0.value.instance == running.worker })?.key,
                    site.now - (workers[number]?.held[lease] ?? 0) > Self.stall
                else { continue }
                workers[number]?.held[lease] = nil
                perform(.act(.lose(running.attempt, reason: "no sign of life")), on: state.id, site)
            }
        }
    }

    private func dispatch(_ site: SimulatedSite) {
        for state in openJobs {
            for pool in WorkerPool.allCases {
                let taken = reserved[state.id] ?? []
                let chunks = state.runnableChunks(in: pool, limit: 2) {
                    taken.contains($0) || state.isResting($0, at: now(site))
                }
                for chunk in chunks {
                    let free = workers.filter { $0.value.held.count < 2 }.keys.sorted()
                    guard let number = free.randomElement(using: &site.random),
                        let worker = workers[number]
                    else { return }
                    let grant = LeaseGrant(
                        chunk: chunk, lease: site.uuid(), worker: worker.instance,
                        processID: Int32(number))
                    workers[number]?.held[grant.lease] = site.now
                    reserved[state.id, default: []].insert(chunk)
                    perform(.act(.lease([grant])), on: state.id, then: .hand(grant), site)
                }
            }
        }
    }

    // MARK: Letters

    func receive(_ letter: Letter, from sender: SimulatedSite.Place, _ site: SimulatedSite) {
        guard !isFenced else { return }
        if case .worker(let number) = sender { return receive(letter, worker: number, site) }
        switch letter {
        case .claimed(let claim) where claim.instance == instance: self.claim = claim
        case .page(let after, let events, let isLast):
            guard claim != nil, !isLoaded, after == table.sequence else { return }
            do {
                for event in events { try table.apply(event) }
            } catch {
                site.fault = "the log cannot be folded: \(error)"
            }
            if isLast {
                isLoaded = true
                adoptionEnd = site.now + 5_000_000
            }
        case .appended(let question, let result): appended(question, result, site)
        case .submit(let submission):
            guard isLoaded else { return }
            perform(
                .submit(submission), on: submission.id, then: .answer(submission.id.rawValue), site)
        case .command(let command):
            guard isLoaded else { return }
            perform(
                .act(.command(command.command, id: command.id)), on: command.job,
                then: .answer(command.id), site)
        default: break
        }
    }

    private func receive(_ letter: Letter, worker number: Int, _ site: SimulatedSite) {
        switch letter {
        case .hello(let instance, let running, let finished):
            guard isLoaded else { return }
            adopt(number, instance, running + finished, site)
            site.send(.welcome(supervisor: self.instance), to: .worker(number), from: .supervisor)
        case .beat(let instance, let leases):
            guard workers[number]?.instance == instance else { return }
            workers[number]?.lastHeard = site.now
            for lease in leases { workers[number]?.held[lease] = site.now }
            site.send(.welcome(supervisor: self.instance), to: .worker(number), from: .supervisor)
        case .result(let held, let report, let instance):
            guard isLoaded else { return }
            if workers[number]?.instance == instance { workers[number]?.lastHeard = site.now }
            perform(
                .act(.report(held.attempt, report)), on: held.job,
                then: .acknowledge(held, worker: number), site)
        default: break
        }
    }

    private func adopt(
        _ number: Int, _ instance: UUID, _ held: [HeldAttempt], _ site: SimulatedSite
    ) {
        let earlier = workers[number]
        workers[number] = KnownWorker(instance: instance, lastHeard: site.now)
        let leases = Set(held.map(\.attempt.lease))
        for state in openJobs {
            for running in inOrder(state) {
                if running.worker == instance {
                    workers[number]?.held[running.attempt.lease] = site.now
                    // A task that is still on its way is not known to its worker either.
                    if !leases.contains(running.attempt.lease), earlier?.instance != instance {
                        perform(
                            .act(.report(running.attempt, .released(reason: "never came"))),
                            on: state.id, site)
                    }
                } else if running.worker == earlier?.instance {
                    perform(
                        .act(.lose(running.attempt, reason: "another life")), on: state.id, site)
                }
            }
        }
        for attempt in held where table[attempt.job]?.holds(attempt.attempt) != true {
            site.send(
                .cancel(lease: attempt.attempt.lease), to: .worker(number), from: .supervisor)
        }
    }

    // MARK: The ledger

    private func perform(
        _ wish: Wish, on job: JobID, then: Then = .nothing, _ site: SimulatedSite
    ) {
        writers[job, default: Writer()].waiting.append((wish, then))
        pump(job, site)
    }

    private func request(_ changes: [JobChange], _ job: JobID) throws -> AppendRequest {
        AppendRequest(
            appends: [
                try JobChange.append(
                    changes, to: job, at: table[job]?.streamPosition ?? -1,
                    metadata: EventMetadata())
            ], epochs: claim.map { ["job": $0.epoch] })
    }

    private func require(_ job: JobID) throws -> JobState {
        guard let state = table[job] else { throw Failure(.notFound, "no job \(job)") }
        return state
    }

    private func pump(_ job: JobID, _ site: SimulatedSite) {
        while let writer = writers[job], writer.underWay == nil {
            guard let (wish, then) = writer.waiting.first else {
                writers[job] = nil
                return
            }
            writers[job]?.waiting.removeFirst()
            do {
                let changes =
                    switch wish {
                    case .submit(let submission): try table.decide(submit: submission)
                    case .act(let action):
                        try require(job).decide(action, at: now(site), policy: Self.policy)
                    }
                guard !changes.isEmpty else {
                    finish(then, on: job, isRefused: false, site)
                    continue
                }
                let question = site.uuid()
                let append = try request(changes, job)
                writers[job]?.underWay = (append, question, then, site.now)
                site.send(.append(append, question: question), to: .log, from: .supervisor)
            } catch {
                site.count("refused")
                finish(then, on: job, isRefused: true, site)
            }
        }
    }

    private func appended(
        _ question: UUID, _ result: Result<AppendResult, Failure>, _ site: SimulatedSite
    ) {
        guard let (job, writer) = writers.first(where: { $0.value.underWay?.question == question }),
            let underWay = writer.underWay
        else { return }
        let append = underWay.append.appends[0]
        let position = table[job]?.streamPosition ?? -1
        do {
            let success = try result.get()
            try table.applyOwn(
                append.events.enumerated().map { offset, event in
                    RecordedEvent(
                        globalPosition: success.firstPosition + Int64(offset),
                        stream: append.stream, streamPosition: position + 1 + Int64(offset),
                        recordedAt: success.recordedAt, event: event)
                })
        } catch {
            isFenced = true
            if error.code != .fenced { site.fault = "an append failed: \(error)" }
            return
        }
        writers[job]?.underWay = nil
        finish(underWay.then, on: job, isRefused: false, site)
        pump(job, site)
    }

    private func finish(_ then: Then, on job: JobID, isRefused: Bool, _ site: SimulatedSite) {
        switch then {
        case .nothing: break
        case .answer(let id):
            if !isRefused, site.log.lastPosition(of: .job(job)) == nil {
                site.fault = "\(job) is answered before it is in the log"
            }
            site.send(.answered(id), to: .client, from: .supervisor)
        case .hand(let grant):
            reserved[job]?.remove(grant.chunk)
            let number = Int(grant.processID)
            guard !isRefused, let attempt = table[job]?.running[grant.chunk]?.attempt,
                attempt.lease == grant.lease
            else {
                workers[number]?.held[grant.lease] = nil
                return
            }
            guard workers[number]?.instance == grant.worker else {
                // It has gone, or changed, while the lease was on its way to the log.
                return perform(
                    .act(.report(attempt, .released(reason: "its worker has gone"))), on: job, site)
            }
            site.send(
                .task(
                    HeldAttempt(job: job, attempt: attempt), isPlan: grant.chunk == 0,
                    to: grant.worker), to: .worker(number), from: .supervisor)
        case .acknowledge(let held, let number):
            workers[number]?.held[held.attempt.lease] = nil
            site.send(
                .acknowledged(lease: held.attempt.lease), to: .worker(number), from: .supervisor)
        }
    }
}
