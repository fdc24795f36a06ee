// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Testing

/// Queries over HTTP through real processes; what is right follows from how the squares lie.
@Suite(.serialized, .timeLimit(.minutes(4))) struct QueryProcessTests {
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
        let connection = try #require(Loopback(port: site.port))
        let path = "/arcgis/rest/services/Grid/FeatureServer/0/query?f=json&" + parameters
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

        // Squares 0 to 4 of a row begin at or before 5.
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

    @Test func `a killed worker loses no query`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: Self.side, workers: 2)
        let parameters = "where=row%20%3E%203&outFields=*&resultRecordCount=500&orderByFields=name"
        let whole = try await ask(site, parameters)
        #expect(whole.count > 10_000)

        let answers = try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<30 { group.addTask { try await ask(site, parameters) } }
            try site.kill("cairn-identify")
            return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(answers.count == 30)
        for answer in answers { #expect(answer == whole) }
    }
}
