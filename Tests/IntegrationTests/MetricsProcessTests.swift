// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

/// What an operator reads of every process.
@Suite(.timeLimit(.minutes(3))) struct MetricsProcessTests {
    @Test func `the gateway and the command show every process that lives, and no other`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 1)
        let supervisor = try #require(site.processIDs("cairn-supervisor").first)
        func shown() throws -> String {
            let connection = try #require(Loopback(port: site.port))
            connection.get("/metrics")
            return try #require(connection.answer())
        }
        func wait(_ what: String, _ holds: @escaping @Sendable (String) -> Bool) async throws {
            try await site.until(what) { _ in
                let connection = try #require(Loopback(port: site.port))
                connection.get("/metrics")
                return holds(try #require(connection.answer()))
            }
        }

        try await wait("every process on one page") { text in
            [
                "cairn_log_events_total{process=\"logd\"",
                "cairn_mapstate_loads_total{process=\"mapstate\"",
                "cairn_supervisor_workers{process=\"supervisor\"",
                "cairn_worker_task_seconds_count{process=\"identify\"",
                "cairn_process_resident_bytes ",
            ].allSatisfy { text.contains($0) }
        }
        let text = try shown()
        #expect(text.components(separatedBy: "# TYPE cairn_process_resident_bytes ").count == 2)
        #expect(!text.contains("process=\"gateway\""))

        // The page has the gateway's own metrics before its file is written.
        try await waitUntil("the gateway's file is written") {
            try await Programs.run(["metrics"], site: site.files.path).output
                .contains("cairn_gateway_connections{process=\"gateway\"")
        }
        let command = try await Programs.run(["metrics"], site: site.files.path)
        #expect(command.status == 0)
        #expect(command.output.contains("cairn_log_head_sequence{process=\"logd\""))
        let one = try await Programs.run(
            ["metrics", "--process", "supervisor", "--json"], site: site.files.path)
        #expect(one.objects.compactMap { $0["pid"] as? Int } == [Int(supervisor)])

        #expect(kill(supervisor, SIGKILL) == 0)
        try await wait("the killed process gone") { !$0.contains("process=\"supervisor\"") }
        let none = try await Programs.run(
            ["metrics", "--process", "supervisor"], site: site.files.path)
        #expect(none.status == 69)
        #expect(none.errors.contains("no process 'supervisor'"))
    }
}
