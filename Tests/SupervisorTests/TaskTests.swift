// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import FoundationEssentials
import Supervisor
import Synchronization
import TestKit
import Testing
import Worker

private let interactive = WorkerSlots(taskCredit: 4, taskThreadCount: 2, chunkCount: 0)

private let echo: [String: TaskHandler] = [
    "echo": { context, payload in
        Data("\(context.map ?? "-"):".utf8) + payload
    },
    "refuse": { _, _ in throw Failure(.notFound, "there is no such map") },
]

@Suite(.timeLimit(.minutes(5))) struct TaskTests {
    @Test func `a task goes to a worker and its answer back, unopened`() async throws {
        let hub = try await HubFixture()
        try await hub.startWorker(.identify, slots: interactive, echo)

        #expect(try await hub.task("echo", "{not json", map: "World") == "World:{not json")
        let failure = await #expect(throws: Failure.self) { try await hub.task("refuse", "x") }
        #expect(failure == Failure(.notFound, "there is no such map"))
        let unknown = await #expect(throws: Failure.self) { try await hub.task("dance", "x") }
        #expect(unknown?.code == .notFound)
    }

    @Test func `a task waits for its worker to come`() async throws {
        let hub = try await HubFixture()
        async let answer = hub.task("echo", "early")
        try await hub.startWorker(.identify, slots: interactive, echo)

        #expect(try await answer == "-:early")
    }

    @Test func `without any worker a task is refused with the process's name`() async throws {
        var timing = HubFixture.quick
        timing.poolAbsence = .seconds(1)
        let hub = try await HubFixture(timing: timing)

        let failure = await #expect(throws: Failure.self) {
            try await hub.task("geocode", "Paris", pool: .locator)
        }

        #expect(failure == Failure(.unavailable, "no cairn-worker --pool locator is running"))
    }

    @Test func `a task without a free worker ends at its deadline`() async throws {
        let hub = try await HubFixture()
        let isOpen = Atomic<Bool>(false)
        let isHeld = Atomic<Bool>(false)
        let slow = WorkerSlots(taskCredit: 1, taskThreadCount: 1, chunkCount: 0)
        try await hub.startWorker(
            .identify, slots: slow,
            [
                "wait": { context, _ in
                    isHeld.store(true, ordering: .relaxed)
                    while !isOpen.load(ordering: .relaxed) { PauseThread.briefly() }
                    return Data()
                }
            ])
        async let first = hub.task("wait", "")
        try await waitUntil("the worker holds its task") { isHeld.load(ordering: .relaxed) }

        let failure = await #expect(throws: Failure.self) {
            try await hub.task("wait", "", timeout: .milliseconds(300))
        }

        #expect(failure?.code == .timedOut)
        isOpen.store(true, ordering: .relaxed)
        _ = try await first
        #expect(try await hub.task("wait", "") == "")
    }

    @Test func `slow workers get less, fast ones more`() async throws {
        let hub = try await HubFixture()
        let counts = Mutex([0, 0])
        func operations(_ number: Int, pauses: Int) -> [String: TaskHandler] {
            [
                "work": { _, _ in
                    for _ in 0..<pauses { PauseThread.briefly() }
                    counts.withLock { $0[number] += 1 }
                    return Data()
                }
            ]
        }
        let slots = WorkerSlots(taskCredit: 2, taskThreadCount: 1, chunkCount: 0)
        try await hub.startWorker(.identify, slots: slots, operations(0, pauses: 1))
        try await hub.startWorker(.identify, slots: slots, operations(1, pauses: 20))
        try await hub.waitForWorkers(2)

        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<120 { group.addTask { _ = try await hub.task("work", "") } }
            try await group.waitForAll()
        }

        let (fast, slow) = counts.withLock { ($0[0], $0[1]) }
        #expect(fast + slow == 120)
        #expect(fast > slow, "fast \(fast), slow \(slow)")
    }

    @Test func `a worker that closes its sockets costs no answer`() async throws {
        var timing = HubFixture.quick
        timing.silence = .seconds(4)
        let hub = try await HubFixture(timing: timing)
        try await hub.startWorker(.identify, slots: interactive, echo)
        let victim = try await hub.startWorker(.identify, slots: interactive, echo)
        try await hub.waitForWorkers(2)

        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<200 {
                group.addTask { try await hub.task("echo", "\(number)") }
                if number == 60 { hub.worker(victim).bus.stop() }
            }
            var answers: Set<String> = []
            for try await answer in group { answers.insert(answer) }
            #expect(answers.count == 200)
        }
    }

    @Test func `a draining worker answers what it has and leaves`() async throws {
        let hub = try await HubFixture()
        let number = try await hub.startWorker(.identify, slots: interactive, echo)
        try await hub.startWorker(.identify, slots: interactive, echo)
        try await hub.waitForWorkers(2)

        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<100 { group.addTask { try await hub.task("echo", "\(number)") } }
            await hub.worker(number).host.drain()
            for try await _ in group {}
        }

        try await hub.waitForWorkers(1)
        #expect(await hub.counts()["lostWorkers"] == 0)
        #expect(await hub.counts()["redispatches"] == 0)
    }

    @Test func `tasks go on after the supervisor was replaced`() async throws {
        let hub = try await HubFixture()
        try await hub.startWorker(.identify, slots: interactive, echo)
        _ = try await hub.task("echo", "a")

        hub.stopSupervisor()
        try await hub.startSupervisor()

        #expect(try await hub.task("echo", "b") == "-:b")
    }

    @Test(.slow) func `interactive tasks go on while the log is away, submissions are refused`()
        async throws
    {
        let hub = try await HubFixture()
        try await hub.startWorker(.identify, slots: interactive, echo)
        _ = try await hub.task("echo", "a")
        hub.stopLog()

        let failure = await #expect(throws: Failure.self) { _ = try await hub.submit() }

        #expect(failure?.code == .logUnavailable)
        #expect(try await hub.task("echo", "b") == "-:b")
        try await hub.restartLog()
        let isBack = try await eventually {
            do {
                _ = try await hub.submit()
                return true
            } catch let failure as Failure where failure.code == .logUnavailable {
                return false
            }
        }
        #expect(isBack)
    }

    @Test func `identify answers are shown to the clients that watch the map`() async throws {
        let hub = try await HubFixture()
        try await hub.startWorker(.identify, slots: interactive, echo)
        let seen = Mutex<[String]>([])
        let subscriber = try hub.client.subscribe(
            .supervisorLive, topics: ["result/World"]
        ) { topic, message in
            seen.withLock { $0.append(String(decoding: message.payload, as: UTF8.self)) }
        }
        defer { subscriber.close() }

        let isSeen = try await eventually {
            _ = try await hub.task("echo", "x", map: "World")
            _ = try await hub.task("echo", "y", map: "Other")
            return !seen.withLock { $0.isEmpty }
        }

        #expect(isSeen)
        #expect(Set(seen.withLock { $0 }) == ["World:x"])
    }
}
