// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Site
import TestKit
import Testing

/// `cairn import` on sources, and on a layer with edits.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct ImportProcessTests {
    private func lines(_ site: SmallSite, _ text: String) async throws -> [[String: Any]] {
        let outcome = try await site.run(text + " --json")
        try #require(outcome.status == 0, "\(text): \(outcome.errors)")
        return outcome.objects
    }

    private static func square(_ x: Int, _ side: Int) -> String {
        #"{"type":"Feature","properties":{"name":"s\#(x)"},"geometry":{"type":"Polygon","#
            + #""coordinates":[[[\#(x),0],[\#(x + side),0],[\#(x + side),\#(side)],"#
            + #"[\#(x),\#(side)],[\#(x),0]]]}}"#
    }

    private static func square(_ x: Int, named name: String) -> String {
        square(x, 4).replacing("s\(x)", with: name)
    }

    @Test func `a folder's layers lie in order: points, lines, small and large polygons`()
        async throws
    {
        guard Programs.areBuilt(["cairn", "cairn-logd", "cairn-mapstate"]) else { return }
        let site = try SmallSite()
        defer { site.remove() }
        let folder = site.folder + "/data"
        try FileManager.default.createDirectory(
            atPath: folder + "/deep", withIntermediateDirectories: true)
        try site.write(
            "data/a-points",
            [#"{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[1,2]}}"#]
        )
        try site.write("data/b-small", [Self.square(0, 1)])
        try site.write("data/deep/c-large", [Self.square(0, 40)])
        try site.write(
            "data/d-lines",
            [
                #"{"type":"Feature","properties":{},"geometry":{"type":"LineString","#
                    + #""coordinates":[[1,2],[3,4]]}}"#
            ])

        let imported = try await lines(site, "import \(folder) --map Small")

        #expect(
            imported.map { $0["name"] as? String } == ["a-points", "b-small", "d-lines", "c-large"])
        let source = try #require(imported.first?["source"] as? [String: Any])
        #expect(source["driver"] as? String == "GeoJSON")
        #expect(source["rowCount"] as? Int == 1)
        #expect(source["referenceBasis"] as? String == "the format")
        let port = try Loopback.freePort()
        try #require(try await site.run("up --detach --port \(port)").status == 0)
        let shown = try await lines(site, "map show Small")
        let map = try #require(shown.first)
        let layers = try #require(map["layers"] as? [[String: Any]])
        #expect(
            layers.map { $0["name"] as? String } == ["c-large", "b-small", "d-lines", "a-points"])
        _ = try await site.run("down")
    }

    @Test func `data are replaced with edits kept, explained by why, and undone`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let port = try Loopback.freePort()
        try #require(try await site.run("up --detach --port \(port)").status == 0)
        _ = try await lines(site, "map editable Small squares on")
        _ = try await lines(site, "map rename Small squares Plots")
        let client = try CairnClient(site: try Site(opening: site.path))
        let map = try #require(MapName(rawValue: "Small"))
        let draft = FeatureDraft(
            id: 2, attributes: Attributes([.init(name: "name", value: .string("mine"))]))
        _ = try await client.command(
            map: map, .editFeatures(layer: 0, edits: FeatureEdits(updates: [draft])),
            actor: "user:ben")
        client.close()
        try site.write(
            "next",
            [
                Self.square(0, named: "West"), Self.square(4, named: "east"),
                Self.square(8, named: "far"),
            ])
        let source = site.folder + "/next.geojson"

        let dry = try await lines(site, "import --replace Small/Plots \(source) --dry-run")
        let difference = try #require(dry.first?["difference"] as? [String: Any])
        #expect((difference["added"] as? [String: Any])?["count"] as? Int == 1)
        #expect((difference["changed"] as? [String: Any])?["first"] as? [Int] == [1])
        #expect(dry.first?["sequence"] == nil)
        #expect(try await lines(site, "why Small/Plots/2").count == 2)

        let done = try await lines(site, "import --replace Small/Plots \(source)")
        let sequence = try #require(done.first?["sequence"] as? Int)
        let edits = try #require(done.first?["edits"] as? [String: Any])
        #expect(edits["carried"] as? [Int] == [2])
        let history = try await lines(site, "why Small/Plots/1")
        #expect(history.map { $0["change"] as? String } == ["added", "changed"])
        let event = try #require(history.last?["event"] as? [String: Any])
        #expect(event["type"] as? String == "map.layer.replaced")
        let fields = try #require(history.last?["fields"] as? [[String: Any]])
        #expect(fields.first?["before"] as? String == "west")
        #expect(fields.first?["after"] as? String == "West")
        #expect(try await name(site, 6) == "mine")
        #expect(try await name(site, 10) == "far")

        _ = try await lines(site, "undo \(sequence)")
        #expect(try await name(site, 2) == "west")
        #expect(try await name(site, 6) == "mine")
        #expect(try await name(site, 10) == nil)
        _ = try await site.run("down")
    }

    @Test func `a replacement against an edit is refused with the list, until it may drop it`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let port = try Loopback.freePort()
        try #require(try await site.run("up --detach --port \(port)").status == 0)
        _ = try await lines(site, "map editable Small squares on")
        let client = try CairnClient(site: try Site(opening: site.path))
        let map = try #require(MapName(rawValue: "Small"))
        _ = try await client.command(
            map: map, .editFeatures(layer: 0, edits: FeatureEdits(deletes: [2])),
            actor: "user:ben")
        client.close()
        try site.write(
            "next", [Self.square(0, named: "west"), Self.square(4, named: "changed")])
        let replace = "import --replace Small/squares \(site.folder)/next.geojson"

        let refused = try await site.run(replace)
        #expect(refused.status == 1)
        #expect(refused.output.contains("conflict: feature 2: it was deleted"))
        #expect(try await name(site, 6) == nil)

        _ = try await lines(site, replace + " --drop-edits")
        #expect(try await name(site, 6) == "changed")
        _ = try await site.run("down")
    }

    @Test func `a URL is fetched with permission, and its secret is nowhere`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await SmallSite.imported()
        defer { site.remove() }
        let server = try PlayedServer()
        let url = server.url + "/points/towns?names=a,b,c"
        let secret = try await site.run("credential set city", input: "geheim\n")
        try #require(secret.status == 0, "\(secret.errors)")

        let refused = try await site.run("import \(url) --map Small")
        #expect(refused.status == 1 && refused.errors.contains("'--allow-network' permits"))
        #expect(try server.log().isEmpty)
        let open = try await site.run("import \(url) --map Small --allow-network")
        #expect(open.status == 1)
        let inside = try await site.run(
            "import \(url)&token=geheim --map Small --allow-network")
        #expect(inside.status == 1 && inside.errors.contains("expected no secret in a URL"))

        let imported = try await lines(
            site, "import \(url) --map Small --allow-network --credential city")
        #expect(imported.first?["featureCount"] as? Int == 3)
        #expect(imported.first?["name"] as? String == "towns")
        let source = try #require(imported.first?["source"] as? [String: Any])
        #expect(source["part"] as? String == url)

        let port = try Loopback.freePort()
        try #require(try await site.run("up --detach --port \(port)").status == 0)
        let next = server.url + "/points/towns?names=a,b,c,d"
        #expect(try await site.run("refresh add towns Small/towns \(next)").status == 1)
        _ = try await lines(
            site, "refresh add towns Small/towns \(next) --allow-network --credential city")
        let outcome = try await lines(site, "refresh run towns")
        #expect(outcome.first?["sequence"] is Int)
        let events = try await site.run("log tail --count 1000 --json")
        #expect(events.output.contains("refresh.succeeded") && !events.output.contains("geheim"))
        _ = try await site.run("down")
    }

    private func name(_ site: SmallSite, _ x: Int) async throws -> String? {
        let answer = try await lines(
            site, "identify --map Small --point \(x),1 --tolerance 0 --layers all:0")
        let layers = answer.first?["layers"] as? [[String: Any]]
        let results = layers?.first?["results"] as? [[String: Any]]
        return results?.first?["value"] as? String
    }
}
