// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import Foundation
import Jobs
import Supervisor
import Synchronization
import TestKit
import Testing
import Worker

/// Tasks that wait behind others at a worker, and tasks that die with others.
@Suite(.timeLimit(.minutes(5))) struct CrowdTests {
    /// Has the worker hold the tasks, sent in this order.
    private func give(_ texts: [String], to worker: HandWorker, _ asker: Asker) async {
        for text in texts {
            asker.ask(text)
            #expect(await eventually { worker.tasks.contains(text) }, "\(text)")
        }
    }

    @Test func `tasks that wait behind a long one go to a worker that comes`() async throws {
        let hub = try await HubFixture()
        let isOpen = Atomic<Bool>(false)
        let slots = WorkerSlots(taskCredit: 8, taskThreadCount: 1, chunkCount: 0)
        let operations: [String: TaskHandler] = [
            "long": { _, payload in
                while !isOpen.load(ordering: .relaxed) { PauseThread.briefly() }
                return payload
            },
            "short": { _, payload in payload },
        ]
        try await hub.startWorker(.identify, slots: slots, operations)
        async let long = hub.task("long", "long")
        try await waitUntil("the worker has one task") {
            let workers: [WorkerDescription] = try await hub.ask("workers", [String]())
            return workers.first?.runningTaskCount == 1
        }
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<6 { group.addTask { try await hub.task("short", "\(number)") } }
            try await waitUntil("the worker has seven tasks") {
                let workers: [WorkerDescription] = try await hub.ask("workers", [String]())
                return workers.first?.runningTaskCount == 7
            }
            try await hub.startWorker(.identify, slots: slots, operations)
            var answers: Set<String> = []
            for try await answer in group { answers.insert(answer) }
            #expect(answers.count == 6)
        }
        #expect(await hub.counts()["recalledTasks"] == 6)
        #expect(await hub.counts()["redispatches"] == 0)
        isOpen.store(true, ordering: .relaxed)
        #expect(try await long == "long")
    }

    @Test func `half of what waits is asked for, the oldest, and its credit comes back`()
        async throws
    {
        let hub = try await HubFixture()
        let asker = Asker(hub)
        let first = try HandWorker(hub, credit: 5, threads: 1)
        await give(["a", "b", "c", "d"], to: first, asker)
        let second = try HandWorker(hub, credit: 5, threads: 1)

        #expect(await eventually { first.recalls.count == 2 })
        let asked = first.recalls
        #expect(asked == first.orders[1...2].map(\.work.id))
        // One comes back; the other has been begun meanwhile and is answered as ever.
        first.answer("b", isRefused: true)
        #expect(await eventually { second.tasks == ["b"] })
        for text in ["c", "a", "d"] { first.answer(text) }
        second.answer("b")
        for text in ["a", "b", "c", "d"] {
            #expect(await eventually { asker[text] != nil })
            #expect(asker[text] == .success(text))
        }
        let isWhole = try await eventually {
            let workers: [WorkerDescription] = try await hub.ask("workers", [String]())
            return workers.map(\.taskCredit) == [5, 5]
        }
        #expect(isWhole)
    }

    @Test func `a task that ends its workers is told from those that were with it`() async throws {
        let hub = try await HubFixture()
        let asker = Asker(hub)
        let innocents = (0..<6).map { "innocent \($0)" }
        var worker = try HandWorker(hub, credit: 8, threads: 1)
        // It holds the thread; those before it wait for others.
        await give(innocents + ["deadly"], to: worker, asker)
        worker.kill()
        worker = try HandWorker(hub, credit: 8, threads: 1)
        #expect(await eventually { worker.tasks.count == 7 }, "twice together")
        worker.kill()

        worker = try HandWorker(hub, credit: 8, threads: 1)
        for (place, text) in innocents.enumerated() {
            #expect(await eventually { worker.tasks.count == place + 1 })
            #expect(worker.tasks.last == text)
            // Later requests wait.
            if place == 0 { asker.ask("later") }
            #expect(await eventually { await isWaiting(hub, atLeast: 1) })
            worker.answer(text)
            #expect(await eventually { asker[text] == .success(text) })
        }
        for _ in 0..<2 {
            #expect(await eventually { worker.tasks.last == "deadly" })
            worker.kill()
            worker = try HandWorker(hub, credit: 8, threads: 1)
        }

        #expect(await eventually { asker["deadly"] != nil })
        #expect(asker["deadly"]?.failureCode == .internal)
        #expect(await eventually { worker.tasks == ["later"] })
        worker.answer("later")
        #expect(await eventually { asker["later"] == .success("later") })
        #expect(await hub.counts()["lostWorkers"] == 4)
    }

    @Test func `a task alone at its workers is given up after the third`() async throws {
        let hub = try await HubFixture()
        let asker = Asker(hub)
        asker.ask("deadly")
        for _ in 0..<3 {
            #expect(asker["deadly"] == nil)
            let worker = try HandWorker(hub, credit: 2, threads: 1)
            #expect(await eventually { worker.tasks == ["deadly"] })
            worker.kill()
        }
        #expect(await eventually { asker["deadly"]?.failureCode == .internal })
    }

    private func isWaiting(_ hub: HubFixture, atLeast count: Int) async -> Bool {
        let status: SupervisorStatus? = try? await hub.ask("status", [String]())
        return (status?[.identify]?.waitingTaskCount ?? 0) >= count
    }

    private func health(_ hub: HubFixture, afterLosing count: Int) async throws -> PoolStatus {
        var status: SupervisorStatus = try await hub.ask("status", [String]())
        #expect(
            try await eventually {
                status = try await hub.ask("status", [String]())
                return status.lostWorkerCount == count
            })
        return try #require(status[.identify])
    }

    @Test func `workers that die while they have nothing to do make no rest`() async throws {
        let hub = try await HubFixture()
        let workers = try (0..<8).map { _ in try HandWorker(hub, credit: 2) }
        try await hub.waitForWorkers(8)

        for worker in workers { worker.kill() }

        let pool = try await health(hub, afterLosing: 8)
        #expect(pool.deathsInRow ?? 0 == 0 && pool.restMilliseconds ?? 0 == 0)
    }

    @Test func `many workers that die at once with work make one short rest`() async throws {
        let hub = try await HubFixture()
        let asker = Asker(hub)
        let workers = try (0..<8).map { _ in try HandWorker(hub, credit: 1) }
        try await hub.waitForWorkers(8)
        for text in (0..<8).map({ "\($0)" }) { asker.ask(text) }
        for worker in workers { #expect(await eventually { worker.tasks.count == 1 }) }

        for worker in workers { worker.kill() }

        let pool = try await health(hub, afterLosing: 8)
        #expect(pool.deathsInRow == PoolHealth.deathBound)
        #expect(pool.restMilliseconds ?? 0 <= 1_000)
        let slots = WorkerSlots(taskCredit: 8, taskThreadCount: 1, chunkCount: 0)
        try await hub.startWorker(.identify, slots: slots, ["x": { _, payload in payload }])
        for text in (0..<8).map({ "\($0)" }) {
            #expect(await eventually { asker[text] == .success(text) }, "\(text)")
        }
    }
}

extension Result where Failure == CairnModel.Failure {
    fileprivate var failureCode: CairnModel.Failure.Code? {
        if case .failure(let failure) = self { failure.code } else { nil }
    }
}
