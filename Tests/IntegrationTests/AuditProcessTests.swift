// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import TestKit
import Testing

/// The audit of a running site, across the death of its gateway.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct AuditProcessTests {
    private static let service = "/arcgis/rest/services/Grid"
    private static let gateway = ["--audit", "all"]

    private func ask(_ port: Int, _ path: String, _ form: String? = nil) async throws -> String {
        let connection = try #require(Loopback(port: port))
        let body: String? = await withCheckedContinuation { continuation in
            // A blocking read has no place on the threads that tasks share.
            Thread.detachNewThread {
                if let form { connection.post(path, form) } else { connection.get(path) }
                continuation.resume(returning: connection.wholeAnswer()?.body)
            }
        }
        return try #require(body)
    }

    private func token(_ port: Int, _ user: String) async throws -> String {
        struct Body: Decodable { var token: String }
        let body = try await ask(
            port, "/arcgis/tokens/generateToken",
            "f=json&client=requestip&username=\(user)&password=a+good+password")
        return try JSONDecoder().decode(Body.self, from: Data(body.utf8)).token
    }

    private func cairn(
        _ site: IdentifySite, _ arguments: [String], input: String? = nil
    ) async throws -> Programs.Outcome {
        let outcome = try await Programs.run(arguments, site: site.files.path, input: input)
        #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return outcome
    }

    @Test func `the audit says who saw a feature, to those who may know, until it is redacted`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let site = try await IdentifySite(side: 5, workers: 1, gateway: Self.gateway)
        // Without rules everybody may do everything but this.
        #expect(try await ask(site.port, "/audit?f=json").contains("499"))
        for (user, grants) in [("alice", ["query:Grid"]), ("auditor", ["audit"])] {
            _ = try await cairn(
                site, ["user", "add", user] + grants.flatMap { ["--allow", $0] },
                input: "a good password\n")
        }
        try await site.until("the rules in force") { site in
            try await ask(site.port, Self.service + "/MapServer?f=json").contains("499")
        }
        let (alice, auditor) = (
            try await token(site.port, "alice"), try await token(site.port, "auditor")
        )
        let identify =
            Self.service + "/MapServer/identify?f=json&geometry=0.5,0.5&tolerance=0&layers=all"
            + "&mapExtent=0,0,100,100&imageDisplay=100,100,96"
        #expect(try await ask(site.port, identify + "&token=" + alice).contains("0/0"))
        // Refused, so it shows nothing.
        _ = try await ask(site.port, identify)
        let query = Self.service + "/FeatureServer/0/query?f=json&returnGeometry=false&outFields=*"
        for clause in ["row=0", "row=3"] {
            let body = try await ask(site.port, query + "&where=\(clause)&token=" + alice)
            #expect(body.contains("features"), "\(body)")
        }
        struct Hits: Decodable {
            struct Hit: Decodable { var attributes: [String: String] }
            var results: [Hit]
        }
        let hits = try JSONDecoder().decode(
            Hits.self,
            from: Data(try await ask(site.port, identify + "&token=" + alice).utf8))
        let id = try #require(
            hits.results.first?.attributes.first { $0.key.uppercased() == "OBJECTID" }?.value)

        // Nothing is lost with the gateway, and the past stays the past.
        try site.kill("cairn-gateway")
        _ = try await cairn(site, ["map", "remove", "Grid", "0"])
        let lines = try await cairn(site, ["audit", "--feature", "Grid/0/\(id)", "--json"]).output
            .split(separator: "\n").map {
                try CairnJSON.decode(AuditedLine.self, from: Data($0.utf8))
            }
        #expect(lines.map(\.operation) == ["identify", "query", "identify"])
        #expect(lines.allSatisfy { $0.user == "alice" && $0.address == "127.0.0.1" })
        #expect(lines.allSatisfy { $0.map == "Grid" && $0.sequence != nil })
        #expect(lines.first?.point == [0.5, 0.5, 0])
        #expect(lines.first?.shown?.first?.ids == [try #require(Int64(id))])
        let all = try await cairn(site, ["audit", "--user", "alice", "--json"])
        #expect(all.objects.count == 4)
        #expect(!all.output.contains(alice), "a token in the audit")

        try site.start("cairn-gateway", ["--port", "\(site.port)"] + Self.gateway)
        try await site.waitForGateway(site.port)
        let page = "/audit?f=json&feature=Grid/0/\(id)&token="
        #expect(try await ask(site.port, page + alice).contains("403"))
        struct Answer: Decodable { var entries: [AuditedLine] }
        let answer = try CairnJSON.decode(
            Answer.self, from: Data(try await ask(site.port, page + auditor).utf8))
        #expect(answer.entries == lines.reversed())
        let html = try await ask(site.port, "/audit?f=html&user=alice&token=" + auditor)
        #expect(html.contains("<td>alice</td>"), "\(html.prefix(2_000))")

        _ = try await cairn(site, ["audit", "verify"])
        let redacted = try await cairn(site, ["audit", "redact", "--user", "alice", "--json"])
        #expect(redacted.objects.first?["entryCount"] as? Int == 4)
        #expect(try await cairn(site, ["audit", "--user", "alice"]).output.isEmpty)
        let verified = try await cairn(site, ["audit", "verify", "--json"])
        #expect(verified.objects.first?["redactedCount"] as? Int == 4)
        let log = try await cairn(site, ["log", "tail", "-n", "1"]).output
        #expect(log.contains("4 entries of the audit redacted"), "\(log)")
        let left = try await cairn(site, ["audit", "--feature", "Grid/0/\(id)", "--json"])
        #expect(left.objects.count == 2 && !left.output.contains("alice"), "\(left.output)")
    }

    private struct AuditedLine: Decodable, Equatable {
        struct Shown: Decodable, Equatable { var layer: Int, ids: [Int64] }
        var at: Timestamp
        var sequence: Int64?
        var user: String?
        var address: String?
        var operation: String
        var map: String?
        var point: [Double]?
        var shown: [Shown]?
    }
}
