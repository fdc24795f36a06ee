// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import Foundation
import TestKit
import Testing

@testable import Supervisor

/// Which worker gets a task while others are at work.
@Suite(.timeLimit(.minutes(5))) struct BacklogTests {
    @Test(arguments: [
        (Int64?(20_000), 1, Int64(0), true), (20_000, 14, 2_000_000, true),
        (20_000, 15, 0, false), (20_000, 14, 2_000_001, false), (20_000, 0, 0, false),
        (nil, 1, 0, false), (.max, 1, 0, false), (150_000, 1, 0, true), (150_001, 1, 0, false),
    ])
    func `tasks are brief that are done within a wake-up, all of them new, and some at all`(
        task: Int64?, count: Int, oldest: Int64, isBrief: Bool
    ) {
        let backlog = Backlog(
            taskNanoseconds: task, count: count, oldestNanoseconds: oldest)

        #expect(backlog.isBrief == isBrief)
    }

    /// Two workers with a given task time, ready for tasks.
    private func workers(
        _ hub: HubFixture, taskMicroseconds: Int?
    ) async throws -> [HandWorker] {
        let workers = try (0..<2).map { _ in
            try HandWorker(hub, credit: 32, taskMicroseconds: taskMicroseconds)
        }
        try await waitUntil("both workers have their credit") {
            let known: [WorkerDescription] = try await hub.ask("workers", [String]())
            return known.count == 2 && known.allSatisfy { $0.taskCredit == 32 }
        }
        return workers
    }

    /// Sends a burst of tasks, has all of them answered, and returns the number that each worker
    /// got first.
    private func burst(
        _ round: Int, of count: Int, _ hub: HubFixture, _ workers: [HandWorker]
    ) async throws -> [Int] {
        let texts = (0..<count).map { "\(round)-\($0)" }
        return try await withThrowingTaskGroup(of: String.self) { group in
            for text in texts { group.addTask { try await hub.task("x", text) } }
            #expect(
                await eventually {
                    Set(workers.flatMap(\.tasks)).isSuperset(of: texts)
                })
            let given = workers.map { Set($0.tasks).intersection(texts).count }
            for text in texts { for worker in workers { worker.answer(text) } }
            for try await answer in group { #expect(texts.contains(answer)) }
            return given
        }
    }

    @Test(arguments: [5, 0, .min])
    func `short tasks that come together go to one worker, and the other sleeps`(
        taskMicroseconds: Int
    ) async throws {
        let hub = try await HubFixture()
        let workers = try await workers(hub, taskMicroseconds: taskMicroseconds)

        // On a slow machine a burst arrives one by one, and is then shared.
        var round = 0
        let isSeen = try await eventually {
            round += 1
            return try await burst(round, of: 16, hub, workers).contains(16)
        }

        #expect(isSeen)
        for worker in workers { worker.kill() }
    }

    @Test(arguments: [nil, 200_000, .max])
    func `long tasks, and those of which nothing is known, are shared`(
        taskMicroseconds: Int?
    ) async throws {
        let hub = try await HubFixture()
        let workers = try await workers(hub, taskMicroseconds: taskMicroseconds)

        for round in 0..<4 {
            #expect(try await burst(round, of: 16, hub, workers) == [8, 8])
        }
        for worker in workers { worker.kill() }
    }

    @Test func `tasks that turn out not to be short are asked back for the worker that sleeps`()
        async throws
    {
        let hub = try await HubFixture()
        let workers = try await workers(hub, taskMicroseconds: 5)

        // On a slow machine eight tasks arrive one by one, and are then shared: only a round in
        // which one worker got all of them first is evidence.
        var round = 0
        let isSeen = try await eventually {
            round += 1
            return try await isHandedOver(round, hub, workers)
        }

        #expect(isSeen)
        for worker in workers { worker.kill() }
    }

    /// Sends eight tasks and leaves them unanswered; returns whether one worker got all of them
    /// first and some moved to the other after a recall.
    private func isHandedOver(
        _ round: Int, _ hub: HubFixture, _ workers: [HandWorker]
    ) async throws -> Bool {
        let texts = Set((0..<8).map { "\(round)-\($0)" })
        let asker = Asker(hub)
        for text in texts { asker.ask(text) }
        #expect(await eventually { Set(workers.flatMap(\.tasks)).isSuperset(of: texts) })
        let sleeping = workers.first { texts.isDisjoint(with: $0.tasks) }
        if let sleeping {
            var handedBack: Set<UUID> = []
            #expect(
                await eventually {
                    for worker in workers {
                        for recall in worker.recalls where handedBack.insert(recall).inserted {
                            worker.handBack(recall)
                        }
                    }
                    return !texts.isDisjoint(with: sleeping.tasks)
                })
        }
        // What was handed back may be under way to the other still: it is answered when it has
        // come.
        try await waitUntil("all eight have an answer") {
            for text in texts { for worker in workers { worker.answer(text) } }
            return texts.allSatisfy { asker[$0] != nil }
        }
        #expect(texts.allSatisfy { asker[$0] == .success($0) })
        return sleeping != nil
    }
}
