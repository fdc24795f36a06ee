// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Glibc
import Logging
import Synchronization
import Testing

@testable import Gateway

/// Real connections to a server: the short way of identify beside the HTTP library's own.
@Suite struct ConnectionTests {
    static let url =
        "/arcgis/rest/services/City/MapServer/identify?geometry=1,2&tolerance=0"
        + "&mapExtent=0,0,1,1&imageDisplay=10,10,96&f=json"

    private static func get(_ url: String, _ headers: String = "") -> String {
        "GET \(url) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n"
    }

    private func site(atHand: Bool = false) throws -> SimulatedSite {
        let site = SimulatedSite(map: try Samples.map())
        site.change {
            $0.identify = .success(Samples.answer(geometry: nil))
            $0.hasAnswersAtHand = atHand
        }
        return site
    }

    @Test func `an answer at hand is the one that is asked for, on every way`() async throws {
        let site = try site()
        try await Served.serving(site) { port in
            let requests = ["", "TE: trailers\r\n"].map { Self.get(Self.url, $0) }
            func answers() throws -> [String] {
                let connection = try Connection(port: port)
                return requests.flatMap { request -> [String] in
                    connection.send(request)
                    return connection.receive(answers: 1).map { answer in
                        answer.replacing(/(?i)date: [^\r]*/, with: "")
                    }
                }
            }
            for failure in [nil, Failure(.invalidParameter, "tolerance -1: expected 0 or more")] {
                if let failure { site.change { $0.identify = .failure(failure) } }
                site.change { $0.hasAnswersAtHand = false }
                let asked = try answers()
                site.change { $0.hasAnswersAtHand = true }
                let atHand = try answers()
                #expect(asked.count == 2 && atHand == asked)
            }
        }
        let counts = site.inner.withLock { $0.identifyCounts }
        #expect(counts.atOnce == 4 && counts.asked == 4)
    }

    @Test func `the short way answers as the library does, header by header`() async throws {
        try await Served.serving(site()) { port in
            let connection = try Connection(port: port)
            connection.send(Self.get(Self.url))
            let short = try #require(connection.receive(answers: 1).first)
            // A header that the fast path does not accept.
            connection.send(Self.get(Self.url, "TE: trailers\r\n"))
            let long = try #require(connection.receive(answers: 1).first)

            func parts(_ answer: String) -> (Set<String>, String) {
                let parts = answer.components(separatedBy: "\r\n\r\n")
                let lines = parts[0].components(separatedBy: "\r\n").map { line in
                    let name = line.prefix { $0 != ":" }
                    return name.lowercased()
                        + (name.lowercased() == "date" ? "" : line.dropFirst(name.count))
                }
                return (Set(lines), parts[1])
            }
            #expect(short.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(parts(short).0 == parts(long).0)
            #expect(parts(short).1 == parts(long).1)
            #expect(parts(short).1.contains("Höhe"))
        }
    }

    @Test(arguments: [false, true])
    func `a connection goes from one way to the other and back, answers in order`(isAtHand: Bool)
        async throws
    {
        try await Served.serving(site(atHand: isAtHand)) { port in
            let connection = try Connection(port: port)
            for round in 0..<20 {
                let isShort = round % 3 != 0
                connection.send(
                    Self.get(isShort ? Self.url : "/arcgis/rest/services/City/MapServer?f=json"))
                let answer = try #require(connection.receive(answers: 1).first)
                #expect(answer.contains(isShort ? #"{"results":["# : #""mapName":"#))
            }
        }
    }

    @Test(arguments: [false, true])
    func `requests sent without waiting are answered in their order`(isAtHand: Bool) async throws {
        try await Served.serving(site(atHand: isAtHand)) { port in
            let other = Self.get("/arcgis/rest/services/City/MapServer?f=json")
            for sequence in ["sss", "sls", "lss", "ssl", "llsslsl"] {
                let connection = try Connection(port: port)
                connection.send(
                    sequence.map { $0 == "s" ? Self.get(Self.url) : other }.joined())
                let answers = connection.receive(answers: sequence.count)
                let found = answers.map { $0.contains(#"{"results":["#) ? "s" : "l" }.joined()
                #expect(found == sequence)
            }
        }
    }

    @Test(arguments: [false, true])
    func `a request that comes while one is being answered waits its turn`(isAtHand: Bool)
        async throws
    {
        try await Served.serving(site(atHand: isAtHand)) { port in
            let connection = try Connection(port: port)
            for _ in 0..<50 { connection.send(Self.get(Self.url)) }
            #expect(connection.receive(answers: 50).count == 50)
        }
    }

    @Test func `a request in pieces is answered, and what is asked wrongly too`() async throws {
        try await Served.serving(site()) { port in
            let connection = try Connection(port: port)
            let text = Self.get(Self.url)
            connection.send(String(text.prefix(40)))
            connection.send(String(text.dropFirst(40)))
            #expect(connection.receive(answers: 1).first?.contains("results") == true)

            let second = try Connection(port: port)
            second.send(Self.get(Self.url.replacingOccurrences(of: "tolerance=0", with: "x=1")))
            let answer = try #require(second.receive(answers: 1).first)
            #expect(answer.hasPrefix("HTTP/1.1 200 OK"))
            #expect(answer.contains(#"{"error":{"code":400"#))
            second.send(Self.get(Self.url))
            #expect(second.receive(answers: 1).first?.contains("results") == true)
        }
    }

    @Test(arguments: [
        (
            "DELETE", "/arcgis/rest/services", "GET, HEAD, POST, OPTIONS",
            "{\"error\":{\"code\":405,"
        ),
        ("PUT", "/ogc/collections", "GET, HEAD, OPTIONS", "{\"code\":\"MethodNotAllowed\","),
        ("POST", "/ogc/collections", "GET, HEAD, OPTIONS", "{\"code\":\"MethodNotAllowed\","),
    ])
    func `a method that is not for it is answered with those that are`(
        method: String, path: String, allowed: String, body: String
    ) async throws {
        try await Served.serving(site()) { port in
            let connection = try Connection(port: port)
            connection.send(
                "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
            let answer = try #require(connection.receive(answers: 1).first)
            #expect(answer.hasPrefix("HTTP/1.1 405 "))
            #expect(answer.contains("\r\nAllow: \(allowed)\r\n"), "\(answer)")
            #expect(answer.contains("\r\n\r\n" + body))
        }
    }
}
