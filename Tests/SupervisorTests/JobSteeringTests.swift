// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Site
import Supervisor
import Synchronization
import TestKit
import Testing
import Worker

/// Sub-jobs, shares, limits and ends, over real sockets.
@Suite(.timeLimit(.minutes(5))) struct JobSteeringTests {
    private func children(of id: JobID, _ hub: HubFixture) async throws -> [JobDescription] {
        try await hub.jobs().filter { $0.parent == id }
    }

    // MARK: Sub-jobs

    @Test func `a parent's product is made of its sub-jobs', though supervisors come and go`()
        async throws
    {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let (hub, _) = try await HubFixture.forJobs(rowWorkers: 2)
        let id = try await hub.submit(["subJobs": "6"], actor: "ada").id
        for _ in 0..<5 {
            try await pauseBeforeKill(milliseconds: 1...80, using: &random)
            hub.stopSupervisor()
            try await hub.startSupervisor()
        }

        let job = try await hub.job(id) { $0.status.isTerminal }

        #expect(job.status == .succeeded, "seed \(seed): \(job)")
        let text = String(
            decoding: try hub.site.blobs.read(try #require(job.result)), as: UTF8.self)
        #expect(text == String(repeating: "0;1;", count: 6), "seed \(seed)")
        let children = try await children(of: id, hub)
        #expect(children.count == 6, "seed \(seed)")
        #expect(children.allSatisfy { $0.status == .succeeded }, "seed \(seed)")
        for child in children {
            let events = try await hub.events(child.id)
            let rows = events.filter { $0.event.type == JobChunkCompleted.eventType }
            #expect(rows.count == 4, "seed \(seed)")
        }
    }

    @Test func `cancelling a parent cancels its sub-jobs first`() async throws {
        let (hub, kind) = try await HubFixture.forJobs(rowWorkers: 2)
        kind.gate.set(open: false)
        let id = try await hub.submit(["subJobs": "5"]).id
        try await waitUntil("two chunks have begun") { kind.gate.started.count == 2 }
        let open = try await children(of: id, hub)
        #expect(open.count == 2)
        let shown = try #require(try await hub.job(id).subJobs)
        #expect(Set(shown.map(\.id)) == Set(open.map(\.id)))
        #expect(shown.allSatisfy { !$0.status.isTerminal })
        #expect(try await hub.jobs().allSatisfy { $0.subJobs == nil })

        _ = try await hub.command(.cancel, id)
        let job = try await hub.job(id) { $0.status.isTerminal }

        #expect(job.status == .cancelled)
        #expect(job.failure?.code == .cancelled)
        let ended = try await children(of: id, hub)
        #expect(ended.count == 2 && ended.allSatisfy { $0.status == .cancelled })
        let last = try #require(try await hub.job(id).subJobs)
        #expect(last.map(\.id) == shown.map(\.id))
        #expect(last.allSatisfy { $0.status == .cancelled })
        #expect(ended.allSatisfy { $0.sequence < job.sequence })
        #expect(kind.gate.ended.isEmpty)
    }

    @Test func `a pause reaches the sub-jobs, over a restart too`() async throws {
        let (hub, kind) = try await HubFixture.forJobs(rowWorkers: 2)
        kind.gate.set(open: false)
        let id = try await hub.submit(["subJobs": "3"]).id
        try await waitUntil("two chunks have begun") { kind.gate.started.count == 2 }

        _ = try await hub.command(.pause, id)
        hub.stopSupervisor()
        try await hub.startSupervisor()
        let arePaused = try await eventually {
            do {
                let open = try await children(of: id, hub)
                return open.count == 2 && open.allSatisfy(\.isPaused)
            } catch let failure as Failure where failure.isRetriable {
                return false
            }
        }
        #expect(arePaused)
        kind.gate.set(open: true)
        _ = try await hub.command(.resume, id)
        let job = try await hub.job(id) { $0.status.isTerminal }

        #expect(job.status == .succeeded)
        #expect(try await children(of: id, hub).count == 3)
    }

    @Test(arguments: [true, false])
    func `a sub-job that fails is the parent's failure, or a warning`(mayFail: Bool) async throws {
        let (hub, _) = try await HubFixture.forJobs(rowWorkers: 2)
        var parameters = ["subJobs": "3", "failJob": "1"]
        if mayFail { parameters["mayFail"] = "yes" }
        let id = try await hub.submit(parameters).id

        let job = try await hub.job(id) { $0.status.isTerminal }

        #expect(job.status == (mayFail ? .succeeded : .failed), "\(job)")
        let about = job.messages.filter { $0.text.contains("row 0 is bad") }
        #expect(about.contains { $0.severity == (mayFail ? .warning : .error) }, "\(job.messages)")
        if !mayFail { #expect(job.failure?.code == .invalidParameter) }
        let all = try await eventually {
            try await children(of: id, hub).allSatisfy { $0.status.isTerminal }
        }
        #expect(all)
    }

    @Test func `a submission that claims a parent is refused`() async throws {
        let (hub, _) = try await HubFixture.forJobs()
        let refusal = await #expect(throws: Failure.self) {
            let _: JobDescription = try await hub.ask(
                "submit",
                JobSubmission(
                    id: JobID(rawValue: .timeOrdered()), kind: JobKind(rawValue: "Test"),
                    parameters: [:],
                    parent: JobParent(job: JobID(rawValue: .timeOrdered()), chunk: 1, depth: 1)))
        }
        #expect(refusal?.code == .invalidParameter)
    }

    // MARK: Limits

    @Test(.slow) func `an operation that hangs is stopped by its job's limit, three times in all`()
        async throws
    {
        let (hub, kind) = try await HubFixture.forJobs()
        kind.gate.set(open: false)
        let id = try await hub.submit(["rows": "1"], stallLimitSeconds: 1).id

        let job = try await hub.job(id) { $0.status.isTerminal }

        #expect(job.status == .failed)
        #expect(job.failure?.code == .timedOut)
        #expect(job.failure?.message.contains("no sign of life for 1 s") == true, "\(job)")
        #expect(kind.gate.started == [0, 0, 0])
        #expect(job.lostAttemptCount == 0)
    }

    @Test(arguments: [0, 3_601])
    func `a stall limit out of bounds is refused`(limit: Int) async throws {
        let (hub, _) = try await HubFixture.forJobs()
        let refusal = await #expect(throws: Failure.self) {
            _ = try await hub.submit(stallLimitSeconds: limit)
        }
        #expect(refusal?.message.contains("expected 1 to 3600") == true)
    }

    @Test func `a job that has ended is not started again, and the refusal says so`() async throws {
        let (hub, _) = try await HubFixture.forJobs()
        let id = try await hub.submit(["rows": "1"]).id
        _ = try await hub.job(id) { $0.status.isTerminal }
        for command in [JobCommand.resume, .pause, .cancel] {
            let refusal = await #expect(throws: Failure.self) {
                _ = try await hub.command(command, id)
            }
            #expect(refusal?.code == .conflict)
            #expect(refusal?.message.contains("not changed or started again") == true)
        }
    }

    // MARK: Shares and ends

    @Test func `one job of one caller does not wait for the many of another`() async throws {
        let (hub, kind) = try await HubFixture.forJobs()
        kind.gate.set(open: false)
        var many: [JobID] = []
        for _ in 0..<4 { many.append(try await hub.submit(["rows": "8"], actor: "many").id) }
        let one = try await hub.submit(["rows": "8"], actor: "one").id
        for id in many + [one] { _ = try await hub.job(id) { $0.chunkCount == 10 } }

        kind.gate.set(open: true)
        let short = try await hub.job(one) { $0.status.isTerminal }
        var ends: [Timestamp] = []
        for id in many {
            ends.append(try #require(try await hub.job(id) { $0.status.isTerminal }.endedAt))
        }

        let end = try #require(short.endedAt)
        #expect(ends.allSatisfy { end < $0 }, "\(end) \(ends)")
    }

    @Test func `a supervisor that stops says what it leaves, and the next one adopts it`()
        async throws
    {
        let (hub, kind) = try await HubFixture.forJobs()
        kind.gate.set(open: false)
        let id = try await hub.submit(["rows": "2"]).id
        try await waitUntil("the first chunk has begun") { kind.gate.started == [0] }

        let left = await hub.drainSupervisor(limit: .milliseconds(100))

        #expect(left?.chunkCount == 1 && left?.jobCount == 1 && left?.unfinishedJobCount == 1)
        try await hub.startSupervisor()
        kind.gate.set(open: true)
        let job = try await hub.job(id) { $0.status.isTerminal }
        #expect(job.status == .succeeded && job.lostAttemptCount == 0)
        #expect(kind.gate.started == [0, 1])
    }

    @Test func `a supervisor that stops waits for what runs`() async throws {
        let (hub, kind) = try await HubFixture.forJobs()
        kind.gate.set(open: false)
        let id = try await hub.submit(["rows": "3"]).id
        try await waitUntil("the first chunk has begun") { kind.gate.started == [0] }

        async let draining = hub.drainSupervisor(limit: .seconds(60))
        let isRefused = try await eventually {
            do {
                _ = try await hub.submit()
                return false
            } catch let failure as Failure where failure.code == .draining {
                return true
            }
        }
        #expect(isRefused)
        kind.gate.set(open: true)
        let left = await draining

        #expect(left?.chunkCount == 0 && left?.unfinishedJobCount ?? 0 >= 1)
        #expect(kind.gate.started == [0])
        try await hub.startSupervisor()
        #expect(try await hub.job(id) { $0.status.isTerminal }.status == .succeeded)
    }
}
