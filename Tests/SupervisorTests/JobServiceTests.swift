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

@Suite(.timeLimit(.minutes(5))) struct JobServiceTests {
    /// Invariants of a job's record.
    private func checkRecord(
        _ events: [RecordedEvent], completed: Int, end: String
    ) {
        let types = events.map(\.event.type)
        #expect(types.first == JobSubmitted.eventType)
        #expect(types.last == end)
        var completions: [Int: Int] = [:]
        for record in events {
            guard case .chunkCompleted(let payload) = try? JobEvent(record.event) else { continue }
            completions[payload.attempt.chunk, default: 0] += 1
        }
        #expect(completions.count == completed)
        #expect(completions.values.allSatisfy { $0 == 1 })
    }

    @Test func `a job runs through its stages to its product`() async throws {
        let (hub, _) = try await HubFixture.forJobs(rowWorkers: 2)

        let submitted = try await hub.submit(["rows": "20"])
        #expect(submitted.status == .waiting)
        let job = try await hub.job(submitted.id) { $0.status.isTerminal }

        #expect(job.status == .succeeded)
        #expect(job.progress == 100)
        let text = String(
            decoding: try hub.site.blobs.read(try #require(job.result)), as: UTF8.self)
        #expect(text == (0..<20).map { "\($0);" }.joined())
        checkRecord(
            try await hub.events(job.id), completed: 22, end: JobSucceeded.eventType)
        #expect(hub.faults.withLock { $0.isEmpty })
    }

    @Test func `the same submission twice is one job`() async throws {
        let (hub, _) = try await HubFixture.forJobs()
        let submission = JobSubmission(
            id: JobID(rawValue: .timeOrdered()), kind: JobKind(rawValue: "Test"), parameters: [:])

        let first: JobDescription = try await hub.ask("submit", submission)
        _ = try await hub.job(first.id) { $0.status.isTerminal }
        let second: JobDescription = try await hub.ask("submit", submission)

        #expect(second.status == .succeeded)
        let list: [JobDescription] = try await hub.ask("list", [String]())
        #expect(list.map(\.id) == [first.id])
    }

    @Test func `an actor's usage counts a job once its submission is answered`() async throws {
        let (hub, kind) = try await HubFixture.forJobs()
        kind.gate.set(open: false)
        func usage(_ actor: String) async throws -> JobUsage { try await hub.ask("usage", actor) }
        let first = try await hub.submit(["rows": "1"], actor: "user:anna")
        #expect(try await usage("user:anna").openCount == 1)
        _ = try await hub.submit(["rows": "1"], actor: "user:bert")
        _ = try await hub.submit(["rows": "1"])
        #expect(try await usage("user:anna").openCount == 1)
        #expect(try await hub.job(first.id).actor == "user:anna")

        kind.gate.set(open: true)
        let ended = try await hub.job(first.id) { $0.status.isTerminal }
        let after = try await usage("user:anna")
        #expect(after.openCount == 0 && after.olderByteCount == 0)
        #expect(after.products == [try #require(ended.result)])
        #expect(try await usage("user:nobody").products.isEmpty)
    }

    @Test func `pause lets running chunks end and starts none, resume goes on`() async throws {
        let (hub, kind) = try await HubFixture.forJobs()
        kind.gate.set(open: false)
        let id = try await hub.submit(["rows": "4"]).id
        try await waitUntil("the first chunk has begun") { kind.gate.started == [0] }

        let paused = try await hub.command(.pause, id)
        #expect(paused.isPaused)
        kind.gate.set(open: true)
        let quiet = try await hub.job(id) { $0.completedChunkCount == 2 }
        #expect(quiet.completedChunkCount == 2)
        hub.stopSupervisor()
        try await hub.startSupervisor()
        try await waitUntil("the job is paused") {
            do {
                return try await hub.job(id).isPaused
            } catch let failure as Failure where failure.isRetriable {
                return false
            }
        }
        #expect(kind.gate.started == [0])

        _ = try await hub.command(.resume, id)
        let job = try await hub.job(id) { $0.status.isTerminal }
        #expect(job.status == .succeeded)
        #expect(kind.gate.started == [0, 1, 2, 3])
    }

    @Test func `cancel stops the operation and says cancelled only then`() async throws {
        let (hub, kind) = try await HubFixture.forJobs()
        kind.gate.set(open: false)
        let id = try await hub.submit(["rows": "3"]).id
        try await waitUntil("the first chunk has begun") { kind.gate.started == [0] }

        let cancelling = try await hub.command(.cancel, id)
        #expect(cancelling.status == .cancelling)
        let job = try await hub.job(id) { $0.status.isTerminal }

        #expect(job.status == .cancelled)
        #expect(kind.gate.ended.isEmpty)
        // Progress may be recorded at any moment.
        let types = try await hub.events(id).map(\.event.type)
            .filter { $0 != JobProgressed.eventType }
        #expect(
            types.suffix(3) == [
                JobCancelRequested.eventType, JobChunkReleased.eventType,
                JobCancelled.eventType,
            ])
        let refusal = await #expect(throws: Failure.self) {
            _ = try await hub.command(.resume, id)
        }
        #expect(refusal?.code == .conflict)
    }

    @Test func `an error of the operation reaches the user word by word`() async throws {
        let (hub, _) = try await HubFixture.forJobs()
        let id = try await hub.submit(["rows": "3", "fail": "1"]).id

        let job = try await hub.job(id) { $0.status.isTerminal }

        #expect(job.status == .failed)
        #expect(job.failure == Failure(.invalidParameter, "row 1 is bad"))
    }

    @Test func `a job of an unknown kind fails with a sentence`() async throws {
        let (hub, _) = try await HubFixture.forJobs()
        let submitted: JobDescription = try await hub.ask(
            "submit",
            JobSubmission(
                id: JobID(rawValue: .timeOrdered()), kind: JobKind(rawValue: "Dance"),
                parameters: [:]))

        let job = try await hub.job(submitted.id) { $0.status.isTerminal }

        #expect(job.failure?.message.contains("Dance.plan") == true)
    }

    @Test func `a new supervisor adopts what is running and repeats nothing`() async throws {
        let (hub, kind) = try await HubFixture.forJobs()
        kind.gate.set(open: false)
        let id = try await hub.submit(["rows": "2"]).id
        try await waitUntil("the first chunk has begun") { kind.gate.started == [0] }

        hub.stopSupervisor()
        try await hub.startSupervisor()
        try await hub.waitForWorkers(2)
        kind.gate.set(open: true)
        let job = try await hub.job(id) { $0.status.isTerminal }

        #expect(job.status == .succeeded)
        #expect(kind.gate.started == [0, 1])
        #expect(job.lostAttemptCount == 0)
    }

    @Test func `a result made while there was no supervisor is taken`() async throws {
        let (hub, kind) = try await HubFixture.forJobs()
        kind.gate.set(open: false)
        let id = try await hub.submit(["rows": "1"]).id
        try await waitUntil("the first chunk has begun") { kind.gate.started == [0] }

        hub.stopSupervisor()
        kind.gate.set(open: true)
        try await waitUntil("the first chunk has ended") { kind.gate.ended == [0] }
        try await hub.startSupervisor()
        try await hub.waitForWorkers(2)
        let job = try await hub.job(id) { $0.status.isTerminal }

        #expect(job.status == .succeeded)
        #expect(kind.gate.started == [0])
    }

    @Test func `results wait while the log is away, and nothing is done twice`() async throws {
        let (hub, kind) = try await HubFixture.forJobs()
        kind.gate.set(open: false)
        let id = try await hub.submit(["rows": "3"]).id
        try await waitUntil("the first chunk has begun") { kind.gate.started == [0] }

        hub.stopLog()
        kind.gate.set(open: true)
        try await waitUntil("the first chunk has ended") { kind.gate.ended == [0] }
        try await hub.restartLog()
        let job = try await hub.job(id) { $0.status.isTerminal }

        #expect(job.status == .succeeded)
        #expect(kind.gate.started == [0, 1, 2])
        checkRecord(try await hub.events(id), completed: 5, end: JobSucceeded.eventType)
    }

    @Test(.slow) func `a worker that falls silent loses its chunk to another`() async throws {
        var timing = HubFixture.quick
        timing.silence = .seconds(4)
        let hub = try await HubFixture(timing: timing)
        let kind = TestKind(site: hub.site)
        try await hub.startWorker(.work, slots: .oneChunk, kind.operations)
        let victim = try await hub.startWorker(.locator, slots: .oneChunk, kind.operations)
        kind.gate.set(open: false)
        let id = try await hub.submit(["rows": "1"]).id
        try await waitUntil("the first chunk has begun") { kind.gate.started == [0] }

        hub.worker(victim).bus.stop()
        try await hub.startWorker(.locator, slots: .oneChunk, kind.operations)
        try await waitUntil("the first chunk has begun again") { kind.gate.started == [0, 0] }
        kind.gate.set(open: true)
        let job = try await hub.job(id) { $0.status.isTerminal }

        #expect(job.status == .succeeded)
        #expect(job.lostAttemptCount >= 1)
        checkRecord(try await hub.events(id), completed: 3, end: JobSucceeded.eventType)
    }

    @Test func `live progress is published and never falls`() async throws {
        let (hub, _) = try await HubFixture.forJobs(rowWorkers: 2)
        let seen = Mutex<[JobDescription]>([])
        let subscriber = try hub.client.subscribe(
            .supervisorLive, topics: ["job/"]
        ) { _, message in
            guard let job = try? message.decode(JobDescription.self) else { return }
            seen.withLock { $0.append(job) }
        }
        defer { subscriber.close() }
        var id = try await hub.submit(["rows": "10"]).id
        let isSeen = try await eventually {
            if seen.withLock({ $0.contains { $0.id == id && $0.status == .succeeded } }) {
                return true
            }
            if try await hub.job(id).status.isTerminal {
                id = try await hub.submit(["rows": "10"]).id
            }
            return false
        }

        #expect(isSeen)
        let progress = seen.withLock { $0.filter { $0.id == id }.map(\.progress) }
        #expect(progress == progress.sorted())
        #expect(progress.last == 100)
    }

    @Test func `chunks of two jobs take turns`() async throws {
        let (hub, kind) = try await HubFixture.forJobs()
        kind.gate.set(open: false)
        let first = try await hub.submit(["rows": "6"]).id
        try await waitUntil("a chunk has begun") { kind.gate.started.count == 1 }
        let second = try await hub.submit(["rows": "1"]).id
        _ = try await hub.job(second) { $0.completedChunkCount == 1 }

        kind.gate.set(open: true)
        let short = try await hub.job(second) { $0.status.isTerminal }
        let long = try await hub.job(first) { $0.status.isTerminal }

        #expect(short.status == .succeeded && long.status == .succeeded)
        #expect(try #require(short.endedAt) < (try #require(long.endedAt)))
    }
}
