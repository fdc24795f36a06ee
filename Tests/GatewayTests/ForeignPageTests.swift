// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Synchronization
import Testing

@testable import Gateway

/// Pages of other servers may have a browser read here, and change nothing.
@Suite struct ForeignPageTests {
    private static let services = "/arcgis/rest/services"
    private static let host = "127.0.0.1:6080"

    /// The headers a browser sends, whether pages of `https://a.example` are listed, whether it may
    /// change.
    private static let cases: [(headers: String, isListed: Bool, isAllowed: Bool)] = [
        ("", false, true),
        ("Origin: http://127.0.0.1:6080\r\nSec-Fetch-Site: same-origin\r\n", false, true),
        ("Origin: HTTP://127.0.0.1:6080\r\n", false, true),
        ("Sec-Fetch-Site: none\r\n", false, true),
        // A page without a referrer: its forms have no origin either, but the browser knows.
        ("Origin: null\r\nSec-Fetch-Site: same-origin\r\n", false, true),
        ("Origin: null\r\n", false, false),
        ("Origin: https://a.example\r\n", false, false),
        ("Origin: https://a.example\r\nSec-Fetch-Site: cross-site\r\n", false, false),
        ("Origin: http://127.0.0.1:3000\r\nSec-Fetch-Site: same-site\r\n", false, false),
        ("Origin: http://127.0.0.1\r\n", false, false),
        ("Origin: http://127.0.0.1:6080.example\r\n", false, false),
        ("Origin: http://127.0.0.1:6080/\r\n", false, false),
        ("Sec-Fetch-Site: cross-site\r\n", false, false),
        ("Sec-Fetch-Site: same-site\r\n", false, false),
        ("Origin: https://a.example\r\nSec-Fetch-Site: cross-site\r\n", true, true),
        ("Origin: https://b.example\r\nSec-Fetch-Site: cross-site\r\n", true, false),
    ]

    @Test(arguments: cases)
    func `an edit comes from nowhere, from here or from a listed page`(
        _ headers: String, _ isListed: Bool, _ isAllowed: Bool
    ) async throws {
        let site = SimulatedSite(map: try Samples.map())
        try await Served.serving(site) {
            if isListed { $0.allowedOrigins = ["https://a.example"] }
        } _: { port in
            let connection = try Connection(port: port)
            func ask(_ method: String, _ path: String, _ body: String = "") throws -> String {
                let form =
                    body.isEmpty
                    ? ""
                    : "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.utf8.count)\r\n"
                connection.send(
                    "\(method) \(path) HTTP/1.1\r\nHost: \(Self.host)\r\n\(headers)\(form)\r\n\(body)"
                )
                return try #require(connection.receive(answers: 1).first)
            }
            let edit = try ask(
                "POST", Self.services + "/City/FeatureServer/0/deleteFeatures", "objectIds=1")
            #expect(edit.hasPrefix("HTTP/1.1 403") == !isAllowed)
            #expect(edit.contains("pages of other servers change nothing here") == !isAllowed)
            #expect(site.inner.withLock { $0.asked } == (isAllowed ? ["edit 0"] : []))
            for path in [
                "uploads/upload", "BatchIdentify/submitJob", "BatchIdentify/jobs/1/cancel",
            ] {
                let job = try ask("POST", Self.services + "/Jobs/GPServer/" + path, "map=City")
                #expect(job.hasPrefix("HTTP/1.1 403") == !isAllowed, "\(path)")
            }
            // As the address of a picture.
            let link = try ask(
                "GET", Self.services + "/Jobs/GPServer/BatchIdentify/submitJob?map=City")
            #expect(link.hasPrefix("HTTP/1.1 403") == !isAllowed)
            for path in ["/City/FeatureServer/0/query", "/City/MapServer", "/Jobs/GPServer"] {
                #expect(try ask("GET", Self.services + path).hasPrefix("HTTP/1.1 200"))
                #expect(try ask("POST", Self.services + path, "f=json").hasPrefix("HTTP/1.1 200"))
            }
        }
    }

    @Test func `of all resources only edits, roads, uploads, jobs and passwords change something`()
        throws
    {
        let service = GatewayService(backend: SimulatedSite(map: try Samples.map()))
        func code(_ match: RouteMatch, _ client: RequestClient) -> Failure.Code? {
            do throws(Failure) {
                _ = try service.admit(match, Parameters([:]), client)
                return nil
            } catch { return error.code }
        }
        var refused: Set<String> = []
        for (url, label) in AccessTests.resources {
            let match = RouteTable.shared.match(url.prefix { $0 != "?" }.utf8)
            let own = code(match, RequestClient())
            let foreign = code(match, RequestClient(isForeignPage: true))
            if foreign == .foreignPage { refused.insert(label) }
            #expect(foreign == .foreignPage ? own == nil : own == foreign)
        }
        // Of the paths of a job one cancels it.
        #expect(
            refused == [
                "featuresEdit", "featuresUndo", "jobsUpload", "jobsSubmit", "jobsJob",
                "generateToken", "tilesExport", "tilesJob", "roadsEdit", "networkTaskSubmit",
                "networkTaskJob",
            ])
    }

    @Test func `a page of another server keeps no user from logging in`() async throws {
        let ruled = try RuledSite(["anna": []])
        try await Served.serving(
            SimulatedSite(map: try Samples.map()), access: ruled.store
        ) { port in
            func logIn(_ headers: String, _ path: String, _ password: String) throws -> String {
                let connection = try Connection(port: port)
                let form = "username=anna&password=\(password)"
                connection.send(
                    "POST \(path) HTTP/1.1\r\nHost: \(Self.host)\r\n\(headers)Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)\r\n\r\n\(form)"
                )
                return try #require(connection.receive(answers: 1).first)
            }
            for path in ["/arcgis/tokens/generateToken", "/pages/login"] {
                for headers in [
                    "Origin: https://a.example\r\n", "Sec-Fetch-Site: cross-site\r\n",
                    "Origin: null\r\n",
                ] {
                    for password in ["guess", "guess", "password"] {
                        let answer = try logIn(headers, path, password)
                        #expect(answer.hasPrefix("HTTP/1.1 403"))
                        #expect(!answer.lowercased().contains("set-cookie"))
                    }
                }
            }
            #expect(
                try logIn("", "/arcgis/tokens/generateToken", "password").contains("\"token\":"))
        }
    }

    @Test(arguments: [
        ("https://a.example", "a.example:443", true), ("https://a.example:443", "A.example", true),
        ("http://a.example:80", "a.example", true), ("http://a.example", "a.example:443", false),
        ("https://a.example", nil, false), ("", "a.example", false), ("https:", "a.example", false),
        ("http://[::1]:6080", "[::1]:6080", true),
    ])
    func `an origin is this server's where host and port are`(
        _ origin: String, _ authority: String?, _ isOwn: Bool
    ) {
        let isForeign = CrossOrigin().isForeign(
            origin: origin, fetchSite: nil, authority: authority)
        #expect(isForeign == !isOwn)
    }
}
