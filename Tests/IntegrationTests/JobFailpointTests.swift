// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Platform
import Site
import TestKit
import Testing

/// Processes that kill themselves at named places.
@Suite(.serialized, .timeLimit(.minutes(10)), .processes) struct JobFailpointTests {
    /// Every chunk completed once, every attempt ended once.
    private func check(_ events: [RecordedEvent], chunkCount: Int) throws {
        var completed: Set<Int> = []
        var leases: Set<UUID> = []
        var ends: [UUID] = []
        for record in events {
            switch try JobEvent(record.event) {
            case .chunkLeased(let payload): leases.insert(payload.attempt.lease)
            case .chunkCompleted(let payload):
                #expect(completed.insert(payload.attempt.chunk).inserted)
                ends.append(payload.attempt.lease)
            case .chunkLost(let payload): ends.append(payload.attempt.lease)
            case .chunkReleased(let payload): ends.append(payload.attempt.lease)
            case .chunkFailed(let payload): ends.append(payload.attempt.lease)
            default: break
            }
        }
        #expect(completed.count == chunkCount)
        #expect(ends.count == leases.count && Set(ends) == leases)
        #expect(events.last?.event.type == JobSucceeded.eventType)
    }

    @Test(arguments: [
        "supervisor.beforeLease:kill@2", "supervisor.afterLeaseBeforeTask:kill@1",
        "supervisor.afterLeaseBeforeTask:kill@3", "supervisor.beforeResult:kill@2",
        "supervisor.beforeCommit:kill@3", "supervisor.afterResultBeforeAck:kill@1",
        "supervisor.afterResultBeforeAck:kill@3", "supervisor.afterCommandBeforeReply:kill@1",
    ])
    func `a supervisor killed at any step leaves a job that goes on`(_ point: String) async throws {
        let site = try await JobSite(supervisorFailpoint: point)
        for name in ["cairn-worker --pool work", "cairn-worker --pool locator"] {
            try site.start(name)
        }
        let victim = try #require(site.processIDs("cairn-supervisor").first)

        async let submitted = site.submit(JobSite.table(rows: 700, seed: 2))
        _ = try site.replaceWhenDead("cairn-supervisor", victim)
        let id = try await submitted
        let job = try await site.end(of: id)

        #expect(job.status == .succeeded, "\(job) \(site.files.output())")
        try check(try await site.events(id), chunkCount: 5)
    }

    @Test(arguments: [
        "worker.chunkTaken:kill@2", "worker.beforeResult:kill@2", "worker.afterResult:kill@2",
    ])
    func `a worker killed at any step costs at most an attempt`(_ point: String) async throws {
        let site = try await JobSite()
        try site.start("cairn-worker --pool work")
        let victim = try site.start("cairn-worker --pool locator", failpoint: point)
        let id = try await site.submit(JobSite.table(rows: 700, seed: 4))

        _ = try site.replaceWhenDead("cairn-worker --pool locator", victim)
        let job = try await site.end(of: id)

        #expect(job.status == .succeeded, "\(job)")
        #expect(job.lostAttemptCount <= 1)
        try check(try await site.events(id), chunkCount: 5)
    }

    @Test func `a chunk that kills its workers is quarantined, though supervisors die too`()
        async throws
    {
        let site = try await JobSite()
        try site.start("cairn-worker --pool work")
        let id = JobID(rawValue: .timeOrdered())
        let poison = "worker.chunkTaken:kill@job=\(id.rawValue)"
        var victim = try site.start("cairn-worker --pool locator", failpoint: poison)
        try await site.submit(JobSite.table(rows: 100, seed: 4), as: id)
        let beside = try await site.submit(JobSite.table(rows: 100, seed: 6))

        for _ in 1...2 {
            victim = try site.replaceWhenDead(
                "cairn-worker --pool locator", victim, failpoint: poison)
            try site.replace("cairn-supervisor")
        }
        _ = try site.replaceWhenDead("cairn-worker --pool locator", victim, failpoint: poison)
        let job = try await site.end(of: id)

        #expect(job.status == .failed)
        #expect(job.lostAttemptCount == 3)
        #expect(job.failure?.message.contains("3 worker processes") == true)
        let later = try await site.submit(JobSite.table(rows: 100, seed: 5))
        for other in [beside, later] {
            #expect(try await site.end(of: other).status == .succeeded)
        }
    }
}
