// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Platform
import Site
import Synchronization
import TestKit
import Testing

/// A counter shared by several tasks.
private final class Tally: Sendable {
    private let state = Mutex((isOver: false, count: 0, slowest: Duration.zero))
    var isOver: Bool { state.withLock { $0.isOver } }
    var count: Int { state.withLock { $0.count } }
    var slowest: Duration { state.withLock { $0.slowest } }
    func end() { state.withLock { $0.isOver = true } }
    func add(_ time: Duration) {
        state.withLock { state in
            state.count += 1
            state.slowest = max(state.slowest, time)
        }
    }
}

/// Real processes, killed while they work.
@Suite(.serialized, .timeLimit(.minutes(10)), .processes) struct JobProcessTests {
    private func site() async throws -> JobSite {
        let site = try await JobSite()
        for name in [
            "cairn-worker --pool work", "cairn-worker --pool locator",
            "cairn-worker --pool locator",
        ] { try site.start(name) }
        try await site.waitForWorkers(3)
        return site
    }

    /// Each chunk is completed once, each attempt ends once, and the end is the end.
    private func check(_ events: [RecordedEvent], chunkCount: Int) throws {
        var completed: [Int: Int] = [:]
        var leased: Set<UUID> = []
        var ended: [UUID: Int] = [:]
        for record in events {
            switch try JobEvent(record.event) {
            case .chunkLeased(let payload): leased.insert(payload.attempt.lease)
            case .chunkCompleted(let payload):
                completed[payload.attempt.chunk, default: 0] += 1
                ended[payload.attempt.lease, default: 0] += 1
            case .chunkLost(let payload): ended[payload.attempt.lease, default: 0] += 1
            case .chunkReleased(let payload): ended[payload.attempt.lease, default: 0] += 1
            case .chunkFailed(let payload): ended[payload.attempt.lease, default: 0] += 1
            default: break
            }
        }
        #expect(completed.count == chunkCount)
        #expect(completed.values.allSatisfy { $0 == 1 })
        #expect(Set(ended.keys) == leased)
        #expect(ended.values.allSatisfy { $0 == 1 })
        #expect(events.last?.event.type == JobSucceeded.eventType)
    }

    @Test func `no row of a job is lost or doubled, whichever process is killed`() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let site = try await site()
        let table = JobSite.table(rows: 6_000, seed: 7)
        let calm = try await site.end(of: try await site.submit(table))
        let calmResult = try #require(calm.result, "\(calm)")

        let id = try await site.submit(table)
        var killed: [String] = []
        var (completed, vainKills) = (0, 0)
        while true {
            let job = try await jobIfHeard(id, site)
            if job?.status.isTerminal == true { break }
            try await pauseBeforeKill(milliseconds: 100...400, using: &random)
            // However slow the machine is, some work is done between a few deaths and the next
            // ones.
            if let count = job?.completedChunkCount, count > completed {
                (completed, vainKills) = (count, 0)
            }
            if vainKills == 3 { continue }
            // Deaths of a worker count against its chunk, so they must not come too thick.
            let name =
                [
                    "cairn-worker --pool locator", "cairn-worker --pool work", "cairn-supervisor",
                    "cairn-logd",
                ]
                .randomElement(using: &random) ?? ""
            let isWorker =
                name == "cairn-worker --pool locator" || name == "cairn-worker --pool work"
            guard !isWorker || killed.count(where: { $0 == name }) < 2 else { continue }
            try site.replace(name)
            killed.append(name)
            vainKills += 1
        }
        let job = try await site.end(of: id)

        let story = "seed \(seed), killed \(killed)"
        #expect(job.status == .succeeded, "\(story): \(job) \(site.files.output())")
        #expect(job.result == calmResult, "\(story)")
        try check(try await site.events(id), chunkCount: 26)
        #expect(!killed.isEmpty)
        let lines = String(decoding: try site.site.blobs.read(calmResult), as: UTF8.self)
            .split(separator: "\n").dropFirst()
        #expect(lines.map { $0.prefix { $0 != "," } } == (0..<6_000).map { "\($0)"[...] })
        print("killed \(killed.count) processes during one job (\(story))")
    }

    /// The job; nil while the supervisor is away.
    private func jobIfHeard(_ id: JobID, _ site: JobSite) async throws -> JobDescription? {
        do {
            return try await site.client.job(id)
        } catch  where error.isRetriable {
            return nil
        }
    }

    @Test func `geocoding goes on without a failed answer while locators are killed`()
        async throws
    {
        let site = try await site()
        let tally = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    defer { tally.end() }
                    while !tally.isOver {
                        let start = ContinuousClock.now
                        let answer = try await site.client.ask(
                            .geocode, GeocodeRequest(singleLine: "Paris, France"))
                        #expect(answer.candidates.first?.address.contains("Paris") == true)
                        tally.add(ContinuousClock.now - start)
                    }
                }
            }
            for kill in 1...8 {
                // A request that ended several processes would be given up: none of them lives
                // long.
                try await waitUntil("\(8 * kill) requests are answered") {
                    tally.count >= 8 * kill || tally.isOver
                }
                try site.replace("cairn-worker --pool locator")
                try await site.waitForWorkers(3)
            }
            tally.end()
            try await group.waitForAll()
        }

        print("\(tally.count) geocodes, 8 kills, none failed, slowest \(tally.slowest)")
        #expect(tally.count > 50)
    }

    @Test func `a killed worker's chunk goes to another within moments`() async throws {
        let site = try await site()
        let id = try await site.submit(JobSite.table(rows: 2_000, seed: 3))
        var holder: WorkerDescription?
        try await waitUntil("a locator holds a chunk", every: .milliseconds(1)) {
            holder = try await site.client.workers().first {
                $0.pool == .locator && !$0.held.isEmpty
            }
            return holder != nil
        }
        let victim = try #require(holder)
        let index = try #require(
            site.processIDs("cairn-worker --pool locator").firstIndex(of: victim.processID))

        let killedAt = WallClock.microseconds()
        try site.replace("cairn-worker --pool locator", at: index)
        let job = try await site.end(of: id)

        #expect(job.status == .succeeded)
        let lost = try await site.events(id).first { $0.event.type == JobChunkLost.eventType }
        // The chunk may have been completed in the moment between the look and the kill.
        guard let lost else { return }
        let delay = lost.recordedAt.microseconds - killedAt
        print("kill -9 to recorded loss: \(Double(delay) / 1000) ms")
        #expect(delay < 1_000_000)
    }

    @Test func `a worker that was frozen gets nothing in afterwards`() async throws {
        let site = try await site()
        let id = try await site.submit(JobSite.table(rows: 4_000, seed: 5))
        var holder: WorkerDescription?
        try await waitUntil("a locator holds a chunk", every: .milliseconds(1)) {
            holder = try await site.client.workers().first {
                $0.pool == .locator && !$0.held.isEmpty
            }
            return holder != nil
        }
        let victim = try #require(holder).processID

        site.files.signal(victim, SIGSTOP)
        let job = try await site.end(of: id)
        site.files.signal(victim, SIGCONT)
        try await site.waitForWorkers(3)

        #expect(job.status == .succeeded)
        #expect(job.lostAttemptCount == 1)
        try check(try await site.events(id), chunkCount: 18)
    }

    @Test func `stopping workers politely costs no attempt`() async throws {
        let site = try await site()
        let id = try await site.submit(JobSite.table(rows: 4_000, seed: 6))
        for processID in site.processIDs("cairn-worker --pool locator") {
            site.files.signal(processID, SIGTERM)
            try site.start("cairn-worker --pool locator")
            #expect(site.files.waitForExit(processID) == 0)
        }

        let job = try await site.end(of: id)

        #expect(job.status == .succeeded)
        #expect(job.lostAttemptCount == 0)
    }

    @Test(arguments: [-3_600, 3_600])
    func `a time limit is kept whatever time the supervisor believes it is`(offset: Int)
        async throws
    {
        let site = try await JobSite(supervisorClockOffset: offset)
        let table = JobSite.table(rows: 10, seed: 2)
        let (brief, long) = (
            try await site.submit(table, timeLimitSeconds: 1),
            try await site.submit(table, timeLimitSeconds: 3_000)
        )

        #expect(try await site.end(of: brief).status == .timedOut)
        try site.replace("cairn-supervisor", clockOffset: -offset)
        let next = try await site.submit(table, timeLimitSeconds: 1)
        #expect(try await site.end(of: next).status == .timedOut)

        for name in ["cairn-worker --pool work", "cairn-worker --pool locator"] {
            try site.start(name)
        }
        #expect(try await site.end(of: long).status == .succeeded)
    }

    @Test func `a second supervisor ends with status 75 and the first goes on`() async throws {
        let site = try await site()

        let second = try site.start("cairn-supervisor")

        #expect(site.files.waitForExit(second) == 75)
        let job = try await site.end(of: try await site.submit(JobSite.table(rows: 10, seed: 1)))
        #expect(job.status == .succeeded)
    }

    @Test func `a job goes on after all processes were killed at once and started again`()
        async throws
    {
        let site = try await site()
        let id = try await site.submit(JobSite.table(rows: 4_000, seed: 8))
        while try await site.client.job(id).completedChunkCount < 2 {}

        for name in [
            "cairn-supervisor", "cairn-logd", "cairn-worker --pool work",
            "cairn-worker --pool locator",
        ] {
            try site.replace(name)
        }
        try site.replace("cairn-worker --pool locator")
        let job = try await site.end(of: id)

        #expect(job.status == .succeeded, "\(job)")
        try check(try await site.events(id), chunkCount: 18)
    }
}
