// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

/// Refreshes of a layer, by command and by a running site.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct RefreshProcessTests {
    private func lines(_ site: SmallSite, _ text: String) async throws -> [[String: Any]] {
        let outcome = try await site.run(text + " --json")
        try #require(outcome.status == 0, "\(text): \(outcome.errors)")
        return outcome.objects
    }

    private func write(_ site: SmallSite, _ names: [String]) throws {
        try site.write(
            "next",
            names.enumerated().map { place, name in
                #"{"type":"Feature","properties":{"name":"\#(name)"},"geometry":{"type":"Point","#
                    + #""coordinates":[\#(place * 2 + 2),2]}}"#
            })
    }

    /// The last run, as `refresh list` shows it.
    private func lastRun(_ site: SmallSite) async throws -> [String: Any]? {
        try await lines(site, "refresh list").first?["lastRun"] as? [String: Any]
    }

    @Test func `a refresh replaces data by command, and keeps them where half would go`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let port = try Loopback.freePort()
        try #require(try await site.run("up --detach --port \(port)").status == 0)
        try write(site, ["A", "b", "c", "d"])
        let source = "\(site.folder)/next.geojson"
        _ = try await lines(site, "refresh add points Small/points \(source) --key name")
        #expect(try await site.run("refresh add points Small/points \(source)").status == 1)
        #expect(try await lastRun(site) == nil)

        let outcome = try await lines(site, "refresh run points")
        #expect(outcome.first?["sequence"] is Int)
        let first = try #require(try await lastRun(site)?["succeeded"] as? [String: Any])
        #expect(first["added"] as? Int == 2 && first["removed"] as? Int == 1)
        #expect(first["rowCount"] as? Int == 4)

        try write(site, ["A"])
        let shrunk = try await site.run("refresh run points")
        #expect(shrunk.status == 1)
        #expect(shrunk.errors.contains("lacks 3 of the 4 features"))
        let failed = try #require(try await lastRun(site)?["failed"] as? [String: Any])
        let error = try #require(failed["error"] as? [String: Any])
        #expect((error["message"] as? String)?.contains("lacks 3 of the 4") == true)
        let history = try await lines(site, "log tail --stream map-Small")
        let types = history.compactMap { $0["type"] as? String }
        #expect(types.count { $0 == "map.layer.replaced" } == 1)

        _ = try await lines(site, "refresh remove points")
        #expect(try await lines(site, "refresh list").isEmpty)
        #expect(try await site.run("refresh run points").status == 1)
        _ = try await site.run("down")
    }

    @Test func `a running site refreshes a layer when its source has changed`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let port = try Loopback.freePort()
        try write(site, ["a", "b", "c"])
        try #require(try await site.run("up --detach --port \(port)").status == 0)
        let source = "\(site.folder)/next.geojson"
        _ = try await lines(site, "refresh add points Small/points \(source) --watch")
        try write(site, ["a", "b", "c", "new"])

        let deadline = ContinuousClock.now + .seconds(60)
        while try await lastRun(site) == nil, ContinuousClock.now < deadline {}

        let run = try #require(try await lastRun(site)?["succeeded"] as? [String: Any])
        #expect(run["added"] as? Int == 1 && run["rowCount"] as? Int == 4)
        let why = try await lines(site, "why Small/points/4")
        let event = try #require(why.last?["event"] as? [String: Any])
        #expect((event["metadata"] as? [String: Any])?["actor"] as? String == "refresh:points")

        // The schedule goes on after a restart, and runs nothing that has not changed.
        _ = try await site.run("down")
        try #require(try await site.run("up --detach --port \(port)").status == 0)
        #expect(try await lines(site, "refresh list").first?["failuresInRow"] as? Int == 0)
        _ = try await site.run("down")
    }
}
