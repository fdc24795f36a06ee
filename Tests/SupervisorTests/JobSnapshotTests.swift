// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Bus
import CairnClient
import CairnModel
import FoundationEssentials
import Jobs
import Site
import SiteStory
import Supervisor
import Synchronization
import TestKit
import Testing
import Worker

@Suite(.timeLimit(.minutes(5))) struct JobSnapshotTests {
    private static let slots = WorkerSlots(taskCredit: 0, taskThreadCount: 0, chunkCount: 2)

    private func site() async throws -> HubFixture {
        let hub = try await HubFixture(pace: SnapshotPace(eventCount: 15))
        let kind = TestKind(site: hub.site)
        try await hub.startWorker(.work, slots: Self.slots, kind.operations)
        for _ in 0..<2 {
            try await hub.startWorker(.locator, slots: Self.slots, kind.operations)
        }
        try await hub.waitForWorkers(3)
        return hub
    }

    /// The jobs as the log up to a sequence number leads to them.
    private func folded(_ hub: HubFixture, through last: Int64) async throws -> JobTable {
        let log = try LogReader(bus: hub.client)
        var table = JobTable()
        for record in try await log.events(category: "job", after: 0, limit: .max)
        where record.globalPosition <= last { try table.apply(record) }
        return table
    }

    /// Holds every snapshot against the log; returns the sequence numbers.
    private func check(_ hub: HubFixture) async throws -> [Int64] {
        let store = hub.site.snapshots(of: JobTable.snapshotName)
        var found: [Int64] = []
        for name in store.names() {
            // It may be removed, as the oldest, while it is looked at.
            guard let (label, pieces) = try? store.read(name) else { continue }
            let (kept, expected) = (
                try JobTable(pieces: pieces), try await folded(hub, through: name.sequence)
            )
            #expect(kept.jobs == expected.jobs, "at \(name.sequence)")
            #expect(kept.foldedThrough == name.sequence)
            #expect(try expected.hash().hash == label.stateHash)
            found.append(name.sequence)
        }
        return found
    }

    @Test func `a snapshot of running jobs is the log up to one position`()
        async throws
    {
        let hub = try await site()
        var ids: [JobID] = []
        var seen: Set<Int64> = []
        for number in 0..<6 {
            ids.append(try await hub.submit(["rows": "\(10 + number)"]).id)
            seen.formUnion(try await check(hub))
        }
        for id in ids {
            #expect(try await hub.job(id) { $0.status.isTerminal }.status == .succeeded)
            seen.formUnion(try await check(hub))
        }
        let hasEnough = await eventually { hub.site.snapshots(of: "jobs").names().count >= 2 }
        #expect(hasEnough)
        #expect(try await check(hub).count >= 2)
        #expect(hub.faults.withLock { $0.isEmpty })
    }

    @Test func `a supervisor goes on from a snapshot as it does from the whole log`() async throws {
        let hub = try await site()
        var ids: [JobID] = []
        for _ in 0..<4 { ids.append(try await hub.submit(["rows": "12"]).id) }
        let store = hub.site.snapshots(of: JobTable.snapshotName)
        #expect(await eventually { !store.names().isEmpty })
        // In the middle of what is going on, as a kill.
        hub.stopSupervisor()
        try await hub.startSupervisor()
        for id in ids {
            #expect(try await hub.job(id) { $0.status.isTerminal }.status == .succeeded)
        }
        #expect(await eventually { !store.names().isEmpty })
        let before = try await hub.jobs()
        hub.stopSupervisor()
        try await hub.startSupervisor()
        #expect(try await hub.jobs() == before)
        hub.stopSupervisor()
        try FileManager.default.removeItem(atPath: store.directory)
        try await hub.startSupervisor()
        #expect(try await hub.jobs() == before)
        #expect(hub.faults.withLock { $0.isEmpty })
    }

    @Test(.slow) func `a supervisor that has to fold a long log writes jobs down on the way`()
        async throws
    {
        let hub = try await HubFixture(pace: SnapshotPace(eventCount: 100))
        hub.stopSupervisor()
        var story = SiteStory(seed: 51)
        var count = 0
        while count < 3_500 {
            try story.run(to: story.records.count + 2_000)
            count = story.records.count { $0.stream.category == "job" }
        }
        let log = try LogReader(bus: hub.client)
        let claim = try await log.claim(
            ClaimRequest(category: "job", instance: .timeOrdered(), holder: "test"))
        var rest = story.records.filter { $0.stream.category == "job" }[...]
        while let first = rest.first {
            // Consecutive events of one stream in one append.
            let run = rest.prefix(500).prefix { $0.stream == first.stream }
            try await log.append(
                [
                    StreamAppend(
                        stream: first.stream, expected: .any, events: run.map(\.event))
                ], under: claim)
            rest = rest.dropFirst(run.count)
        }
        let store = hub.site.snapshots(of: JobTable.snapshotName)
        try? FileManager.default.removeItem(atPath: store.directory)

        try await hub.startSupervisor()
        // The first page of a thousand events is more than a quarter of what is left behind it.
        let hasEarly = await eventually { store.names().last.map { $0.sequence <= 1_100 } ?? false }
        #expect(hasEarly, "\(store.names().map(\.sequence))")
        #expect(try await !check(hub).isEmpty)
        let before = try await hub.jobs()
        #expect(before.count > 10)
        hub.stopSupervisor()
        try await hub.startSupervisor()
        #expect(try await hub.jobs() == before)
        #expect(hub.faults.withLock { $0.isEmpty })
    }
}
