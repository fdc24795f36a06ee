// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Site
import TestKit
import Testing

@testable import Gateway

/// Tokens over real connections, on both ways through the gateway.
@Suite struct AccessConnectionTests {
    private static let identify =
        "/arcgis/rest/services/City/MapServer/identify?" + AccessTests.identify

    @Test(.slow, arguments: [false, true])
    func `both ways into the gateway ask for the same token in every place`(isAtHand: Bool)
        async throws
    {
        let ruled = try RuledSite(["anna": [.init(.query, on: "City")], "berta": []])
        let site = SimulatedSite(map: try Samples.map())
        site.change {
            $0.identify = .success(Samples.answer(geometry: nil))
            $0.hasAnswersAtHand = isAtHand
        }
        try await Served.serving(site, access: ruled.store) { port in
            let connection = try Connection(port: port)
            func ask(_ url: String, _ headers: String = "") throws -> String {
                connection.send("GET \(url) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n")
                return try #require(connection.receive(answers: 1).first)
            }
            func token(_ user: String, _ more: String = "") throws -> String {
                let form = "username=\(user)&password=password" + more
                connection.send(
                    "POST /arcgis/tokens/generateToken HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)\r\n\r\n"
                        + form)
                let answer = try #require(connection.receive(answers: 1).first)
                return String(try #require(answer.firstMatch(of: /"token":"([^"]*)"/)?.1))
            }
            let (anna, berta) = (try token("anna"), try token("berta"))
            let bound = try token("anna", "&client=referer&referer=https://a.example")
            let own = try token("anna", "&client=requestip")
            let strange = try token("anna", "&client=ip&ip=10.0.0.1")
            let referer = "Referer: https://a.example/map\r\n"
            let cases: [(String, String, String)] = [
                (Self.identify, "", "\"code\":499,\"message\":\"Token Required\""),
                (Self.identify + "&token=x", "", "\"code\":498,\"message\":\"Invalid token.\""),
                (Self.identify, "X-Esri-Authorization: Bearer \(anna) \r\n", "Höhe"),
                (Self.identify, "Authorization: bearer \(anna)\r\n", "Höhe"),
                (Self.identify, "Authorization: Bearer \(anna)x\r\n", "\"code\":498"),
                (Self.identify + "&token=\(anna)", "", "Höhe"),
                (Self.identify + "&token=\(berta)", "", "\"code\":403"),
                (Self.identify + "&token=\(bound)", "", "\"code\":498"),
                (Self.identify + "&token=\(bound)", referer, "Höhe"),
                (Self.identify + "&token=\(own)", "", "Höhe"),
                (Self.identify + "&token=\(strange)", "", "\"code\":498"),
            ]
            // The second header is not accepted by the fast path.
            for way in ["", "TE: trailers\r\n"] {
                let fresh = try Connection(port: port)
                for (url, headers, expected) in cases {
                    fresh.send("GET \(url) HTTP/1.1\r\nHost: localhost\r\n\(way)\(headers)\r\n")
                    let answer = try #require(fresh.receive(answers: 1).first)
                    #expect(answer.contains(expected), "\(url) \(headers) \(way)")
                    #expect(answer.hasPrefix("HTTP/1.1 200"))
                }
            }
            let changes = Self.identify.replacing("identify?", with: "identify/changes?")
            #expect(try ask(changes).contains("\"code\":499"))
            #expect(
                try ask("/arcgis/rest/info").contains(
                    #""tokenServicesUrl":"http://localhost/arcgis/tokens/generateToken""#))
        }
    }

    @Test(arguments: [
        "tile/0/0/0", "legend", "export?bbox=0,0,1,1&size=10,10&f=image",
        "changes", "identify/changes?" + AccessTests.identify, "0/query?where=1=1", "layers",
    ])
    func `a token in the address opens what it stands for`(resource: String) async throws {
        let ruled = try RuledSite(["anna": [.init(.query, on: "City")]])
        let site = SimulatedSite(map: try Samples.map())
        let url = "/arcgis/rest/services/City/MapServer/" + resource
        try await Served.serving(site, access: ruled.store) { port in
            func ask(_ url: String) throws -> String {
                let connection = try Connection(port: port)
                connection.send(
                    "GET \(url) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                return try #require(connection.receive(answers: 1).first)
            }
            let connection = try Connection(port: port)
            let form = "username=anna&password=password"
            connection.send(
                "POST /arcgis/tokens/generateToken HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)\r\n\r\n"
                    + form)
            let answer = try #require(connection.receive(answers: 1).first)
            let token = try #require(answer.firstMatch(of: /"token":"([^"]*)"/)?.1)

            let joint = url.contains("?") ? "&" : "?"
            #expect(try ask(url).contains("\"code\":499"))
            #expect(try ask(url + joint + "token=nonsense").contains("\"code\":498"))
            let opened = try ask(url + joint + "token=\(token)")
            #expect(opened.hasPrefix("HTTP/1.1 200") && !opened.contains("\"error\""))
            if resource.contains("changes") {
                #expect(opened.lowercased().contains("content-type: text/event-stream"))
            }
            // JSONP would go around CORS: a callback is passed over.
            #expect(!(try ask(url + joint + "token=\(token)&callback=evil").contains("evil")))
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a gateway that runs hears of changed rules`() async throws {
        let ruled = try RuledSite(["anna": []])
        let site = SimulatedSite(map: try Samples.map())
        site.change { $0.identify = .success(Samples.answer(geometry: nil)) }
        let store = ruled.store
        try await Served.serving(site, access: store) { port in
            let connection = try Connection(port: port)
            func isAnswered() throws -> Bool {
                connection.send("GET \(Self.identify) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return try #require(connection.receive(answers: 1).first).contains("Höhe")
            }
            #expect(try !isAnswered())
            try store.change { $0.anonymous = [.init(.query)] }
            while try !isAnswered() { _ = sched_yield() }
            try store.change { $0.anonymous = [] }
            while try isAnswered() { _ = sched_yield() }
        }
        withExtendedLifetime(ruled) {}
    }

    @Test func `an upload is refused before anything of it is kept`() async throws {
        let ruled = try RuledSite(["berta": [.init(.query)]])
        try await Served.serving(
            SimulatedSite(map: try Samples.map()), access: ruled.store
        ) { port in
            let connection = try Connection(port: port)
            connection.send(
                "POST /arcgis/rest/services/Jobs/GPServer/uploads/upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc"
            )
            #expect(try #require(connection.receive(answers: 1).first).contains("\"code\":499"))
        }
    }

    @Test func `a network is served only with users, or when everybody may do everything`()
        async throws
    {
        let site = SimulatedSite(map: try Samples.map())
        for host in ["0.0.0.0", "192.0.2.1", "example.org", "::", "127.1"] {
            let failure = await #expect(throws: Failure.self) {
                try await Served.serving(site) {
                    $0.host = host
                } _: { _ in
                }
            }
            #expect(failure?.message.contains("--allow-anonymous-network") == true)
        }
        let ruled = try RuledSite(["anna": []])
        try await Served.serving(site, access: ruled.store) {
            $0.host = "0.0.0.0"
        } _: { _ in
        }
        try await Served.serving(site) {
            $0.host = "0.0.0.0"
            $0.allowsAnonymousNetwork = true
        } _: { _ in
        }
    }
}
