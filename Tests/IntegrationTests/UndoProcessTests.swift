// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Site
import TestKit
import Testing

/// A wrong edit on a running site: its actor, what it changed, and its end.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct UndoProcessTests {
    private func edit(_ site: SmallSite, _ name: String, by actor: String) async throws -> Int64 {
        let client = try CairnClient(site: try Site(opening: site.path))
        defer { client.close() }
        let map = try #require(MapName(rawValue: "Small"))
        let draft = FeatureDraft(
            id: 2, attributes: Attributes([.init(name: "name", value: .string(name))]))
        let result = try await client.command(
            map: map, .editFeatures(layer: 0, edits: FeatureEdits(updates: [draft])),
            actor: actor)
        #expect(result.edits?.updates.allSatisfy { $0.failure == nil } == true)
        return result.sequence
    }

    private func lines(_ site: SmallSite, _ text: String) async throws -> [[String: Any]] {
        let outcome = try await site.run(text + " --json")
        try #require(outcome.status == 0, "\(text): \(outcome.errors)")
        return outcome.objects
    }

    private func name(_ site: SmallSite, at moment: Int64? = nil) async throws -> String? {
        let at = moment.map { " --at \($0)" } ?? ""
        let answer = try await lines(
            site, "identify --map Small --point 6,1 --tolerance 0 --layers all:0" + at)
        let layers = answer.first?["layers"] as? [[String: Any]]
        let results = layers?.first?["results"] as? [[String: Any]]
        return results?.first?["value"] as? String
    }

    @Test func `a wrong edit is explained, compared, and undone, and the past keeps it`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let port = try Loopback.freePort()
        try #require(try await site.run("up --detach --port \(port)").status == 0)
        _ = try await lines(site, "map editable Small 0 on")
        let wrong = try await edit(site, "wrong", by: "user:ben")
        let later = try await edit(site, "worse", by: "user:ben")
        #expect(try await name(site) == "worse")

        let history = try await lines(site, "why Small/squares/2")
        #expect(history.map { $0["change"] as? String } == ["added", "changed", "changed"])
        let event = try #require(history[1]["event"] as? [String: Any])
        #expect((event["metadata"] as? [String: Any])?["actor"] as? String == "user:ben")
        let fields = try #require(history[1]["fields"] as? [[String: Any]])
        #expect(fields.count == 1)
        #expect(fields[0]["before"] as? String == "east")
        #expect(fields[0]["after"] as? String == "wrong")

        let compared = try await lines(
            site, "identify --map Small --point 6,1 --layers all:0 --compare \(wrong - 1) \(wrong)")
        let differences = try #require(compared.first?["differences"] as? [[String: Any]])
        #expect(differences.map { $0["feature"] as? Int } == [2])
        #expect(differences.first?["events"] as? [Int] == [Int(wrong)])

        let refused = try await site.run("undo \(wrong)")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("later changes build on"))
        #expect(try await name(site) == "worse")

        let undone = try await lines(site, "undo \(wrong)..\(later) --by ben")
        #expect((undone.first?["undone"] as? [Any])?.count == 2)
        #expect(try await name(site) == "east")
        #expect(try await name(site, at: later) == "worse")
        let again = try #require(undone.first?["sequence"] as? Int)
        _ = try await lines(site, "undo \(again)")
        #expect(try await name(site) == "worse")
        _ = try await site.run("down")
    }

    @Test func `a map is deleted, brought back, and copied into another site with its data`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let (site, other) = (try await SmallSite.imported(), try SmallSite())
        defer {
            site.remove()
            other.remove()
        }
        for each in [site, other] {
            let port = try Loopback.freePort()
            try #require(try await each.run("up --create --detach --port \(port)").status == 0)
        }
        let deleted = try #require(
            try await lines(site, "map delete Small").first?["sequence"] as? Int)
        #expect(try await lines(site, "map list").isEmpty)
        #expect(try await name(site, at: Int64(deleted - 1)) == "east")
        _ = try await lines(site, "undo \(deleted)")
        #expect(try await name(site) == "east")

        _ = try await lines(site, "map copy Small --to-site \(other.path)")
        #expect(try await name(other) == "east")
        let kept = try await lines(site, "sweep --dry-run")
        #expect(kept.dropLast().allSatisfy { $0["verdict"] as? String == "kept" })
        #expect(kept.dropLast().allSatisfy { ($0["byteCount"] as? Int ?? 0) > 0 })
        // Renamed by one commit, the map is under one name only, as of any moment.
        _ = try await lines(site, "map set-properties Small --title Squares")
        let head = try #require(
            try await lines(site, "map rename-map Small Blocks").first?["sequence"] as? Int)
        let names = try await lines(site, "map list").map { $0["name"] as? String }
        #expect(names == ["Blocks"])
        let refused = try await site.run("map rename-map Small Other")
        #expect(refused.status == 1 && refused.errors.contains("no map 'Small'"))
        let events = try await lines(site, "log tail -n 3")
        #expect(
            events.map { $0["type"] as? String } == ["map.created", "map.restored", "map.deleted"])
        #expect(events.last?["sequence"] as? Int == head)
        for each in [site, other] { _ = try await each.run("down") }
    }

    @Test func `data that a sweep removes are kept in a folder, and copied back answer the past`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let port = try Loopback.freePort()
        try #require(try await site.run("up --detach --port \(port)").status == 0)
        let deleted = try #require(
            try await lines(site, "map delete Small").first?["sequence"] as? Int64)
        let kept = site.folder + "/kept"
        let hours = DateComponents(hour: -3)
        let old = try #require(Calendar.current.date(byAdding: hours, to: .now))
        let data = site.path + "/datasets"
        for name in try FileManager.default.contentsOfDirectory(atPath: data) {
            try FileManager.default.setAttributes(
                [.modificationDate: old], ofItemAtPath: data + "/" + name)
        }
        let moment = ISO8601DateFormatter().string(from: .now.addingTimeInterval(60))
        let swept = try await lines(site, "sweep --past-before \(moment) --keep-in \(kept)")
        #expect(swept.last?["removedCount"] as? Int == 2)
        let past = deleted - 1
        #expect(try await name(site, at: past) == nil)
        for name in try FileManager.default.contentsOfDirectory(atPath: kept + "/datasets") {
            try FileManager.default.copyItem(
                atPath: kept + "/datasets/" + name, toPath: data + "/" + name)
        }
        _ = try await site.run("down")
        try #require(try await site.run("up --detach --port \(port)").status == 0)
        #expect(try await name(site, at: past) == "east")
        _ = try await site.run("down")
    }
}
