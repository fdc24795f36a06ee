// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Daemon
import Foundation
import Platform
import Site
import TestKit
import Testing

@testable import Gateway

/// Hostile clients over real connections, while a regular one continues.
@Suite(.timeLimit(.minutes(2))) struct LimitTests {
    private static let identify =
        "/arcgis/rest/services/City/MapServer/identify?" + AccessTests.identify

    private static func get(_ url: String, _ headers: String = "") -> String {
        "GET \(url) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n"
    }

    private func site() throws -> SimulatedSite {
        let site = SimulatedSite(map: try Samples.map())
        site.change {
            $0.identify = .success(Samples.answer(geometry: nil))
            $0.hasAnswersAtHand = true
        }
        return site
    }

    /// Another client is answered, on both ways.
    private static func expectAnswers(_ port: Int) throws {
        let other = try Connection(port: port)
        for headers in ["", "TE: trailers\r\n"] {
            other.send(get(identify, headers))
            #expect(other.receive(answers: 1).first?.contains("results") == true)
        }
    }

    @Test(arguments: [
        "GET /arcgis/rest/info HTTP/1.1\r\nHost:", "G",
        "POST /arcgis/rest/info HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nf=json",
        "POST /arcgis/rest/info HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nf=js",
    ])
    func `a head or body that does not come is cut, and nobody waits for it`(_ text: String)
        async throws
    {
        try await Served.serving(site()) {
            $0.arrivalTimeout = .milliseconds(300)
        } _: { port in
            let slow = try Connection(port: port)
            slow.send(text)
            try Self.expectAnswers(port)
            #expect(slow.isClosed())
            let kept = try Connection(port: port)
            kept.send(Self.get(Self.identify))
            #expect(kept.receive(answers: 1).count == 1)
            try Self.expectAnswers(port)
        }
    }

    @Test func `the rule of arrivals: a whole head in a period, and so much of a body in each`() {
        var arrival = Arrival()
        var verdicts = [arrival.isTooSlow()]
        arrival.gotBytes()
        verdicts.append(arrival.isTooSlow())
        arrival.gotHead()
        arrival.gotBody(Arrival.bodyByteMinimum)
        verdicts.append(arrival.isTooSlow())
        arrival.gotBody(Arrival.bodyByteMinimum - 1)
        verdicts.append(arrival.isTooSlow())
        arrival.gotEnd()
        verdicts.append(arrival.isTooSlow())
        #expect(verdicts == [false, true, false, true, false])
    }

    @Test(.slow) func `a thousand idle connections give way to one that asks`() async throws {
        #expect(ProcessLimits.raiseDescriptors(to: 4_000))
        try await Served.serving(site()) {
            $0.connectionLimit = 300
        } _: { port in
            let idle = try (0..<1_200).map { _ in try Connection(port: port) }
            try Self.expectAnswers(port)
            withExtendedLifetime(idle) {}
        }
    }

    @Test func `a bounded number of callers follow at once, and a place is free again`()
        async
    {
        let connections = OpenConnections()
        var places = await withTaskGroup(of: FollowerPlace?.self) { group in
            for _ in 0..<2 * OpenConnections.followerLimit {
                group.addTask { connections.takeFollowerPlace() }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        places.removeAll { $0 == nil }
        #expect(places.count == OpenConnections.followerLimit)
        #expect(connections.followerCount == OpenConnections.followerLimit)
        #expect(connections.takeFollowerPlace() == nil)
        places.removeLast()
        #expect(connections.takeFollowerPlace() != nil)
        places = []
        #expect(connections.followerCount == 0)
    }

    @Test func `one address has so many connections, and a place again when one ends`() async throws
    {
        try await Served.serving(site()) {
            $0.connectionLimitPerAddress = 3
        } _: { port in
            var kept = try (0..<3).map { _ in try Connection(port: port) }
            for connection in kept {
                connection.send(Self.get(Self.identify))
                #expect(connection.receive(answers: 1).count == 1)
            }
            #expect(try Connection(port: port).isClosed())
            kept.removeLast()
            // The server learns of the end when it closes.
            var isAnswered = false
            while !isAnswered {
                let next = try Connection(port: port)
                next.send(Self.get(Self.identify))
                isAnswered = next.receive(answers: 1).count == 1
            }
        }
    }

    @Test(.slow)
    func
        `a body of 40 MB hears its refusal, one of 100 MB is not kept, and requests nobody reads the answers of hold up nobody`()
        async throws
    {
        try await Served.serving(site()) { port in
            let piece = String(repeating: "a", count: 1 << 20)
            let refused = try Connection(port: port)
            refused.send(
                "POST /arcgis/rest/info HTTP/1.1\r\nHost: localhost\r\nContent-Length: 41943040\r\n\r\n"
            )
            for _ in 0..<40 { refused.send(piece) }
            #expect(refused.receive(answers: 1).first?.contains("\"code\":413") == true)
            // The rest of the body was read, so the connection stays open.
            refused.send(Self.get(Self.identify))
            #expect(refused.receive(answers: 1).first?.contains("results") == true)

            let large = try Connection(port: port)
            large.send(
                "POST /arcgis/rest/info HTTP/1.1\r\nHost: localhost\r\nContent-Length: 104857600\r\n\r\n"
            )
            let before = ProcessLimits.residentByteCount()
            for count in 0..<100 {
                large.send(piece)
                if count == 50 { try Self.expectAnswers(port) }
            }
            #expect(ProcessLimits.residentByteCount() - before < 50 << 20)
            #expect(large.receive(answers: 1).first?.contains("\"code\":413") != false)

            let deaf = try Connection(port: port)
            deaf.send(String(repeating: Self.get(Self.identify), count: 500))
            try Self.expectAnswers(port)
            #expect(deaf.receive(answers: 500).count == 500)
        }
    }

    @Test func `more requests than the limit get 429 on both ways, and a user is not an address`()
        async throws
    {
        let ruled = try RuledSite(["anna": [.init(.query)]], anonymous: [.init(.query)])
        let rules = try ruled.control().snapshot
        let token = Token(user: "anna", expires: .max, binding: .none).text(
            key: rules.key, entry: try #require(rules.digest("anna")))
        try await Served.serving(site(), access: ruled.store) {
            $0.requestsPerSecond = 5
        } _: {
            port in
            let connection = try Connection(port: port)
            func ask(_ headers: String) throws -> String {
                connection.send(Self.get(Self.identify, headers))
                return try #require(connection.receive(answers: 1).first)
            }
            for way in ["", "TE: trailers\r\n"] {
                var refused: String?
                while refused == nil {
                    let answer = try ask(way)
                    if !answer.hasPrefix("HTTP/1.1 200") { refused = answer }
                }
                #expect(refused?.hasPrefix("HTTP/1.1 429 Too Many Requests\r\n") == true)
                #expect(refused?.lowercased().contains("retry-after: 1\r\n") == true)
                #expect(refused?.contains("\"code\":429") == true)
                let user = try ask(way + "Authorization: Bearer \(token)\r\n")
                #expect(user.hasPrefix("HTTP/1.1 200"))
            }
        }
    }

    @Test func `a follower counts as one request, however much is written to it`() async throws {
        let ruled = try RuledSite([:], anonymous: [.init(.query)])
        let site = try site()
        var service = GatewayService(backend: site, access: try ruled.control())
        service.rateLimit = RateLimit(perSecond: 1)
        let path = "/arcgis/rest/services/City/MapServer/changes"
        let response = await service.answer(GatewayRequest(path: Array(path.utf8)))
        let isStillAdmitted = try #require(response.isStillAdmitted)
        for _ in 0..<1_000 { try isStillAdmitted() }
        #expect(
            await service.watch.metrics.registry.text().contains(
                "cairn_gateway_rate_limited_total 0\n"))
        try ruled.store.change { $0.anonymous = [] }
        service.access.refresh()
        #expect(throws: Failure.self) { try isStillAdmitted() }
    }

    @Test func `buckets hold a second's requests and fill steadily, and are bounded`() {
        let limit = RateLimit(perSecond: 4)
        let second: Int64 = 1_000_000_000
        func count(_ name: String, at now: Int64) -> Int {
            (0..<10).count { _ in limit.admits(name, now: now) }
        }
        #expect(count("a", at: 0) == 4 && count("b", at: 0) == 4)
        #expect(count("a", at: second / 2) == 2)
        #expect(count("a", at: 100 * second) == 4)
        #expect(count("a", at: 0) == 0)
        for number in 0..<3 * RateLimit.capacity { _ = limit.admits("\(number)", now: 0) }
        #expect(limit.count <= RateLimit.capacity + 1)
        #expect(count("new", at: 0) == 0)
        #expect(count("new", at: 200 * second) == 4)
    }

    @Test(arguments: [
        ("10.1.2.3", "10.1.2.3"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2"),
        ("2001:db8::1", "2001:db8:0:0"), ("::1", "0:0:0:0"), ("fe80::1%eth0", "fe80:0:0:0"),
        ("::ffff:10.1.2.3", "::ffff:10.1.2.3"), ("", ""),
    ])
    func `a subscriber is an IPv4 address or 64 bits of IPv6`(_ address: String, _ expected: String)
    {
        #expect(RateLimit.subscriber(address) == expected)
    }

    @Test func `an answer that varies with encodings and origins names both, on both ways`()
        async throws
    {
        let site = SimulatedSite(map: try Samples.map())
        site.change { $0.hasAnswersAtHand = true }
        for (origins, vary) in [
            (["https://a.example"], "vary: origin, accept-encoding"), ([], "vary: accept-encoding"),
        ] {
            try await Served.serving(site) {
                $0.allowedOrigins = origins
            } _: { port in
                let connection = try Connection(port: port)
                let url = "/arcgis/rest/services/City/VectorTileServer/tile/6/2/5.pbf"
                for more in ["TE: x\r\n", "TE: x\r\n", ""] {
                    connection.send(Self.get(url, more))
                    let answer = try #require(connection.receive(answers: 1).first).lowercased()
                    let lines = answer.split(separator: "\r\n").filter { $0.hasPrefix("vary:") }
                    #expect(lines.map(String.init) == [vary])
                }
            }
        }
    }

    @Test func `pages of listed origins may read, on both ways, and ask before with any header`()
        async throws
    {
        try await Served.serving(site()) {
            $0.allowedOrigins = ["https://a.example"]
        } _: { port in
            let connection = try Connection(port: port)
            func heads(_ origin: String) throws -> [String] {
                try [
                    Self.get(Self.identify, origin), Self.get(Self.identify, origin + "TE: x\r\n"),
                    "OPTIONS \(Self.identify) HTTP/1.1\r\nHost: localhost\r\nAccess-Control-Request-Headers: authorization\r\n\(origin)\r\n",
                ].map { text in
                    connection.send(text)
                    return try #require(connection.receive(answers: 1).first).lowercased()
                }
            }
            for head in try heads("Origin: https://A.example\r\n") {
                #expect(head.contains("access-control-allow-origin: https://a.example\r\n"))
                #expect(head.contains("vary: origin"))
                #expect(head.contains(/access-control-allow-headers: [^\r]*, authorization/))
            }
            for head in try heads("Origin: https://b.example\r\n") + heads("") {
                #expect(!head.contains("access-control-allow-origin"))
            }
        }
    }

    @Test func `every request is counted and logged once, also after the log was renamed`()
        async throws
    {
        let path = NSTemporaryDirectory() + "requests-" + UUID().uuidString.prefix(8)
        defer { for end in ["", ".1"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let ruled = try RuledSite(["anna": []], anonymous: [.init(.query), .init(.metrics)])
        @Sendable func lines(_ path: String) -> [[Substring]] {
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            return text.split(separator: "\n").map { $0.split(separator: " ") }
        }
        try await Served.serving(site(), access: ruled.store) {
            $0.requestLogPath = path
        } _: {
            port in
            let connection = try Connection(port: port)
            func ask(_ text: String) throws -> String {
                connection.send(text)
                return try #require(connection.receive(answers: 1).first)
            }
            for _ in 0..<3 { _ = try ask(Self.get(Self.identify)) }
            _ = try ask(Self.get(Self.identify + "&token=secret"))
            while lines(path).count < 4 { _ = sched_yield() }
            try FileManager.default.moveItem(atPath: path, toPath: path + ".1")
            _ = try ask(Self.get(Self.identify, "TE: x\r\n"))
            _ = try ask(Self.get("/no%20where?q=1"))

            let metrics = try ask(Self.get("/metrics"))
            for line in [
                "cairn_gateway_requests_total{resource=\"mapIdentify\",status=\"2xx\"} 4",
                "cairn_gateway_requests_total{resource=\"mapIdentify\",status=\"4xx\"} 1",
                "cairn_gateway_requests_total{resource=\"unknown\",status=\"4xx\"} 1",
                "cairn_gateway_request_seconds_count 6", "cairn_gateway_connections 1",
                "cairn_gateway_requests_in_flight 1", "cairn_gateway_known_sequence 7",
                "cairn_gateway_stale 0", "cairn_gateway_dropped_log_lines_total 0",
            ] { #expect(metrics.contains(line + "\n"), "\(line)") }
            #expect(try ask(Self.get("/readyz")).hasPrefix("HTTP/1.1 200"))
        }
        let (first, second) = (lines(path + ".1"), lines(path))
        #expect(first.map { $0[5] } == ["200", "200", "200", "498"])
        #expect(second.map { $0[4] }.first == "/arcgis/rest/services/City/MapServer/identify")
        #expect(second.count == 4 && second[1][4] == "/no%20where" && second[1][5] == "404")
        #expect(
            (first + second).allSatisfy { $0.count == 8 && $0[1] == "127.0.0.1" && $0[2] == "-" })
        #expect(!first.joined().joined().contains("secret"))
    }

    @Test func `a request log that cannot keep up drops lines and says how many`() throws {
        let log = try RequestLog(path: "/dev/full")
        let entry = RequestLog.Entry(
            at: 0, address: "", user: nil, method: "GET", path: Array("/a b\n".utf8), status: 200,
            byteCount: 1, microseconds: 2)
        for _ in 0..<20_000 { log.note(entry) }
        log.close()
        #expect(log.droppedCount == 20_000)
        #expect(entry.line == "1970-01-01T00:00:00Z - - GET /a?b? 200 1 2\n")
        #expect(throws: Failure.self) { try RequestLog(path: "/nowhere/requests.log") }
    }
}
