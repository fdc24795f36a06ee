// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Geometry
import Site
import TestKit
import Testing

/// Edits over HTTP through real processes.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct EditProcessTests {
    private static let root = "/arcgis/rest/services/Grid"

    private struct Results: Decodable {
        struct Result: Decodable {
            struct Reason: Decodable { var code: Int, description: String }
            var objectId: Int64, success: Bool, error: Reason?
        }
        var addResults: [Result]?, updateResults: [Result]?, deleteResults: [Result]?
    }

    private func exchange(
        _ site: IdentifySite, _ path: String, form: String? = nil
    ) async throws -> (head: String, body: Data) {
        let connection = try #require(Loopback(port: site.port))
        let answer: (head: String, body: String)? = await withCheckedContinuation { continuation in
            // A blocking read has no place on the threads that tasks share.
            Thread.detachNewThread {
                if let form { connection.post(path, form) } else { connection.get(path) }
                continuation.resume(returning: connection.wholeAnswer())
            }
        }
        let found = try #require(answer)
        return (found.head, Data(found.body.utf8))
    }

    private func edit(
        _ site: IdentifySite, _ operation: String, _ form: String
    ) async throws -> Results {
        let (_, body) = try await exchange(
            site, Self.root + "/FeatureServer/0/\(operation)", form: "f=json&" + form)
        do { return try JSONDecoder().decode(Results.self, from: body) } catch {
            Issue.record("\(operation): \(String(decoding: body.prefix(300), as: UTF8.self))")
            throw error
        }
    }

    /// The names of the features at a place, by identify, or at a past sequence number.
    private func names(
        _ site: IdentifySite, _ x: Double, _ y: Double, at sequence: Int64? = nil
    ) async throws -> [String] {
        struct Body: Decodable {
            struct Hit: Decodable { var value: String }
            var results: [Hit]
        }
        let (_, body) = try await exchange(
            site,
            Self.root + "/MapServer/identify?f=json&geometry=\(x),\(y)&tolerance=0&layers=all"
                + "&mapExtent=0,0,100,100&imageDisplay=100,100,96"
                + (sequence.map { "&at=\($0)" } ?? ""))
        return try JSONDecoder().decode(Body.self, from: body).results.map(\.value)
    }

    private func count(_ site: IdentifySite, _ parameters: String) async throws -> Int {
        struct Body: Decodable { var count: Int }
        let (_, body) = try await exchange(
            site, Self.root + "/FeatureServer/0/query?f=json&returnCountOnly=true&" + parameters)
        return try JSONDecoder().decode(Body.self, from: body).count
    }

    @Test
    func `a coordinate outside the layer's reference is refused by name, one at its edge taken`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 2)
        let opened = try await Programs.run(
            ["map", "editable", "Grid", "0", "on"], site: site.files.path)
        try #require(opened.status == 0, "\(opened.errors)")
        let edge = 20_037_508.342789244

        let features = [
            square(edge - 1, 0, "edge"), square(edge + 10, 0, "beyond"), square(3, -3e7, "south"),
            #"{"attributes":{"name":"odd"},"geometry":{"rings":[[["NaN",0],[1,1],[1,0],["NaN",0]]]}}"#,
        ]
        let form = "rollbackOnFailure=false&features=[" + features.joined(separator: ",") + "]"
        let results = try #require(try await edit(site, "addFeatures", form).addResults)

        #expect(results.map(\.success) == [true, false, false, false])
        let reasons = results.map { $0.error?.description ?? "" }
        #expect(results[1].error?.code == 1000)
        #expect(
            reasons[1].hasPrefix("geometry: x is 20037518")
                && reasons[1].contains(
                    "outside the layer's spatial reference EPSG:3857: expected -"),
            "\(reasons[1])")
        #expect(reasons[2].hasPrefix("geometry: y is -30000000"), "\(reasons[2])")
        #expect(reasons[3].hasPrefix("geometry: "), "\(reasons[3])")
        #expect(try await names(site, edge - 0.5, 0.5) == ["edge"])
    }

    private func square(_ x: Double, _ y: Double, _ name: String, id: Int64? = nil) -> String {
        let corners = [(0.0, 0.0), (0, 1), (1, 1), (1, 0), (0, 0)]
            .map { "[\(x + $0.0),\(y + $0.1)]" }.joined(separator: ",")
        return #"{"attributes":{"name":"\#(name)","row":-1"#
            + (id.map { ",\"OBJECTID\":\($0)" } ?? "")
            + #"},"geometry":{"rings":[[\#(corners)]]}}"#
    }

    @Test func `edits of two layers are one event, or none`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 5, workers: 1)
        let layer = try #require(
            try await site.client.map(named: site.map)?.layers.first?.kind.dataset)
        let added = try await site.client.command(
            map: site.map,
            .addLayer(name: "copy", source: LayerSource(dataset: layer), place: LayerPlace()))
        let copy = try #require(added.layer)
        // A layer accepts edits once it is loaded.
        var map = try await site.client.map(named: site.map, minSequence: added.sequence)
        while map?.layer(copy)?.loadStatus != .loaded {
            let known = try #require(map?.sequence)
            map = try await site.client.map(named: site.map, minSequence: known + 1)
        }
        for id in [0, copy] {
            _ = try await site.client.command(
                map: site.map, .setEditable(layer: id, isEditable: true))
        }
        struct Layer: Decodable {
            var id: Int
            var addResults: [Results.Result], deleteResults: [Results.Result]
        }
        func apply(_ deleted: Int) async throws -> (sequence: Int64?, layers: [Layer]) {
            let edits = """
                [{"id":0,"adds":[\(square(60, 60, "here"))]},\
                {"id":\(copy),"adds":[\(square(60, 60, "there"))],"deletes":[\(deleted)]}]
                """
            let (head, body) = try await exchange(
                site, Self.root + "/FeatureServer/applyEdits", form: "f=json&edits=" + edits)
            let sequence = head.firstMatch(of: /(?i)x-cairn-sequence: (\d+)/).flatMap {
                Int64($0.1)
            }
            return (sequence, try JSONDecoder().decode([Layer].self, from: body))
        }

        // A failure in one layer undoes the edits of the other.
        let refused = try await apply(4_000)
        #expect(refused.layers.flatMap(\.addResults).map(\.success) == [false, false])
        #expect(refused.layers.flatMap(\.deleteResults).first?.error?.code == 1019)
        #expect(try await names(site, 60.5, 60.5) == [])

        let done = try await apply(7)
        #expect(done.layers.map(\.id) == [0, copy])
        #expect(done.layers.flatMap(\.addResults).map(\.success) == [true, true])
        let sequence = try #require(done.sequence)
        #expect(Set(try await names(site, 60.5, 60.5)) == ["here", "there"])
        #expect(try await names(site, 60.5, 60.5, at: sequence - 1) == [])
        #expect(Set(try await names(site, 60.5, 60.5, at: sequence)) == ["here", "there"])
    }

    @Test func `a feature without geometry is found by attributes, and nowhere`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 5, workers: 1)
        _ = try await site.client.command(
            map: site.map, .setEditable(layer: 0, isEditable: true))
        let everywhere = "geometry=-1000,-1000,1000,1000&geometryType=esriGeometryEnvelope"
        let before = (
            all: try await count(site, "where=1=1"), placed: try await count(site, everywhere)
        )

        let added = try await edit(
            site, "addFeatures",
            #"features=[{"attributes":{"name":"lost"}},{"attributes":{"name":"found"},"geometry":null}]"#
        )
        let ids = (added.addResults ?? []).map(\.objectId)
        #expect(ids.count == 2 && added.addResults?.allSatisfy(\.success) == true)
        #expect(
            try await count(site, "where=name IN ('lost','found')".replacing(" ", with: "+")) == 2)
        #expect(try await count(site, "where=1=1") == before.all + 2)
        #expect(try await count(site, everywhere) == before.placed)

        // It gets a place, and loses it again.
        let placed = try await edit(
            site, "updateFeatures", "features=[\(square(70, 70, "found", id: ids[1]))]")
        #expect(placed.updateResults?.first?.success == true)
        #expect(try await names(site, 70.5, 70.5) == ["found"])
        let named = try await edit(
            site, "updateFeatures",
            #"features=[{"attributes":{"OBJECTID":\#(ids[1]),"name":"kept"}}]"#)
        #expect(named.updateResults?.first?.success == true)
        #expect(try await names(site, 70.5, 70.5) == ["kept"])
        let cleared = try await edit(
            site, "updateFeatures",
            #"features=[{"attributes":{"OBJECTID":\#(ids[1])},"geometry":null}]"#)
        #expect(cleared.updateResults?.first?.success == true)
        #expect(try await names(site, 70.5, 70.5) == [])
        #expect(try await count(site, everywhere) == before.placed)
        let (_, body) = try await exchange(
            site, "/ogc/collections/Grid.0/items/\(ids[1])?f=json")
        let item = String(decoding: body, as: UTF8.self)
        #expect(item.contains(#""geometry":null"#) && item.contains(#""name":"kept""#), "\(item)")
    }

    @Test func `edits are seen at once, and yesterday is what it was`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 5, workers: 2)
        let closed = try await exchange(
            site, Self.root + "/FeatureServer/0/deleteFeatures", form: "f=json&objectIds=1")
        #expect(String(decoding: closed.body, as: UTF8.self).contains("does not allow edits"))
        let opened = try await site.client.command(
            map: site.map, .setEditable(layer: 0, isEditable: true))

        // Raw JSON, as newer QGIS sends it: nothing in it is percent-encoded.
        let added = try await edit(
            site, "addFeatures", "features=[\(square(50, 50, "a & b + 100%"))]")
        #expect(added.addResults?.map(\.objectId) == [26] && added.addResults?[0].success == true)
        #expect(try await names(site, 50.5, 50.5) == ["a & b + 100%"])
        #expect(try await count(site, "where=1%3D1") == 26)

        let updated = try await edit(
            site, "updateFeatures",
            #"features=[{"attributes":{"objectid":1,"name":"moved"}}]"#)
        #expect(updated.updateResults?.map(\.success) == [true])
        #expect(try await names(site, 0.5, 0.5) == ["moved"])
        let deleted = try await edit(site, "deleteFeatures", "where=row%20%3D%204")
        #expect(deleted.deleteResults?.count == 5)
        #expect(try await names(site, 0.5, 5.3) == [])
        #expect(try await count(site, "where=1%3D1") == 21)

        try await checkRollback(site)
        #expect(try await names(site, 50.5, 50.5, at: opened.sequence) == [])
        #expect(try await names(site, 0.5, 5.3, at: opened.sequence) == ["0/4"])
        #expect(try await count(site, "where=1%3D1&at=\(opened.sequence)") == 25)
        let (_, refused) = try await exchange(
            site, Self.root + "/FeatureServer/0/deleteFeatures?f=json&objectIds=4")
        #expect(String(decoding: refused, as: UTF8.self).contains("POST"))
        #expect(try await count(site, "objectIds=4") == 1)
    }

    private func checkRollback(_ site: IdentifySite) async throws {
        let mixed =
            "adds=[\(square(60, 60, "new"))]&updates=[\(square(70, 70, "no", id: 999))]"
            + "&deletes=2,3"
        let all = try await edit(site, "applyEdits", mixed)
        #expect(all.addResults?.map(\.success) == [false])
        #expect(all.updateResults?[0].error?.description == "there is no feature 999")
        #expect(all.deleteResults?.map(\.success) == [false, false])
        #expect(try await count(site, "where=1%3D1") == 21)

        let some = try await edit(site, "applyEdits", mixed + "&rollbackOnFailure=false")
        #expect(some.addResults?.map(\.success) == [true])
        #expect(some.updateResults?.map(\.success) == [false])
        #expect(some.deleteResults?.map(\.success) == [true, true])
        #expect(try await count(site, "where=1%3D1") == 20)
    }

    @Test func `many edits become a dataset, whichever process is killed meanwhile`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 5)
        let before = try await site.client.command(
            map: site.map, .setEditable(layer: 0, isEditable: true))
        let base = try await site.layer().kind.dataset
        for block in 0..<3 {
            let features = (0..<400).map { number in
                square(Double(number) * 2, 100 + 2 * Double(block), "\(block)/\(number)")
            }
            let results = try await edit(
                site, "addFeatures", "features=[" + features.joined(separator: ",") + "]")
            #expect(results.addResults?.count { $0.success } == 400)
            // Somewhere between an edit and the end of a compaction.
            try site.kill("cairn-mapstate")
            try site.start("cairn-mapstate")
        }
        try await site.until("the compaction") { site in
            try await site.layer().kind.dataset != base
        }
        // A kill may have come between two: what is left over it is less than makes a compaction.
        let layer = try await site.layer()
        #expect(try #require(layer.edits).changes.count < 1_000)
        #expect(layer.properties?.featureCount == 1_225)
        #expect(try await count(site, "where=1%3D1") == 1_225)
        #expect(try await names(site, 200.5, 102.5) == ["1/100"])
        #expect(try await names(site, 200.5, 102.5, at: before.sequence) == [])

        let deleted = try await edit(site, "deleteFeatures", "where=row%20%3D%20-1")
        #expect(deleted.deleteResults?.count == 1_200)
        #expect(try await count(site, "where=1%3D1") == 25)
        try site.kill("cairn-worker --pool identify")
        try site.start("cairn-worker --pool identify")
        #expect(try await names(site, 200.5, 102.5) == [])
        let (_, info) = try await exchange(site, Self.root + "/FeatureServer/0?f=json")
        #expect(
            String(decoding: info, as: UTF8.self).contains("Query,Create,Update,Delete,Editing"))
    }

    @Test func `a kill between a compacted dataset and its event loses neither`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 5)
        let base = try await site.madeEditable()
        try site.kill("cairn-mapstate")
        var victim = try site.start(
            "cairn-mapstate", failpoint: "mapstate.beforeCompacted:kill")
        _ = try await site.client.command(
            map: site.map, .editFeatures(layer: 0, edits: squares(1_200, y: 100)))
        try site.waitForKill("cairn-mapstate", victim)

        let published = Set(try site.datasets()).subtracting([base.rawValue])
        #expect(published.count == 1)
        #expect(try await site.layer().kind.dataset == base)
        #expect(try await count(site, "where=1%3D1") == 1_225)
        // Edits that come first at the next start, which is as short.
        victim = try site.start("cairn-mapstate", failpoint: "mapstate.beforeCompacted:kill")
        try site.waitForKill("cairn-mapstate", victim)
        async let later = site.client.command(
            map: site.map, .editFeatures(layer: 0, edits: squares(50, y: 200)))
        try site.start("cairn-mapstate")
        _ = try await later
        try await site.until("the compaction") { try await $0.layer().kind.dataset != base }

        let layer = try await site.layer()
        #expect(published == [try #require(layer.kind.dataset).rawValue])
        #expect(Set(try site.datasets()) == published.union([base.rawValue]))
        #expect(try #require(layer.edits).changes.count == 50)
        #expect(try await count(site, "where=1%3D1") == 1_275)
        #expect(try await names(site, 200.5, 100.5) == ["100.0/100"])
        #expect(try await names(site, 20.5, 200.5) == ["200.0/10"])
    }

    @Test func `a compaction whose answer was lost is not made again of the same edits`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 5)
        let base = try await site.madeEditable()
        try site.kill("cairn-logd")
        // The commits of two edits, which wait for each other, then that of the compaction of the
        // first.
        let victim = try site.start("cairn-logd", failpoint: "log.afterCommitBeforeReply:kill@3")

        async let first = site.client.command(
            map: site.map, .editFeatures(layer: 0, edits: squares(1_200, y: 100)))
        async let second = site.client.command(
            map: site.map, .editFeatures(layer: 0, edits: squares(50, y: 200)))
        try site.waitForKill("cairn-logd", victim)
        try site.start("cairn-logd")
        _ = try await (first, second)
        try await site.until("the compaction") { try await $0.layer().kind.dataset != base }
        let compacted = try #require(try await site.layer().kind.dataset)
        // Compactions are sequential: once the next one is recorded, all earlier ones are complete.
        _ = try await site.client.command(
            map: site.map, .editFeatures(layer: 0, edits: squares(1_200, y: 300)))
        try await site.until("the next compaction") {
            try await $0.layer().kind.dataset != compacted
        }

        let last = try #require(try await site.layer().kind.dataset)
        #expect(Set(try site.datasets()) == Set([base, compacted, last].map(\.rawValue)))
        #expect(try await count(site, "where=1%3D1") == 2_475)
    }

    @Test func `edits that the log did not answer are compacted without another edit`() async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 5)
        let base = try await site.madeEditable()
        try site.kill("cairn-logd")
        let victim = try site.start("cairn-logd", failpoint: "log.afterCommitBeforeReply:kill@1")

        async let edited = site.client.command(
            map: site.map, .editFeatures(layer: 0, edits: squares(1_200, y: 100)))
        try site.waitForKill("cairn-logd", victim)
        try site.start("cairn-logd")
        _ = try await edited

        try await site.until("the compaction") { try await $0.layer().kind.dataset != base }
        #expect(try #require(try await site.layer().edits).changes.isEmpty)
        #expect(try await count(site, "where=1%3D1") == 1_225)
    }

    @Test func `a layer whose addition the log did not answer is loaded all the same`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 5)
        let source = try #require(try await site.layer().kind.source)
        try site.kill("cairn-logd")
        let victim = try site.start("cairn-logd", failpoint: "log.afterCommitBeforeReply:kill@1")

        async let added = site.client.command(
            map: site.map, .addLayer(name: "again", source: source, place: LayerPlace()))
        try site.waitForKill("cairn-logd", victim)
        try site.start("cairn-logd")
        let layer = try #require(try await added.layer)

        try await site.until("the layer") {
            try await $0.client.map(named: $0.map)?.layer(layer)?.loadStatus == .loaded
        }
    }
}

/// So many squares beside each other.
private func squares(_ count: Int, y: Double) -> FeatureEdits {
    FeatureEdits(
        adds: (0..<count).map { number in
            let x = Double(number) * 2
            return FeatureDraft(
                shape: .envelope(Envelope(minX: x, minY: y, maxX: x + 1, maxY: y + 1)),
                attributes: Attributes([
                    .init(name: "name", value: .string("\(y)/\(number)"))
                ]))
        })
}

extension IdentifySite {
    /// Lets the layer be edited; its dataset, which has no edits yet.
    fileprivate func madeEditable() async throws -> ContentID {
        _ = try await client.command(map: map, .setEditable(layer: 0, isEditable: true))
        return try #require(try await layer().kind.dataset)
    }

    /// The names of the datasets that are there; nothing that is hidden.
    fileprivate func datasets() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: site.datasetsDirectory)
            .filter { !$0.hasPrefix(".") }
    }

    /// The layer as the log has it, with all that has been answered.
    fileprivate func layer() async throws -> LayerDescription {
        let head = try await LogReader(bus: client.bus).head().head
        return try #require(try await client.map(named: map, minSequence: head)?.layer(0))
    }
}
