// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Site
import Testing

@testable import Gateway

/// Host names of requests to the gateway, and those in its answers.
@Suite struct HostNameTests {
    private static let loopback = RequestClient(address: "127.0.0.1", local: "127.0.0.1")
    private static let network = RequestClient(address: "10.0.0.9", local: "10.0.0.5")
    private static let proxied = RequestClient(
        address: "10.0.0.9", local: "127.0.0.1", isProxied: true)

    private static func hosts(_ names: [String] = [], _ url: String? = nil) throws -> HostNames {
        try HostNames(names, publicURL: url, machine: "GIS.corp.example", listening: "gis-server")
    }

    @Test(arguments: [
        // What the client writes, whether names are listed, what it is on loopback, in a network,
        // behind a proxy.
        (
            "localhost:6080", false, HostNames.Standing.known, HostNames.Standing.known,
            HostNames.Standing.known
        ),
        ("127.0.0.1", false, .known, .known, .known),
        ("127.9.9.9:1", false, .known, .known, .known),
        ("[::1]:6080", false, .known, .known, .known),
        ("LOCALHOST.", false, .known, .known, .known),
        ("gis.corp.example", false, .known, .known, .known), ("gis", false, .known, .known, .known),
        ("gis.local:80", false, .known, .known, .known),
        ("gis-server", false, .known, .known, .known),
        ("10.0.0.5:6080", false, .refused, .known, .known),
        ("evil.example", false, .refused, .unknown, .known),
        ("localhost.evil.example", false, .refused, .unknown, .known),
        ("127.0.0.1.evil.example", false, .refused, .unknown, .known),
        ("evil.example:127.0.0.1", false, .refused, .unknown, .unknown),
        ("evil example", false, .refused, .unknown, .unknown),
        ("a\"><b", false, .refused, .unknown, .unknown),
        ("[::1", false, .refused, .unknown, .unknown),
        ("[::1]evil", false, .refused, .unknown, .unknown),
        (":80", false, .refused, .unknown, .unknown),
        ("maps.example.org", true, .known, .known, .known),
        ("evil.example", true, .refused, .refused, .refused),
        ("localhost", true, .known, .known, .known), ("10.0.0.5", true, .refused, .known, .refused),
    ])
    func `a name is this server's, or is not`(
        _ authority: String, _ isListed: Bool, _ onLoopback: HostNames.Standing,
        _ inNetwork: HostNames.Standing, _ behindProxy: HostNames.Standing
    ) throws {
        let hosts = try Self.hosts(isListed ? ["Maps.Example.org"] : [])
        #expect(hosts.standing(of: authority, Self.loopback) == onLoopback)
        #expect(hosts.standing(of: authority, Self.network) == inNetwork)
        #expect(hosts.standing(of: authority, Self.proxied) == behindProxy)
    }

    @Test(arguments: [
        "ftp://a", "https://", "https://a/b", "https://a?b", "https://u@a", "a.example",
        "https://a:x",
        "https://a:99999",
    ])
    func `a public URL is a scheme and a host`(_ url: String) throws {
        #expect(throws: Failure.self) { try Self.hosts([], url) }
        #expect(throws: Failure.self) { try Self.hosts([url + "/"]) }
        #expect(
            try Self.hosts([], "https://Maps.example.org:8443/").publicOrigin
                == "https://maps.example.org:8443")
    }

    private static let ways = ["", "TE: trailers\r\n"]

    @Test func `a page under a stranger's name gets nothing of a gateway on this machine`()
        async throws
    {
        let site = SimulatedSite(map: try Samples.map())
        site.change { $0.identify = .success(Samples.answer(geometry: nil)) }
        try await Served.serving(site) { port in
            let connection = try Connection(port: port)
            for way in Self.ways {
                for (name, isAnswered) in [
                    ("127.0.0.1:\(port)", true), ("localhost", true),
                    ("evil.example:\(port)", false),
                    ("10.0.0.5", false),
                ] {
                    connection.send(
                        "GET /arcgis/rest/services/City/MapServer/identify?\(AccessTests.identify) HTTP/1.1\r\nHost: \(name)\r\n\(way)\r\n"
                    )
                    let answer = try #require(connection.receive(answers: 1).first)
                    #expect(answer.contains("Höhe") == isAnswered)
                    #expect(answer.hasPrefix("HTTP/1.1 421") == !isAnswered)
                }
            }
            // The second name belongs to another user.
            connection.send(
                "GET /arcgis/rest/services/City/MapServer/identify?\(AccessTests.identify) HTTP/1.1\r\nHost: evil.example\r\nHost: localhost\r\n\r\n"
            )
            #expect(try #require(connection.receive(answers: 1).first).contains("Höhe") == false)
        }
    }

    @Test(
        arguments: [
            // The client's header, whether it is a trusted proxy, the public URL, the base of URLs.
            ("localhost:1", false, nil, "http://localhost:1"),
            ("maps.example.org", true, nil, "https://maps.example.org"),
            ("localhost:1", false, "https://maps.example.org", "https://maps.example.org"),
            ("maps.example.org", false, "https://maps.example.org", "https://maps.example.org"),
        ] as [(String, Bool, String?, String)])
    func `URLs in answers begin with a known name`(
        _ name: String, _ isProxy: Bool, _ publicURL: String?, _ origin: String
    ) async throws {
        let ruled = try RuledSite([:], anonymous: [.init(.query)])
        try await Served.serving(
            SimulatedSite(map: try Samples.map()), access: ruled.store
        ) {
            if isProxy { $0.trustedProxies = ["127.0.0.1"] }
            $0.publicURL = publicURL
        } _: { port in
            let connection = try Connection(port: port)
            for path in [
                "/arcgis/rest/info", "/ogc", "/ogc/collections",
                "/arcgis/rest/services/City/MapServer/export?bbox=0,0,1,1&size=10,10&f=json",
            ] {
                connection.send(
                    "GET \(path) HTTP/1.1\r\nHost: \(name)\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil.example\r\n\r\n"
                )
                let answer = try #require(connection.receive(answers: 1).first)
                #expect(answer.contains("\"\(origin)/"), "\(path)")
                #expect(!answer.contains("evil"))
            }
        }
    }

    @Test func `a page under an unknown name changes nothing, whatever the browser says of it`() {
        let rules = CrossOrigin()
        for (origin, site) in [
            ("http://evil.example", nil), (nil, "same-origin"),
            ("http://evil.example", "same-origin"),
        ] as [(String?, String?)] {
            #expect(
                rules.isForeign(
                    origin: origin, fetchSite: site, authority: "evil.example", isKnown: false))
        }
        #expect(!rules.isForeign(origin: nil, fetchSite: nil, authority: "gis", isKnown: false))
        #expect(!rules.isForeign(origin: nil, fetchSite: "none", authority: "gis", isKnown: false))
        #expect(
            !rules.isForeign(
                origin: "https://maps.example.org", fetchSite: "same-origin",
                authority: "127.0.0.1",
                own: "https://maps.example.org"))
    }
}
