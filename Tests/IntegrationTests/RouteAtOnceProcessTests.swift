// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Site
import TestKit
import Testing

/// A gateway that answers routes itself beside one that sends everything to workers.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct RouteAtOnceProcessTests {
    private static let server = "/arcgis/rest/services/Town/NAServer"

    /// One answer, without the time of day.
    private struct Answer: Equatable {
        var head: [String]
        var body: String
    }

    private func ask(
        _ port: Int, _ path: String, _ form: String? = nil
    ) async throws -> Answer {
        let answer: (head: String, body: String)? = await withCheckedContinuation { continuation in
            // A blocking read has no place on the threads that tasks share.
            Thread.detachNewThread {
                let connection = Loopback(port: port)
                if let form { connection?.post(path, form) } else { connection?.get(path) }
                continuation.resume(returning: connection?.wholeAnswer())
            }
        }
        let (head, body) = try #require(answer, "\(path)")
        let lines = head.components(separatedBy: "\r\n").filter { !$0.hasPrefix("date:") }
        return Answer(head: lines.sorted(), body: body)
    }

    private func counts(_ port: Int) async throws -> (atOnce: Int, byWorkers: Int) {
        struct Health: Decodable {
            struct Counts: Decodable { var answeredAtOnce: Int, sentToWorkers: Int }
            var routes: Counts
        }
        let body = try await ask(port, "/healthz").body
        let health = try JSONDecoder().decode(Health.self, from: Data(body.utf8))
        return (health.routes.answeredAtOnce, health.routes.sentToWorkers)
    }

    private func until(
        _ what: String, _ condition: () async throws -> Bool
    ) async throws {
        let end = ContinuousClock.now + .seconds(40)
        while try await !condition() {
            try #require(ContinuousClock.now < end, "no \(what)")
        }
    }

    /// A possible URL, sensible or not.
    private static func url(_ random: inout SeededGenerator) -> String {
        func chance(_ part: Double) -> Bool { .random(in: 0..<1, using: &random) < part }
        func places(_ count: Int) -> String {
            (0..<count).map { _ in
                let x = Double.random(in: 12.998...13.018, using: &random)
                let y = Double.random(in: 50.998...51.010, using: &random)
                return String(format: "%.6f,%.6f", chance(0.02) ? x + 90 : x, y)
            }.joined(separator: ";")
        }
        let count = chance(0.7) ? 2 : Int.random(in: 1...12, using: &random)
        var options: [String] = []
        func add(_ part: Double, _ option: String) { if chance(part) { options.append(option) } }
        let profile = ["driving", "car", "nowhere"][chance(0.9) ? 0 : chance(0.8) ? 1 : 2]
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5:
            add(0.5, "steps=true")
            add(0.7, "overview=" + ["full", "false"][chance(0.5) ? 0 : 1])
            add(0.5, "geometries=geojson")
            add(0.2, "annotations=true")
            add(0.1, "alternatives=true")
            add(0.1, "continue_straight=true")
            add(0.1, "exclude=" + ["ferry", "toll", "moon"][Int.random(in: 0...2, using: &random)])
            add(0.1, "radiuses=" + [String](repeating: "30", count: count).joined(separator: ";"))
            return "/osrm/Town/route/v1/\(profile)/\(places(count))?"
                + options.joined(separator: "&")
        case 5:
            add(0.5, "number=\(Int.random(in: 1...5, using: &random))")
            return "/osrm/Town/nearest/v1/\(profile)/\(places(1))?"
                + options.joined(separator: "&")
        case 6:
            add(0.3, "annotations=duration,distance")
            add(0.3, "sources=0")
            return "/osrm/Town/table/v1/\(profile)/\(places(count))?"
                + options.joined(separator: "&")
        default:
            options = ["f=json", "stops=" + places(count)]
            add(0.3, "returnRoutes=true")
            add(0.3, "returnStops=true")
            add(0.3, "returnDirections=false")
            add(0.2, "findBestSequence=true")
            add(0.2, "restrictUTurns=esriNFSBNoBacktrack")
            add(0.1, "startTime=1796000000000")
            add(0.1, "directionsLanguage=de")
            add(0.1, "barriers=13.003,51.0045")
            add(0.1, "outSR=3857")
            return Self.server + "/Route/solve?" + options.joined(separator: "&")
        }
    }

    /// The answers of both gateways to many requests.
    private func compare(
        _ port: Int, _ other: Int, count: Int, _ random: inout SeededGenerator
    ) async throws {
        var differences: [String] = []
        for _ in 0..<count {
            let url = Self.url(&random)
            let (first, second) = (try await ask(port, url), try await ask(other, url))
            if first != second { differences.append("\(url): \(first) and \(second)") }
        }
        #expect(differences.isEmpty, "\(differences.count): \(differences.prefix(2))")
    }

    @Test func `answers are the same from gateway and workers, whatever the roads are like`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let files = try TestSite()
        defer { files.end() }
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../deploy/sample/town.osm").standardized.path()
        let (port, other) = (try Loopback.freePort(), try Loopback.freePort())
        for name in ["cairn-logd", "cairn-supervisor", "cairn-mapstate"] {
            _ = try files.start(name, [], environment: [:])
        }
        let built = try await Programs.run(["network", "build", "Town", file], site: files.path)
        try #require(built.status == 0, "\(built.errors)")
        _ = try files.start("cairn-worker", ["--pool", "router"], environment: [:])
        _ = try files.start("cairn-gateway", ["--port", "\(port)"], environment: [:])
        _ = try files.start(
            "cairn-gateway", ["--port", "\(other)", "--no-identify-at-once"], environment: [:])
        let probe = "/osrm/Town/route/v1/driving/13.0001,51.0002;13.0061,51.0089?overview=false"
        func settled(_ text: String) async throws {
            try await until("one state of both gateways") {
                guard Loopback(port: port) != nil, Loopback(port: other) != nil else {
                    return false
                }
                let (first, second) = (try await ask(port, probe), try await ask(other, probe))
                let atOnce = try await counts(port).atOnce
                _ = try await ask(port, probe)
                let after = try await counts(port).atOnce
                return first == second && first.body.contains(text) && after > atOnce
            }
        }
        try await settled("\"Ok\"")
        try await compare(port, other, count: 150, &random)
        for round in 0..<6 {
            let order = [
                "close?geometry=13.0030,51.0045", "slow?way=1009&speed=2",
                "close?way=100\(Int.random(in: 1...9, using: &random))",
            ][round % 3]
            let parts = order.components(separatedBy: "?")
            let changed = try await ask(
                port, Self.server + "/roads/" + parts[0], "f=json&" + parts[1])
            // The next answer of the same gateway knows it, wherever it comes from.
            let number = try #require(
                (try JSONSerialization.jsonObject(with: Data(changed.body.utf8))
                    as? [String: Any])?["number"] as? Int, "\(changed.body)")
            let known = try await ask(port, probe)
            let sequence = known.head.first { $0.hasPrefix("x-cairn-sequence:") }
            let text = sequence?.components(separatedBy: ":").last ?? ""
            #expect(Int(text.trimmingCharacters(in: .whitespaces)) ?? 0 >= number, "\(known)")
            try await settled("\"code\"")
            try await compare(port, other, count: 40, &random)
            if round % 2 == 1 {
                _ = try await ask(port, Self.server + "/roads/undo", "f=json&changes=\(number)")
                try await settled("\"code\"")
                try await compare(port, other, count: 20, &random)
            }
        }
        let (own, others) = (try await counts(port), try await counts(other))
        #expect(own.atOnce > 200 && own.byWorkers > 20, "\(own) (seed \(seed))")
        #expect(others.atOnce == 0 && others.byWorkers > 200, "\(others) (seed \(seed))")
        try await layers(files, port) { try await settled("\"Ok\"") }
        try await permissions(files, port, other, &random)
    }

    /// Where roads follow a layer a router waits for a sequence number, and the gateway does not
    /// answer in its place.
    private func layers(
        _ files: TestSite, _ port: Int, settled: () async throws -> Void
    ) async throws {
        let url = Self.server + "/Route/solve?f=json&stops=13.0001,51.0002;13.0061,51.0089"
        let before = try await counts(port)
        _ = try await ask(port, url + "&minSequence=1")
        #expect(try await counts(port).atOnce == before.atOnce + 1)
        for arguments in [
            ["map", "create", "Floods"],
            ["map", "add-graphics", "Floods", "water", "--sr", "4326"],
        ] {
            let outcome = try await Programs.run(arguments, site: files.path)
            try #require(outcome.status == 0, "\(outcome.errors)")
        }
        let rule = try await ask(
            port, Self.server + "/roads/follow", "f=json&layer=Floods/water&effect=close")
        try #require(rule.body.contains("\"success\":true"), "\(rule.body)")
        try await settled()
        let known = try await counts(port)
        _ = try await ask(port, url + "&minSequence=1")
        let after = try await counts(port)
        #expect(after.atOnce == known.atOnce && after.byWorkers == known.byWorkers + 1)
    }

    /// Callers without the permission are refused by both, alike.
    private func permissions(
        _ files: TestSite, _ port: Int, _ other: Int, _ random: inout SeededGenerator
    ) async throws {
        let made = try await Programs.run(["map", "create", "Elsewhere"], site: files.path)
        try #require(made.status == 0, "\(made.errors)")
        let added = try await Programs.run(
            ["user", "add", "reader", "--allow", "query:Elsewhere"], site: files.path,
            input: "long enough for reader\n")
        try #require(added.status == 0, "\(added.errors)")
        try await until("a refusal") {
            let first = try await ask(port, Self.server + "?f=json")
            let second = try await ask(other, Self.server + "?f=json")
            return first.body.contains("\"error\"") && second.body.contains("\"error\"")
        }
        let before = try await counts(port)
        try await compare(port, other, count: 40, &random)
        let after = try await counts(port)
        let isUnchanged = after == before
        #expect(isUnchanged, "a route was searched without a permission")
    }
}
