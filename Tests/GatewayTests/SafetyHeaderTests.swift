// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Site
import TestKit
import Testing

@testable import Gateway

extension String {
    /// The values of a header of an answer.
    func header(_ name: String) -> [Substring] {
        let head = (range(of: "\r\n\r\n").map { self[..<$0.lowerBound] } ?? self[...])
        return head.split(separator: "\r\n").filter { line in
            line.lowercased().hasPrefix(name.lowercased() + ": ")
        }.map { $0.dropFirst(name.count + 2) }
    }
}

/// Headers of every answer.
@Suite struct SafetyHeaderTests {
    /// Headers that lead to each way through the gateway.
    private static let ways = ["", "TE: trailers\r\n", "Accept: text/html\r\n"]

    private static func check(_ answer: String, isSecure: Bool, _ what: String) {
        #expect(answer.hasPrefix("HTTP/1.1 "), "\(what)")
        #expect(answer.header("x-content-type-options") == ["nosniff"], "\(what)")
        let transport = answer.header("strict-transport-security")
        #expect(transport == (isSecure ? ["max-age=86400"] : []), "\(what)")
        #expect(answer.header("access-control-allow-credentials").isEmpty)
        if answer.header("content-type").first?.hasPrefix("text/html") == true {
            #expect(
                answer.header("content-security-policy").first?.contains("frame-ancestors 'none'")
                    == true)
            #expect(answer.header("referrer-policy") == ["same-origin"])
            #expect(answer.header("x-frame-options") == ["DENY"])
        }
    }

    @Test(.slow, arguments: [false, true])
    func `every resource has the safety headers, by every way`(_ isSecure: Bool) async throws {
        let ruled = try RuledSite([
            "anna": [.init(.query), .init(.jobs), .init(.metrics), .init(.edit)]
        ])
        let rules = try ruled.control().snapshot
        let token = Token(user: "anna", expires: .max, binding: .none).text(
            key: rules.key, entry: try #require(rules.digest("anna")))
        let site = SimulatedSite(map: try Samples.map())
        site.change { $0.identify = .success(Samples.answer(geometry: nil)) }
        try await Served.serving(site, access: ruled.store) {
            $0.trustedProxies = ["127.0.0.1"]
        } _: { port in
            let proxy = isSecure ? "X-Forwarded-Proto: https\r\n" : ""
            for (url, _) in AccessTests.resources {
                for way in Self.ways {
                    for user in ["", "Authorization: Bearer \(token)\r\n"] {
                        let connection = try Connection(port: port)
                        connection.send(
                            "GET \(url) HTTP/1.1\r\nHost: localhost\r\n\(proxy)\(way)\(user)\r\n")
                        let answer = try #require(connection.receive(answers: 1).first)
                        Self.check(answer, isSecure: isSecure, url + way)
                        let kept = answer.header("cache-control")
                        #expect(kept.count == 1, "\(url)")
                        let isShared = kept.first?.contains("no-store") != true
                        if isShared, !url.hasPrefix("/pages/") {
                            #expect(kept.first?.hasPrefix("private") == !user.isEmpty, "\(url)")
                        }
                    }
                }
            }
        }
    }

    @Test func `every refusal has the safety headers`() async throws {
        let site = SimulatedSite(map: try Samples.map())
        try await Served.serving(site) {
            $0.requestByteLimit = 4_096
        } _: { port in
            let identify = "/arcgis/rest/services/City/MapServer/identify"
            let form = "Content-Type: application/x-www-form-urlencoded\r\n"
            let cases: [(request: String, status: Int)] = [
                ("nonsense\r\n\r\n", 400),
                (
                    "GET /\(String(repeating: "x", count: 9_000)) HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    400
                ),
                ("DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
                ("OPTIONS / HTTP/1.1\r\nHost: localhost\r\n\r\n", 204),
                ("GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
                ("GET /pages/other HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
                ("GET /ogc/other HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
                ("GET \(identify)?f=json HTTP/1.1\r\nHost: localhost\r\n\r\n", 200),
                ("GET \(identify)?f=json HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
                ("OPTIONS / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
                (
                    "POST \(identify) HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/xml\r\nContent-Length: 0\r\n\r\n",
                    200
                ),
                (
                    "POST \(identify) HTTP/1.1\r\nHost: localhost\r\n\(form)Content-Length: 5000\r\n\r\n"
                        + String(repeating: "x", count: 5_000), 200
                ),
                (
                    "POST /pages/login HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\(form)Content-Length: 0\r\n\r\n",
                    403
                ),
            ]
            for (request, status) in cases {
                let connection = try Connection(port: port)
                connection.send(request)
                let answer = try #require(connection.receive(answers: 1).first)
                #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(request.prefix(60))")
                Self.check(answer, isSecure: false, String(request.prefix(60)))
            }
        }
        try await Served.serving(site) {
            $0.requestsPerSecond = 1
            $0.trustedProxies = ["127.0.0.1"]
            $0.transportSecuritySeconds = 0
        } _: { port in
            let connection = try Connection(port: port)
            var statuses: Set<Substring> = []
            for way in ["", "", "TE: trailers\r\n"] {
                connection.send(
                    "GET /arcgis/rest/services/City/MapServer/identify?f=json HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Proto: https\r\n\(way)\r\n"
                )
                let answer = try #require(connection.receive(answers: 1).first)
                Self.check(answer, isSecure: false, way)
                statuses.insert(answer.prefix(12))
            }
            #expect(statuses.contains("HTTP/1.1 429"))
        }
    }
}
