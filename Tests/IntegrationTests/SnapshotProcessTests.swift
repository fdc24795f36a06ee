// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Jobs
import MapState
import Site
import TestKit
import Testing

/// Snapshots that can all be deleted without changing an answer.
@Suite(.serialized, .timeLimit(.minutes(3))) struct SnapshotProcessTests {
    private let environment = ["CAIRN_SNAPSHOT_EVENTS": "20"]

    private func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            if try await condition() { return true }
            try await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    /// Everything that is answered from a fold.
    private func answers(_ site: JobSite) async throws -> [String] {
        var answers: [String] = []
        for arguments in [
            ["map", "show", "World", "--json"], ["map", "show", "World", "--at", "30", "--json"],
            ["map", "show", "World", "--at", "45", "--json"], ["log", "state-hash", "--json"],
            ["log", "diff", "25", "48", "--json"], ["log", "diff", "5", "1000000", "--json"],
            ["why", "World", "--at", "40", "--json"], ["job", "list", "--json"],
        ] {
            let outcome = try await Programs.run(arguments, site: site.files.path)
            answers.append("\(arguments): \(outcome.status)\n\(outcome.output)")
        }
        let live = try await Programs.run(["log", "state-hash", "--live"], site: site.files.path)
        #expect(live.status == 0, "\(live.output)\(live.errors)")
        return answers
    }

    /// Kills what folds, and starts it again; returns when it has the whole log.
    private func restart(_ site: JobSite, _ services: inout [Int32]) async throws {
        for process in services { site.files.kill(process) }
        services = try ["cairn-mapstate", "cairn-supervisor"].map {
            try site.files.start($0, environment: environment)
        }
        _ = try await site.client.stateHash(of: .mapState)
        let isThere = try await eventually {
            (try? await site.client.stateHash(of: .supervisor)) != nil
        }
        #expect(isThere)
    }

    @Test func `with snapshots, without them and with broken ones every answer is the same`()
        async throws
    {
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate", "cairn-identify"])
        else { return }
        let site = try await JobSite()
        site.files.kill(try #require(site.processIDs("cairn-supervisor").first))
        var services: [Int32] = []
        try await restart(site, &services)
        for name in ["cairn-worker", "cairn-locator", "cairn-identify"] { try site.start(name) }
        try await site.waitForWorkers(3)
        let world = try MapName(parsing: "World")
        _ = try await site.client.command(map: world, .createMap)
        for number in 0..<60 {
            _ = try await site.client.command(
                map: world, .addGroup(name: "G\(number)", place: .init()))
        }
        for seed in 1...3 {
            let job = try await site.submit(JobSite.table(rows: 400, seed: UInt64(seed)))
            #expect(try await site.end(of: job).status == .succeeded)
        }
        let stores = [MapsState.snapshotName, JobTable.snapshotName].map {
            site.site.snapshots(of: $0)
        }
        #expect(try await eventually { stores.allSatisfy { !$0.names().isEmpty } })
        let expected = try await answers(site)
        #expect(expected.allSatisfy { !$0.contains("unavailable") })

        try await restart(site, &services)
        #expect(try await answers(site) == expected, "from snapshots")

        for store in stores {
            for name in store.names() {
                let path = store.path(name)
                let bytes = try Data(contentsOf: URL(filePath: path))
                try bytes.dropLast(7).write(to: URL(filePath: path))
            }
        }
        try await restart(site, &services)
        #expect(try await answers(site) == expected, "from the log, past broken ones")
        #expect(site.files.output().contains("snapshot not used"))

        try FileManager.default.removeItem(atPath: site.files.path + "/snapshots")
        try await restart(site, &services)
        #expect(try await answers(site) == expected, "from the log alone")
        // Of an empty log nothing is folded, from a snapshot only the tail, and twice everything.
        let folded = site.files.output().matches(
            of: /maps ready.*folded=(\d+)|folded=(\d+).*maps ready/
        )
        .compactMap { Int($0.1 ?? $0.2 ?? "") }
        #expect(folded.count { $0 == 61 } == 2, "\(folded)")
        #expect(folded.count { $0 < 61 } == 2, "\(folded)")
    }
}
