// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import TestKit
import Testing

/// Roads changed over HTTP, and routes that are followed meanwhile, on real processes.
@Suite(.serialized, .timeLimit(.minutes(4)), .processes) struct RoadServiceProcessTests {
    private static let server = "/arcgis/rest/services/Town/NAServer"
    private static let stops = "13.0001,51.0002;13.0061,51.0089"
    private static let solve = "/Route/solve/changes?f=json&stops=" + stops
    private static let onRoute = "13.0030,51.0045"

    private func town() async throws -> (site: SmallSite, port: Int) {
        let site = try SmallSite()
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../deploy/sample/town.osm").standardized.path()
        let built = try await site.run("network build Town \(file)")
        try #require(built.status == 0, "\(built.errors)")
        let port = try Loopback.freePort()
        let up = try await site.run("up --detach --port \(port)")
        try #require(up.status == 0, "\(up.errors)")
        return (site, port)
    }

    /// The answer to a GET, or to a POST with a form.
    private func ask(
        _ port: Int, _ path: String, _ form: String? = nil
    ) async throws -> [String: Any] {
        let body: String = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let connection = try #require(Loopback(port: port))
                        if let form { connection.post(path, form) } else { connection.get(path) }
                        return try #require(connection.wholeAnswer()).body
                    })
            }
        }
        let json = try JSONSerialization.jsonObject(with: Data(body.utf8))
        return try #require(json as? [String: Any], "\(body)")
    }

    /// Metres of the best route, in OSRM's form.
    private func distance(_ port: Int) async throws -> Double {
        let answer = try await ask(
            port, "/osrm/Town/route/v1/driving/\(Self.stops)?overview=false")
        let route = try #require((answer["routes"] as? [[String: Any]])?.first, "\(answer)")
        return try #require(route["distance"] as? Double)
    }

    @Test func `a route over HTTP knows the change that was made over HTTP before it`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let (site, port) = try await town()
        defer { site.remove() }
        let roads = Self.server + "/roads"
        let before = try await distance(port)
        // Each time at once: no number is waited for.
        for round in 0..<10 {
            let closed = try await ask(
                port, roads + "/close", "f=json&geometry=\(Self.onRoute)&reason=flood")
            let number = try #require(closed["number"] as? Int, "\(closed)")
            #expect(closed["streets"] as? [String] == ["Bridge Street"])
            #expect(try await distance(port) > before + 100, "round \(round)")
            let list = try await ask(port, roads + "?f=json&returnGeometry=true")
            let changes = try #require(list["changes"] as? [[String: Any]])
            #expect(changes.map { $0["number"] as? Int } == [number])
            #expect(changes.first?["reason"] as? String == "flood")
            let line = changes.first?["geometry"] as? [String: Any]
            #expect((line?["paths"] as? [Any])?.count == 1)
            let ended = try await ask(port, roads + "/undo", "f=json&changes=\(number)")
            #expect(ended["restored"] as? [Int] == [number])
            #expect(try await distance(port) == before, "round \(round)")
            let past = try await ask(port, roads + "/\(number)?f=json&at=\(number)")
            #expect(past["effect"] as? String == "closed")
        }
        // Sent again under its id a change is made once; another street is another change.
        let again = "f=json&clientId=once&street=Bridge%20Street"
        let once = try await ask(port, roads + "/close", again)
        let made = try #require(once["number"] as? Int, "\(once)")
        #expect(try await ask(port, roads + "/close", again)["number"] as? Int == made)
        let refused = try await ask(
            port, roads + "/close", "f=json&clientId=once&street=Mill%20Lane")
        let error = try #require(refused["error"] as? [String: Any], "\(refused)")
        #expect(error["code"] as? Int == 409)
        _ = try await ask(port, roads + "/undo", "f=json&changes=\(made)")
        // The command line sees the same changes, and ends one.
        let slow = try await ask(port, roads + "/slow", "f=json&way=1009&speed=2")
        let number = try #require(slow["number"] as? Int, "\(slow)")
        let listed = try await site.run("road list Town --json")
        #expect(listed.objects.map { $0["number"] as? Int } == [number])
        #expect(try await site.run("road undo Town \(number)").status == 0)
        let none = try await ask(port, roads + "/\(number)?f=json&minSequence=\(number + 1)")
        #expect((none["error"] as? [String: Any])?["code"] as? Int == 404, "\(none)")
        #expect(try await site.run("down").status == 0)
    }

    // MARK: Followed routes

    /// A stream of events that is being read, off the threads that tasks share.
    private final class Reader: @unchecked Sendable {
        struct Event: Sendable {
            var id: Int
            var name: String
            var text: String

            var data: [String: Any] {
                let json = try? JSONSerialization.jsonObject(with: Data(text.utf8))
                return json as? [String: Any] ?? [:]
            }
        }

        // Used by one test, one call at a time.
        private let connection: Loopback
        private var text = ""

        init(_ port: Int, after id: Int? = nil) throws {
            connection = try #require(Loopback(port: port))
            connection.get(
                RoadServiceProcessTests.server + RoadServiceProcessTests.solve,
                headers: id.map { ["Last-Event-ID": "\($0)"] } ?? [:])
        }

        /// The next event; nil at the end of the stream.
        func take() async -> Event? {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { [self] in
                    continuation.resume(returning: read())
                }
            }
        }

        private func read() -> Event? {
            while true {
                if let start = text.range(of: "event: "),
                    let end = text.range(of: "\n\n", range: start.lowerBound..<text.endIndex)
                {
                    let lines = text[start.lowerBound..<end.lowerBound].split(separator: "\n")
                    text.removeSubrange(..<end.upperBound)
                    return event(lines.map(String.init))
                }
                guard let bytes = connection.read(), !bytes.isEmpty else { return nil }
                text += String(decoding: bytes, as: UTF8.self)
            }
        }

        private func event(_ lines: [String]) -> Event {
            func value(_ name: String) -> String {
                let line = lines.first { $0.hasPrefix(name + ": ") } ?? ""
                return String(line.dropFirst(name.count + 2))
            }
            return Event(
                id: Int(value("id")) ?? -1, name: value("event"), text: value("data"))
        }

        func leave() { connection.leave() }
    }

    /// Kilometres of the route of an event; nil without one.
    private func kilometres(_ event: Reader.Event?) throws -> Double? {
        let event = try #require(event)
        #expect(event.name == "route", "\(event)")
        let routes = try #require(event.data["routes"] as? [String: Any], "\(event)")
        let feature = (routes["features"] as? [[String: Any]])?.first
        return (feature?["attributes"] as? [String: Any])?["Total_Kilometers"] as? Double
    }

    private func followers(_ port: Int) async throws -> Int {
        let text: String = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        let connection = try #require(Loopback(port: port))
                        connection.get("/metrics")
                        return try #require(connection.wholeAnswer()).body
                    })
            }
        }
        let line = text.split(separator: "\n").first { $0.hasPrefix("cairn_gateway_followers") }
        return try #require(line?.split(separator: " ").last.flatMap { Int($0) }, "\(text)")
    }

    @Test func `a followed route is sent when the best one has changed, and only then`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let (site, port) = try await town()
        defer { site.remove() }
        let roads = Self.server + "/roads"
        func change(_ action: String, _ form: String) async throws -> Int {
            let answer = try await ask(port, roads + "/" + action, "f=json&" + form)
            return try #require(answer["sequence"] as? Int, "\(answer)")
        }
        let reader = try Reader(port)
        let first = try #require(try kilometres(await reader.take()))

        // Off the route: the next event is about what happens on it.
        _ = try await change("close", "way=1016")
        _ = try await distance(port)
        let closed = try await change("close", "geometry=\(Self.onRoute)")
        let detour = try #require(await reader.take())
        let around = try #require(try kilometres(detour))
        #expect(detour.id >= closed && around > first + 0.1)
        _ = try await change("delay", "way=1015&seconds=5")
        _ = try await distance(port)
        let opened = try await change("undo", "changes=\(closed)")
        let back = try #require(await reader.take())
        #expect(back.id >= opened)
        #expect(try kilometres(back) == first)

        // No way at all is a route too, as none.
        let all = try await change("close", "geometry=12.9,50.9,13.1,51.1")
        let none = try #require(await reader.take())
        #expect(none.id >= all)
        #expect(try kilometres(none) == nil)
        let end = try await change("undo", "changes=\(all)")
        #expect(try kilometres(await reader.take()) == first)

        // A client that resumes has the route already, unless something happened meanwhile.
        let again = try Reader(port, after: end)
        let shut = try await change("close", "geometry=\(Self.onRoute)")
        let next = try #require(await again.take())
        #expect(next.id >= shut)
        #expect(try kilometres(next) == around)
        #expect(try kilometres(await reader.take()) == around)

        #expect(try await followers(port) == 2)
        reader.leave()
        again.leave()
        try await waitUntil("no follower is left", within: .seconds(60)) {
            try await followers(port) == 0
        }
        #expect(try await site.run("down").status == 0)
    }

    @Test func `a route that cannot be followed is refused before anything is streamed`()
        async throws
    {
        guard Programs.areBuilt() else { return }
        let (site, port) = try await town()
        defer { site.remove() }
        let path = Self.server + "/Route/solve/changes?f=json&stops="
        for (request, text) in [
            (path + "13.0001,51.0002", "Need at least 2 valid stops."),
            (path + Self.stops + "&at=1", "a route of the past"),
            (path + Self.stops + "&useTimeWindows=true", "useTimeWindows"),
            (
                path
                    + Parameters.stops(["A", "A", "B", "B"]), "one is followed"
            ),
        ] {
            let answer = try await ask(port, request)
            let error = try #require(answer["error"] as? [String: Any], "\(answer)")
            let words = [error["message"] as? String ?? ""] + (error["details"] as? [String] ?? [])
            #expect(words.joined(separator: " ").contains(text), "\(request): \(words)")
        }
        #expect(try await followers(port) == 0)
        #expect(try await site.run("down").status == 0)
    }
}

private enum Parameters {
    /// Stops of routes with these names, percent-encoded.
    static func stops(_ names: [String]) -> String {
        let features = names.enumerated().map { place, name in
            #"{"geometry":{"x":13.0,"y":\#(51 + Double(place) / 1000)},"#
                + #""attributes":{"RouteName":"\#(name)"}}"#
        }
        let text = #"{"features":[\#(features.joined(separator: ","))]}"#
        return text.utf8.map { "%" + String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
    }
}
