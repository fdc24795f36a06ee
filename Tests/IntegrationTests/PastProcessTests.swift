// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Geometry
import Site
import TestKit
import Testing

/// The past through real processes, for callers with the operation `history` and without.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct PastProcessTests {
    private static let root = "/arcgis/rest/services/Grid/"

    private func get(
        _ site: IdentifySite, _ path: String
    ) async throws -> String {
        let connection = try #require(Loopback(port: site.port))
        let answer: String? = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                connection.get(path)
                continuation.resume(
                    returning: connection.wholeAnswer().map { $0.head + $0.body })
            }
        }
        return try #require(answer)
    }

    /// Everything that answers as of a moment, of layers 0 to 4.
    private static var paths: [String] {
        let identify =
            "geometry=0.5,0.5&tolerance=0&layers=all&mapExtent=0,0,100,100&imageDisplay=100,100,96"
        var paths = [
            root + "MapServer?f=json", root + "MapServer/layers?f=json",
            root + "MapServer/legend?f=json", root + "MapServer/identify?f=json&" + identify,
            root + "MapServer/identify?" + identify,
            root + "MapServer/identify?f=pjson&explain=true&" + identify,
            root + "MapServer/find?f=json&searchText=canary",
            root + "MapServer/export?f=json&bbox=0,0,9,9&size=9,9", root + "FeatureServer?f=json",
            root + "FeatureServer/layers?f=json", root + "FeatureServer/query?f=json",
            "/ogc/collections?f=json",
        ]
        for layer in 0..<5 {
            for service in ["MapServer", "FeatureServer"] {
                let layer = root + service + "/\(layer)"
                paths += [
                    layer + "?f=json", layer + "/1?f=json",
                    layer + "/query?f=json&where=1%3D1&outFields=*",
                    layer + "/query?f=geojson&objectIds=1&outFields=*",
                    layer + "/query?f=json&where=1%3D1&returnDistinctValues=true&outFields=name",
                    layer + "/query?f=json&outStatistics="
                        + "[{%22statisticType%22:%22max%22,%22onStatisticField%22:%22name%22}]",
                ]
            }
            paths += [
                root + "MapServer/find?f=json&searchText=canary&layers=\(layer)",
                root + "FeatureServer/query?f=json&layerDefs=\(layer):1=1",
                "/ogc/collections/Grid.\(layer)?f=json",
                "/ogc/collections/Grid.\(layer)/items?f=json",
                "/ogc/collections/Grid.\(layer)/items/1?f=json",
            ]
        }
        return paths
    }

    /// Makes five layers whose first feature is called `canary` and the layer's number; the
    /// sequence number after that.
    private func prepare(_ site: IdentifySite) async throws -> Int64 {
        let source = try #require(try await site.client.map(named: site.map)?.layer(0)?.kind.source)
        for number in 1..<5 {
            _ = try await site.client.command(
                map: site.map,
                .addLayer(name: "layer \(number)", source: source, place: LayerPlace()))
        }
        var last: Int64 = 0
        for layer in 0..<5 {
            try await site.until("layer \(layer)") {
                try await $0.client.map(named: $0.map)?.layer(layer)?.loadStatus == .loaded
            }
            _ = try await site.client.command(
                map: site.map, .setEditable(layer: layer, isEditable: true))
            let draft = FeatureDraft(
                id: 1,
                attributes: Attributes([.init(name: "name", value: .string("canary\(layer)"))]))
            last = try await site.client.command(
                map: site.map, .editFeatures(layer: layer, edits: FeatureEdits(updates: [draft]))
            ).sequence
        }
        return last
    }

    /// Hides each canary in another way.
    private func hide(_ site: IdentifySite) async throws {
        let path = site.files.path + "/other.geojson"
        try Data(
            #"""
            {"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"EPSG:3857"}},
            "features":[{"type":"Feature","properties":{"name":"other","row":1},"geometry":
            {"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1],[0,0]]]}}]}
            """#.utf8
        ).write(to: URL(filePath: path))
        let outcome = try await Programs.run(
            ["import", path, "--map", "Other"], site: site.files.path)
        try #require(outcome.status == 0, "\(outcome.errors)")
        let other = try #require(
            try await site.client.map(named: try MapName(parsing: "Other"))?.layer(0)?.kind.source)
        let commands: [MapCommand] = [
            .setDefinitionExpression(layer: 0, expression: "OBJECTID <> 1"),
            .setQueryable(layer: 1, isQueryable: false),
            .editFeatures(layer: 2, edits: FeatureEdits(deletes: [1])), .removeLayer(layer: 3),
            .setSource(layer: 4, source: other),
        ]
        for command in commands {
            _ = try await site.client.command(map: site.map, command)
        }
        try await site.until("the other source") {
            try await $0.client.map(named: $0.map)?.layer(4)?.loadStatus == .loaded
        }
    }

    @Test func `features hidden since are shown only to callers with the right to the past`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 3, workers: 1)
        let then = try await prepare(site)
        try await hide(site)
        let head = try await LogReader(bus: site.client.bus).head().head
        let ask = Self.root + "MapServer/0/query?f=json&objectIds=1&outFields=*&at=\(then)"
        #expect(try await get(site, ask).contains("canary0"))
        try site.site.access.change { $0.anonymous = [.init(.query)] }
        try await site.until("the rules") { try await !get($0, ask).contains("canary0") }

        var othersCount = 0
        for path in Self.paths {
            for moment in ["at=\(then)", "at=\(head)"] {
                let text = try await get(site, path + "&" + moment)
                #expect(!text.contains("canary"), "\(path)&\(moment): \(text)")
                // The past is not merely empty: the neighbouring square is still there.
                if moment == "at=\(then)", text.contains("1/0") { othersCount += 1 }
            }
        }
        #expect(othersCount >= 4)

        try site.site.access.change {
            $0.anonymous = [.init(.query), .init(.history, on: "Grid")]
        }
        try await site.until("the rules") { try await get($0, ask).contains("canary0") }
        var shownCount = 0
        for path in Self.paths {
            let text = try await get(site, path + "&at=\(then)")
            if text.contains("canary") { shownCount += 1 }
            guard path.contains("identify") else { continue }
            #expect((0..<5).allSatisfy { text.contains("canary\($0)") }, "\(text)")
        }
        #expect(shownCount >= 40)
        for layer in 0..<5 {
            let path = Self.root + "MapServer/\(layer)/query?f=json&objectIds=1&outFields=*"
            let text = try await get(site, path + "&at=\(then)")
            #expect(text.contains("canary\(layer)"), "\(text)")
        }
    }
}
