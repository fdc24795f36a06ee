// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Synchronization
import TestKit
import Testing

@testable import Supervisor

/// Clients and workers of one pool around a dispatcher, as one random story: tasks of all lengths,
/// some of which end their workers, clients that leave or take straight answers, workers that
/// register, die, drain and refuse, lanes without room.
///
/// Messages of one worker arrive in order, each with a delay.
struct DispatcherSimulation {
    /// A message to or from a worker.
    private enum Letter {
        case task(DispatchedTask, UUID)
        case cancel(UUID), recall(UUID), inquire(UUID)
        case event(Dispatcher.Event)
        case done(UUID)
    }

    private struct Worker {
        let slots: (capacity: Int, threads: Int, long: Int)
        /// Tasks it has begun or will, in order.
        var queue: [(dispatch: UUID, task: DispatchedTask)] = []
        var long: [(dispatch: UUID, task: DispatchedTask)] = []
        var answered: Set<UUID> = []
        var isDraining = false
        /// The latest arrival of a letter from it, so that none overtakes another.
        var lastArrival: Int64 = 0
        var lastDelivery: Int64 = 0
    }

    var random: SeededGenerator
    private(set) var dispatcher: Dispatcher
    private(set) var now: Int64 = 0
    private var workers: [UUID: Worker] = [:]
    private var post: [(at: Int64, order: Int, worker: UUID?, letter: Letter)] = []
    private var sent = 0
    private var nextSerial: UInt64 = 0
    /// Tasks whose clients wait.
    private var waiting: [UInt64: DispatchedTask] = [:]
    /// Tasks that the hub keeps until it answers, refuses or forgets them.
    private(set) var requests: Set<UInt64> = []
    /// Those of them whose clients are gone or have their answers.
    private var over: Set<UInt64> = []
    private var deadly: Set<UInt64> = []
    private var slow: Set<UInt64> = []
    private(set) var answers = 0, refusals: [Failure.Code: Int] = [:], left = 0
    private(set) var faults: [String] = []
    let mayDie: Bool

    init(seed: UInt64, mayDie: Bool = true) {
        random = SeededGenerator(seed: seed)
        self.mayDie = mayDie
        let ids = IDs()
        dispatcher = Dispatcher(at: 0, absence: .seconds(5), makeID: { ids.next() })
    }

    private final class IDs: Sendable {
        private let count = Atomic<UInt64>(0)
        func next() -> UUID {
            DispatcherSimulation.id(1, count.add(1, ordering: .relaxed).newValue)
        }
    }

    fileprivate static func id(_ kind: UInt64, _ number: UInt64) -> UUID {
        let text = String(format: "%08x-0000-4000-8000-%012x", Int(kind), Int(number))
        return UUID(uuidString: text) ?? UUID()
    }

    // MARK: The hub's part

    private mutating func tell(_ event: Dispatcher.Event) {
        var unsent: [(UUID, [UUID])] = []
        for action in dispatcher.handle(event, in: .identify, at: now) {
            switch action {
            case .give(let task, let dispatch, let instance, let milliseconds):
                if !requests.contains(task.serial) {
                    faults.append("\(task.serial) is given and was over")
                }
                if milliseconds == 0 { faults.append("\(task.serial) given without time") }
                // A lane can be full only of what its worker has not done.
                if workers[instance]?.queue.isEmpty == false,
                    Int.random(in: 0..<200, using: &random) == 0
                {
                    if unsent.last?.0 == instance {
                        unsent[unsent.count - 1].1.append(dispatch)
                    } else {
                        unsent.append((instance, [dispatch]))
                    }
                } else {
                    deliver(.task(task, dispatch), to: instance)
                }
            case .cancel(let id, let instance): deliver(.cancel(id), to: instance)
            case .recall(let id, let instance): deliver(.recall(id), to: instance)
            case .inquire(let id, let instance): deliver(.inquire(id), to: instance)
            case .answer(let serial):
                if requests.remove(serial) == nil, !over.contains(serial) {
                    faults.append("\(serial) is answered and was over")
                }
                if waiting.removeValue(forKey: serial) != nil { answers += 1 }
            case .refuse(let serial, let failure):
                waiting[serial] = nil
                if requests.remove(serial) == nil {
                    faults.append("\(serial) refused, which is over: \(failure)")
                }
                refusals[failure.code, default: 0] += 1
            case .forget(let serial):
                requests.remove(serial)
                if waiting[serial] != nil { faults.append("\(serial) is waited for and forgotten") }
            case .recallLater:
                send(.event(.recallDue), from: nil, after: Pool.recallAge.wholeNanoseconds)
            case .rests: break
            }
        }
        for (instance, ids) in unsent { tell(.notSent(ids, to: instance)) }
    }

    private mutating func deliver(_ letter: Letter, to instance: UUID) {
        guard let worker = workers[instance] else { return }
        let at = max(worker.lastDelivery, now + Int64.random(in: 5_000...80_000, using: &random))
        workers[instance]?.lastDelivery = at
        sent += 1
        post.append((at, sent, instance, letter))
    }

    private mutating func send(_ letter: Letter, from instance: UUID?, after delay: Int64? = nil) {
        var at = now + (delay ?? Int64.random(in: 5_000...80_000, using: &random))
        if let instance, case .event = letter {
            at = max(at, workers[instance]?.lastArrival ?? 0)
            workers[instance]?.lastArrival = at
        }
        sent += 1
        post.append((at, sent, instance, letter))
    }

    // MARK: Steps

    mutating func start() {
        nextSerial += 1
        let instance = Self.id(2, nextSerial)
        let isWide = Bool.random(using: &random)
        let slots = (isWide ? 32 : 2, isWide ? 2 : 1, isWide ? 4 : 0)
        workers[instance] = Worker(slots: slots)
        tell(
            .came(
                DispatchWorker(
                    instance: instance,
                    hello: WorkerHello(
                        pool: .identify, processID: 1, build: "simulated", taskCapacity: slots.0,
                        taskThreadCount: slots.1, taskCredit: slots.0, longTaskCapacity: slots.2,
                        chunkCredit: 0, running: [], finished: [], isDraining: false))))
        tell(.takesWork(instance, true))
        if Bool.random(using: &random) { tell(.pace(instance, nanoseconds: 20_000)) }
    }

    mutating func ask() {
        nextSerial += 1
        let task = DispatchedTask(
            serial: nextSerial, question: Self.id(3, nextSerial),
            offersStraight: Bool.random(using: &random),
            deadline: now + Int64.random(in: 5_000_000...20_000_000_000, using: &random),
            limitMilliseconds: 5)
        waiting[task.serial] = task
        requests.insert(task.serial)
        if mayDie, Int.random(in: 0..<400, using: &random) == 0 { deadly.insert(task.serial) }
        if Int.random(in: 0..<10, using: &random) == 0 { slow.insert(task.serial) }
        tell(.asked(task))
    }

    private mutating func leave() {
        guard let task = waiting.values.min(by: { $0.serial < $1.serial }) else { return }
        waiting[task.serial] = nil
        left += 1
        tellEnd(of: task.serial, .abandoned(serial: task.serial))
    }

    /// As the bus does it: once, and never after the answer.
    private mutating func tellEnd(of serial: UInt64, _ event: Dispatcher.Event) {
        if requests.contains(serial), over.insert(serial).inserted { tell(event) }
    }

    private var inOrder: [UUID] { workers.keys.sorted { $0.uuidString < $1.uuidString } }

    private mutating func die(_ instance: UUID) {
        workers[instance] = nil
        post.removeAll { letter in
            guard letter.worker == instance, case .event = letter.letter else {
                return letter.worker == instance
            }
            return false
        }
        // Its earlier messages come first.
        let sent = post.filter { $0.worker == instance }.sorted {
            ($0.at, $0.order) < ($1.at, $1.order)
        }
        post.removeAll { $0.worker == instance }
        for letter in sent { if case .event(let event) = letter.letter { tell(event) } }
        tell(.takesWork(instance, false))
        tell(.gone(instance, isDeath: true, chunkGivenAt: nil))
    }

    mutating func step() {
        switch Int.random(in: 0..<1_000, using: &random) {
        case 0..<400: ask()
        case 400..<420: leave()
        case 420..<423: if workers.count < 5 { start() }
        case 423..<425:
            if mayDie, workers.count > 1, let victim = inOrder.randomElement(using: &random) {
                die(victim)
            }
        case 425..<430: tell(.patrol)
        default: pass()
        }
        check()
    }

    /// The next letter arrives.
    mutating func pass() {
        guard
            let index = post.indices.min(by: {
                (post[$0].at, post[$0].order) < (post[$1].at, post[$1].order)
            })
        else {
            now += 1_000_000
            return tell(.patrol)
        }
        let (at, _, instance, letter) = post.remove(at: index)
        now = max(now, at)
        switch letter {
        case .event(.taken(let serial, let question)):
            return tellEnd(of: serial, .taken(serial: serial, question: question))
        case .event(.abandoned(let serial)):
            return tellEnd(of: serial, .abandoned(serial: serial))
        case .event(let event): return tell(event)
        default: break
        }
        guard let instance, workers[instance] != nil else { return }
        switch letter {
        case .task(let task, let id): take(task, id, instance)
        case .cancel(let id): stop(id, instance)
        case .recall(let id): handBack(id, instance)
        case .inquire(let id):
            if workers[instance]?.queue.contains(where: { $0.dispatch == id }) == false,
                workers[instance]?.long.contains(where: { $0.dispatch == id }) == false
            {
                send(.event(.answered(id, by: instance)), from: instance)
            }
        case .done(let id): finish(id, instance)
        case .event: break
        }
    }

    // MARK: The worker's part

    private mutating func take(_ task: DispatchedTask, _ id: UUID, _ instance: UUID) {
        guard var worker = workers[instance] else { return }
        if deadly.contains(task.serial) { return die(instance) }
        if slow.contains(task.serial), worker.slots.long > 0 {
            guard task.isLong || worker.long.count < worker.slots.long else {
                return send(.event(.refused(id, isLong: true, by: instance)), from: instance)
            }
            worker.long.append((id, task))
            workers[instance] = worker
            if !task.isLong { send(.event(.tookLong(id, by: instance)), from: instance) }
            if worker.long.count == 1 { begin(id, task, instance) }
            return
        }
        // Each costs credit for good, of which a narrow worker has little.
        if worker.slots.capacity > 2 && Int.random(in: 0..<500, using: &random) == 0
            || worker.queue.count >= worker.slots.capacity
        {
            return send(.event(.refused(id, isLong: false, by: instance)), from: instance)
        }
        worker.queue.append((id, task))
        workers[instance] = worker
        if worker.queue.count <= worker.slots.threads { begin(id, task, instance) }
    }

    private mutating func begin(_ id: UUID, _ task: DispatchedTask, _ instance: UUID) {
        let length: ClosedRange<Int64> =
            slow.contains(task.serial) ? 1_000_000...50_000_000 : 10_000...400_000
        send(.done(id), from: instance, after: Int64.random(in: length, using: &random))
    }

    /// Removes a task from its queue and begins the next; nil for an unknown task.
    private mutating func remove(_ id: UUID, _ instance: UUID) -> DispatchedTask? {
        guard var worker = workers[instance] else { return nil }
        if let index = worker.queue.firstIndex(where: { $0.dispatch == id }) {
            let task = worker.queue.remove(at: index).task
            workers[instance] = worker
            if index < worker.slots.threads, worker.queue.count >= worker.slots.threads {
                let next = worker.queue[worker.slots.threads - 1]
                begin(next.dispatch, next.task, instance)
            }
            return task
        }
        guard let index = worker.long.firstIndex(where: { $0.dispatch == id }) else { return nil }
        let task = worker.long.remove(at: index).task
        workers[instance] = worker
        if index == 0, let next = worker.long.first { begin(next.dispatch, next.task, instance) }
        return task
    }

    private mutating func finish(_ id: UUID, _ instance: UUID) {
        guard let task = remove(id, instance) else { return }
        if task.isStraight, Int.random(in: 0..<20, using: &random) > 0 {
            // The client confirms later, unless it leaves or is stopped.
            if waiting.removeValue(forKey: task.serial) != nil {
                answers += 1
                if Int.random(in: 0..<20, using: &random) > 0 {
                    send(.event(.taken(serial: task.serial, question: task.question)), from: nil)
                } else {
                    send(.event(.abandoned(serial: task.serial)), from: nil, after: 700_000_000)
                }
            }
        } else {
            send(.event(.answer(id, by: instance)), from: instance)
        }
    }

    private mutating func stop(_ id: UUID, _ instance: UUID) {
        let isKnown = remove(id, instance) != nil
        send(
            .event(isKnown ? .answer(id, by: instance) : .answered(id, by: instance)),
            from: instance)
    }

    private mutating func handBack(_ id: UUID, _ instance: UUID) {
        guard let worker = workers[instance],
            let index = worker.queue.firstIndex(where: { $0.dispatch == id }),
            index >= worker.slots.threads
        else { return }
        _ = remove(id, instance)
        send(.event(.refused(id, isLong: false, by: instance)), from: instance)
    }

    // MARK: What must hold

    private mutating func check() {
        for worker in dispatcher.pools[.identify]?.workers ?? [] {
            let long = worker.tasks.values.count(where: \.isLong)
            if worker.credit < 0 || worker.credit > worker.capacity {
                faults.append("credit \(worker.credit) of \(worker.capacity)")
            }
            if long != worker.longCount {
                faults.append("\(worker.longCount) long tasks, not \(long)")
            }
            if !mayDie, worker.tasks.count - long + worker.credit > worker.capacity {
                faults.append("\(worker.tasks.count) tasks and credit \(worker.credit)")
            }
            if worker.tasks.count > 1, worker.tasks.values.contains(where: \.isSuspect) {
                faults.append("a suspect in company")
            }
        }
    }

    /// No new clients; until no client waits, at most that many steps.
    mutating func end() {
        if workers.isEmpty { start() }
        for _ in 0..<200_000 where !waiting.isEmpty {
            if workers.isEmpty { start() }
            pass()
            check()
            if post.isEmpty { now += 100_000_000 }
        }
        if !waiting.isEmpty { faults.append("\(waiting.count) clients wait for ever") }
        for _ in 0..<20_000 where !post.isEmpty { pass() }
        for _ in 0..<10 {
            now += 30_000_000_000
            tell(.patrol)
            while !post.isEmpty { pass() }
        }
        if !requests.isEmpty { faults.append("kept for ever: \(requests.sorted().prefix(5))") }
        if dispatcher.pools[.identify]?.waitingCount != 0 { faults.append("tasks wait for ever") }
    }

    var asked: Int { Int(nextSerial) }
}

@Suite(.timeLimit(.minutes(3))) struct DispatcherSimulationTests {
    @Test(.slow, arguments: 0..<20 as Range<UInt64>)
    func `every task ends once and no worker has more than it takes, whatever happens`(
        block: UInt64
    ) {
        for seed in (block * 5)..<(block * 5 + 5) {
            var story = DispatcherSimulation(seed: seed)
            for _ in 0..<2 { story.start() }
            for _ in 0..<2_000 where story.faults.isEmpty { story.step() }
            if story.faults.isEmpty { story.end() }
            #expect(story.faults.isEmpty, "seed \(seed): \(story.faults.prefix(3))")
            #expect(story.answers > 200, "seed \(seed): \(story.answers), \(story.refusals)")
        }
    }

    @Test(arguments: 0..<5 as Range<UInt64>)
    func `a story is the same every time it is told`(seed: UInt64) {
        func told() -> [Int] {
            var story = DispatcherSimulation(seed: seed)
            story.start()
            for _ in 0..<1_000 { story.step() }
            return [story.answers, story.left, Int(story.now), story.dispatcher.counters.recalled]
        }
        #expect(told() == told())
    }

    @Test(.slow) func `where no worker dies no task is refused but for its time`() {
        for seed in 100..<120 as Range<UInt64> {
            var story = DispatcherSimulation(seed: seed, mayDie: false)
            story.start()
            for _ in 0..<2_000 { story.step() }
            story.end()
            #expect(story.faults.isEmpty, "seed \(seed): \(story.faults.prefix(3))")
            #expect(
                story.refusals.keys.allSatisfy { $0 == .timedOut },
                "seed \(seed): \(story.refusals)")
        }
    }
}
