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
            send(.cancel(dispatch), to: instance)
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
        let dispatch = isStraight ? question.header.messageID : .timeOrdered()
        let order = TaskOrder(
            work: WorkOrder(
                id: dispatch, metadata: question.metadata,
                contentType: question.header.contentType, payload: question.payload),
            limitMilliseconds: task.limitMilliseconds,
            remainingMilliseconds: task.timeLeft(at: now), isLong: task.isLong,
            asker: isStraight
                ? TaskOrder.Asker(
                    instance: question.header.sender, readsGroups: question.header.readsGroups)
                : nil)
        do throws(Failure) {
            guard let lane = worker.lane else { throw .draining }
            try lane.send(LaneMessage.task(order).message(to: worker.instance))
            worker.spendCredit(for: task)
            var given = task
            given.givenAt = now
            given.isRecalled = false
            given.isStraight = isStraight
            worker.tasks[dispatch] = given
            failpoints.pass("supervisor.afterInteractiveTask")
        } catch {
            if error.code == .tooLarge { return task.request.reply(failure: error) }
            // A lane that takes nothing more: its worker gets no task until one comes back.
            worker.taskCredit = 0
            putBack(task)
        }
    }

    // MARK: Back

    func take(_ answer: TaskAnswer, from worker: WorkerLane) {
        let found = worker.tasks.removeValue(forKey: answer.task)
        worker.returnCredit(of: found)
        worker.doneCount += 1
        guard let task = found else { return cameLate(worker) }
        health[task.pool]?.succeeded()
        task.request.reply(relaying: answer.message)
        if !answer.isFailure { publishResult(of: task, answer) }
        becameFreer(worker, by: task)
    }

    /// A worker hands a task back; where it takes long and the worker has enough of those, for another with room.
    func refused(_ dispatch: UUID, isLong: Bool, by worker: WorkerLane) {
        if isLong {
            guard var task = worker.tasks.removeValue(forKey: dispatch) else { return }
            worker.returnCredit(of: task)
            task.isLong = true
            if task.isSuspect {
                putBack(task)
            } else if !longQueues[task.pool, default: TaskQueue()].append(task) {
                task.request.reply(failure: Self.crowd(of: task.pool))
            }
            return becameFreer(worker, by: task)
        }
        let found = worker.tasks.removeValue(forKey: dispatch)
        // A refusal without a recall says that the credit was wrong: it is not given back.
        if found?.isRecalled == true {
            worker.returnCredit(of: found)
        } else {
            worker.correctCredit(for: found)
        }
        guard let task = found else { return cameLate(worker) }
        task.isRecalled ? putBack(task) : redispatch(task)
        becameFreer(worker, by: task)
    }

    private func cameLate(_ worker: WorkerLane) {
        counters.lateResultCount += 1
        dispatchTasks(worker.hello.pool)
    }

    /// A worker has found that a task takes long, and does it beside the others.
    func tookLong(_ dispatch: UUID, at worker: WorkerLane) {
        guard var task = worker.tasks[dispatch] else { return }
        worker.returnCredit(of: task)
        task.isLong = true
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
    private func publishResult(of task: PendingTask, _ answer: TaskAnswer) {
        guard hasResultSubscribers, task.pool == .identify,
            answer.payload.count <= Self.shownByteCount,
            let map = (try? task.request.metadata())?.map
        else { return }
        let header = MessageHeader(
            kind: .live, contentType: answer.contentType,
            correlation: task.request.message.header.messageID)
        try? live?.publish(
            topic: "result/" + map.prefix(100),
            Message(
                header: header, metadata: task.request.message.metadata, payload: answer.payload))
    }
}
