// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EventLog
import FoundationEssentials
import Jobs
import TestKit
import Testing

/// A failing seed is repeated by `CAIRN_SEED=<seed> swift test --filter SimulatedSiteTests`, more
/// are run by `CAIRN_SEEDS=10000`.
@Suite(.timeLimit(.minutes(30))) struct SimulatedSiteTests {
    private func events(_ site: SimulatedSite) throws -> [RecordedEvent] {
        try site.log.read(ReadRange(after: 0, limit: .max, byteLimit: .max)).events
    }

    /// The story's end, held against the log alone; what is wrong, or nil.
    private func verdict(_ site: SimulatedSite) throws -> String? {
        if let fault = site.fault { return fault }
        let log = try events(site)
        var table = JobTable()
        for record in log { try table.apply(record) }
        guard site.log.verify(after: 0, limit: .max).fault == nil,
            Set(log.map(\.event.id)).count == log.count
        else { return "the log does not verify" }
        guard zip(log, log.dropFirst()).allSatisfy({ $0.recordedAt <= $1.recordedAt }) else {
            return "the log's time goes back"
        }
        guard let supervisor = site.supervisor, supervisor.table.jobs == table.jobs else {
            return "the live state is not the fold of the log"
        }
        for job in site.client.jobs {
            guard let state = table[job] else { return "\(job) is not in the log" }
            if let fault = try verdict(state, log.filter { $0.stream == .job(job) }, site) {
                return "\(job): \(fault)"
            }
        }
        return nil
    }

    private func verdict(
        _ state: JobState, _ events: [RecordedEvent], _ site: SimulatedSite
    ) throws -> String? {
        var completed: [Int: Int] = [:]
        var leases: Set<UUID> = []
        var ends: [UUID] = []
        for record in events {
            switch try JobEvent(record.event) {
            case .chunkLeased(let payload): leases.insert(payload.attempt.lease)
            case .chunkCompleted(let payload):
                completed[payload.attempt.chunk, default: 0] += 1
                ends.append(payload.attempt.lease)
            case .chunkLost(let payload): ends.append(payload.attempt.lease)
            case .chunkFailed(let payload): ends.append(payload.attempt.lease)
            case .chunkReleased(let payload): ends.append(payload.attempt.lease)
            default: break
            }
        }
        guard completed.values.allSatisfy({ $0 == 1 }) else { return "effects: \(completed)" }
        guard Set(ends).count == ends.count, Set(ends) == leases else {
            return "\(leases.count) leases, \(ends.count) ends"
        }
        switch state.status {
        case .succeeded:
            let chunkCount = site.client.rows(of: state.id) + 2
            return completed.count == chunkCount && state.result == JobFixture.blob(chunkCount - 1)
                ? nil : "\(completed.count) of \(chunkCount) chunks are done"
        case .cancelled:
            return site.client.cancelled.contains(state.id) ? nil : "nobody cancelled it"
        default: return "it is \(state.status.rawValue) at \(site.now / 1_000_000) s"
        }
    }

    @Test(.slow) func `log and state agree, whatever network, clocks, disk and processes do`()
        throws
    {
        var counts: [String: Int] = [:]
        let seeds = Seeds.chosen(150)
        for seed in seeds {
            let site = SimulatedSite(seed: seed)
            site.run()
            let fault = try verdict(site)
            #expect(fault == nil, "seed \(seed)")
            counts.merge(site.counts) { $0 + $1 }
            counts["events", default: 0] += Int(site.log.head())
        }
        print("simulated sites: \(seeds.count) seeds, \(counts.sorted { $0.key < $1.key })")
        guard seeds.count > 50 else { return }
        for what in [
            "supervisors", "workers killed", "zombies", "zombie refused", "clock steps", "dropped",
            "doubled", "cut off", "frozen", "crash before commit", "crash after commit",
        ] {
            #expect((counts[what] ?? 0) > 10, "\(what) hardly happened")
        }
    }

    @Test func `the same seed tells the same story`() throws {
        for seed in UInt64(1)...5 {
            let hashes = (0..<2).map { _ in
                let site = SimulatedSite(seed: seed)
                site.run()
                return site.log.verify(after: 0, limit: .max).chainHash
            }
            #expect(hashes[0] == hashes[1], "seed \(seed)")
        }
    }
}
