// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import Bus
internal import CairnModel
internal import CoreMetrics
internal import FoundationEssentials
internal import Glibc
internal import Jobs
internal import Logging
internal import Platform

extension Hub {
    /// Maximum number of registered workers.
    static let workerBound = 1_000

    // MARK: From the sink

    func receive(_ message: Message) {
        do throws(Failure) {
            let (report, header) = (try WorkerReport(message), message.header)
            if case .hello(let hello) = report {
                return take(hello, of: header.sender, readsGroups: header.readsGroups)
            }
            // An unknown worker gets no echoes and says hello.
            if let worker = workers[header.sender] { receive(report, from: worker) }
        } catch {
            refuse(message, error)
        }
    }

    private func receive(_ report: WorkerReport, from worker: WorkerLane) {
        let (sender, pool) = (worker.instance, worker.hello.pool)
        worker.lastHeard = MonotonicClock.nanoseconds()
        worker.isHeardOut = false
        switch report {
        case .hello: break
        case .heartbeat(let beat):
            // Reported durations are clamped to one microsecond and one second.
            let nanoseconds = beat.taskMicroseconds.map {
                Int64(min(max(1, $0), 1_000_000)) * 1_000
            }
            handle(.pace(sender, nanoseconds: nanoseconds), in: pool)
            take(beat, from: worker)
            send(.heartbeatEcho, to: sender)
        case .progress(let beat): take(beat, from: worker)
        case .answer(let answer):
            handle(.answer(answer.task, by: sender), in: pool, answer: answer)
        case .refused(let task, let isLong):
            handle(.refused(task, isLong: isLong, by: sender), in: pool)
        case .tookLong(let task): handle(.tookLong(task, by: sender), in: pool)
        case .answered(let task): handle(.answered(task, by: sender), in: pool)
        case .result(let result): take(result, from: sender)
        case .draining: drain(worker: sender)
        case .bye: remove(sender, reason: "the worker said goodbye", isDeath: false)
        }
    }

    /// Drops an unreadable message; a worker of another protocol version is asked once to end.
    private func refuse(_ message: Message, _ failure: Failure) {
        let instance = message.header.sender
        guard let processID = WorkerReport.foreignProcess(in: message),
            foreigners.count < Self.workerBound, foreigners.insert(instance).inserted
        else { return }
        logger.warning(
            "ending a worker of another build",
            metadata: ["pid": "\(processID)", "reason": "\(failure)"])
        kill(processID, SIGTERM)
    }

    private func take(_ beat: WorkerBeat, from worker: WorkerLane) {
        let sender = worker.instance
        worker.unheardSince = nil
        if !worker.isReady {
            worker.isReady = true
            workerBecameReady(sender)
        }
        let now = MonotonicClock.nanoseconds()
        for entry in beat.entries {
            workers[sender]?.chunks[entry.lease]?.watch.beat(
                counter: entry.counter, fraction: entry.fraction, at: now)
        }
    }

    // MARK: Coming

    /// Registers a worker: a new one, one that has found a new supervisor, or one that missed its
    /// welcome.
    private func take(_ hello: WorkerHello, of instance: UUID, readsGroups: Bool) {
        guard instance != .zero else { return }
        if hears(instance) { return }
        guard workers.count < Self.workerBound else { return }
        cameBack(instance, holding: hello.running)
        let earlier = workers.removeValue(forKey: instance)
        earlier?.watch?.cancel()
        earlier?.lane?.close()
        nextGeneration += 1
        let generation = nextGeneration
        let worker = WorkerLane(
            instance: instance, hello: hello, generation: generation, since: now,
            now: MonotonicClock.nanoseconds())
        let tasks = DispatchWorker(instance: instance, hello: hello)
        do throws(Failure) {
            worker.lane = try bus.bindLane(
                .lane(instance),
                credit: tasks.credit + tasks.longCredit + worker.chunkCredit + 64,
                sendsGroups: readsGroups
            ) { [weak self] in
                self?.assumeIsolated { $0.disconnected(instance, generation) }
            }
        } catch {
            logger.error("no lane for a worker", metadata: ["reason": "\(error)"])
            handle(.gone(instance, isDeath: false, chunkGivenAt: nil), in: hello.pool)
            return
        }
        worker.watch = try? bus.watch(processID: hello.processID) { [weak self] in
            self?.assumeIsolated { $0.exited(instance, generation) }
        }
        workers[instance] = worker
        logger.info(
            "worker",
            metadata: [
                "build": "\(hello.build)", "pid": "\(hello.processID)",
                "running": "\(hello.running.count)", "finished": "\(hello.finished.count)",
            ])
        send(.welcome, to: instance)
        handle(.came(tasks), in: hello.pool)
        takeOver(earlier, as: instance, hello)
    }

    /// Repeats the welcome over the worker's lane; false when it has none, or one through which
    /// nothing has reached it for two seconds.
    private func hears(_ instance: UUID) -> Bool {
        guard let known = workers[instance], known.isConnected else { return false }
        let now = MonotonicClock.nanoseconds()
        let since = known.unheardSince ?? now
        guard now - since < 2_000_000_000 else { return false }
        workers[instance]?.unheardSince = since
        workers[instance]?.lastHeard = now
        send(.welcome, to: instance)
        return true
    }

    /// Redispatches or adopts what was outstanding on the lost lane of the same worker.
    private func takeOver(_ earlier: WorkerLane?, as instance: UUID, _ hello: WorkerHello) {
        for (lease, chunk) in earlier?.chunks ?? [:] where chunk.isReported {
            workers[instance]?.chunks[lease] = chunk
        }
        if ledger.isLoaded {
            adopt(hello, by: instance)
        } else {
            unadopted[instance] = hello
        }
    }

    /// The lane is open and the worker has answered through the sink: it may be given work.
    private func workerBecameReady(_ instance: UUID) {
        guard let pool = workers[instance]?.hello.pool else { return }
        publishWorkers(always: false)
        handle(.takesWork(instance, workers[instance]?.takesWork == true), in: pool)
        dispatchChunks()
    }

    // MARK: Going

    private func disconnected(_ instance: UUID, _ generation: Int) {
        guard let worker = workers[instance], worker.generation == generation else { return }
        workers[instance]?.isConnected = false
        workers[instance]?.lane = nil
        handle(.takesWork(instance, false), in: worker.hello.pool)
        revokeIfDead(instance)
    }

    private func exited(_ instance: UUID, _ generation: Int) {
        strays.removeValue(forKey: instance)?.watch.cancel()
        guard let worker = workers[instance], worker.generation == generation else { return }
        workers[instance]?.hasExited = true
        handle(.takesWork(instance, false), in: worker.hello.pool)
        revokeIfDead(instance)
    }

    /// All messages sent over the worker's ended connection have been processed.
    func heardOut(_ instance: UUID) {
        guard workers[instance] != nil else { return }
        workers[instance]?.isHeardOut = true
        revokeIfDead(instance)
    }

    /// The dead worker's last result may still be in transit: the sink is another socket.
    private func revokeIfDead(_ instance: UUID) {
        guard let worker = workers[instance], worker.hasExited, !worker.isConnected else { return }
        guard !worker.isHeardOut else { return revoke(instance) }
        let generation = worker.generation
        after(timing.sinkDrain) { hub in
            guard hub.workers[instance]?.generation == generation else { return }
            hub.revoke(instance)
        }
    }

    private func revoke(_ instance: UUID) {
        guard let worker = workers[instance] else { return }
        remove(instance, reason: "process \(worker.hello.processID) ended", isDeath: true)
    }

    /// The worker accepts nothing more; once it reads this, nothing is in transit to it.
    private func drain(worker instance: UUID) {
        guard let worker = workers[instance] else { return }
        worker.isDraining = true
        handle(.takesWork(instance, false), in: worker.hello.pool)
        send(.drain, to: instance)
        publishWorkers(always: false)
    }

    func remove(_ instance: UUID, reason: String, isDeath: Bool) {
        guard let worker = workers.removeValue(forKey: instance) else { return }
        unadopted[instance] = nil
        if isDeath, !worker.hasExited, !worker.chunks.isEmpty, let watch = worker.watch {
            keepWatching(worker, watch)
        } else {
            worker.watch?.cancel()
        }
        worker.lane?.close()
        let taskCount = dispatcher.worker(instance, in: worker.hello.pool)?.tasks.count ?? 0
        if isDeath { counters.lostWorkerCount += 1 }
        let chunkGivenAt = worker.chunks.values.filter { !$0.isReported }.map(\.since).max()
        logger.info(
            "worker gone",
            metadata: [
                "build": "\(worker.hello.build)", "pid": "\(worker.hello.processID)",
                "reason": "\(reason)", "tasks": "\(taskCount)",
                "chunks": "\(worker.chunks.count)",
            ])
        for chunk in worker.chunks.values where !chunk.isReported {
            if isDeath { metrics[worker.hello.pool]?.lostChunks.increment() }
            let attempt = chunk.held.attempt
            let action: JobAction =
                isDeath
                ? .lose(attempt, reason: reason) : .report(attempt, .released(reason: reason))
            perform(action, on: chunk.held.job)
        }
        handle(
            .gone(instance, isDeath: isDeath, chunkGivenAt: chunkGivenAt), in: worker.hello.pool)
        publishWorkers(always: false)
    }

    // MARK: Watching

    func checkWorkers(_ now: Int64) {
        let silence = timing.silence.wholeNanoseconds
        for (instance, worker) in workers {
            if now - worker.lastHeard > silence {
                // A late write of this worker must not follow the end of a cancelled job.
                if mustBeSeenToEnd(worker) { continue }
                remove(
                    instance,
                    reason: "process \(worker.hello.processID) gave no sign of life for "
                        + "\(silence / 1_000_000) ms",
                    isDeath: true)
                continue
            }
            for (lease, chunk) in worker.chunks where !chunk.isReported {
                checkChunk(lease, chunk, of: worker, now)
            }
        }
    }

    /// Cancels an operation that hangs, and kills the process of one that does not stop.
    private func checkChunk(
        _ lease: UUID, _ chunk: WorkerLane.HeldChunk, of worker: WorkerLane, _ now: Int64
    ) {
        var chunk = chunk
        let verdict = chunk.watch.verdict(
            at: now, stall: stallLimit(of: chunk.held.job),
            grace: timing.cancelGrace.wholeNanoseconds)
        switch verdict {
        case .fine: return
        case .cancel:
            logger.warning(
                "operation without a sign of life",
                metadata: ["job": "\(chunk.held.job)", "pid": "\(worker.hello.processID)"])
            workers[worker.instance]?.chunks[lease]?.isStalled = true
            cancel(lease, of: worker.instance)
        case .kill:
            workers[worker.instance]?.chunks[lease] = chunk
            logger.warning(
                "killing a worker that does not stop",
                metadata: ["job": "\(chunk.held.job)", "pid": "\(worker.hello.processID)"])
            if worker.watch != nil, !worker.hasExited {
                kill(worker.hello.processID, SIGKILL)
            } else {
                remove(worker.instance, reason: "the operation did not stop", isDeath: true)
            }
        }
    }

    func stallLimit(of job: JobID) -> Int64 {
        guard let seconds = table[job]?.submission.stallLimitSeconds else {
            return timing.stall.wholeNanoseconds
        }
        return Int64(seconds) * 1_000_000_000
    }

    /// Sends a worker the cancellation of an attempt.
    func cancel(_ lease: UUID, of instance: UUID) {
        workers[instance]?.chunks[lease]?.watch.cancel(at: MonotonicClock.nanoseconds())
        send(.cancel(lease), to: instance)
    }

    /// Sends a message over a lane; false when it cannot be sent.
    @discardableResult
    func send(_ message: LaneMessage, to instance: UUID) -> Bool {
        guard let lane = workers[instance]?.lane else { return false }
        return (try? lane.send(message.message(to: instance))) != nil
    }
}
