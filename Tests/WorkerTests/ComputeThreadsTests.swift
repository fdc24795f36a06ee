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
    /// Work that waits until it is told to go on, and work that does not.
    private final class Bench: Sendable {
        let gate = BlockingQueue<Void>(capacity: 1_000)
        let results: AsyncStream<String>
        let threads: ComputeThreads
        let name = "t" + UUID().uuidString.prefix(6)

        init(count: Int) throws {
            let (results, feed) = AsyncStream.makeStream(of: String.self)
            self.results = results
            threads = try ComputeThreads(
                name: name, count: count, capacity: 1_000,
                operations: [
                    "wait": { [gate] context, _ in
                        context.waiting { _ = gate.pop() }
                        return Data("waited".utf8)
                    },
                    "go": { _, _ in Data("gone".utf8) },
                ]
            ) { _, result in
                feed.yield((try? result.get()).map { String(decoding: $0, as: UTF8.self) } ?? "?")
            }
        }

        deinit { threads.close() }

        func take(_ operation: String) -> Bool {
            let metadata = Data(#"{"operation":"\#(operation)"}"#.utf8)
            return threads.take(
                Work(task: Message(header: MessageHeader(kind: .task), metadata: metadata)))
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
            while threadCount != count { try await Task.sleep(for: .milliseconds(5)) }
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
}
