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
@Suite(.serialized, .timeLimit(.minutes(3)), .processes) struct SnapshotProcessTests {
    /// A gateway's answers about the present and the past.
    private func served(_ site: JobSite, _ port: Int) async throws -> [String] {
        var answers: [String] = []
        let log = try LogReader(site.client)
        let event = try #require(try await log.read(ReadRequest(after: 29, limit: 1)).events.first)
        let milliseconds = event.recordedAt.microseconds / 1_000
        for moment in ["", "&at=12", "&at=30", "&historicMoment=\(milliseconds)"] {
            let path = "/arcgis/rest/services/World/MapServer?f=json" + moment
            let connection = try #require(Loopback(port: port))
            connection.get(path)
            answers.append("\(path): \(connection.answer() ?? "")")
        }
        return answers
    }

    /// Everything that is answered from a fold.
    private func answers(_ site: JobSite, _ port: Int) async throws -> [String] {
        var answers = try await served(site, port)
        for arguments in [
            ["map", "show", "World", "--json"], ["map", "show", "World", "--at", "30", "--json"],
            ["map", "show", "World", "--at", "45", "--json"], ["log", "state-hash", "--json"],
            ["log", "diff", "25", "48", "--json"], ["log", "diff", "5", "1000000", "--json"],
            ["why", "World", "--at", "40", "--json"], ["job", "list", "--json"],
            [
                "identify", "--map", "World", "--point", "0,0", "--extent", "0,0,1,1", "--sr",
                "4326", "--at", "30", "--json",
            ],
        ] {
            let outcome = try await Programs.run(arguments, site: site.files.path)
            answers.append("\(arguments): \(outcome.status)\n\(outcome.output)")
        }
        let live = try await Programs.run(["log", "state-hash", "--live"], site: site.files.path)
        #expect(live.status == 0, "\(live.output)\(live.errors)")
        return answers
    }

    /// Kills the folding services and restarts them, to write a snapshot after that many events;
    /// returns the gateway's port when it has the whole log.
    private func restart(
        _ site: JobSite, _ services: inout [Int32], eventCount: Int
    ) async throws -> Int {
        let environment = ["CAIRN_SNAPSHOT_EVENTS": "\(eventCount)"]
        for process in services { site.files.kill(process) }
        let port = try Loopback.freePort()
        services = try ["cairn-mapstate", "cairn-supervisor", "cairn-worker --pool identify"].map {
            try site.files.start($0, environment: environment)
        }
        services.append(
            try site.files.start(
                "cairn-gateway", ["--port", "\(port)"], environment: environment))
        for service in FoldingService.allCases {
            try await waitUntil("\(service) has the whole log") {
                (try? await site.client.stateHash(of: service)) != nil
            }
        }
        try await waitUntil("the gateway is healthy") {
            guard let connection = Loopback(port: port) else { return false }
            connection.post("/healthz", "")
            return connection.answer()?.contains("\"healthy\":true") == true
        }
        return port
    }

    /// Number of events folded at each start of a program, in the order of the starts.
    private func folded(_ words: String, by program: String, _ site: JobSite) throws -> [Int] {
        let folder = site.files.path + "/out/"
        let starts = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasPrefix(program + "-") }
            .sorted { ($0.count, $0) < ($1.count, $1) }
        return try starts.compactMap { name in
            let text = try String(contentsOf: URL(filePath: folder + name), encoding: .utf8)
            let line = text.split(separator: "\n").first { $0.contains(words) }
            return line?.firstMatch(of: /folded=(\d+)/).flatMap { Int($0.1) }
        }
    }

    @Test func `with snapshots, without them and with broken ones every answer is the same`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await JobSite()
        site.files.kill(try #require(site.processIDs("cairn-supervisor").first))
        var services: [Int32] = []
        var port = try await restart(site, &services, eventCount: 20)
        for name in ["cairn-worker --pool work", "cairn-worker --pool locator"] {
            try site.start(name)
        }
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
        #expect(await eventually { stores.allSatisfy { !$0.names().isEmpty } })
        let expected = try await answers(site, port)
        #expect(expected.allSatisfy { !$0.contains("unavailable") })

        port = try await restart(site, &services, eventCount: 20)
        #expect(try await answers(site, port) == expected, "from snapshots")

        for store in stores {
            for name in store.names() {
                let path = store.path(name)
                let bytes = try Data(contentsOf: URL(filePath: path))
                try bytes.dropLast(7).write(to: URL(filePath: path))
            }
        }
        // From now on no snapshot is written, so that no later start finds one.
        port = try await restart(site, &services, eventCount: 1_000_000)
        #expect(try await answers(site, port) == expected, "from the log, past broken ones")
        #expect(site.files.output().contains("snapshot not used"))

        try FileManager.default.removeItem(atPath: site.files.path + "/snapshots")
        port = try await restart(site, &services, eventCount: 1_000_000)
        #expect(try await answers(site, port) == expected, "from the log alone")
        // Without maps in the log nothing is folded, then only the tail behind a snapshot, and
        // twice everything; a gateway folds the one locator too.
        for (words, program, locators) in [
            ("maps ready", "cairn-mapstate", 0),
            ("map state loaded", "cairn-worker --pool identify", 0),
            ("map state loaded", "cairn-gateway", 1),
        ] {
            let counts = try folded(words, by: program, site)
            #expect(counts.count == 4, "\(program): \(counts)")
            #expect(counts.first == locators, "\(program): \(counts)")
            #expect(
                counts.dropFirst().first.map { $0 < 61 + locators } == true,
                "\(program): \(counts)")
            #expect(
                counts.suffix(2).allSatisfy { $0 == 61 + locators }, "\(program): \(counts)")
        }
    }
}
