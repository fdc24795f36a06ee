// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import FoundationEssentials
import Supervisor
import Synchronization
import Testing
import Worker

/// Long tasks have threads of their own at their worker.
@Suite(.timeLimit(.minutes(3))) struct LongTaskTests {
    private static let slots = WorkerSlots(
        taskCredit: 8, taskThreadCount: 1, longThreadCount: 1, chunkCount: 0)
    private static let long = LongOperations(
        always: ["long"], tried: ["tried": { _, payload in payload.isEmpty ? nil : payload }])

    /// Long work that goes on until it is let go or told to stop, and notes of what was begun.
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

        var operations: [String: Operation] {
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
            .identify, slots: Self.slots, bench.operations, long: Self.long)
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
            .identify, slots: Self.slots, bench.operations, long: Self.long)
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
        try await hub.startWorker(.identify, slots: Self.slots, held.operations, long: Self.long)
        let first = Task { try await hub.task("long", "first") }
        #expect(await eventually { held.begun == ["first"] })
        let rest = ["second", "third"].map { name in
            Task { try await hub.task("long", name) }
        }
        #expect(try await eventually { try await running(hub) == [3] })

        other.open()
        try await hub.startWorker(.identify, slots: Self.slots, other.operations, long: Self.long)

        for task in rest { _ = try await task.value }
        #expect(held.begun == ["first"] && Set(other.begun) == ["second", "third"])
        held.open()
        #expect(try await first.value == "first")
    }
}
