// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnModel
import Foundation
import Platform
import Site
import TestKit
import Testing

/// Workers of a build with another worker protocol, as a supervisor that was upgraded meets them.
@Suite(.timeLimit(.minutes(2))) struct ForeignWorkerTests {
    @Test(arguments: [Data(), Data([3])])
    func `a worker of another protocol is ended once and given nothing`(head: Data) async throws {
        let hub = try await HubFixture()
        var process = try ChildProcess(
            path: "/bin/sleep", arguments: ["600"], logPath: "/dev/null")
        let bus = try BusThread(name: "foreign", runDirectory: hub.site.runDirectory)
        defer { bus.stop() }
        let sink = try bus.connectPush(.supervisorSink)
        var hello = try WorkerReport.hello(
            WorkerHello(
                pool: .identify, processID: process.processID, build: "other/0",
                taskCapacity: 4, taskThreadCount: 1, taskCredit: 4, chunkCredit: 0, running: [],
                finished: [], isDraining: false)
        ).message()
        hello.metadata = head
        let greeting = hello
        let timer = bus.schedule(every: .milliseconds(20)) { try? sink.send(greeting) }
        defer { timer.cancel() }

        var end: ChildProcess.End?
        #expect(
            await eventually {
                end = process.end()
                return end != nil
            })

        #expect(end == .signal(SIGTERM))
        let workers: [WorkerDescription] = try await hub.ask("workers", [String]())
        #expect(workers.isEmpty)
    }
}
