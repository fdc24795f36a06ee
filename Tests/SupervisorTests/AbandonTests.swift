// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import FoundationEssentials
import Site
import Supervisor
import Synchronization
import TestKit
import Testing
import Worker

/// Operations that record their starts; `spin` runs until it is cancelled.
private final class Notes: Sendable {
    private let state = Mutex((begun: [String](), stopped: [String]()))
    var begun: [String] { state.withLock { $0.begun } }
    var stopped: [String] { state.withLock { $0.stopped } }

    var operations: [String: TaskHandler] {
        [
            "spin": { [self] context, payload in
                let name = String(decoding: payload, as: UTF8.self)
                state.withLock { $0.begun.append(name) }
                while !context.isCancelled { PauseThread.briefly() }
                state.withLock { $0.stopped.append(name) }
                throw Failure(.cancelled, "stopped")
            },
            "note": { [self] _, payload in
                let name = String(decoding: payload, as: UTF8.self)
                state.withLock { $0.begun.append(name) }
                return payload
            },
        ]
    }
}

@Suite(.timeLimit(.minutes(2))) struct AbandonTests {
    private func status(_ hub: HubFixture) async throws -> SupervisorStatus {
        try await hub.ask("status", [String]())
    }

    private func pool(_ hub: HubFixture) async throws -> PoolStatus {
        try #require(try await status(hub)[.identify])
    }

    @Test func `work that runs is stopped and its credit comes back`() async throws {
        let hub = try await HubFixture()
        let notes = Notes()
        let slots = WorkerSlots(taskCredit: 4, taskThreadCount: 1, chunkCount: 0)
        try await hub.startWorker(.identify, slots: slots, notes.operations)
        let first = Task { try await hub.task("spin", "first", timeout: .seconds(50)) }
        #expect(await eventually(within: .seconds(40)) { notes.begun == ["first"] })
        #expect(try await pool(hub).taskCredit == 3)

        first.cancel()

        #expect(await eventually(within: .seconds(40)) { notes.stopped == ["first"] })
        #expect(try await eventually(within: .seconds(40)) { try await pool(hub).taskCredit == 4 })
        let status = try await status(hub)
        #expect(status.abandonedTaskCount == 1 && status.cancelledTaskCount == 1)
        #expect(status[.identify]?.runningTaskCount == 0)
        #expect(try await hub.task("note", "next") == "next")
    }

    @Test func `work that waits, here or at its worker, is never begun`() async throws {
        let hub = try await HubFixture()
        let notes = Notes()
        let slots = WorkerSlots(taskCredit: 2, taskThreadCount: 1, chunkCount: 0)
        try await hub.startWorker(.identify, slots: slots, notes.operations)
        let first = Task { try await hub.task("spin", "first", timeout: .seconds(50)) }
        #expect(await eventually(within: .seconds(40)) { notes.begun == ["first"] })
        let atWorker = Task { try await hub.task("note", "at worker", timeout: .seconds(50)) }
        #expect(
            try await eventually(within: .seconds(40)) { try await pool(hub).taskCredit == 0 })
        let inQueue = Task { try await hub.task("note", "in queue", timeout: .seconds(50)) }
        #expect(
            try await eventually(within: .seconds(40)) {
                try await pool(hub).waitingTaskCount == 1
            })

        inQueue.cancel()
        #expect(
            try await eventually(within: .seconds(40)) {
                try await pool(hub).waitingTaskCount == 0
            })
        atWorker.cancel()
        // Its place is free although the thread is still busy.
        #expect(
            try await eventually(within: .seconds(40)) { try await pool(hub).taskCredit == 1 })
        #expect(notes.stopped == [])
        first.cancel()

        #expect(try await hub.task("note", "last", timeout: .seconds(40)) == "last")
        #expect(notes.begun == ["first", "last"])
        let status = try await status(hub)
        #expect(status.abandonedTaskCount == 3 && status.cancelledTaskCount == 2)
    }

    @Test func `a client that dies takes its work with it, and no other's`() async throws {
        let hub = try await HubFixture()
        let notes = Notes()
        let slots = WorkerSlots(taskCredit: 8, taskThreadCount: 2, chunkCount: 0)
        try await hub.startWorker(.identify, slots: slots, notes.operations)
        let other = Task { try await hub.task("spin", "other", timeout: .seconds(50)) }
        let bus = try BusThread(name: "guest", runDirectory: hub.site.runDirectory)
        let guest = try bus.connectRequester(.supervisorRequests)
        for name in ["a", "b", "c"] {
            guest.ask(
                Message(
                    header: MessageHeader(kind: .task, pool: WorkerPool.identify.rawValue),
                    metadata: try CairnJSON.encode(RequestMetadata(operation: "spin")),
                    payload: Data(name.utf8)), timeout: .seconds(50)
            ) { _ in }
        }
        #expect(
            try await eventually(within: .seconds(40)) {
                let running = try await pool(hub).runningTaskCount
                return running == 4 && notes.begun.count == 2
            })

        bus.stop()

        #expect(
            try await eventually(within: .seconds(40)) {
                let now = try await status(hub)
                return now.abandonedTaskCount == 3 && now[.identify]?.runningTaskCount == 1
            })
        #expect(try await hub.task("note", "next", timeout: .seconds(40)) == "next")
        #expect(!notes.stopped.contains("other"))
        other.cancel()
    }

    @Test(.slow) func `a task's expired limit is named`() async throws {
        let hub = try await HubFixture()
        let notes = Notes()
        let slots = WorkerSlots(taskCredit: 1, taskThreadCount: 1, chunkCount: 0)
        try await hub.startWorker(.identify, slots: slots, notes.operations)

        // On a slow machine the first limit may pass before the task begins.
        var (limit, running) = (125, Failure?.none)
        while !notes.begun.contains("running"), limit < 60_000 {
            limit *= 2
            running = await #expect(throws: Failure.self) {
                try await hub.task("spin", "running", timeout: .milliseconds(limit))
            }
        }
        let first = Task { try await hub.task("spin", "first", timeout: .seconds(50)) }
        #expect(await eventually(within: .seconds(40)) { notes.begun.contains("first") })
        let expiredBefore = try await status(hub).expiredTaskCount
        let waiting = await #expect(throws: Failure.self) {
            try await hub.task("note", "waiting", timeout: .milliseconds(1_260))
        }
        first.cancel()

        #expect(running?.code == .timedOut)
        #expect(
            running?.message.contains("limit of \(limit) ms was over before its answer") == true)
        #expect(waiting?.code == .timedOut)
        #expect(waiting?.message.contains("within its limit of 1260 ms; it was not begun") == true)
        #expect(!notes.begun.contains("waiting"))
        #expect(try await status(hub).expiredTaskCount == expiredBefore + 1)
    }
}
