// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import TestKit
import Testing

/// A gateway that answers clicks itself beside one that sends everything to workers.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct AtOnceProcessTests {
    private static let side = 30

    /// One answer, without the time of day.
    private struct Answer: Equatable {
        var head: [String]
        var body: String
    }

    private func ask(_ connection: Loopback, _ path: String) async throws -> Answer {
        let answer: (head: String, body: String)? = await withCheckedContinuation { continuation in
            // A blocking read has no place on the threads that tasks share.
            Thread.detachNewThread {
                connection.get(path)
                continuation.resume(returning: connection.wholeAnswer())
            }
        }
        let (head, body) = try #require(answer)
        let lines = head.components(separatedBy: "\r\n").filter { !$0.hasPrefix("date:") }
        return Answer(head: lines.sorted(), body: body)
    }

    private func counts(_ port: Int) async throws -> (atOnce: Int, byWorkers: Int) {
        struct Health: Decodable {
            struct Counts: Decodable { var answeredAtOnce: Int, sentToWorkers: Int }
            var identify: Counts
        }
        let body = try await ask(try #require(Loopback(port: port)), "/healthz").body
        let health = try JSONDecoder().decode(Health.self, from: Data(body.utf8))
        return (health.identify.answeredAtOnce, health.identify.sentToWorkers)
    }

    /// A possible URL, sensible or not; `isAhead` of a moment that has not been, for which answers
    /// wait a second.
    private func url(
        _ site: IdentifySite, isAhead: Bool, _ random: inout SeededGenerator
    ) -> String {
        func chance(_ part: Double) -> Bool { .random(in: 0..<1, using: &random) < part }
        let width = Double(Self.side) * 1.2
        let x = Double.random(in: -1...width, using: &random)
        let y = Double.random(in: -1...width, using: &random)
        var parts = ["geometry": "\(x),\(y)", "tolerance": chance(0.5) ? "0" : "1"]
        parts["mapExtent"] = "0,0,100,100"
        parts["imageDisplay"] = "100,100,96"
        parts["timeout"] = "60"
        parts["layers"] = ["all", "top", "visible", "all:7", "all:0"].randomElement(using: &random)
        parts["returnGeometry"] = chance(0.5) ? "true" : "false"
        if chance(0.1) { parts["geometry"] = "\(x),\(y),\(x + 3),\(y + 3)" }
        if chance(0.1) {
            parts["tolerance"] = ["-1", "1e9", "500", "x"].randomElement(using: &random)
        }
        if chance(0.1) { parts["layerDefs"] = chance(0.5) ? "0:row>5" : "0:nothing>5" }
        if chance(0.1) { parts["sr"] = ["4326", "2154", "999999"].randomElement(using: &random) }
        if chance(0.1) { parts["explain"] = "true" }
        if isAhead {
            parts["at"] = "\(Int.random(in: 5...6, using: &random))"
        } else if chance(0.1) {
            parts["at"] = "\(Int.random(in: 0...4, using: &random))"
        }
        if chance(0.1) { parts["minSequence"] = chance(0.7) ? "2" : "-3" }
        if chance(0.1) { parts["returnUnformattedValues"] = "true" }
        if chance(0.05) { parts["maxAllowableOffset"] = "0.5" }
        if chance(0.05) { parts["imageDisplay"] = nil }
        let map = chance(0.05) ? "Nowhere" : site.map.rawValue
        return "/arcgis/rest/services/\(map)/MapServer/identify?"
            + parts.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: "&")
    }

    @Test func `answers are the same from gateway and workers, and know what they must`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        // Even on a slow machine a click takes less than that.
        let site = try await IdentifySite(side: Self.side, gateway: ["--click-limit", "100000"])
        let other = try Loopback.freePort()
        try site.start("cairn-gateway", ["--port", "\(other)", "--no-identify-at-once"])
        try await site.waitForGateway(other)
        try await compare(site, other)
        try await readOwnWrites(site)
    }

    private func compare(_ site: IdentifySite, _ other: Int) async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        // Until both have read all that there is.
        let probe = site.path + "?" + site.form(x: 1, y: 1)
        try await site.until("one state of both gateways") { site in
            let first = try await ask(try #require(Loopback(port: site.port)), probe)
            let second = try await ask(try #require(Loopback(port: other)), probe)
            return first == second && first.body.contains("1/1")
        }
        let (here, there) = (
            try #require(Loopback(port: site.port)), try #require(Loopback(port: other))
        )
        var differences: [String] = []
        for number in 0..<600 {
            let url = url(site, isAhead: number % 200 == 100, &random)
            let (first, second) = (try await ask(here, url), try await ask(there, url))
            if first != second { differences.append("\(url): \(first) and \(second)") }
        }
        #expect(differences.isEmpty, "\(differences.prefix(3)) (seed \(seed))")
        // A dataset that a click lacked is opened in the background.
        try await site.until("answers at once") { site in
            _ = try await ask(here, probe)
            return try await counts(site.port).atOnce > 10
        }
        let (own, others) = (try await counts(site.port), try await counts(other))
        #expect(own.byWorkers > 20, "\(own) (seed \(seed))")
        #expect(others.atOnce == 0 && others.byWorkers > 400, "\(others) (seed \(seed))")
    }

    /// A client that has the result of a change reads it.
    private func readOwnWrites(_ site: IdentifySite) async throws {
        let connection = try #require(Loopback(port: site.port))
        let form = site.form(x: 3, y: 4).replacing("layers=all", with: "layers=visible")
        for round in 0..<40 {
            let isVisible = round % 2 == 1
            let result = try await site.client.command(
                map: site.map, .setVisibility(layer: 0, isVisible: isVisible))
            let url = site.path + "?\(form)&minSequence=\(result.sequence)"
            var body = ""
            // On a slow machine the change may take longer to arrive than an identify waits for it.
            try await site.until("an answer that knows the change") { _ in
                body = try await ask(connection, url).body
                return !body.contains("\"error\"")
            }
            #expect(body.contains("3/4") == isVisible)
        }
    }
}
