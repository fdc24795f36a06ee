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

/// Long tasks have threads of their own at their worker.
@Suite(.timeLimit(.minutes(3))) struct LongTaskTests {
    private static let slots = WorkerSlots(
        taskCredit: 8, taskThreadCount: 1, longThreadCount: 1, chunkCount: 0)
    private static let long: Set = ["long"]
    private static let tried: [String: TrialHandler] = [
        "tried": { _, payload in payload.isEmpty ? nil : payload }
    ]

    /// Long work that runs until it is released or cancelled, with a record of its starts.
    private final class Bench: Sendable {
        private let state = Mutex((begun: [String](), isOpen: false))
        var begun: [String] { state.withLock { $0.begun } }
        func open() { state.withLock { $0.isOpen = true } }

        private func hold(_ name: String, _ context: OperationContext) throws -> Data {
            state.withLock { $0.begun.append(name) }
            while !state.withLock({ $0.isOpen }) {
                if context.isCancelled { throw Failure(.cancelled, "stopped") }
                PauseThread.briefly()
            }
            return Data(name.utf8)
        }

        var operations: [String: TaskHandler] {
            [
                "long": { [self] in try hold(String(decoding: $1, as: UTF8.self), $0) },
                "tried": { [self] context, _ in try hold("tried", context) },
                "short": { _, payload in payload },
            ]
        }
    }

    private func running(_ hub: HubFixture) async throws -> [Int] {
        let workers: [WorkerDescription] = try await hub.ask("workers", [String]())
        return workers.map(\.runningTaskCount)
    }

    @Test func `short tasks are answered while long ones are under way and wait`() async throws {
        let hub = try await HubFixture()
        let bench = Bench()
        try await hub.startWorker(
            .identify, slots: Self.slots, bench.operations, tried: Self.tried, long: Self.long)
        let first = Task { try await hub.task("long", "first") }
        #expect(await eventually { bench.begun == ["first"] })
        let second = Task { try await hub.task("long", "second") }
        let third = Task { try await hub.task("tried", "") }
        #expect(try await eventually { try await running(hub) == [3] })

        for number in 0..<20 { #expect(try await hub.task("short", "\(number)") == "\(number)") }
        #expect(try await hub.task("tried", "soon") == "soon")

        #expect(bench.begun == ["first"])
        bench.open()
        #expect(try await first.value == "first")
        #expect(try await second.value == "second")
        #expect(try await third.value == "tried")
        #expect(Set(bench.begun) == ["first", "second", "tried"] && bench.begun.count == 3)
    }

    @Test func `long tasks end when nobody waits, begun or not, and at their deadline`()
        async throws
    {
        let hub = try await HubFixture()
        let bench = Bench()
        try await hub.startWorker(
            .identify, slots: Self.slots, bench.operations, tried: Self.tried, long: Self.long)
        let first = Task { try await hub.task("long", "first") }
        #expect(await eventually { bench.begun == ["first"] })
        let waiting = [
            Task { try await hub.task("long", "second") }, Task { try await hub.task("tried", "") },
        ]
        #expect(try await eventually { try await running(hub) == [3] })

        for task in waiting { task.cancel() }
        #expect(try await eventually { try await running(hub) == [1] })
        first.cancel()
        #expect(try await eventually { try await running(hub) == [0] })
        #expect(bench.begun == ["first"])

        let late = await #expect(throws: Failure.self) {
            try await hub.task("long", "late", timeout: .milliseconds(300))
        }
        #expect(late?.code == .timedOut)
        #expect(try await eventually { try await running(hub) == [0] })
        #expect(try await hub.task("short", "after") == "after")
    }

    @Test func `long tasks that wait go to a worker that comes`() async throws {
        let hub = try await HubFixture()
        let (held, other) = (Bench(), Bench())
        try await hub.startWorker(
            .identify, slots: Self.slots, held.operations, tried: Self.tried, long: Self.long)
        let first = Task { try await hub.task("long", "first") }
        #expect(await eventually { held.begun == ["first"] })
        let rest = ["second", "third"].map { name in
            Task { try await hub.task("long", name) }
        }
        #expect(try await eventually { try await running(hub) == [3] })

        other.open()
        try await hub.startWorker(
            .identify, slots: Self.slots, other.operations, tried: Self.tried, long: Self.long)

        for task in rest { _ = try await task.value }
        #expect(held.begun == ["first"] && Set(other.begun) == ["second", "third"])
        held.open()
        #expect(try await first.value == "first")
    }

    private func status(_ hub: HubFixture) async throws -> PoolStatus {
        let status: SupervisorStatus = try await hub.ask("status", [String]())
        return try #require(status[.identify])
    }

    @Test func `more long tasks than workers have room for leave the credit to short ones`()
        async throws
    {
        let hub = try await HubFixture()
        let benches = [Bench(), Bench()]
        let slots = WorkerSlots(
            taskCredit: 3, taskThreadCount: 1, longThreadCount: 1, chunkCount: 0)
        for bench in benches {
            try await hub.startWorker(
                .identify, slots: slots, bench.operations, tried: Self.tried, long: Self.long)
        }
        try await hub.waitForWorkers(2)
        // A task that is tried first gives up its place as well.
        func ask(_ number: Int) -> Task<String, any Error> {
            Task {
                number % 4 == 0
                    ? try await hub.task("tried", "") : try await hub.task("long", "\(number)")
            }
        }
        var waiting: [Task<String, any Error>] = []
        for number in 0..<2 {
            waiting.append(ask(number))
            // Each goes to a worker without long work.
            #expect(await eventually { benches.flatMap(\.begun).count == number + 1 })
        }
        waiting += (2..<40).map(ask)
        let held = 2 * slots.longTaskCredit
        #expect(
            try await eventually {
                let status = try await status(hub)
                // A worker may have found another long one while such a one was on its way to it.
                return held...2 * held ~= status.runningTaskCount
                    && status.runningTaskCount + status.waitingTaskCount == 40
                    && status.taskCredit == 6
            })

        for number in 0..<20 { #expect(try await hub.task("short", "\(number)") == "\(number)") }
        let late = await #expect(throws: Failure.self) {
            try await hub.task("long", "late", timeout: .milliseconds(300))
        }
        #expect(late?.code == .timedOut)
        for task in waiting.suffix(8) { task.cancel() }
        #expect(
            try await eventually {
                let status = try await status(hub)
                return status.runningTaskCount + status.waitingTaskCount == 32
            })

        for bench in benches { bench.open() }
        for (number, task) in waiting.dropLast(8).enumerated() {
            #expect(try await task.value == (number % 4 == 0 ? "tried" : "\(number)"))
        }
        let begun = benches.flatMap(\.begun)
        #expect(begun.count == 32 && begun.count(where: { $0 == "tried" }) == 8)
        #expect(Set(begun).count == 25 && benches.allSatisfy { !$0.begun.isEmpty })
        #expect(
            try await eventually {
                let status = try await status(hub)
                return status.runningTaskCount == 0 && status.taskCredit == 6
            })
    }

    @Test func `a task found long gives its credit back and waits for room for such a one`()
        async throws
    {
        let hub = try await HubFixture()
        let worker = try HandWorker(hub, credit: 1, longCapacity: 1)
        try await hub.waitForWorkers(1)
        let first = Task { try await hub.task("x", "first") }
        #expect(await eventually { worker.tasks == ["first"] })
        let second = Task { try await hub.task("x", "second") }
        #expect(try await eventually { try await status(hub).waitingTaskCount == 1 })

        worker.tellLong("first")
        #expect(await eventually { worker.tasks == ["first", "second"] })
        worker.tellLong("second", isRefused: true)
        // It has room for what is short only.
        let short = Task { try await hub.task("x", "short") }
        #expect(await eventually { worker.tasks == ["first", "second", "short"] })
        worker.answer("short")
        #expect(try await short.value == "short")
        #expect(try await status(hub).waitingTaskCount == 1 && worker.tasks.count == 3)

        worker.answer("first")
        #expect(try await first.value == "first")
        #expect(await eventually { worker.tasks.count == 4 })
        let again = try #require(worker.orders.last)
        #expect(again.work.payload == Data("second".utf8))
        #expect(again.isLong)

        // Its worker's death does not make it short.
        worker.kill()
        let other = try HandWorker(hub, credit: 1, longCapacity: 1)
        #expect(await eventually { other.tasks == ["second"] })
        let given = try #require(other.orders.first)
        #expect(given.isLong)
        #expect(try await status(hub).taskCredit == 1)
        other.answer("second")
        #expect(try await second.value == "second")
    }

    @Test func `a worker that refuses long tasks it has room for is not asked forever`()
        async throws
    {
        let hub = try await HubFixture()
        let worker = try HandWorker(hub, credit: 2, longCapacity: 4)
        try await hub.waitForWorkers(1)
        let task = Task { try await hub.task("x", "x", timeout: .seconds(30)) }
        #expect(await eventually { worker.tasks == ["x"] })
        worker.tellLong("x", isRefused: true)
        #expect(await eventually { worker.tasks.count == 2 })
        worker.answer("x", isRefused: true)
        #expect(await eventually { worker.tasks.count == 3 })
        worker.answer("x", isRefused: true)
        #expect(try await eventually { try await status(hub).waitingTaskCount == 1 })
        #expect(try await status(hub).taskCredit == 0 && worker.tasks.count == 3)
        let other = try HandWorker(hub, credit: 1, longCapacity: 1)
        #expect(await eventually { other.tasks == ["x"] })
        other.answer("x")
        #expect(try await task.value == "x")
    }
}
