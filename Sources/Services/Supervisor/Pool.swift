// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

internal import CairnModel
internal import FoundationEssentials
internal import Jobs

/// The interactive tasks and the workers of one pool; a part of the dispatcher.
struct Pool: Sendable {
    let pool: WorkerPool
    private let absence: Int64
    private let makeID: @Sendable () -> UUID
    /// In the order in which they came.
    private(set) var workers: [DispatchWorker] = []
    private(set) var counters = Dispatcher.Counters()
    /// Whether workers die of their tasks; nil until one has died.
    private(set) var health: PoolHealth?
    private var queue = TaskQueue()
    /// Queued tasks that a worker has classified as long-running.
    private var longQueue = TaskQueue()
    /// Queued tasks that are tried alone.
    private var suspects = TaskQueue()
    /// Waiting or unconfirmed tasks whose clients no longer wait.
    private var over: Set<UInt64> = []
    private var expectsRecall = false
    private var isShown = false
    /// When it last had a worker.
    private var lastServed: Int64
    private var actions: [Dispatcher.Action] = []

    /// Minimum time a task has waited at its worker before a recall: several round trips, so that a
    /// busy pool keeps the tasks it is about to finish.
    static let recallAge = Duration.milliseconds(2)
    /// Time limit of a direct answer before the worker is asked about it.
    static let inquiryAge = Duration.milliseconds(500)
    /// Minimum capacity of a worker for direct answers: those return their credit a millisecond or
    /// two later, during which a worker with less credit would be idle.
    static let straightCapacity = 8

    init(
        _ pool: WorkerPool, at now: Int64, absence: Int64, makeID: @escaping @Sendable () -> UUID
    ) {
        self.pool = pool
        self.absence = absence
        self.makeID = makeID
        lastServed = now
    }

    /// Number of queued tasks.
    var waitingCount: Int { queue.count + longQueue.count + suspects.count }

    func isResting(at now: Int64) -> Bool { health.map { $0.restLeft(at: now) > 0 } ?? false }

    mutating func handle(_ event: Dispatcher.Event, at now: Int64) -> [Dispatcher.Action] {
        defer { actions = [] }
        switch event {
        case .asked(let task): take(task, now)
        case .abandoned(let serial): abandon(serial)
        case .taken(let serial, let question): taken(serial, question, now)
        case .came(let worker): came(worker)
        case .takesWork(let instance, let takesWork): set(instance, takesWork, now)
        case .gone(let instance, let isDeath, let chunkGivenAt):
            gone(instance, isDeath, chunkGivenAt, now)
        case .pace(let instance, let nanoseconds):
            if let index = index(of: instance) { workers[index].taskNanoseconds = nanoseconds }
        case .answer(let id, let instance):
            withTask(id, of: instance, now) { pool, index, task in
                pool.finish(task, at: index, now)
                pool.actions.append(.answer(serial: task.serial))
            }
        case .refused(let id, let isLong, let instance): refused(id, isLong, instance, now)
        case .tookLong(let id, let instance): tookLong(id, instance, now)
        case .answered(let id, let instance):
            guard let index = index(of: instance), workers[index].tasks[id] != nil else { break }
            withTask(id, of: instance, now) { pool, index, task in
                if task.isCancelled || pool.over.contains(task.serial) {
                    pool.actions.append(.forget(serial: task.serial))
                } else {
                    pool.workers[index].unconfirmed[id] = task
                }
                pool.finish(task, at: index, now)
            }
        case .notSent(let ids, let instance): notSent(ids, instance, now)
        case .unsendable(let id, let instance):
            guard let index = index(of: instance) else { break }
            workers[index].returnCredit(of: workers[index].tasks.removeValue(forKey: id))
            dispatch(now)
        case .succeeded: health?.succeeded()
        case .shown: isShown = true
        case .recallDue:
            expectsRecall = false
            recall(now)
        case .patrol: patrol(now)
        case .draining:
            for task in suspects.removeAll() + longQueue.removeAll() + queue.removeAll() {
                refuse(task, .draining)
            }
        }
        return actions
    }

    private func index(of instance: UUID) -> Int? {
        workers.firstIndex { $0.instance == instance }
    }

    // MARK: In

    private mutating func take(_ task: DispatchedTask, _ now: Int64) {
        if isAbsent(now) { return refuse(task, missing) }
        if queue.count >= TaskQueue.capacity {
            drop(queue.remove { [over] in over.contains($0.serial) })
        }
        guard queue.append(task) else { return refuse(task, crowd) }
        dispatch(now)
    }

    private func isAbsent(_ now: Int64) -> Bool { workers.isEmpty && now - lastServed > absence }

    private var missing: Failure {
        Failure(.unavailable, "no \(pool.processName) is running")
    }

    private var crowd: Failure {
        Failure(.busy, "\(TaskQueue.capacity) requests wait for \(pool.processName)")
    }

    private mutating func refuse(_ task: DispatchedTask, _ failure: Failure) {
        guard over.remove(task.serial) == nil, !task.isCancelled else {
            return actions.append(.forget(serial: task.serial))
        }
        counters.refused += 1
        actions.append(.refuse(serial: task.serial, failure))
    }

    /// Forgets tasks whose clients no longer wait.
    private mutating func drop(_ tasks: [DispatchedTask]) {
        for task in tasks {
            over.remove(task.serial)
            actions.append(.forget(serial: task.serial))
        }
    }

    /// A queued task is dropped; a running one is cancelled at its worker, and its credit returns
    /// with the answer.
    private mutating func abandon(_ serial: UInt64) {
        counters.abandoned += 1
        for index in workers.indices {
            guard let id = workers[index].tasks.first(where: { $0.value.serial == serial })?.key
            else { continue }
            workers[index].tasks[id]?.isCancelled = true
            counters.cancelled += 1
            return actions.append(.cancel(id, at: workers[index].instance))
        }
        over.insert(serial)
    }

    /// The client of a task has received its direct answer.
    private mutating func taken(_ serial: UInt64, _ question: UUID, _ now: Int64) {
        for index in workers.indices {
            if workers[index].unconfirmed[question]?.serial == serial {
                workers[index].unconfirmed[question] = nil
                over.remove(serial)
                return actions.append(.forget(serial: serial))
            }
            guard workers[index].tasks[question]?.serial == serial else { continue }
            return withTask(question, of: workers[index].instance, now) { pool, index, task in
                pool.finish(task, at: index, now)
                pool.actions.append(.forget(serial: serial))
            }
        }
        // It is queued again because its worker died after the answer, or is running again.
        over.insert(serial)
    }

    // MARK: Out

    /// Dispatches queued tasks to workers with credit.
    private mutating func dispatch(_ now: Int64) {
        guard !isResting(at: now) else { return }
        let kept = suspects.isEmpty ? nil : trySuspects(now)
        while !longQueue.isEmpty,
            let index = freest(except: kept, { ($0.longCredit, $0.credit) }),
            let task = longQueue.popFirst()
        {
            giveIfWanted(task, to: index, now)
        }
        while !queue.isEmpty,
            let index = awake(except: kept, now)
                ?? freest(except: kept, { ($0.credit + $0.longCredit, 0) }),
            let task = queue.popFirst()
        {
            giveIfWanted(task, to: index, now)
        }
    }

    /// A busy worker that will finish its tasks before another would have woken up; the busiest
    /// one, so that the others may sleep.
    ///
    /// If the estimate is wrong, an idle worker gets the task by recall (``recall(_:)``).
    private mutating func awake(except kept: UUID?, _ now: Int64) -> Int? {
        var busiest: Int?
        for (index, worker) in workers.enumerated()
        where worker.mayBeGiven && worker.instance != kept
            && worker.tasks.count > (busiest.map { workers[$0].tasks.count } ?? 0)
            && worker.backlog(at: now).isBrief
        {
            busiest = index
        }
        if busiest != nil { expectRecall() }
        return busiest
    }

    /// The worker with the most room; nil if all are without credit, since their lanes may be full.
    private func freest(except kept: UUID?, _ room: (DispatchWorker) -> (Int, Int)) -> Int? {
        var best: (index: Int, room: (Int, Int))?
        for (index, worker) in workers.enumerated()
        where worker.mayBeGiven && worker.instance != kept {
            let room = room(worker)
            if room.0 > 0, room > best?.room ?? (0, 0) { best = (index, room) }
        }
        return best?.index
    }

    private mutating func giveIfWanted(_ task: DispatchedTask, to index: Int, _ now: Int64) {
        if over.contains(task.serial) { return drop([task]) }
        guard task.deadline > now else { return expire(task, now) }
        give(task, to: index, now)
    }

    private mutating func expire(_ task: DispatchedTask, _ now: Int64) {
        counters.expired += 1
        refuse(
            task,
            Failure(
                .timedOut,
                "no \(pool.processName) had time for the request within its limit of "
                    + "\(task.limitMilliseconds) ms; "
                    + (isResting(at: now)
                        ? "its processes keep dying of their tasks, and the pool rests"
                        : "it was not begun")))
    }

    private mutating func give(_ task: DispatchedTask, to index: Int, _ now: Int64) {
        var task = task
        task.givenAt = now
        task.isRecalled = false
        task.isStraight = mayAnswerStraight(task, workers[index])
        let dispatch = task.isStraight ? task.question : makeID()
        workers[index].spendCredit(for: task)
        workers[index].tasks[dispatch] = task
        actions.append(
            .give(
                task, dispatch: dispatch, to: workers[index].instance,
                milliseconds: task.timeLeft(at: now)))
    }

    /// Whether the client can be answered directly, and the answer is not needed here.
    private func mayAnswerStraight(_ task: DispatchedTask, _ worker: DispatchWorker) -> Bool {
        guard task.offersStraight, !task.isSuspect, worker.capacity >= Self.straightCapacity,
            !(isShown && pool == .identify)
        else { return false }
        return worker.tasks[task.question] == nil
            && worker.unconfirmed[task.question] == nil
    }

    private mutating func notSent(_ ids: [UUID], _ instance: UUID, _ now: Int64) {
        guard let index = index(of: instance) else { return }
        for id in ids.reversed() {
            guard let task = workers[index].tasks.removeValue(forKey: id) else { continue }
            workers[index].loseCredit(for: task)
            putBack(task)
        }
        dispatch(now)
    }

    // MARK: Back

    /// Takes a task off a worker for `body`, and dispatches; counts an unknown task.
    private mutating func withTask(
        _ id: UUID, of instance: UUID, _ now: Int64,
        _ body: (inout Pool, Int, DispatchedTask) -> Void
    ) {
        guard let index = index(of: instance) else { return }
        guard let task = workers[index].tasks.removeValue(forKey: id) else {
            workers[index].returnCredit(of: nil)
            workers[index].doneCount += 1
            counters.late += 1
            return dispatch(now)
        }
        body(&self, index, task)
        becameFreer(index, by: task, now)
    }

    /// Completes a task of a worker.
    private mutating func finish(_ task: DispatchedTask, at index: Int, _ now: Int64) {
        counters.done += 1
        counters.nanoseconds += now - task.givenAt
        workers[index].returnCredit(of: task)
        workers[index].doneCount += 1
        over.remove(task.serial)
        health?.succeeded()
    }

    private mutating func refused(_ id: UUID, _ isLong: Bool, _ instance: UUID, _ now: Int64) {
        guard let index = index(of: instance) else { return }
        guard var task = workers[index].tasks.removeValue(forKey: id) else {
            // The refusal of an unknown task means that the credit was wrong: it is not returned.
            if !isLong {
                counters.late += 1
                dispatch(now)
            }
            return
        }
        if isLong || task.isRecalled {
            workers[index].returnCredit(of: task)
        } else {
            workers[index].correctCredit(for: task)
        }
        if isLong {
            task.isLong = true
            if task.isSuspect {
                putBack(task)
            } else if !longQueue.append(task) {
                refuse(task, crowd)
            }
        } else {
            task.isRecalled ? putBack(task) : redispatch(task)
        }
        becameFreer(index, by: task, now)
    }

    private mutating func tookLong(_ id: UUID, _ instance: UUID, _ now: Int64) {
        guard let index = index(of: instance), var task = workers[index].tasks[id] else { return }
        workers[index].returnCredit(of: task)
        task.isLong = true
        workers[index].tasks[id] = task
        workers[index].spendCredit(for: task)
        dispatch(now)
    }

    /// Handles the end of a task.
    ///
    /// After a recall in vain, an idle worker may still want the other tasks queued at the worker.
    private mutating func becameFreer(_ index: Int, by task: DispatchedTask, _ now: Int64) {
        dispatch(now)
        if workers[index].tasks.isEmpty || task.isRecalled { expectRecall() }
    }

    /// Dispatches a task again: it has no side effects, so it may run twice.
    private mutating func redispatch(_ task: DispatchedTask) {
        if task.isCancelled || over.contains(task.serial) { return drop([task]) }
        counters.redispatched += 1
        guard !task.isDeadly else {
            return refuse(
                task,
                Failure(
                    .internal,
                    "the request ended \(task.deathCount) \(pool.processName) processes and "
                        + "is not tried again"))
        }
        putBack(task)
    }

    /// Puts a task that its worker did not run at the front of the queue.
    private mutating func putBack(_ task: DispatchedTask) {
        if task.isCancelled { return drop([task]) }
        if task.isSuspect {
            suspects.putBack(task)
        } else if task.isLong {
            longQueue.putBack(task)
        } else {
            queue.putBack(task)
        }
    }

    // MARK: Workers

    private mutating func came(_ worker: DispatchWorker) {
        guard let index = index(of: worker.instance) else { return workers.append(worker) }
        let earlier = workers[index]
        workers[index] = worker
        // Tasks outstanding on the lost lane of the same worker.
        for task in Self.inOrder(earlier.tasks.values) + Self.inOrder(earlier.unconfirmed.values) {
            redispatch(task)
        }
    }

    private static func inOrder(_ tasks: some Sequence<DispatchedTask>) -> [DispatchedTask] {
        tasks.sorted { ($0.givenAt, $0.serial) < ($1.givenAt, $1.serial) }
    }

    private mutating func set(_ instance: UUID, _ takesWork: Bool, _ now: Int64) {
        guard let index = index(of: instance), workers[index].takesWork != takesWork else {
            return
        }
        workers[index].takesWork = takesWork
        guard takesWork else { return }
        dispatch(now)
        expectRecall()
    }

    private mutating func gone(
        _ instance: UUID, _ isDeath: Bool, _ chunkGivenAt: Int64?, _ now: Int64
    ) {
        guard let index = index(of: instance) else { return }
        let worker = workers.remove(at: index)
        lastServed = now
        let tasks = Self.inOrder(worker.tasks.values)
        let last = [tasks.last?.givenAt, chunkGivenAt].compactMap(\.self).max()
        if isDeath, let last {
            var health = health ?? PoolHealth()
            if health.died(at: now, with: last) {
                actions.append(
                    .rests(
                        deathCount: health.deathCount,
                        milliseconds: health.restLeft(at: now) / 1_000_000))
            }
            self.health = health
        }
        // Any of them may have caused the death. The last is put back first, so that the oldest is
        // at the front.
        for var task in tasks.reversed() {
            if isDeath {
                task.deathCount += 1
                if tasks.count == 1 { task.aloneDeathCount += 1 }
            }
            redispatch(task)
        }
        for task in Self.inOrder(worker.unconfirmed.values) { redispatch(task) }
        dispatch(now)
    }

    // MARK: Suspects

    /// Gives each suspect to an otherwise idle worker, which gets nothing else.
    ///
    /// Returns the worker that is left to become idle for the next suspect.
    private mutating func trySuspects(_ now: Int64) -> UUID? {
        while let suspect = suspects.first {
            let usable = workers.indices.filter {
                workers[$0].takesWork && workers[$0].capacity > 0 && !workers[$0].triesSuspect
            }
            guard let index = usable.min(by: { workers[$0].tasks.count < workers[$1].tasks.count })
            else { return nil }
            guard suspect.deadline > now, !over.contains(suspect.serial) else {
                if let task = suspects.popFirst() { giveIfWanted(task, to: index, now) }
                continue
            }
            guard workers[index].tasks.isEmpty, workers[index].credit > 0 else {
                return workers[index].instance
            }
            if let task = suspects.popFirst() { give(task, to: index, now) }
        }
        return nil
    }

    // MARK: Recall

    /// Schedules a recall where tasks are queued at a worker that an idle one may want soon.
    private mutating func expectRecall() {
        guard !expectsRecall, workers.contains(where: { $0.waitingCount > 0 }) else { return }
        expectsRecall = true
        actions.append(.recallLater)
    }

    /// Recalls the older half of the tasks queued at the worker with the most of them, if another
    /// is idle.
    private mutating func recall(_ now: Int64) {
        guard queue.isEmpty, suspects.isEmpty, !isResting(at: now) else { return }
        let idle = workers.filter { $0.takesWork && $0.tasks.isEmpty }
        guard let idleCredit = idle.map(\.credit).max(), idleCredit > 0,
            let donor = workers.indices.max(by: {
                workers[$0].waitingCount < workers[$1].waitingCount
            }), workers[donor].waitingCount > 0
        else { return }
        let candidates = workers[donor].tasks.sorted {
            ($0.value.givenAt, $0.value.serial) < ($1.value.givenAt, $1.value.serial)
        }.dropFirst(workers[donor].threadCount).filter {
            !$0.value.isRecalled && !$0.value.isCancelled
        }
        let limit = now - Self.recallAge.wholeNanoseconds
        let count = min(idleCredit, (workers[donor].waitingCount + 1) / 2)
        let recalled = candidates.filter { $0.value.givenAt <= limit }.prefix(count)
        for id in recalled.map(\.key) {
            workers[donor].tasks[id]?.isRecalled = true
            counters.recalled += 1
            actions.append(.recall(id, from: workers[donor].instance))
        }
        if recalled.isEmpty, !candidates.isEmpty { expectRecall() }
    }

    // MARK: Patrol

    private mutating func patrol(_ now: Int64) {
        if waitingCount > 0 {
            let isOver = { [over] (task: DispatchedTask) in
                task.deadline <= now || over.contains(task.serial)
            }
            let left =
                queue.remove(where: isOver) + longQueue.remove(where: isOver)
                + suspects.remove(where: isOver)
            for task in left {
                over.contains(task.serial) ? drop([task]) : expire(task, now)
            }
            if isAbsent(now) {
                for task in suspects.removeAll() + longQueue.removeAll() + queue.removeAll() {
                    refuse(task, missing)
                }
            } else {
                dispatch(now)
            }
        }
        for index in workers.indices { inquire(index, now) }
    }

    /// A stalled client confirms nothing, and must not hold a worker's credit.
    private mutating func inquire(_ index: Int, _ now: Int64) {
        let limit = now - Self.inquiryAge.wholeNanoseconds
        for (id, task) in workers[index].tasks
        where task.isStraight && max(task.givenAt, task.inquiredAt) < limit {
            workers[index].tasks[id]?.inquiredAt = now
            actions.append(.inquire(id, at: workers[index].instance))
        }
        for (id, task) in workers[index].unconfirmed
        where task.deadline <= now || over.contains(task.serial) {
            workers[index].unconfirmed[id] = nil
            drop([task])
        }
    }
}
