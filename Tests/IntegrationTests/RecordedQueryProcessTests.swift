// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Geometry
import TestKit
import Testing

/// Queries and finds that real processes answered while features were edited, re-executed by `cairn
/// replay`.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct RecordedQueryProcessTests {
    private static let root = "/arcgis/rest/services/Grid"

    private struct Line: Decodable {
        var operation: String, process: String, sequence: Int64, form: Int, datasets: [String]?
    }

    /// Everything is recorded, by a gateway that answers in line what it can and by one that sends
    /// everything to a worker.
    private func makeSite() async throws -> (site: IdentifySite, ports: [Int]) {
        let site = try await IdentifySite(side: 8, workers: 0, gateway: ["--record", "all"])
        try site.start("cairn-worker --pool identify", ["--record", "all"])
        try await site.waitForWorkers(1)
        let port = try Loopback.freePort()
        try site.start(
            "cairn-gateway", ["--port", "\(port)", "--no-identify-at-once", "--record", "all"])
        try await site.waitForGateway(port)
        return (site, [site.port, port])
    }

    private func ask(_ port: Int, _ path: String) async throws -> String {
        let connection = try #require(Loopback(port: port))
        let answer: (head: String, body: String)? = await withCheckedContinuation { continuation in
            // A blocking read has no place on the threads that tasks share.
            Thread.detachNewThread {
                connection.get(path)
                continuation.resume(returning: connection.wholeAnswer())
            }
        }
        return try #require(answer).body
    }

    private static let questions = [
        "/FeatureServer/0/query?f=json&where=1%3D1&outFields=*",
        "/FeatureServer/0/query?f=geojson&where=row%20%3E%203&outSR=4326",
        "/FeatureServer/0/query?f=json&where=name%20LIKE%20'%25/1'&returnIdsOnly=true",
        "/FeatureServer/0/query?f=json&geometry=0,0,5,5&returnCountOnly=true",
        "/FeatureServer/0/query?f=json&geometry=0,0,5,5&spatialRel=esriSpatialRelContains",
        "/MapServer/0/query?f=json&groupByFieldsForStatistics=row&outStatistics="
            + "[%7B%22statisticType%22:%22count%22,%22onStatisticField%22:%22name%22,"
            + "%22outStatisticFieldName%22:%22n%22%7D]",
        "/FeatureServer/0/query?f=json&where=1%3D1&returnExtentOnly=true",
        "/FeatureServer/0/query?f=json&where=1%3D1&orderByFields=name%20DESC&resultRecordCount=7",
        "/MapServer/find?f=json&searchText=1&layers=0",
        "/MapServer/find?f=json&searchText=3/3&contains=false&returnGeometry=false",
    ]

    /// Repeats a cheap query until the gateway answers it itself; returns the number of attempts.
    private func askAtOnce(_ site: IdentifySite) async throws -> Int {
        struct Health: Decodable {
            struct Counts: Decodable { var answeredAtOnce: Int }
            var query: Counts
        }
        var count = 0
        try await site.until("an answer of the gateway's own") { site in
            let answer = try await ask(
                site.port, Self.root + "/FeatureServer/0/query?f=json&returnCountOnly=true")
            #expect(answer == #"{"count":64}"#)
            count += 1
            let health = try await ask(site.port, "/healthz")
            return try JSONDecoder().decode(Health.self, from: Data(health.utf8))
                .query.answeredAtOnce > 0
        }
        return count
    }

    private func square(_ x: Double, _ name: String) -> FeatureDraft {
        let ring = [(0.0, 0.0), (0, 1), (1, 1), (1, 0), (0, 0)].map {
            Coordinate(x: x + $0.0, y: 2 + $0.1)
        }
        return FeatureDraft(
            shape: .polygon(rings: [ring]),
            attributes: Attributes([.init(name: "name", value: .string(name))]))
    }

    private func lines(_ site: IdentifySite) throws -> [String] {
        let folder = site.files.path + "/recordings"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return try names.sorted().flatMap { name in
            try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
                .split(separator: "\n").map(String.init)
        }
    }

    @Test func `a query over edits is answered again, and a forged answer is found`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let (site, ports) = try await makeSite()
        let opened = try await site.client.command(
            map: site.map, .setEditable(layer: 0, isEditable: true))
        var asked = try await askAtOnce(site)
        var last = opened.sequence
        for round in 0..<4 {
            for port in ports {
                for question in Self.questions {
                    let past = round == 3 ? "&at=\(opened.sequence)" : "&minSequence=\(last)"
                    let body = try await ask(port, Self.root + question + past)
                    #expect(!body.contains("\"error\""), "\(question): \(body.prefix(200))")
                    asked += 1
                }
                let items = try await ask(port, "/ogc/collections/Grid.0/items?f=json&limit=5")
                #expect(items.contains("numberMatched"))
                // The count is a query of its own, which is not recorded.
                asked += 1
                // A refused request is not recorded.
                let refused = try await ask(
                    port, Self.root + "/FeatureServer/0/query?f=json&where=nothing%20%3D%201")
                #expect(refused.contains("\"error\""))
            }
            let edits = FeatureEdits(
                adds: [square(Double(20 + round), "new/\(round)")],
                deletes: [Int64(round + 1)])
            last = try await site.client.command(
                map: site.map, .editFeatures(layer: 0, edits: edits)
            ).sequence
        }
        // Another thread of each process writes.
        try await site.until("\(asked) lines") { try lines($0).count >= asked }

        let written = try lines(site)
        let told = try written.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        #expect(
            told.count == asked && told.allSatisfy { $0.form == ($0.operation == "find" ? 3 : 2) })
        #expect(Set(told.map(\.operation)) == ["query", "find"])
        #expect(Set(told.map(\.process)) == ["cairn-gateway", "cairn-identify"])
        #expect(Set(told.map(\.sequence)).count >= 4)
        #expect(told.contains { $0.datasets?.count == 1 })

        let same = try await Programs.run(["replay", "--compare", "--json"], site: site.files.path)
        #expect(same.status == 0, "\(same.output.prefix(2_000)) \(same.errors)")
        let summary = try #require(
            try JSONSerialization.jsonObject(with: Data(same.output.utf8)) as? [String: Any])
        #expect(summary["comparedCount"] as? Int == asked)
        #expect(summary["differingCount"] as? Int == 0)
        #expect(summary["incomparableCount"] as? Int == 0)

        try await forge(site, written)
    }

    @Test func `a request answered from a log that a restore replaced is passed over and named`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 2, workers: 0, gateway: ["--record", "all"])
        let question = Self.root + "/FeatureServer/0/query?f=json&where=1%3D1&outFields=*"
        struct Named: Decodable { var incarnation: String?, sequence: Int }
        func named() throws -> [Named] {
            try lines(site).map { try JSONDecoder().decode(Named.self, from: Data($0.utf8)) }
        }
        try site.start("cairn-worker --pool identify", ["--record", "all"])
        try await site.waitForWorkers(1)
        // A process identifies its log after the first head, within half a second of its start.
        try await site.until("a line that names its log") { site in
            _ = try await ask(site.port, question)
            return try named().last?.incarnation != nil
        }
        let opened = try await site.client.command(
            map: site.map, .setEditable(layer: 0, isEditable: true))
        let copy = site.files.path + "/backup.sqlite"
        #expect(try await Programs.run(["log", "backup", copy], site: site.files.path).status == 0)
        let edited = try await site.client.command(
            map: site.map, .editFeatures(layer: 0, edits: FeatureEdits(deletes: [1])))
        #expect(edited.sequence > opened.sequence)
        _ = try await ask(site.port, question + "&minSequence=\(edited.sequence)")
        try await site.until("its line") { _ in
            try named().contains { $0.sequence >= edited.sequence && $0.incarnation != nil }
        }
        let lost = try named().filter { $0.sequence >= edited.sequence }.count
        for name in [
            "cairn-gateway", "cairn-worker --pool identify", "cairn-mapstate", "cairn-supervisor",
        ] {
            try site.kill(name)
        }
        try site.kill("cairn-logd")
        #expect(
            try await Programs.run(["log", "restore", copy], site: site.files.path).status == 0)

        let found = try await Programs.run(
            ["replay", "--compare", "--json"], site: site.files.path)
        #expect(found.status == 0, "\(found.output.prefix(2_000)) \(found.errors)")
        let summary = try #require(
            try JSONSerialization.jsonObject(with: Data(found.output.utf8)) as? [String: Any])
        let others = try #require(summary["otherIncarnations"] as? [String: Int])
        #expect(others == [try #require(named().last?.incarnation): lost] && lost > 0)
        #expect(summary["comparedCount"] as? Int == (try named().count - lost))
        let text = try await Programs.run(["replay", "--compare"], site: site.files.path)
        #expect(text.output.contains("passed over: \(lost) of another incarnation of the log, "))
    }

    /// Changes one name in one answer of each operation, and the digest with it.
    private func forge(_ site: IdentifySite, _ written: [String]) async throws {
        for (operation, old) in [("query", #"\"name\":\"0/5\""#), ("find", #"\"value\":\"3/3\""#)] {
            let line = try #require(
                written.first { $0.contains("\"operation\":\"\(operation)\"") && $0.contains(old) })
            let forged = line.replacing(
                old, with: old.replacing("5", with: "8").replacing("3", with: "7")
            )
            .replacing(/"answerDigest":"[0-9a-f]{4}/, with: #""answerDigest":"0000"#)
            let path = site.files.path + "/forged.jsonl"
            try (forged + "\n").write(toFile: path, atomically: true, encoding: .utf8)

            let found = try await Programs.run(
                ["replay", "--compare", "--json", "--requests", path], site: site.files.path)

            #expect(found.status == 1, "\(found.output) \(found.errors)")
            let first = try #require(found.output.split(separator: "\n").first)
            let difference = try #require(
                try JSONSerialization.jsonObject(with: Data(first.utf8)) as? [String: Any])
            #expect(difference["cause"] as? String == "recordingChanged")
            #expect(difference["operation"] as? String == operation)
            let changes = try #require(difference["changes"] as? [[String: Any]])
            #expect(changes.count == 1)
            #expect(changes[0]["after"] as? String == (operation == "query" ? "0/5" : "3/3"))
            let place = try #require(changes[0]["path"] as? [String])
            #expect(place.first == (operation == "query" ? "features" : "results"))
            #expect(place.last == (operation == "query" ? "name" : "value"))
        }
    }
}
