// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import Daemon
internal import FoundationEssentials
internal import Glibc
internal import Logging
internal import Platform

extension WorkerHost {
    // MARK: From the supervisor

    func receive(_ message: Message) {
        do throws(Failure) {
            let header = message.header
            receive(
                try LaneMessage(message, to: bus.instance), from: header.sender,
                readsGroups: header.readsGroups)
        } catch {
            // It repeats its hello until a supervisor of its build answers, or the process ends.
            guard !hasRefusedMessage else { return }
            hasRefusedMessage = true
            logger.error("message of a supervisor refused", metadata: ["reason": "\(error)"])
        }
    }

    private func receive(_ message: LaneMessage, from sender: UUID, readsGroups: Bool) {
        switch message {
        case .welcome:
            if readsGroups { sink?.sendGroups() }
            welcome(by: sender)
        case .task(let task): take(task)
        case .chunk(let order): take(chunk: order)
        case .cancel(let id):
            if let chunk = chunks[id] { return chunk.control.cancel() }
            cancel(task: id)
        case .recall(let task): handBack(task: task)
        case .inquiry(let task): if tasks[task] == nil { send(.answered(task: task)) }
        case .resultTaken(let lease, let isStale):
            if isStale {
                logger.notice(
                    "result not taken: the attempt had lost its lease",
                    metadata: ["lease": "\(lease)"])
            }
            results[lease] = nil
            failpoints.pass("worker.afterAck")
            checkIdle()
        case .heartbeatEcho:
            guard sender == supervisor else { return }
            lastEcho = MonotonicClock.nanoseconds()
        case .drain:
            isDrained = true
            checkIdle()
        }
    }

    private func welcome(by sender: UUID) {
        if supervisor != sender {
            logger.info("registered with the supervisor", metadata: ["supervisor": "\(sender)"])
        }
        failpoints.pass("worker.welcomed")
        supervisor = sender
        lastEcho = MonotonicClock.nanoseconds()
        // The first heartbeat after a welcome confirms that the lane is open both ways.
        reported = entries
        send(.heartbeat(WorkerBeat(entries: reported)))
        resendResults()
    }

    /// Handles a supervisor's announcement; a new supervisor does not know this worker.
    func hear(supervisor sender: UUID) {
        guard supervisor != sender else { return }
        supervisor = nil
        greet()
    }

    // MARK: To the supervisor

    func startTimers() {
        lastEcho = MonotonicClock.nanoseconds()
        greet()
        schedule(.milliseconds(WorkerWire.beatMilliseconds)) { $0.beat() }
        schedule(.milliseconds(250)) { $0.reportProgress() }
        schedule(.milliseconds(100)) { if $0.supervisor == nil { $0.greet() } }
    }

    private func schedule(
        _ interval: Duration, _ body: @escaping @Sendable (isolated WorkerHost) -> Void
    ) {
        timers.append(
            bus.schedule(every: interval) { [weak self] in self?.assumeIsolated { body($0) } })
    }

    /// Sends a hello; dropped while there is no supervisor.
    func greet() {
        let hello = WorkerHello(
            pool: pool, processID: getpid(), build: build,
            taskCapacity: slots.taskCredit, taskThreadCount: slots.taskThreadCount,
            taskCredit: isDraining ? 0 : max(0, slots.taskCredit - tasks.count),
            longTaskCapacity: slots.longTaskCredit,
            chunkCredit: isDraining ? 0 : max(0, slots.chunkCount - chunks.count),
            running: chunks.values.compactMap(\.held), finished: results.values.map(\.held),
            isDraining: isDraining)
        guard let message = try? WorkerReport.hello(hello).message() else { return }
        try? sink?.send(message)
    }

    /// Sends a heartbeat; after three without an echo, the supervisor counts as gone or restarted.
    private func beat() {
        failpoints.pass("worker.beforeBeat")
        guard supervisor != nil else { return }
        let silence = MonotonicClock.nanoseconds() - lastEcho
        guard silence < WorkerWire.silenceMilliseconds * 1_000_000 else {
            supervisor = nil
            return greet()
        }
        reported = entries
        send(.heartbeat(WorkerBeat(entries: reported, taskMicroseconds: taskTimes.takeMean())))
        resendResults()
    }

    private func reportProgress() {
        let entries = entries
        guard supervisor != nil, entries != reported, !entries.isEmpty else { return }
        reported = entries
        send(.progress(WorkerBeat(entries: entries)))
    }

    private var entries: [WorkerBeat.Entry] {
        chunks.map { lease, work in
            WorkerBeat.Entry(
                lease: lease, counter: work.control.beatCount, fraction: work.control.fraction)
        }.sorted { $0.lease.uuidString < $1.lease.uuidString }
    }

    private func resendResults() {
        for result in results.values { send(.result(result)) }
    }

    /// Sends a report, or buffers it briefly when the sink is full.
    ///
    /// Without a supervisor, the message is dropped: results of chunks are kept elsewhere, and all
    /// other requests are void then.
    func send(_ report: WorkerReport) {
        guard outbox.isEmpty else { return outbox.append(report) }
        _ = trySend(report)
    }

    /// False when the sink is full.
    private func trySend(_ report: WorkerReport) -> Bool {
        do throws(Failure) {
            try sink?.send(try report.message())
        } catch {
            switch error.code {
            case .busy:
                if outbox.isEmpty { outbox.append(report) }
                return false
            case .tooLarge: sendFailure(error, insteadOf: report)
            default: supervisor = nil
            }
        }
        return true
    }

    /// Replaces an answer beyond the bus's size limit with a failure.
    private func sendFailure(_ failure: Failure, insteadOf report: WorkerReport) {
        switch report {
        case .result(let result):
            let smaller = ChunkResult(held: result.held, report: .failed(failure))
            results[result.held.attempt.lease] = smaller
            _ = trySend(.result(smaller))
        case .answer(var answer):
            let failure = Failure(
                .tooLarge,
                "the answer has \(answer.payload.count) bytes; at most "
                    + "\(Endpoint.supervisorSink.maximumMessageByteCount) fit into one message: "
                    + "ask for "
                    + "less, fewer layers or no geometry for example", details: [failure.message])
            answer.fail(failure)
            _ = trySend(.answer(answer))
        default: break
        }
    }

    func flush() {
        while let report = outbox.first {
            guard trySend(report) else { return }
            outbox.removeFirst()
        }
    }

    // MARK: The end

    /// Refuses new work, hands chunks back, answers outstanding tasks, and says goodbye.
    ///
    /// Returns when the supervisor has acknowledged everything, or after `limit`; the host is
    /// closed then.
    package func drain(limit: Duration = .seconds(5)) async {
        await withCheckedContinuation { continuation in
            onIdle = { continuation.resume() }
            isDraining = true
            for work in chunks.values { work.control.cancel() }
            send(.draining)
            bus.schedule(after: limit) { [weak self] in
                self?.assumeIsolated { $0.endDraining() }
            }
            if supervisor == nil { isDrained = true }
            checkIdle()
        }
        send(.bye)
        close()
    }

    func checkIdle() {
        guard isDraining, isDrained, tasks.isEmpty, chunks.isEmpty, results.isEmpty,
            outbox.isEmpty
        else { return }
        endDraining()
    }

    private func endDraining() {
        guard let onIdle else { return }
        self.onIdle = nil
        onIdle()
    }
}
