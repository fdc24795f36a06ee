// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Site
import Testing

@testable import Gateway

/// The client of a request through a proxy.
@Suite struct ProxyTests {
    private static let identify =
        "/arcgis/rest/services/City/MapServer/identify?" + AccessTests.identify

    @Test(arguments: [
        ("10.0.0.9", "192.0.2.1", "10.0.0.9"), ("10.0.0.1", nil, "10.0.0.1"),
        ("10.0.0.1", "192.0.2.1", "192.0.2.1"), ("10.0.0.1", "192.0.2.1, 10.0.0.2", "192.0.2.1"),
        // The client's own entries come first, and do not count.
        ("10.0.0.1", "127.0.0.1, 192.0.2.1", "192.0.2.1"),
        ("10.0.0.1", "127.0.0.1, 192.0.2.1,10.0.0.2", "192.0.2.1"),
        ("10.0.0.1", "unknown, 10.0.0.2", "10.0.0.2"), ("10.0.0.1", "nonsense", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"), ("10.0.0.1", "10.0.0.2, 10.0.0.1", "10.0.0.2"),
        ("10.0.0.1", "192.0.2.1:4711", "192.0.2.1"), ("10.0.0.1", "[2001:DB8::1]:9", "2001:db8::1"),
        ("10.0.0.1", "2001:db8:0:0::1", "2001:db8::1"),
        ("::ffff:10.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("fd00::7", "192.0.2.1", "192.0.2.1"),
    ])
    func `the client is the last whom no trusted proxy names as a proxy`(
        _ peer: String, _ forwardedFor: String?, _ expected: String
    ) throws {
        let proxies = try TrustedProxies(["10.0.0.1", "10.0.0.2", "fd00:0::7"])
        let client = proxies.client(
            of: RequestClient(address: peer), forwardedFor: forwardedFor, forwardedProto: nil)
        #expect(client.address == expected)
    }

    @Test(arguments: [
        ("10.0.0.1", "https", true, true), ("10.0.0.1", "HTTPS", true, true),
        ("10.0.0.1", "http", false, false), ("10.0.0.1", nil, false, false),
        ("10.0.0.1", "https, http", false, false), ("10.0.0.9", "https", false, false),
    ])
    func `a connection is as safe as the trusted proxy's with its client`(
        _ peer: String, _ forwardedProto: String?, _ isSecure: Bool, _ isPrivate: Bool
    ) throws {
        let client = try TrustedProxies(["10.0.0.1"]).client(
            of: RequestClient(address: peer), forwardedFor: "192.0.2.1",
            forwardedProto: forwardedProto)
        #expect(client.isSecure == isSecure && client.isPrivate == isPrivate)
    }

    @Test(arguments: [
        "", "example.org", "10.0.0.0/8", "10.0.0.1:80", String(repeating: "1", count: 99),
    ])
    func `text that is no address cannot be a trusted proxy`(_ text: String) {
        let failure = #expect(throws: Failure.self) { try TrustedProxies([text]) }
        #expect(failure?.message.contains("--trusted-proxy") == true)
    }

    @Test(arguments: [true, false])
    func `both ways into the gateway believe only trusted proxies`(_ isTrusted: Bool) async throws {
        let ruled = try RuledSite(["anna": [.init(.query, on: "City")]])
        let rules = try ruled.control().snapshot
        let token = Token(user: "anna", expires: .max, binding: .address("192.0.2.1")).text(
            key: rules.key, entry: try #require(rules.digest("anna")))
        let site = SimulatedSite(map: try Samples.map())
        site.change { $0.identify = .success(Samples.answer(geometry: nil)) }
        let path = NSTemporaryDirectory() + "requests-" + UUID().uuidString.prefix(8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await Served.serving(site, access: ruled.store) {
            if isTrusted { $0.trustedProxies = ["127.0.0.1"] }
            $0.connectionLimitPerAddress = 2
            $0.requestLogPath = path
        } _: { port in
            let connection = try Connection(port: port)
            for way in ["", "TE: trailers\r\n"] {
                for address in ["192.0.2.1", "192.0.2.2"] {
                    connection.send(
                        "GET \(Self.identify) HTTP/1.1\r\nHost: localhost\r\n\(way)X-Forwarded-For: \(address)\r\nAuthorization: Bearer \(token)\r\n\r\n"
                    )
                    let answer = try #require(connection.receive(answers: 1).first)
                    #expect(answer.contains("Höhe") == (isTrusted && address == "192.0.2.1"))
                }
            }
            connection.send(
                "GET /arcgis/rest/info HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Proto: https\r\n\r\n"
            )
            #expect(
                try #require(connection.receive(answers: 1).first).contains("\"https://localhost/")
                    == isTrusted)
            // A proxy connects for many.
            let second = try Connection(port: port)
            let question = "GET /arcgis/rest/info HTTP/1.1\r\nHost: localhost\r\n\r\n"
            second.send(question)
            // An answered request has been counted, on whatever thread that is.
            #expect(!second.receive(answers: 1).isEmpty)
            let third = try Connection(port: port)
            third.send(question)
            #expect(third.receive(answers: 1).isEmpty == !isTrusted)
            withExtendedLifetime(second) {}
        }
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let addresses = lines.prefix(4).map { String($0.split(separator: " ")[1]) }
        let expected = ["192.0.2.1", "192.0.2.2", "192.0.2.1", "192.0.2.2"]
        #expect(addresses == (isTrusted ? expected : Array(repeating: "127.0.0.1", count: 4)))
    }
}
