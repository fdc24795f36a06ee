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
    // MARK: In

    /// Takes an interactive task; its payload is never opened.
    func take(task request: IncomingRequest) {
        guard let pool = WorkerPool(rawValue: request.message.header.pool) else {
            return request.reply(
                failure: Failure(
                    .invalidParameter,
                    "worker pool \(request.message.header.pool) does not exist"))
        }
        guard !isDraining else { return request.reply(failure: .draining) }
        if isAbsent(pool) { return request.reply(failure: Self.absence(of: pool)) }
        nextTask += 1
        let serial = nextTask
        let task = PendingTask(
            request, pool: pool, serial: serial, now: MonotonicClock.nanoseconds())
        guard queues[pool, default: TaskQueue()].append(task) else {
            return request.reply(failure: Self.crowd(of: pool))
        }
        let question = request.message.header.messageID
        request.whenOver { [weak self] end in
            self?.assumeIsolated { hub in
                switch end {
                case .abandoned: hub.abandoned(serial, in: pool)
                case .taken: hub.taken(serial, question, in: pool)
                }
            }
        }
        dispatchTasks(pool)
    }

    /// Nobody waits for the task any more: it is not begun, or its worker is told to stop.
    ///
    /// A worker's credit comes back with its answer, which goes nowhere.
    private func abandoned(_ serial: UInt64, in pool: WorkerPool) {
        counters.abandonedTaskCount += 1
        for (instance, worker) in workers where worker.hello.pool == pool {
            guard let dispatch = worker.tasks.first(where: { $0.value.serial == serial })?.key
            else { continue }
            worker.tasks[dispatch]?.isCancelled = true
            counters.cancelledTaskCount += 1
            send(Message(header: MessageHeader(kind: .cancel, messageID: dispatch)), to: instance)
            return
        }
    }

    private func isAbsent(_ pool: WorkerPool) -> Bool {
        guard !workers.values.contains(where: { $0.hello.pool == pool }) else { return false }
        let absence = MonotonicClock.nanoseconds() - (lastServed[pool] ?? 0)
        return absence > timing.poolAbsence.wholeNanoseconds
    }

    private static func absence(of pool: WorkerPool) -> Failure {
        Failure(.unavailable, "no \(pool.processName) is running")
    }

    // MARK: Out

    /// Gives waiting tasks to workers with credit, each to the one with the most.
    func dispatchTasks(_ pool: WorkerPool) {
        guard !isResting(pool) else { return }
        let kept = (suspects[pool]?.count ?? 0) > 0 ? trySuspects(pool) : nil
        while (longQueues[pool]?.count ?? 0) > 0,
            let worker = freest(in: pool, except: kept, { ($0.longTaskCredit, $0.taskCredit) })
        {
            guard let task = longQueues[pool]?.popFirst() else { break }
            giveIfWanted(task, to: worker)
        }
        while (queues[pool]?.count ?? 0) > 0,
            let worker = awake(in: pool, except: kept)
                ?? freest(in: pool, except: kept, { ($0.taskCredit + $0.longTaskCredit, 0) })
        {
            guard let task = queues[pool]?.popFirst() else { return }
            giveIfWanted(task, to: worker)
        }
    }

    /// A worker that is at work and will have done what it has before another would have woken up; the one with
    /// most to do, so that the others may sleep.
    ///
    /// Where it turns out otherwise an idle worker gets the task after all (`recallTasks`).
    private func awake(in pool: WorkerPool, except kept: UUID?) -> WorkerLane? {
        let now = MonotonicClock.nanoseconds()
        var busiest: WorkerLane?
        for worker in workers.values
        where worker.hello.pool == pool && worker.mayBeGiven && worker.instance != kept
            && worker.tasks.count > busiest?.tasks.count ?? 0 && worker.backlog(at: now).isBrief
        {
            busiest = worker
        }
        if busiest != nil { expectRecall(in: pool) }
        return busiest
    }

    private func giveIfWanted(_ task: PendingTask, to worker: WorkerLane) {
        guard !task.request.isOver else { return }
        let now = MonotonicClock.nanoseconds()
        guard task.deadline > now else { return expire(task) }
        give(task, to: worker, now)
    }

    func expire(_ task: PendingTask) {
        counters.expiredTaskCount += 1
        task.request.reply(
            failure: Failure(
                .timedOut,
                "no \(task.pool.processName) had time for the request within its limit of "
                    + "\(task.limitMilliseconds) ms; "
                    + (isResting(task.pool)
                        ? "its processes keep dying of what they are given and get nothing for a while"
                        : "it was not begun")))
    }

    /// The worker with the most room; none without credit, whose lane may be full.
    private func freest(
        in pool: WorkerPool, except kept: UUID?, _ room: (WorkerLane) -> (Int, Int)
    ) -> WorkerLane? {
        var best: (worker: WorkerLane, room: (Int, Int))?
        for worker in workers.values
        where worker.hello.pool == pool && worker.mayBeGiven && worker.instance != kept {
            let room = room(worker)
            if room.0 > 0, room > best?.room ?? (0, 0) { best = (worker, room) }
        }
        return best?.worker
    }

    func give(_ task: PendingTask, to worker: WorkerLane, _ now: Int64) {
        let question = task.request.message
        let isStraight = mayAnswerStraight(task, worker)
        var header = MessageHeader(
            kind: .task, pool: task.pool.rawValue, contentType: question.header.contentType,
            correlation: worker.instance, sequence: Int64(task.limitMilliseconds),
            ttlMilliseconds: task.timeLeft(at: now))
        if isStraight {
            header.flags = MessageHeader.straightFlag
            header.messageID = question.header.messageID
            header.sender = question.header.sender
            header.readsGroups = question.header.readsGroups
        }
        if task.isLong { header.flags |= WorkerWire.longFlag }
        let message = Message(
            header: header, metadata: question.metadata, payload: question.payload)
        do throws(Failure) {
            guard let lane = worker.lane else { throw .draining }
            try lane.send(message)
            worker.spendCredit(for: task)
            var given = task
            given.givenAt = now
            given.isRecalled = false
            given.isStraight = isStraight
            worker.tasks[header.messageID] = given
            failpoints.pass("supervisor.afterInteractiveTask")
        } catch {
            if error.code == .tooLarge { return task.request.reply(failure: error) }
            // A lane that takes nothing more: its worker gets no task until one comes back.
            worker.taskCredit = 0
            putBack(task)
        }
    }

    // MARK: Back

    func taskResult(_ message: Message, from worker: WorkerLane) {
        guard message.header.flags & WorkerWire.answeredFlag == 0 else {
            return answered(message.header.correlation, by: worker)
        }
        let isRefused = message.header.flags & WorkerWire.refusedFlag != 0
        if message.header.flags & WorkerWire.longFlag != 0 {
            return tookLong(message.header.correlation, at: worker, isRefused: isRefused)
        }
        let found = worker.tasks.removeValue(forKey: message.header.correlation)
        // A refusal that nobody asked for says that the credit was wrong: it is not given back.
        if !isRefused || found?.isRecalled == true {
            worker.returnCredit(of: found)
        } else {
            worker.correctCredit(for: found)
        }
        if !isRefused { worker.doneCount += 1 }
        guard let task = found else {
            counters.lateResultCount += 1
            return dispatchTasks(worker.hello.pool)
        }
        if isRefused {
            task.isRecalled ? putBack(task) : redispatch(task)
        } else {
            health[task.pool]?.succeeded()
            var answer = message
            answer.header.kind =
                message.header.flags & WorkerWire.failureFlag != 0 ? .failure : .reply
            task.request.reply(relaying: answer)
            if answer.header.kind == .reply { publishResult(of: task, answer) }
        }
        becameFreer(worker, by: task)
    }

    /// A worker has found that a task takes long, and does it beside the others or, where it has enough of
    /// those, hands it back.
    private func tookLong(_ dispatch: UUID, at worker: WorkerLane, isRefused: Bool) {
        guard var task = worker.tasks[dispatch] else { return }
        worker.returnCredit(of: task)
        task.isLong = true
        if isRefused {
            worker.tasks[dispatch] = nil
            if task.isSuspect {
                putBack(task)
            } else if !longQueues[task.pool, default: TaskQueue()].append(task) {
                task.request.reply(failure: Self.crowd(of: task.pool))
            }
            return becameFreer(worker, by: task)
        }
        worker.tasks[dispatch] = task
        worker.spendCredit(for: task)
        dispatchTasks(worker.hello.pool)
    }

    private static func crowd(of pool: WorkerPool) -> Failure {
        Failure(.busy, "\(TaskQueue.capacity) requests wait for \(pool.processName)")
    }

    /// A task is over.
    ///
    /// Where it was asked back in vain, what else waits at its worker may still be wanted by an idle one.
    func becameFreer(_ worker: WorkerLane, by task: PendingTask) {
        dispatchTasks(worker.hello.pool)
        if worker.tasks.isEmpty || task.isRecalled { expectRecall(in: worker.hello.pool) }
    }

    /// Gives a task to another worker: it changes nothing, so it may be done twice.
    func redispatch(_ task: PendingTask) {
        guard !task.request.isOver else { return }
        counters.redispatchCount += 1
        guard !task.isDeadly else {
            return task.request.reply(
                failure: Failure(
                    .internal,
                    "the request ended \(task.deathCount) \(task.pool.processName) processes and "
                        + "is not tried again"))
        }
        putBack(task)
    }

    func expireTasks(_ now: Int64) {
        for pool in WorkerPool.allCases where waitingTaskCount(in: pool) > 0 {
            for task in queues[pool]?.removeExpired(at: now) ?? [] { expire(task) }
            for task in longQueues[pool]?.removeExpired(at: now) ?? [] { expire(task) }
            for task in suspects[pool]?.removeExpired(at: now) ?? [] { expire(task) }
            guard isAbsent(pool) else {
                dispatchTasks(pool)
                continue
            }
            for task in takeWaitingTasks(in: pool) {
                task.request.reply(failure: Self.absence(of: pool))
            }
        }
    }

    /// How many tasks no worker has.
    func waitingTaskCount(in pool: WorkerPool) -> Int {
        (queues[pool]?.count ?? 0) + (longQueues[pool]?.count ?? 0) + (suspects[pool]?.count ?? 0)
    }

    /// Takes all tasks out that no worker has.
    func takeWaitingTasks(in pool: WorkerPool) -> [PendingTask] {
        (suspects[pool]?.removeAll() ?? []) + (longQueues[pool]?.removeAll() ?? [])
            + (queues[pool]?.removeAll() ?? [])
    }

    /// The largest answer that is shown to others: a thousand wait for who does not take them.
    private static let shownByteCount = 64 << 10

    /// Shows an identify answer to whoever watches the map, where it is not too large for that.
    private func publishResult(of task: PendingTask, _ answer: Message) {
        guard hasResultSubscribers, task.pool == .identify,
            answer.payload.count <= Self.shownByteCount,
            let map = (try? task.request.metadata())?.map
        else { return }
        let header = MessageHeader(
            kind: .live, contentType: answer.header.contentType,
            correlation: task.request.message.header.messageID)
        try? live?.publish(
            topic: "result/" + map.prefix(100),
            Message(
                header: header, metadata: task.request.message.metadata, payload: answer.payload))
    }
}
