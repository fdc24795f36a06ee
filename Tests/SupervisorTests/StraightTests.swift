// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import FoundationEssentials
import Platform
import Site
import Supervisor
import Synchronization
import TestKit
import Testing
import Worker

/// Answers that go from workers to askers without the supervisor.
@Suite(.timeLimit(.minutes(2))) struct StraightTests {
    private static let slots = WorkerSlots(taskCredit: 8, taskThreadCount: 2, chunkCount: 0)

    private static let echo: [String: TaskHandler] = ["echo": { _, payload in payload }]

    /// Asks so often that the asker has a way for straight answers.
    private func warmUp(_ hub: HubFixture, _ requester: Requester? = nil) async throws {
        for number in 0..<40 {
            let answer = try await (requester ?? hub.requester).request(
                operation: "echo", payload: Data("\(number)".utf8), kind: .task,
                pool: WorkerPool.identify.rawValue, timeout: .seconds(60))
            #expect(answer.payload == Data("\(number)".utf8))
        }
    }

    /// A worker with twenty tasks, and their answers.
    private func twentyAsked(
        _ hub: HubFixture, credit: Int = 32
    ) async throws -> (HandWorker, Task<Set<String>, any Error>) {
        let worker = try HandWorker(hub, credit: credit)
        try await hub.waitForWorkers(1)
        let asked = Task {
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<20 {
                    group.addTask { try await hub.task("echo", "\(number)") }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
        }
        #expect(await eventually { worker.orders.count == min(20, credit) })
        return (worker, asked)
    }

    private func pool(_ hub: HubFixture) async throws -> PoolStatus {
        let status: SupervisorStatus = try await hub.ask("status", [String]())
        return try #require(status[.identify])
    }

    @Test func `answers reach a frequent asker although the supervisor is gone`() async throws {
        let hub = try await HubFixture()
        let isOpen = Atomic<Bool>(false)
        let operations: [String: TaskHandler] = [
            "echo": { _, payload in payload },
            "held": { _, payload in
                while !isOpen.load(ordering: .acquiring) { PauseThread.briefly() }
                return payload
            },
        ]
        try await hub.startWorker(.identify, slots: Self.slots, operations)
        for _ in 0..<2 { try await warmUp(hub) }
        let failures = Mutex(0)
        for number in 0..<4 {
            let task = Message(
                header: MessageHeader(kind: .task, pool: WorkerPool.identify.rawValue),
                metadata: try CairnJSON.encode(RequestMetadata(operation: "held")),
                payload: Data("\(number)".utf8))
            hub.requester.ask(task, timeout: .seconds(60)) { result in
                if case .failure = result { failures.withLock { $0 += 1 } }
            }
        }
        #expect(try await eventually { try await pool(hub).runningTaskCount == 4 })

        hub.stopSupervisor()
        #expect(await eventually { failures.withLock { $0 } == 4 })
        #expect(hub.client.statistics.lateReplyCount == 0)
        isOpen.store(true, ordering: .releasing)

        #expect(await eventually { hub.client.statistics.lateReplyCount == 4 })
    }

    @Test func `many questions at once are answered right, and every credit comes back`()
        async throws
    {
        let hub = try await HubFixture()
        try await hub.startWorker(.identify, slots: Self.slots, Self.echo)
        try await warmUp(hub)

        let answers = try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for number in 0..<300 {
                group.addTask { (number, try await hub.task("echo", "question \(number)")) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }

        for number in 0..<300 { #expect(answers[number] == "question \(number)") }
        #expect(try await eventually { try await pool(hub).taskCredit == 8 })
        let workers: [WorkerDescription] = try await hub.ask("workers", [String]())
        #expect(workers.first?.doneCount == 340 && workers.first?.runningTaskCount == 0)
    }

    @Test
    func `orders ask for straight answers only from the sixteenth task on, each for its own asker`()
        async throws
    {
        let hub = try await HubFixture()
        let (worker, asked) = try await twentyAsked(hub)
        let straight = worker.orders.filter {
            $0.asker != nil
        }
        #expect(straight.count == 5)
        #expect(straight.allSatisfy { $0.asker?.instance == hub.client.instance })
        #expect(Set(straight.map(\.work.id)).count == 5)

        // A worker may always answer by the supervisor.
        for text in worker.tasks { worker.answer(text) }
        #expect(try await asked.value.count == 20)
    }

    @Test
    func
        `a worker that waits for each credit gives no answer straight, and has credit back sooner`()
        async throws
    {
        let hub = try await HubFixture()
        let (worker, asked) = try await twentyAsked(hub, credit: 7)

        for number in 0..<20 {
            #expect(await eventually { worker.tasks.count > number })
            if worker.tasks.count > number { worker.answer(worker.tasks[number]) }
        }

        #expect(try await asked.value.count == 20)
        #expect(
            worker.orders.allSatisfy {
                $0.asker == nil
            })
    }

    @Test func `an answer that is said to be given and never came is given by another worker`()
        async throws
    {
        let hub = try await HubFixture()
        let (worker, asked) = try await twentyAsked(hub)

        for text in worker.tasks { worker.tellAnswered(text) }
        // Believed as far as its credit goes.
        #expect(try await eventually { try await pool(hub).taskCredit == 32 })
        worker.kill()
        try await hub.startWorker(.identify, slots: Self.slots, Self.echo)

        #expect(try await asked.value == Set((0..<20).map { "\($0)" }))
    }

    @Test func `an asker that stands still keeps no credit, and has its answers when it goes on`()
        async throws
    {
        let hub = try await HubFixture()
        let bus = try BusThread(name: "guest", runDirectory: hub.site.runDirectory)
        defer { bus.stop() }
        let guest = try bus.connectRequester(.supervisorRequests)
        let gate = BlockingQueue<Int>(capacity: 1)
        let isOpen = Atomic<Bool>(false)
        let operations: [String: TaskHandler] = [
            "echo": { _, payload in payload },
            "held": { context, payload in
                while !isOpen.load(ordering: .acquiring), !context.isCancelled {
                    PauseThread.briefly()
                }
                return payload
            },
        ]
        try await hub.startWorker(.identify, slots: Self.slots, operations)
        try await warmUp(hub, guest)
        let answered = Mutex<[String]>([])
        for number in 0..<8 {
            let task = Message(
                header: MessageHeader(kind: .task, pool: WorkerPool.identify.rawValue),
                metadata: try CairnJSON.encode(RequestMetadata(operation: "held")),
                payload: Data("\(number)".utf8))
            guest.ask(task, timeout: .seconds(60)) { result in
                let text = try? result.get().payload
                answered.withLock { $0.append(String(decoding: text ?? Data(), as: UTF8.self)) }
            }
        }
        #expect(try await eventually { try await pool(hub).taskCredit == 0 })
        // Its thread does nothing more, as that of a stopped process.
        let isHeld = Atomic<Bool>(false)
        bus.post {
            isHeld.store(true, ordering: .releasing)
            _ = gate.pop()
        }
        #expect(await eventually { isHeld.load(ordering: .acquiring) })
        isOpen.store(true, ordering: .releasing)

        #expect(try await eventually { try await pool(hub).taskCredit == 8 })
        #expect(try await hub.task("echo", "somebody else's") == "somebody else's")
        #expect(answered.withLock { $0.isEmpty })
        _ = gate.tryPush(1)
        #expect(await eventually { answered.withLock { $0.count } == 8 })
        #expect(answered.withLock { Set($0) } == Set((0..<8).map { "\($0)" }))
    }

    @Test func `an asker that dies leaves nothing behind`() async throws {
        let hub = try await HubFixture()
        let isOpen = Atomic<Bool>(false)
        let operations: [String: TaskHandler] = [
            "echo": { _, payload in payload },
            "held": { context, payload in
                while !isOpen.load(ordering: .acquiring), !context.isCancelled {
                    PauseThread.briefly()
                }
                return payload
            },
        ]
        try await hub.startWorker(.identify, slots: Self.slots, operations)
        let bus = try BusThread(name: "guest", runDirectory: hub.site.runDirectory)
        let guest = try bus.connectRequester(.supervisorRequests)
        try await warmUp(hub, guest)
        for number in 0..<8 {
            let task = Message(
                header: MessageHeader(kind: .task, pool: WorkerPool.identify.rawValue),
                metadata: try CairnJSON.encode(RequestMetadata(operation: "held")),
                payload: Data("\(number)".utf8))
            guest.ask(task, timeout: .seconds(60)) { _ in }
        }
        #expect(try await eventually { try await pool(hub).taskCredit == 0 })

        bus.stop()

        #expect(try await eventually { try await pool(hub).taskCredit == 8 })
        #expect(try await pool(hub).runningTaskCount == 0)
        let left = try FileManager.default.contentsOfDirectory(atPath: hub.site.runDirectory)
        #expect(!left.contains { $0.hasPrefix("answers-") && !$0.hasSuffix(".lock") })
    }

    @Test func `answers pass the supervisor again as soon as a client watches the map`()
        async throws
    {
        let hub = try await HubFixture()
        try await hub.startWorker(.identify, slots: Self.slots, Self.echo)
        try await warmUp(hub)
        let seen = Mutex<[String]>([])
        let watcher = try BusThread(name: "watcher", runDirectory: hub.site.runDirectory)
        defer { watcher.stop() }
        let subscriber = try watcher.subscribe(.supervisorLive, topics: ["result/"]) { _, message in
            seen.withLock { $0.append(String(decoding: message.payload, as: UTF8.self)) }
        }
        defer { subscriber.close() }

        // Waits until the watcher is registered with the supervisor.
        #expect(
            try await eventually {
                _ = try await hub.task("echo", "seen", map: "Town")
                return seen.withLock { !$0.isEmpty }
            })
        #expect(seen.withLock { $0.allSatisfy { $0 == "seen" } })
    }

    @Test(.slow) func `workers that die and are replaced lose none of many answers`() async throws {
        let hub = try await HubFixture()
        try await hub.startWorker(.identify, slots: Self.slots, Self.echo)
        try await warmUp(hub)
        let isOver = Atomic<Bool>(false)
        let killer = Task {
            for _ in 0..<12 {
                let number = try await hub.startWorker(
                    .identify, slots: Self.slots, Self.echo)
                // Some have tasks then, some not.
                let count = hub.worker(number - 1).bus.statistics.receivedCount
                _ = await eventually(within: .seconds(1)) {
                    isOver.load(ordering: .acquiring)
                        || hub.worker(number - 1).bus.statistics.receivedCount > count + 20
                }
                hub.worker(number - 1).bus.stop()
            }
        }
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for asker in 0..<8 {
                group.addTask {
                    for number in 0..<200 {
                        let text = "\(asker) \(number)"
                        guard try await hub.task("echo", text) == text else { return number }
                    }
                    return 200
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        isOver.store(true, ordering: .releasing)
        try await killer.value
        #expect(counts == Array(repeating: 200, count: 8))
    }
}
