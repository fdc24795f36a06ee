// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnClient
import CairnModel
import Foundation
import Site
import TestKit
import Testing

/// Changes of roads in a running site and in one that is down, through the command line.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct RoadProcessTests {
    /// A square of streets with a shorter one through it: nodes 1 to 4 are its corners, way 12 the
    /// direct way from 1 to 2.
    private static let extract = """
        <osm version="0.6">
        <node id="1" lat="0" lon="0"/><node id="2" lat="0" lon="0.01"/>
        <node id="3" lat="0.003" lon="0"/><node id="4" lat="0.003" lon="0.01"/>
        <node id="5" lat="0" lon="-0.002"/><node id="6" lat="0" lon="0.012"/>
        <way id="11"><nd ref="5"/><nd ref="1"/><tag k="highway" v="residential"/>\
        <tag k="name" v="West Street"/></way>
        <way id="12"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/>\
        <tag k="name" v="Main Street"/></way>
        <way id="13"><nd ref="1"/><nd ref="3"/><nd ref="4"/><nd ref="2"/>\
        <tag k="highway" v="residential"/><tag k="name" v="Ring"/></way>
        <way id="14"><nd ref="2"/><nd ref="6"/><tag k="highway" v="residential"/>\
        <tag k="name" v="East Street"/></way>
        </osm>
        """
    private static let stops = ["-0.0015,0", "0.0115,0"]

    private func built() async throws -> SmallSite {
        let site = try SmallSite()
        let source = site.folder + "/square.osm"
        try Self.extract.write(toFile: source, atomically: true, encoding: .utf8)
        let built = try await run(site, "network", "build", "Square", source, "--modes", "car,foot")
        try #require(built.status == 0, "\(built.errors)")
        return site
    }

    private func run(_ site: SmallSite, _ arguments: String...) async throws -> Programs.Outcome {
        try await Programs.run(arguments, site: site.path)
    }

    private func change(_ site: SmallSite, _ arguments: String...) async throws -> Int {
        let outcome = try await Programs.run(["road"] + arguments + ["--json"], site: site.path)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try #require(outcome.objects.first?["number"] as? Int)
    }

    /// The routes of an answer as text, without the sequence number that it was given at.
    private func route(_ site: SmallSite, _ more: String...) async throws -> (String, Double) {
        let outcome = try await Programs.run(
            ["route"] + Self.stops + more + ["--json"], site: site.path)
        try #require(outcome.status == 0, "\(outcome.errors)")
        let answer = try #require(outcome.objects.first)
        let routes = try #require(answer["routes"] as? [[String: Any]])
        let bytes = try JSONSerialization.data(withJSONObject: routes, options: .sortedKeys)
        return (
            String(decoding: bytes, as: UTF8.self),
            try #require(routes.first?["length"] as? Double)
        )
    }

    private func text(_ site: SmallSite, at sequence: Int) async throws -> String {
        let outcome = try await Programs.run(
            ["route"] + Self.stops + ["--at", "\(sequence)", "--json"], site: site.path)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.output
    }

    @Test func `a closed road is avoided by the next route, and back after undo`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await built()
        defer { site.remove() }
        let port = try Loopback.freePort()
        let up = try await site.run("up --detach --port \(port)")
        try #require(up.status == 0, "\(up.errors)")

        let (before, length) = try await route(site)
        let closed = try await change(
            site, "close", "Square", "--street", "main street", "--reason", "works")
        let (around, detour) = try await route(site, "--min-sequence", "\(closed)")
        #expect(detour > length + 500 && around.contains(#""summary":"Ring, East Street""#))
        let then = try await text(site, at: closed)

        let explained = try await Programs.run(
            ["route"] + Self.stops + ["--explain"], site: site.path)
        #expect(explained.output.contains("change \(closed) (works)"), "\(explained)")
        let listed = try await run(site, "road", "list", "Square", "--json")
        #expect(listed.objects.compactMap { $0["number"] as? Int } == [closed])
        let shown = try await run(site, "road", "show", "Square", "\(closed)")
        #expect(shown.output.contains("12:0:forward") && shown.output.contains("works"))

        let undone = try await change(site, "undo", "Square", "\(closed)")
        #expect(undone == closed + 1)
        let (after, _) = try await route(site, "--min-sequence", "\(undone)")
        #expect(after == before)
        #expect(try await text(site, at: closed) == then)
        #expect(try await run(site, "road", "list", "Square", "--json").objects.isEmpty)
        let again = try await run(site, "road", "undo", "Square", "\(closed)")
        #expect(again.status == 1 && again.errors.contains("no change \(closed) stands"))

        let log = try await run(site, "log", "tail", "--stream", "network-Square")
        #expect(log.output.contains("roads of 'Square': closed on 2 edges (works)"), "\(log)")
        #expect(log.output.contains("roads of 'Square' restored: change \(closed)"), "\(log)")
        try await repeats(site)
        _ = try await site.run("down")
    }

    /// A command that is sent again under its id is carried out once.
    private func repeats(_ site: SmallSite) async throws {
        let client = try CairnClient(site: Site(opening: site.path))
        defer { client.close() }
        let request = RoadChangeRequest(
            id: .timeOrdered(), network: "square",
            .change(RoadChangeOrder(.delay(60), .pieces([RoadPiece(way: 12)]))), actor: "test")
        let first = try await client.ask(.changeRoads, request)
        #expect(first.edgeCount == 2 && first.network == "Square")
        #expect(try await client.ask(.changeRoads, request) == first)
        let end = RoadChangeRequest(id: .timeOrdered(), network: "Square", .restoreAll)
        let ended = try await client.ask(.changeRoads, end)
        #expect(ended.restored == [first.number])
        #expect(try await client.ask(.changeRoads, end) == ended)
        var code: Failure.Code?
        do {
            _ = try await client.ask(
                .changeRoads,
                RoadChangeRequest(
                    id: .timeOrdered(), network: "Square",
                    .change(RoadChangeOrder(.speed(0), .pieces([RoadPiece(way: 12)])))))
        } catch { code = error.code }
        #expect(code == .invalidParameter)
        try await conflicts(client, site, request.id)
    }

    /// An id that was used for another change is refused; of many writers at once each makes its
    /// change, and one alone ends them.
    private func conflicts(
        _ client: CairnClient, _ site: SmallSite, _ used: UUID
    ) async throws {
        let other = RoadChangeRequest(
            id: used, network: "Square",
            .change(RoadChangeOrder(.closed, .pieces([RoadPiece(way: 13)]))), actor: "test")
        let reused = await #expect(throws: Failure.self) {
            try await client.ask(.changeRoads, other)
        }
        #expect(reused?.code == .conflict && reused?.message.contains("another id") == true)

        let numbers = try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in 0..<12 {
                group.addTask {
                    try await client.ask(
                        .changeRoads,
                        RoadChangeRequest(
                            id: .timeOrdered(), network: "Square",
                            .change(
                                RoadChangeOrder(
                                    .delay(Double(number)),
                                    .pieces([RoadPiece(way: Int64(11 + number % 4))])))
                        )
                    ).number
                }
            }
            return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
        }
        #expect(numbers.count == 12)
        let listed = try await run(site, "road", "list", "Square", "--json").objects
        #expect(Set(listed.compactMap { $0["number"] as? Int }) == Set(numbers.map(Int.init)))
        let ends = await withTaskGroup(of: Failure.Code?.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    do throws(Failure) {
                        _ = try await client.ask(
                            .changeRoads,
                            RoadChangeRequest(
                                id: .timeOrdered(), network: "Square",
                                .restore(numbers.sorted())))
                        return nil
                    } catch { return error.code }
                }
            }
            return await group.reduce(into: [Failure.Code?]()) { $0.append($1) }
        }
        #expect(ends.count { $0 == nil } == 1 && ends.count { $0 == Failure.Code.notFound } == 3)
        #expect(try await run(site, "road", "list", "Square", "--json").objects.isEmpty)
    }

    private func end(_ site: SmallSite) async throws -> Int {
        let head = try await run(site, "log", "head")
        return try #require(Int(head.output.filter(\.isNumber)))
    }

    @Test func `roads follow a layer that is edited over HTTP, and its undo`() async throws {
        guard Programs.areBuilt() else { return }
        let site = try await built()
        defer { site.remove() }
        let source = site.folder + "/water.geojson"
        try """
        {"type":"FeatureCollection","features":[{"type":"Feature","id":1,"properties":
        {"depth":1.5},"geometry":{"type":"Polygon","coordinates":
        [[[5,5],[5,6],[6,6],[6,5],[5,5]]]}}]}
        """.write(toFile: source, atomically: true, encoding: .utf8)
        let port = try Loopback.freePort()
        let up = try await site.run("up --detach --port \(port) --routers 2")
        try #require(up.status == 0, "\(up.errors)")
        for arguments in [
            ["import", source, "--map", "Floods", "--name", "water"],
            ["map", "editable", "Floods", "water", "on"],
        ] {
            let outcome = try await Programs.run(arguments, site: site.path)
            try #require(outcome.status == 0, "\(arguments): \(outcome.errors)")
        }
        let (before, length) = try await route(site)
        let rule = try await change(
            site, "follow", "Square", "Floods/water", "--effect", "close", "--where", "depth > 0.3",
            "--reason", "flood")
        #expect(try await route(site, "--min-sequence", "\(rule)").0 == before)

        func edit(_ operation: String, _ form: String) async throws -> String {
            let connection = try #require(Loopback(port: port))
            let answer: (head: String, body: String)? = await withCheckedContinuation {
                continuation in
                Thread.detachNewThread {
                    connection.post(
                        "/arcgis/rest/services/Floods/FeatureServer/0/" + operation,
                        "f=json&" + form)
                    continuation.resume(returning: connection.wholeAnswer())
                }
            }
            let body = try #require(answer).body
            try #require(body.contains("\"success\":true"), "\(body)")
            let edits = try await run(
                site, "log", "tail", "-n", "1", "--stream", "map-Floods", "--json")
            return "\(try #require(edits.objects.last?["sequence"] as? Int))"
        }
        func water(_ depth: Double, id: Int? = nil) -> String {
            let own = id.map { ",\"OBJECTID\":\($0)" } ?? ""
            return #"features=[{"attributes":{"depth":\#(depth)\#(own)},"#
                + #""geometry":{"rings":[[[0.004,-0.001],[0.004,0.001],[0.006,0.001],"#
                + #"[0.006,-0.001],[0.004,-0.001]]]}}]"#
        }
        let drawn = try await edit("addFeatures", water(1))
        let (around, detour) = try await route(site, "--min-sequence", drawn)
        #expect(detour > length + 500 && around != before)
        let flooded = try await end(site)
        let then = try await text(site, at: flooded)
        let listed = try await run(site, "road", "list", "Square", "--json").objects
        #expect(listed.compactMap { $0["number"] as? Int } == [rule])
        #expect(listed.first?["edgeCount"] as? Int == 2)
        let followed = try #require(listed.first?["followed"] as? [String: Any])
        #expect(followed["name"] as? String == "water" && followed["map"] as? String == "Floods")
        let explained = try await Programs.run(
            ["route"] + Self.stops + ["--explain"], site: site.path)
        #expect(
            explained.output.contains("change \(rule) (flood; layer 'water' of map 'Floods')"),
            "\(explained)")

        let shallow = try await edit("updateFeatures", water(0.1, id: 2))
        #expect(try await route(site, "--min-sequence", shallow).0 == before)
        let undone = try await Programs.run(["undo", shallow, "--json"], site: site.path)
        try #require(undone.status == 0, "\(undone.errors)")
        #expect(try await route(site, "--min-sequence", "\(end(site))").0 == around)
        // Whether the routers have heard of it or not, the next start goes on where they ended.
        let deleted = try await run(site, "map", "delete", "Floods")
        try #require(deleted.status == 0, "\(deleted.errors)")
        _ = try await site.run("down")
        let again = try await site.run("up --detach --port \(port) --routers 2")
        try #require(again.status == 0, "\(again.errors)")
        #expect(try await route(site, "--min-sequence", "\(end(site))").0 == before)
        let free = try await run(site, "road", "list", "Square")
        #expect(free.output.contains("map 'Floods' was deleted"), "\(free)")
        #expect(try await text(site, at: flooded) == then)
        let ended = try await change(site, "undo", "Square", "\(rule)")
        #expect(try await route(site, "--min-sequence", "\(ended)").0 == before)
        _ = try await site.run("down")
    }

    @Test func `roads are changed in a site that is down, and in one that is built anew`()
        async throws
    {
        guard Programs.areBuilt(["cairn", "cairn-logd"]) else { return }
        let site = try await built()
        defer { site.remove() }
        let (before, length) = try await route(site)
        let closed = try await change(site, "close", "Square", "--at", "0.005,0.0001")
        #expect(try await route(site).1 > length + 500)
        let slowed = try await change(
            site, "speed", "Square", "--way", "13", "--speed", "5", "--hours", "Mo-Su 00:00-24:00",
            "--modes", "car")
        let banned = try await change(
            site, "ban", "Square", "--from-street", "West Street", "--to-street", "Ring")
        #expect(banned == slowed + 1 && slowed == closed + 1)
        let outcome = try await Programs.run(
            ["route"] + Self.stops, site: site.path)
        #expect(outcome.status == 1 && outcome.errors.contains("no route"), "\(outcome)")

        // The ways have other numbers now: roads are found again by where they are.
        let source = site.folder + "/square.osm"
        try Self.extract.replacing("way id=\"1", with: "way id=\"91")
            .write(toFile: source, atomically: true, encoding: .utf8)
        let rebuilt = try await run(
            site, "network", "build", "Square", source, "--modes", "car,foot")
        try #require(rebuilt.status == 0, "\(rebuilt.errors)")
        let listed = try await run(site, "road", "list", "Square", "--json").objects
        #expect(listed.map { $0["isFoundAgain"] as? Bool } == [true, true, true])
        #expect(listed.map { $0["missingCount"] as? Int } == [2, 2, 1])
        #expect(listed.map { $0["isUnresolved"] as? Bool } == [false, false, false])
        #expect(
            try await Programs.run(["route"] + Self.stops, site: site.path).status == 1)

        let past = try await run(site, "road", "list", "Square", "--at", "\(closed)", "--json")
        #expect(past.objects.compactMap { $0["number"] as? Int } == [closed])
        _ = try await change(site, "undo", "Square", "--all")
        #expect(try await route(site).0 == before)
        for (arguments, status) in [
            (["close", "Square", "--way", "77"], Int32(1)), (["close", "Square"], 64),
            (["close", "Squire", "--way", "912"], 1),
            (["close", "Square", "--way", "x"], 64),
            (["slow", "Square", "--way", "912", "--speed", "0"], 1),
            (["close", "Square", "--way", "912", "--hours", "noon"], 64),
        ] {
            let refused = try await Programs.run(["road"] + arguments, site: site.path)
            #expect(refused.status == status, "\(arguments): \(refused.errors)")
        }
    }

    @Test func `a change on a road that a rebuilt network lacks is kept, and holds with the road`()
        async throws
    {
        guard Programs.areBuilt(["cairn", "cairn-logd"]) else { return }
        let site = try await built()
        defer { site.remove() }
        func build(_ extract: String) async throws {
            let source = site.folder + "/square.osm"
            try extract.write(toFile: source, atomically: true, encoding: .utf8)
            let rebuilt = try await run(
                site, "network", "build", "Square", source, "--modes", "car,foot")
            try #require(rebuilt.status == 0, "\(rebuilt.errors)")
        }
        let closed = try await change(site, "close", "Square", "--way", "12")
        let around = try await route(site)
        let lines = Self.extract.split(separator: "\n")
        try await build(
            lines.filter { !$0.contains("way id=\"12\"") }.joined(separator: "\n"))
        let listed = try #require(
            try await run(site, "road", "list", "Square", "--json").objects.first)
        #expect(listed["number"] as? Int == closed)
        #expect(listed["isUnresolved"] as? Bool == true && listed["missingCount"] as? Int == 2)
        #expect(listed["edgeCount"] as? Int == 0)
        // No other road is closed in its place.
        #expect(try await route(site).1 == around.1)
        try await build(Self.extract)
        let again = try await run(site, "road", "list", "Square", "--json").objects
        #expect(again.map { $0["isUnresolved"] as? Bool } == [false])
        #expect(try await route(site) == around)
    }
}
