// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import Foundation
import Platform
import TestKit
import Testing

@testable import Worker

@Suite(.timeLimit(.minutes(3))) struct ComputeThreadsTests {
    /// Work that waits until it is released, and work that does not.
    private final class Bench: Sendable {
        let gate = BlockingQueue<Void>(capacity: 1_000)
        let results: AsyncStream<String>
        let threads: ComputeThreads
        let name = "t" + UUID().uuidString.prefix(6)

        init(count: Int, startsLate: Bool = false) throws {
            let (results, feed) = AsyncStream.makeStream(of: String.self)
            self.results = results
            threads = try ComputeThreads(
                name: name, count: count, capacity: 1_000, startsLate: startsLate,
                handlers: [
                    "wait": { [gate] context, _ in
                        context.waiting { _ = gate.pop() }
                        return Data("waited".utf8)
                    },
                    "go": { _, _ in Data("gone".utf8) },
                    "tried": { _, _ in Data("not tried".utf8) },
                ],
                tried: [
                    "tried": { _, payload in payload.isEmpty ? nil : Data("tried".utf8) }
                ]
            ) { _, result, _ in
                let data = try? result?.get()
                feed.yield(data.map { String(decoding: $0, as: UTF8.self) } ?? "?")
            }
        }

        deinit { threads.close() }

        func take(_ operation: String, _ payload: String = "") -> Bool {
            threads.take(Work(task: operation, Data(payload.utf8)))
        }

        /// The threads of this bench that have not ended.
        var threadCount: Int {
            let tasks =
                (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
            return tasks.count { task in
                let path = "/proc/self/task/\(task)/comm"
                let comm = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
                return comm.hasPrefix(name)
            }
        }

        func settle(at count: Int) async throws {
            try await waitUntil("there are \(count) threads", detail: "\(threadCount)") {
                threadCount == count
            }
        }
    }

    @Test(arguments: [1, 2, 5])
    func `work goes on while as much as one likes waits for others`(count: Int) async throws {
        let bench = try Bench(count: count)
        var results = bench.results.makeAsyncIterator()
        for round in 1...3 {
            for _ in 0..<20 { #expect(bench.take("wait")) }
            for _ in 0..<20 { #expect(bench.take("go")) }

            for _ in 0..<20 { #expect(await results.next() == "gone") }
            for _ in 0..<20 { #expect(bench.gate.tryPush(())) }

            for _ in 0..<20 { #expect(await results.next() == "waited", "round \(round)") }
            // A thread that is one too many ends with the work it does last.
            try await bench.settle(at: count)
        }
    }

    @Test(arguments: [1, 3])
    func `threads that start late come with their first work, and go on`(count: Int) async throws {
        let bench = try Bench(count: count, startsLate: true)
        var results = bench.results.makeAsyncIterator()
        #expect(bench.threadCount == 0)

        #expect(bench.take("go"))
        #expect(await results.next() == "gone")
        try await bench.settle(at: 1)
        for _ in 0..<10 { #expect(bench.take("wait")) }
        for _ in 0..<10 { #expect(bench.take("go")) }

        for _ in 0..<10 { #expect(await results.next() == "gone") }
        for _ in 0..<10 { #expect(bench.gate.tryPush(())) }
        for _ in 0..<10 { #expect(await results.next() == "waited") }
        try await bench.settle(at: count)
    }

    @Test func `a task that is tried is answered, or handed back without an answer`() async throws {
        let bench = try Bench(count: 1)
        var results = bench.results.makeAsyncIterator()

        #expect(bench.take("tried", "short") && bench.take("tried") && bench.take("go"))

        #expect(await results.next() == "tried")
        #expect(await results.next() == "?")
        #expect(await results.next() == "gone")
    }
}

@Suite(.timeLimit(.minutes(3))) struct TaskTurnTests {
    /// The outcome of a turn, and whether it was over before.
    private final class Trial: Sendable {
        let outcomes: AsyncStream<String>
        private let gate = BlockingQueue<Void>(capacity: 10)
        let threads: ComputeThreads

        /// A turn of zero length, which checks once without a waiting task and once with one.
        init(keeps: Bool) throws {
            let (outcomes, feed) = AsyncStream.makeStream(of: String.self)
            self.outcomes = outcomes
            threads = try ComputeThreads(
                name: "turn", count: 1, capacity: 10, handlers: ["turn": { _, _ in Data() }],
                tried: [
                    "turn": { [gate] context, payload in
                        if !payload.isEmpty { return payload }
                        let turn = TaskTurn(context, shareNanoseconds: -1)
                        feed.yield("alone \(turn.isOver)")
                        // Not inside `waiting`: the work that comes stays in the queue.
                        _ = gate.pop()
                        if keeps { turn.keep() }
                        feed.yield("awaited \(turn.isOver)")
                        return try turn.tries {
                            try turn.check()
                            return Data("whole".utf8)
                        }
                    }
                ]
            ) { _, result, _ in
                let data = try? result?.get()
                feed.yield(data.map { String(decoding: $0, as: UTF8.self) } ?? "given up")
            }
        }

        deinit { threads.close() }

        func take(_ payload: String) -> Bool {
            threads.take(Work(task: "turn", Data(payload.utf8)))
        }

        func goOn() -> Bool { gate.tryPush(()) }
    }

    @Test(arguments: [false, true])
    func `a turn is over when its time is and another task waits, unless it is kept`(
        keeps: Bool
    ) async throws {
        let trial = try Trial(keeps: keeps)
        var outcomes = trial.outcomes.makeAsyncIterator()

        #expect(trial.take(""))
        #expect(await outcomes.next() == "alone false")
        #expect(trial.take("next") && trial.goOn())

        #expect(await outcomes.next() == "awaited \(!keeps)")
        #expect(await outcomes.next() == (keeps ? "whole" : "given up"))
        #expect(await outcomes.next() == "next")
    }
}
