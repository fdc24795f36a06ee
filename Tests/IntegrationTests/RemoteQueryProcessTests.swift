// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import TestKit
import Testing

/// A layer of a feature service whose server is the same site: through gateway, supervisor, worker,
/// HTTP and gateway again it answers as the layer behind it does.
@Suite(.serialized, .timeLimit(.minutes(5)), .processes) struct RemoteQueryProcessTests {
    private func fetch(_ site: IdentifySite, _ path: String) async throws -> (Int, Data) {
        let connection = try #require(Loopback(port: site.port))
        let answer: (head: String, body: String)? = await withCheckedContinuation { continuation in
            // A blocking read has no place on the threads that tasks share.
            Thread.detachNewThread {
                connection.get(path)
                continuation.resume(returning: connection.wholeAnswer())
            }
        }
        let (head, body) = try #require(answer)
        return (Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0, Data(body.utf8))
    }

    private func json(_ site: IdentifySite, _ path: String) async throws -> [String: Any] {
        let (_, body) = try await fetch(site, path)
        let object = try? JSONSerialization.jsonObject(with: body)
        return try #require(
            object as? [String: Any], "\(path): \(String(decoding: body, as: UTF8.self))")
    }

    private func add(
        _ site: IdentifySite, _ name: String, _ url: String, as id: LayerID
    ) async throws {
        let added = try await site.client.command(
            map: site.map,
            .addLayer(
                name: name, source: .featureService(ArcGISSource(url: url)), place: LayerPlace()))
        try await site.until("layer \(name)") { site in
            try await site.client.map(named: site.map, minSequence: added.sequence)?
                .layer(id)?.loadStatus == .loaded
        }
    }

    /// The lines of a table, the positions of shapes in order: rings of other servers' layers may
    /// run the other way.
    private static func rows(_ table: Data) -> [[String]] {
        String(decoding: table, as: UTF8.self).split { $0.isNewline }.map { line in
            let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
            guard parts.count == 3 else { return [String(line)] }
            let positions = parts[1].split { "(),".contains($0) }
            return Set(positions.map(String.init)).sorted() + [String(parts[2])]
        }
    }

    private static let questions = [
        "where=1=1&outFields=*", "where=row%20%3E%202&returnGeometry=false&outFields=name",
        "where=name%20LIKE%20'2/%25'&orderByFields=row%20DESC&outFields=*",
        "geometry=1,1,4,5&inSR=3857&outFields=*&f=geojson&outSR=4326",
        "geometry=0.5,0.5&inSR=3857&distance=3&units=esriSRUnit_Meter",
        "geometry=1,1,4,5&inSR=3857&spatialRel=esriSpatialRelContains&returnIdsOnly=true",
        "where=row%3D3&returnCountOnly=true", "returnIdsOnly=true", "returnExtentOnly=true",
        "returnExtentOnly=true&returnCountOnly=true&where=name%3D'1/1'",
        "resultOffset=4&resultRecordCount=5&outFields=*&maxAllowableOffset=0.1&geometryPrecision=2",
        "objectIds=3,1,900&outFields=*", "returnDistinctValues=true&outFields=row",
        "outStatistics=%5B%7B%22statisticType%22:%22max%22,%22onStatisticField%22:%22row%22%7D%5D"
            + "&groupByFieldsForStatistics=name&orderByFields=name%20DESC",
    ]

    @Test func `a layer of another server is asked over HTTP as any other`() async throws {
        guard Programs.areBuilt() else { return }
        let server = try PlayedServer()
        let site = try await IdentifySite(side: 5)
        let root = "/arcgis/rest/services/Grid"
        let there = "http://127.0.0.1:\(site.port)\(root)/FeatureServer/0"
        try await add(site, "far", there, as: 1)
        try await add(site, "barred", server.url + "/features/token/FeatureServer/0", as: 2)
        let worker = site.processIDs("cairn-worker --pool identify")

        // Resources that clients read before their queries.
        let service = try await json(site, root + "/FeatureServer?f=json")
        let listed = try #require(service["layers"] as? [[String: Any]])
        #expect(Set(listed.compactMap { $0["id"] as? Int }) == [0, 1, 2])
        let near = try await json(site, root + "/FeatureServer/0?f=json")
        let far = try await json(site, root + "/FeatureServer/1?f=json")
        for name in [
            "capabilities", "maxRecordCount", "fields", "objectIdField", "geometryType",
            "advancedQueryCapabilities", "supportsStatistics", "supportedQueryFormats", "extent",
            "displayField",
        ] {
            #expect(far[name] as? NSObject == near[name] as? NSObject, "\(name)")
            #expect(far[name] != nil, "\(name)")
        }

        for kind in ["FeatureServer", "MapServer"] {
            for question in Self.questions {
                let form = question.contains("f=geojson") ? "" : "&f=json"
                let here = try await json(site, "\(root)/\(kind)/0/query?" + question + form)
                let away = try await json(site, "\(root)/\(kind)/1/query?" + question + form)
                #expect(away as NSDictionary == here as NSDictionary, "\(question)")
                #expect(here["error"] == nil, "\(question)")
            }
        }
        for question in Self.questions.prefix(3) {
            let form = "query?f=csv&" + question
            let (_, here) = try await fetch(site, "\(root)/FeatureServer/0/" + form)
            let (_, away) = try await fetch(site, "\(root)/FeatureServer/1/" + form)
            #expect(Self.rows(away) == Self.rows(here) && Self.rows(here).count > 5, "\(question)")
        }
        for items in ["items?limit=7&offset=3", "items?bbox=0,0,0.00003,0.00003", "items/4"] {
            var here = try await json(site, "/ogc/collections/Grid.0/" + items)
            var away = try await json(site, "/ogc/collections/Grid.1/" + items)
            for name in ["links", "timeStamp"] { (here[name], away[name]) = (nil, nil) }
            #expect(away as NSDictionary == here as NSDictionary, "\(items)")
        }

        // One sentence, of the layer; the others are found nevertheless.
        let refused = try await json(site, "\(root)/FeatureServer/2/query?f=json")
        let error = try #require(refused["error"] as? [String: Any])
        let message = "\(error["message"] ?? "")"
        #expect(message.hasPrefix("layer 2 'barred': \(server.url)"), "\(message)")
        #expect(message.contains("499: Token Required"))
        let found = try await json(
            site, "\(root)/MapServer/find?f=json&searchText=2/3&returnGeometry=false")
        let results = try #require(found["results"] as? [[String: Any]])
        #expect(results.compactMap { $0["layerId"] as? Int } == [1, 0])
        let failures = try #require(found["layerFailures"] as? [[String: Any]])
        #expect(failures.compactMap { $0["layerName"] as? String } == ["barred"])
        #expect(site.processIDs("cairn-worker --pool identify") == worker)
        #expect(try await site.client.workers().count == 1)
    }
}
