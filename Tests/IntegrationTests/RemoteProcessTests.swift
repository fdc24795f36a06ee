// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import Foundation
import TestKit
import Testing

/// One identify over layers of the site and of other servers, good and bad, as real processes do
/// it.
@Suite(.serialized, .timeLimit(.minutes(5)), .processes) struct RemoteProcessTests {
    private let site: SmallSite
    private let server: PlayedServer

    init() throws {
        site = try SmallSite()
        server = try PlayedServer()
    }

    /// A point of the played feature service, in degrees: 5000 and 6007000 in Web Mercator.
    private static let place = (x: 0.044915764205976, y: 47.396_288_256_609_14)
    private static let number = 7 * 20 + 5
    private static let screen =
        (extent: "-0.5,47,0.5,47.75", size: "1000,750,96", tolerance: 5)

    /// Kinds of layers: its name, how it is added after the map, and the load state it comes to.
    private static let layers: [(name: String, command: String, status: String)] = [
        ("answers", "add-wms World answers URL/wms --layer roads", "loaded"),
        ("guarded", "add-wms World guarded URL/guarded --layer roads --credential geo", "loaded"),
        ("service", "add-service World service URL/arcgis/rest/MapServer", "loaded"),
        (
            "token", "add-service World token URL/arcgis/guarded/MapServer --credential token",
            "loaded"
        ),
        ("features", "add-service World features URL/arcgis/rest/FeatureServer/0", "loaded"),
        ("tiles", "add-service World tiles URL/tiles/{z}/{x}/{y}.png", "loaded"),
        (
            "barred", "add-wms World barred URL/guarded --layer roads --credential bad",
            "failedToLoad"
        ),
        ("absent", "add-wms World absent URL/nowhere --layer roads", "failedToLoad"),
        ("hangs", "add-wms World hangs URL/half --layer roads", "loaded"),
        ("trickles", "add-wms World trickles URL/trickle --layer roads", "loaded"),
        ("floods", "add-wms World floods URL/flood --layer roads", "loaded"),
        ("expired", "add-wms World expired URL/guarded --layer roads --credential old", "loaded"),
    ]

    private func run(_ text: String, input: String? = nil) async throws -> [[String: Any]] {
        let outcome = try await site.run(text, input: input)
        try #require(outcome.status == 0, "\(text): \(outcome.errors)")
        return outcome.objects
    }

    /// A site that is up, with the map `World`: one square and one layer of each kind.
    private func start(_ port: Int) async throws {
        let square =
            #"{"type":"Feature","properties":{"name":"here"},"geometry":{"type":"Polygon","#
            + #""coordinates":[[[-5,41],[10,41],[10,52],[-5,52],[-5,41]]]}}"#
        try site.write("square", [square])
        _ = try await run("up --create --detach --port \(port) --identify-workers 1")
        _ = try await run("import \(site.folder)/square.geojson --map World")
        _ = try await run("credential set geo --user user", input: "geheim\n")
        _ = try await run("credential set old --user user", input: "geheim\n")
        _ = try await run("credential set bad --user user", input: "falsch\n")
        _ = try await run("credential set token", input: "geheim\n")
        for layer in Self.layers {
            _ = try await run(
                "map " + layer.command.replacingOccurrences(of: "URL", with: server.url))
        }
    }

    /// The layers of the map by name, once none is on its way.
    private func settled() async throws -> [String: [String: Any]] {
        let end = ContinuousClock.now + .seconds(120)
        while true {
            let map = try #require(try await run("map show World --json").first)
            let layers = try #require(map["layers"] as? [[String: Any]])
            let states = layers.compactMap { $0["loadStatus"] as? String }
            if states.allSatisfy({ $0 == "loaded" || $0 == "failedToLoad" }), layers.count == 13 {
                return Dictionary(
                    layers.map { ($0["name"] as? String ?? "", $0) }, uniquingKeysWith: { $1 })
            }
            try #require(ContinuousClock.now < end, "\(states)")
        }
    }

    private func memoryPeak(_ process: Int) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return try #require(line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) })
    }

    @Test func `one identify spans the site and other servers, and names the one that failed`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        defer { site.remove() }
        let port = try Loopback.freePort()
        try await start(port)

        let layers = try await settled()
        for layer in Self.layers {
            #expect(layers[layer.name]?["loadStatus"] as? String == layer.status, "\(layer.name)")
        }
        for name in ["barred", "absent"] {
            let error = "\(layers[name]?["loadError"] ?? "")"
            #expect(error.contains(server.url), "\(name): \(error)")
            #expect(!error.contains("falsch"))
        }
        // The credential that was valid when the layer was loaded is not any more.
        _ = try await run("credential set old --user user", input: "falsch\n")

        let worker = try await worker()
        let before = try memoryPeak(worker)
        try await throughTheCommand()
        try await throughTheGateway(port)
        // A gigabyte is sent again and again to one worker, which keeps little of it.
        for _ in 0..<8 { #expect(try ask(port)["layerFailures"] != nil) }
        let after = try memoryPeak(worker)
        print("identify worker: VmHWM \(before) kB, after ten answers of 1 GiB \(after) kB")
        #expect(after - before < 256 << 10)
        #expect(try await site.run("down").status == 0)
    }

    /// Top first; what has a hit.
    private static let found = [
        "features", "token", "token", "service", "service", "guarded", "answers", "square",
    ]
    private static let failed = ["expired", "floods", "trickles", "hangs"]

    private func throughTheCommand() async throws {
        let place = Self.place
        let answer = try #require(
            try await run(
                "identify --map World --point \(place.x),\(place.y) --layers all --explain --json "
                    + "--extent=\(Self.screen.extent) --size \(Self.screen.size) "
                    + "--tolerance \(Self.screen.tolerance) --timeout 60"
            ).first)

        let tree = try #require(answer["layers"] as? [[String: Any]])
        let names = tree.compactMap { $0["layerName"] as? String }
        #expect(names == ["features", "token", "service", "guarded", "answers", "square"])
        let features = try #require(tree[0]["results"] as? [[String: Any]])
        #expect(features.compactMap { $0["objectID"] as? Int } == [Self.number + 1])

        let failures = try #require(answer["failures"] as? [[String: Any]])
        #expect(failures.compactMap { $0["layerName"] as? String } == Self.failed)
        let codes = failures.compactMap { ($0["error"] as? [String: Any])?["code"] as? String }
        #expect(codes == ["unreadable", "tooLarge", "timedOut", "timedOut"])

        let explained = try #require(answer["explanation"] as? [String: Any])
        var reasons: [String: String] = [:]
        for layer in explained["layers"] as? [[String: Any]] ?? [] {
            reasons[layer["layerName"] as? String ?? ""] = layer["reason"] as? String
        }
        #expect(reasons["barred"] == "failedToLoad" && reasons["absent"] == "failedToLoad")
        #expect(reasons["tiles"] == "tiled" && reasons["hangs"] == "remoteFailed")
        #expect(reasons["answers"] == nil && reasons["square"] == nil)
    }

    /// The body of an identify over HTTP.
    private func ask(_ port: Int) throws -> [String: Any] {
        let form =
            "geometry=\(Self.place.x),\(Self.place.y)&layers=all&mapExtent=\(Self.screen.extent)"
            + "&imageDisplay=\(Self.screen.size)&tolerance=\(Self.screen.tolerance)"
            + "&returnGeometry=false&timeout=60"
        let connection = try #require(Loopback(port: port))
        connection.post("/arcgis/rest/services/World/MapServer/identify", form)
        let body = try #require(connection.answer())
        return try #require(
            try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
    }

    private func throughTheGateway(_ port: Int) async throws {
        let body = try ask(port)

        let results = try #require(body["results"] as? [[String: Any]])
        #expect(results.count == Self.found.count)
        // For a service with several layers a result has the name of its layer there.
        #expect(results.compactMap { $0["layerName"] as? String }.last == "square")
        let failures = try #require(body["layerFailures"] as? [[String: Any]])
        #expect(failures.compactMap { $0["layerName"] as? String } == Self.failed)
        for failure in failures {
            let message = failure["message"] as? String ?? ""
            #expect(message.hasPrefix(server.url) && !message.contains("falsch"), "\(message)")
        }
        let error = failures.first?["code"] as? Int
        #expect(error == 400 && body["error"] == nil)
    }

    private func worker() async throws -> Int {
        let status = try await run("status --json")
        let worker = status.first {
            $0["role"] as? String == "identify" && $0["state"] as? String == "running"
        }
        return try #require(worker?["pid"] as? Int)
    }
}
