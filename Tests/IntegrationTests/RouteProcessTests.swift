// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Synchronization
import TestKit
import Testing

/// Routes over HTTP, on real processes: both faces give the route of `cairn route`.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct RouteProcessTests {
    /// A square of streets, with another that leads away from a corner.
    private static let streets = """
        <osm version="0.6">
        <node id="1" lat="42.500" lon="1.500"/><node id="2" lat="42.500" lon="1.510"/>
        <node id="3" lat="42.510" lon="1.510"/><node id="4" lat="42.510" lon="1.500"/>
        <node id="5" lat="42.500" lon="1.520"/>
        <way id="10"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/>
        <tag k="name" v="South Street"/></way>
        <way id="11"><nd ref="2"/><nd ref="3"/><tag k="highway" v="primary"/>
        <tag k="name" v="East Street"/></way>
        <way id="12"><nd ref="3"/><nd ref="4"/><tag k="highway" v="residential"/>
        <tag k="name" v="North Street"/></way>
        <way id="13"><nd ref="4"/><nd ref="1"/><tag k="highway" v="service"/>
        <tag k="name" v="West Street"/></way>
        <way id="14"><nd ref="2"/><nd ref="5"/><tag k="highway" v="residential"/>
        <tag k="name" v="Far Street"/></way>
        </osm>
        """

    private static func ask(_ port: Int, _ path: String) async throws -> [String: Any] {
        let body: String = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let connection = try #require(Loopback(port: port))
                        connection.get(path)
                        return try #require(connection.wholeAnswer()).body
                    })
            }
        }
        let json = try JSONSerialization.jsonObject(with: Data(body.utf8))
        return try #require(json as? [String: Any], "\(body)")
    }

    @Test func `both faces give the route of the command line`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try SmallSite()
        defer { site.remove() }
        let file = site.folder + "/streets.osm"
        try Self.streets.write(toFile: file, atomically: true, encoding: .utf8)
        let port = try Loopback.freePort()
        func run(_ text: String) async throws -> Programs.Outcome {
            let outcome = try await site.run(text)
            try #require(outcome.status == 0, "\(text): \(outcome.errors)")
            return outcome
        }
        _ = try await run("network build Streets \(file)")
        _ = try await run("up --detach --port \(port)")

        let listed = try await Self.ask(port, "/arcgis/rest/services?f=json")
        let services = try #require(listed["services"] as? [[String: Any]])
        #expect(
            services.contains {
                $0["name"] as? String == "Streets" && $0["type"] as? String == "NAServer"
            })

        let output = try await run("route 1.502,42.5 1.508,42.51 --json").output
        let answer = try CairnJSON.decode(RouteAnswer.self, from: Data(output.utf8))
        let best = try #require(answer.routes.first)
        #expect(best.length > 1500)

        let osrm = try await Self.ask(
            port, "/osrm/route/v1/driving/1.502,42.5;1.508,42.51?steps=true")
        let route = try #require((osrm["routes"] as? [[String: Any]])?.first, "\(osrm)")
        #expect(abs((route["distance"] as? Double ?? 0) - best.length) < 0.06)
        #expect(abs((route["duration"] as? Double ?? 0) - best.duration) < 0.06)
        let leg = try #require((route["legs"] as? [[String: Any]])?.first)
        let steps = try #require(leg["steps"] as? [[String: Any]])
        #expect(steps.compactMap { $0["name"] as? String }.contains("East Street"))
        let whole = steps.reduce(0.0) { $0 + ($1["distance"] as? Double ?? 0) }
        #expect(abs(whole - best.length) < 0.5)

        let solved = try await Self.ask(
            port,
            "/arcgis/rest/services/Streets/NAServer/Route/solve?stops=1.502,42.5;1.508,42.51"
                + "&accumulateAttributeNames=Kilometers&f=json")
        let routes = try #require(solved["routes"] as? [String: Any], "\(solved)")
        let feature = try #require((routes["features"] as? [[String: Any]])?.first)
        let attributes = try #require(feature["attributes"] as? [String: Any])
        let kilometres = try #require(attributes["Total_Kilometers"] as? Double)
        #expect(abs(kilometres * 1000 - best.length) < 1e-6)
        let directions = try #require((solved["directions"] as? [[String: Any]])?.first)
        let summary = try #require(directions["summary"] as? [String: Any])
        let minutes = try #require(summary["totalTime"] as? Double)
        #expect(abs(minutes * 60 - best.duration) < 1e-6)
        let texts = (directions["features"] as? [[String: Any]] ?? []).compactMap {
            ($0["attributes"] as? [String: Any])?["text"] as? String
        }
        #expect(texts == best.lines?.map(\.text))

        let table = try await Self.ask(
            port, "/osrm/Streets/table/v1/car/1.502,42.5;1.508,42.51?annotations=duration,distance")
        let distances = try #require(table["distances"] as? [[Double]], "\(table)")
        #expect(abs(distances[0][1] - best.length) < 0.06)
        _ = try await site.run("down")
    }

    @Test func `routes are answered while their network is built anew`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try SmallSite()
        defer { site.remove() }
        let file = site.folder + "/streets.osm"
        let port = try Loopback.freePort()
        func build(_ latitude: String) async throws {
            try Self.streets.replacing("lat=\"42.510\"", with: "lat=\"\(latitude)\"")
                .write(toFile: file, atomically: true, encoding: .utf8)
            let outcome = try await site.run("network build Streets \(file)")
            try #require(outcome.status == 0, "\(outcome.errors)")
        }
        @Sendable func length() async throws -> Double {
            let body = try await Self.ask(port, "/osrm/route/v1/driving/1.502,42.5;1.505,42.51")
            let route = try #require((body["routes"] as? [[String: Any]])?.first, "\(body)")
            return try #require(route["distance"] as? Double)
        }
        try await build("42.510")
        let up = try await site.run("up --detach --port \(port)")
        try #require(up.status == 0, "\(up.errors)")
        let first = try await length()
        let isOver = Atomic(false)
        let asked = Task {
            var lengths: Set<Double> = []
            repeat { lengths.insert(try await length()) } while !isOver.load(ordering: .relaxed)
            return lengths
        }
        // The upper streets are further away, and the place is on none any more.
        for latitude in ["42.520", "42.510", "42.520"] { try await build(latitude) }
        var last = first
        try await waitUntil("routes are those of the last network") {
            last = try await length()
            return abs(last - first) > 1
        }
        isOver.store(true, ordering: .relaxed)
        #expect(try await asked.value.isSubset(of: [first, last]))
        _ = try await site.run("down")
    }
}
