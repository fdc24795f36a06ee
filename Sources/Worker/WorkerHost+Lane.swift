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
        switch message.header.kind {
        case .welcome:
            if message.header.readsGroups { sink?.sendGroups() }
            welcome(by: message.header.sender)
        case .task:
            // Addressed to another instance: somebody listens at a lane that is not theirs.
            guard message.header.correlation == bus.instance else { return }
            message.header.epoch == 0 ? take(task: message) : take(chunk: message)
        case .cancel:
            if let chunk = chunks[message.header.messageID] { return chunk.control.cancel() }
            cancel(task: message.header.messageID)
        case .recall where message.header.flags & WorkerWire.inquiryFlag != 0:
            if tasks[message.header.messageID] == nil { tellAnswered(message.header.messageID) }
        case .recall: handBack(task: message.header.messageID)
        case .resultAck:
            if message.header.flags & WorkerWire.staleFlag != 0 {
                logger.notice(
                    "result not taken: the attempt had lost its lease",
                    metadata: ["lease": "\(message.header.messageID)"])
            }
            results[message.header.messageID] = nil
            failpoints.pass("worker.afterAck")
            checkIdle()
        case .beatEcho:
            guard message.header.sender == supervisor else { return }
            lastEcho = MonotonicClock.nanoseconds()
        case .drain:
            isDrained = true
            checkIdle()
        default: break
        }
    }

    private func welcome(by sender: UUID) {
        if supervisor != sender {
            logger.info("known to the supervisor", metadata: ["supervisor": "\(sender)"])
        }
        failpoints.pass("worker.welcomed")
        supervisor = sender
        lastEcho = MonotonicClock.nanoseconds()
        // The first beat after a welcome says that the lane is open both ways.
        reported = entries
        send(beatMessage(.beat))
        resendResults()
    }

    /// A supervisor says that it is there; a new one has never heard of this worker.
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

    /// Says hello; nobody hears it while there is no supervisor.
    func greet() {
        let hello = WorkerHello(
            pool: pool, processID: getpid(), build: build,
            taskCapacity: slots.taskCredit, taskThreadCount: slots.taskThreadCount,
            taskCredit: isDraining ? 0 : max(0, slots.taskCredit - tasks.count),
            longTaskCapacity: slots.longTaskCredit,
            chunkCredit: isDraining ? 0 : max(0, slots.chunkCount - chunks.count),
            running: chunks.values.compactMap(\.held), finished: results.values.map(\.held),
            isDraining: isDraining)
        guard let payload = try? CairnJSON.encode(hello) else { return }
        let header = MessageHeader(kind: .hello, pool: pool.rawValue)
        try? sink?.send(Message(header: header, payload: payload))
    }

    /// A sign of life; three that are not echoed mean that the supervisor has gone or forgotten us.
    private func beat() {
        failpoints.pass("worker.beforeBeat")
        guard supervisor != nil else { return }
        let silence = MonotonicClock.nanoseconds() - lastEcho
        guard silence < WorkerWire.silenceMilliseconds * 1_000_000 else {
            supervisor = nil
            return greet()
        }
        reported = entries
        send(beatMessage(.beat, taskMicroseconds: taskTimes.takeMean()))
        resendResults()
    }

    private func reportProgress() {
        let entries = entries
        guard supervisor != nil, entries != reported, !entries.isEmpty else { return }
        reported = entries
        send(beatMessage(.progress))
    }

    private var entries: [WorkerBeat.Entry] {
        chunks.map { lease, work in
            WorkerBeat.Entry(
                lease: lease, counter: work.control.beatCount, fraction: work.control.fraction)
        }.sorted { $0.lease.uuidString < $1.lease.uuidString }
    }

    private func beatMessage(_ kind: MessageKind, taskMicroseconds: Int? = nil) -> Message {
        let beat = WorkerBeat(entries: reported, taskMicroseconds: taskMicroseconds)
        let payload = (try? CairnJSON.encode(beat)) ?? Data()
        return Message(header: MessageHeader(kind: kind, pool: pool.rawValue), payload: payload)
    }

    private func resendResults() {
        for result in results.values { send(result.message) }
    }

    /// Sends, or keeps for a moment what the sink has no room for.
    ///
    /// When no supervisor listens, the message is dropped: the results of chunks are kept elsewhere,
    /// and nobody waits for anything else.
    func send(_ message: Message) {
        guard outbox.isEmpty else { return outbox.append(message) }
        _ = trySend(message)
    }

    /// False when there is no room.
    private func trySend(_ message: Message) -> Bool {
        do throws(Failure) {
            try sink?.send(message)
        } catch {
            switch error.code {
            case .busy:
                if outbox.isEmpty { outbox.append(message) }
                return false
            case .tooLarge: sendFailure(error, insteadOf: message)
            default: supervisor = nil
            }
        }
        return true
    }

    /// An answer beyond the bus's bound becomes the sentence that says so.
    private func sendFailure(_ failure: Failure, insteadOf message: Message) {
        guard message.header.kind == .result else { return }
        var header = message.header
        if let kept = results[header.correlation] {
            let result = ChunkResult(held: kept.held, report: .failed(failure))
            guard let payload = try? CairnJSON.encode(result) else { return }
            let smaller = Message(header: header, payload: payload)
            results[header.correlation] = (kept.held, smaller)
            _ = trySend(smaller)
        } else {
            header.flags = WorkerWire.failureFlag
            header.contentType = MessageHeader.json
            let answer = Failure(
                .tooLarge,
                "the answer has \(message.payload.count) bytes; at most "
                    + "\(Endpoint.supervisorSink.maximumMessageByteCount) fit into one message: ask for "
                    + "less, fewer layers or no geometry for example", details: [failure.message])
            _ = trySend(Message(header: header, payload: answer.wirePayload))
        }
    }

    func flush() {
        while let message = outbox.first {
            guard trySend(message) else { return }
            outbox.removeFirst()
        }
    }

    // MARK: The end

    /// Takes nothing more, hands chunks back, answers what it has, and says goodbye.
    ///
    /// Returns when the supervisor knows everything, or after `limit`; the host is closed then.
    public func drain(limit: Duration = .seconds(5)) async {
        await withCheckedContinuation { continuation in
            onIdle = { continuation.resume() }
            isDraining = true
            for work in chunks.values { work.control.cancel() }
            send(Message(header: MessageHeader(kind: .credit, pool: pool.rawValue)))
            bus.schedule(after: limit) { [weak self] in
                self?.assumeIsolated { $0.endDraining() }
            }
            if supervisor == nil { isDrained = true }
            checkIdle()
        }
        send(Message(header: MessageHeader(kind: .bye, pool: pool.rawValue)))
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
