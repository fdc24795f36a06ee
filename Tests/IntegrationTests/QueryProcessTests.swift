// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Site
import TestKit
import Testing

/// Queries over HTTP through real processes; expected results follow from the grid of squares.
@Suite(.serialized, .timeLimit(.minutes(10)), .processes) struct QueryProcessTests {
    private static let side = 60

    private struct Page: Decodable {
        struct Feature: Decodable {
            struct Attributes: Decodable { var OBJECTID: Int, row: Int, name: String }
            var attributes: Attributes
        }
        var features: [Feature]
        var exceededTransferLimit: Bool?
    }

    private func ask(_ site: IdentifySite, _ parameters: String) async throws -> Data {
        try await get(site, "/0/query?f=json&" + parameters)
    }

    private func get(
        _ site: IdentifySite, _ path: String, port: Int? = nil
    ) async throws -> Data {
        try await fetch(
            port ?? site.port, "/arcgis/rest/services/Grid/FeatureServer" + path)
    }

    private func fetch(_ port: Int, _ path: String) async throws -> Data {
        let connection = try #require(Loopback(port: port))
        let answer: (head: String, body: String)? = await withCheckedContinuation { continuation in
            // A blocking read has no place on the threads that tasks share.
            Thread.detachNewThread {
                connection.get(path)
                continuation.resume(returning: connection.wholeAnswer())
            }
        }
        return Data(try #require(answer).body.utf8)
    }

    private func page(_ site: IdentifySite, _ parameters: String) async throws -> Page {
        let body = try await ask(site, parameters + "&outFields=*&returnGeometry=false")
        return try JSONDecoder().decode(Page.self, from: body)
    }

    private func count(_ site: IdentifySite, _ parameters: String) async throws -> Int? {
        struct Body: Decodable { var count: Int }
        let body = try await ask(site, parameters + "&returnCountOnly=true")
        return try? JSONDecoder().decode(Body.self, from: body).count
    }

    @Test func `the rows of a query are downloaded as a table, with a header where there are more`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: Self.side)
        func download(_ parameters: String) async throws -> (head: String, lines: [Substring]) {
            let connection = try #require(Loopback(port: site.port))
            let path =
                "/arcgis/rest/services/Grid/MapServer/0/query?f=csv&outFields=*&"
                + "orderByFields=row%20DESC&" + parameters
            let answer: (head: String, body: String)? = await withCheckedContinuation {
                continuation in
                Thread.detachNewThread {
                    connection.get(path)
                    continuation.resume(returning: connection.wholeAnswer())
                }
            }
            let (head, body) = try #require(answer)
            return (head.lowercased(), body.split { $0.isNewline })
        }
        let (head, lines) = try await download("where=row%20%3E%2050")
        let rows = try await page(site, "where=row%20%3E%2050&orderByFields=row%20DESC").features
        #expect(head.contains("content-type: text/csv"))
        #expect(head.contains("content-disposition: attachment; filename=\"squares.csv\""))
        #expect(!head.contains("x-cairn-exceeded-transfer-limit: "))
        #expect(lines.first == "WKT,OBJECTID,name,row")
        #expect(rows.count == 540 && lines.count == 541)
        for (line, row) in zip(lines.dropFirst(), rows) {
            let attributes = row.attributes
            #expect(
                line.hasSuffix(",\(attributes.OBJECTID),\(attributes.name),\(attributes.row)"))
            #expect(line.hasPrefix("\"MULTIPOLYGON") || line.hasPrefix("\"POLYGON"))
        }
        let (cut, first) = try await download("where=1%3D1")
        #expect(first.count == 2_001)
        #expect(cut.contains("x-cairn-exceeded-transfer-limit: true"))
        #expect(cut.contains("/jobs/gpserver/exportfeatures>; rel=\"alternate\""))
        let left = try FileManager.default.contentsOfDirectory(
            atPath: site.site.blobs.stagingDirectory)
        #expect(left.isEmpty, "\(left)")
    }

    @Test func `a single feature has a URL`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 5)
        for more in ["", "&outSR=4326&geometryPrecision=3", "&returnGeometry=false"] {
            let query = try JSONSerialization.jsonObject(
                with: try await ask(site, "objectIds=7&outFields=*" + more))
            let answer = try #require(query as? [String: Any])
            var feature = try #require((answer["features"] as? [[String: Any]])?.first)
            if var geometry = feature["geometry"] as? [String: Any] {
                geometry["spatialReference"] = answer["spatialReference"]
                feature["geometry"] = geometry
            }
            let found = try JSONSerialization.jsonObject(
                with: try await get(site, "/0/7?f=json" + more))
            #expect(
                found as? NSDictionary == ["feature": feature] as NSDictionary, "\(more)")
        }
        struct Refusal: Decodable {
            struct Reason: Decodable { var code: Int, message: String }
            var error: Reason
        }
        let none = try JSONDecoder().decode(
            Refusal.self, from: try await get(site, "/0/4000?f=json"))
        #expect(none.error.code == 404)
    }

    @Test func `a service's query is the queries of its layers`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 5)
        let source = try #require(
            try await site.client.map(named: site.map)?.layer(0)?.kind.dataset)
        let added = try await site.client.command(
            map: site.map,
            .addLayer(
                name: "again", source: LayerSource(dataset: source), place: LayerPlace()))
        try await site.until("the second layer") { site in
            try await site.client.map(named: site.map, minSequence: added.sequence)?
                .layer(1)?.loadStatus == .loaded
        }
        func json(_ path: String) async throws -> [String: Any] {
            let body = try await get(site, path)
            return try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        }
        for more in ["&outFields=*", "&returnCountOnly=true", "&returnIdsOnly=true", "&outSR=4326"]
        {
            let minimum = "&f=json&minSequence=\(added.sequence)"
            let both = try await json(
                "/query?layerDefs=0:row%20%3D%201;1:name%20%3D%20'2/3'" + more + minimum)
            let layers = try #require(both["layers"] as? [[String: Any]])
            #expect(layers.count == 2)
            for (layer, clause) in zip(layers, ["row%20%3D%201", "name%20%3D%20'2/3'"]) {
                let id = try #require(layer["id"] as? Int)
                let fields = more.contains("outFields") ? "" : "&outFields=*"
                var alone = try await json(
                    "/\(id)/query?where=\(clause)" + more + fields + minimum)
                alone["id"] = id
                #expect(layer as NSDictionary == alone as NSDictionary)
            }
        }
    }

    @Test func `pages joined are the whole, as it is and as it was`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: Self.side)
        let side = Self.side

        #expect(try await count(site, "where=1%3D1") == side * side)
        let cut = try await page(site, "where=1%3D1")
        #expect(cut.features.count == 2_000 && cut.exceededTransferLimit == true)
        var found: [Page.Feature.Attributes] = []
        while true {
            let page = try await page(
                site, "where=row%20%3E%3D%2010&resultRecordCount=700&resultOffset=\(found.count)")
            found += page.features.map(\.attributes)
            guard page.exceededTransferLimit == true else { break }
        }
        #expect(found.map(\.OBJECTID) == Set(found.map(\.OBJECTID)).sorted())
        let names = (10..<side).flatMap { y in (0..<side).map { "\($0)/\(y)" } }
        #expect(Set(found.map(\.name)) == Set(names) && found.count == names.count)

        // Squares 0 to 4 of a row start at or before 5.
        let corner = "geometry=0,0,5,5&geometryType=esriGeometryEnvelope"
        #expect(try await count(site, corner) == 25)
        #expect(try await count(site, corner + "&spatialRel=esriSpatialRelContains") == 16)
        #expect(try await count(site, corner + "&where=row%3D4") == 5)
        #expect(try await count(site, "where=row%20LIKE") == nil)
        try await checkPast(site)
    }

    private func checkPast(_ site: IdentifySite) async throws {
        let changed = try await site.client.command(
            map: site.map, .setDefinitionExpression(layer: 0, expression: "row < 2"))
        let side = Self.side
        #expect(
            try await count(site, "where=1%3D1&minSequence=\(changed.sequence)") == 2 * side)
        #expect(
            try await count(site, "where=1%3D1&at=\(changed.sequence - 1)") == side * side)
    }

    private func counts(_ port: Int) async throws -> (atOnce: Int, byWorkers: Int) {
        struct Health: Decodable {
            struct Counts: Decodable { var answeredAtOnce: Int, sentToWorkers: Int }
            var query: Counts
        }
        let health = try JSONDecoder().decode(
            Health.self, from: try await fetch(port, "/healthz"))
        return (health.query.answeredAtOnce, health.query.sentToWorkers)
    }

    @Test func `query answers are the same from gateway and workers, also after an edit`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        // Few features: even in a slow build, some queries are fast.
        let site = try await IdentifySite(side: 12)
        let other = try Loopback.freePort()
        try site.start("cairn-gateway", ["--port", "\(other)", "--no-identify-at-once"])
        try await site.waitForGateway(other)
        let corner = "&geometry=0,0,9,9&geometryType=esriGeometryEnvelope"
        let questions = [
            "where=1%3D1&outFields=*&f=json", "where=1%3D1&outFields=*&f=geojson",
            "where=row%20%3E%207&returnCountOnly=true&f=json",
            "where=row%20%3E%207&returnIdsOnly=true&f=json", "returnExtentOnly=true&f=json",
            "outFields=*&outSR=4326&f=json" + corner,
            "f=json&spatialRel=esriSpatialRelContains" + corner, "f=json&where=height%20%3E%203",
            "f=json&distance=2" + corner, "f=json&orderByFields=row%20DESC,name&outFields=name",
            "f=json&returnDistinctValues=true&outFields=row&returnGeometry=false",
        ]
        var sequence: Int64 = 0
        for expression in ["", "row < 9", "row > 3"] {
            if !expression.isEmpty {
                sequence = try await site.client.command(
                    map: site.map, .setDefinitionExpression(layer: 0, expression: expression)
                ).sequence
            }
            for question in questions {
                let path = "/0/query?\(question)&minSequence=\(sequence)&timeout=60"
                var (here, there) = (Data(), Data())
                // On a slow machine the change may take longer to arrive than a query waits for it.
                try await site.until("answers that know the change") { site in
                    here = try await get(site, path)
                    there = try await get(site, path, port: other)
                    return ![here, there].contains {
                        $0.starts(with: Data(#"{"error":{"code":504"#.utf8))
                    }
                }
                #expect(here == there, "\(question)")
                #expect(here.count > 10)
            }
        }
        let (own, others) = (try await counts(site.port), try await counts(other))
        #expect(own.atOnce > 0 && own.byWorkers >= 3, "\(own)")
        #expect(others.atOnce == 0 && others.byWorkers >= 3 * questions.count, "\(others)")
    }

    @Test func `a killed worker loses no query`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(
            side: Self.side, workers: 2, gateway: ["--no-identify-at-once"])
        // The largest timeout: a slow machine needs time for so many.
        let parameters =
            "where=row%20%3E%203&outFields=*&resultRecordCount=500&orderByFields=name&timeout=60"
        let whole = try await ask(site, parameters)
        #expect(whole.count > 10_000)

        let answers = try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<30 { group.addTask { try await ask(site, parameters) } }
            try site.kill("cairn-worker --pool identify")
            return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(answers.count == 30)
        for answer in answers { #expect(answer == whole) }
    }
}
