// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Foundation
import Platform
import Secrets
import Site
import TestKit
import Testing

@testable import Gateway

/// A browser's login by cookie, and what other servers' pages can make of it.
@Suite struct SessionTests {
    private static let services = "/arcgis/rest/services"
    private static let edit = services + "/City/FeatureServer/0/deleteFeatures"

    /// One connection to a gateway that trusts it as a proxy, whose client speaks TLS or not.
    private struct Browser {
        let port: Int
        var isSecure = true

        func ask(
            _ method: String, _ path: String, _ headers: [String] = [], form: String? = nil
        ) throws -> String {
            let connection = try Connection(port: port)
            var lines = ["\(method) \(path) HTTP/1.1", "Host: maps.example.org"] + headers
            if isSecure { lines.append("X-Forwarded-Proto: https") }
            if let form {
                lines += [
                    "Content-Type: application/x-www-form-urlencoded",
                    "Content-Length: \(form.utf8.count)",
                ]
            }
            connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + (form ?? ""))
            return try #require(connection.receive(answers: 1).first)
        }

        func logIn(_ more: String = "", _ headers: [String] = []) throws -> String {
            try ask(
                "POST", "/pages/login", headers, form: "username=anna&password=password" + more)
        }

        /// The header `Cookie` after a login.
        func cookie() throws -> String {
            let set = try #require(try logIn().header("set-cookie").first)
            return "Cookie: " + set.prefix { $0 != ";" }
        }

        /// The proof that pages have for a cookie.
        func proof(_ cookie: String) throws -> String {
            let page = try ask("GET", SessionTests.services, [cookie, "Accept: text/html"])
            return String(
                try #require(page.firstMatch(of: /name="csrf" value="([^"]+)"/)?.1))
        }
    }

    private func serving(_ body: @Sendable @escaping (Browser) throws -> Void) async throws {
        let ruled = try RuledSite(["anna": [.init(.query), .init(.edit), .init(.jobs)]])
        try await Served.serving(
            SimulatedSite(map: try Samples.map()), access: ruled.store
        ) {
            $0.trustedProxies = ["127.0.0.1"]
        } _: { port in
            try body(Browser(port: port))
        }
        withExtendedLifetime(ruled) {}
    }

    @Test func `a login sets a cookie for this server's pages alone, each another`() async throws {
        try await serving { browser in
            var browser = browser
            let (first, second) = (try browser.logIn(), try browser.logIn())
            for answer in [first, second] {
                #expect(answer.hasPrefix("HTTP/1.1 303"))
                let set = try #require(answer.header("set-cookie").first)
                #expect(set.hasPrefix("__Host-cairn-session="))
                let attributes = set.split(separator: "; ").dropFirst()
                #expect(
                    Set(attributes).isSuperset(of: ["Path=/", "HttpOnly", "SameSite=Lax", "Secure"])
                )
                #expect(!attributes.contains { $0.hasPrefix("Domain") })
                let age = attributes.compactMap { $0.firstMatch(of: /Max-Age=(\d+)/)?.1 }.first
                #expect(3_590...3_600 ~= age.flatMap { Int($0) } ?? 0)
            }
            #expect(first.header("set-cookie") != second.header("set-cookie"))
            browser.isSecure = false
            let plain = try #require(try browser.logIn().header("set-cookie").first)
            #expect(plain.hasPrefix("cairn-session=") && !plain.contains("Secure"))
            let wrong = try browser.ask(
                "POST", "/pages/login", form: "username=anna&password=guess")
            #expect(
                wrong.header("set-cookie").isEmpty && wrong.contains("Unable to generate token"))
            let inURL = try browser.ask("GET", "/pages/login?username=anna&password=password")
            #expect(inURL.header("set-cookie").isEmpty && !inURL.contains("value=\"password\""))
        }
    }

    @Test(
        .slow,
        arguments: [
            (SessionTests.services + "/City/MapServer?at=5", true), ("/ogc/collections", true),
            ("//evil.example/arcgis/rest/services", false), ("https://evil.example/", false),
            ("/\\evil.example", false), ("/other", false), ("/pages/logout", false), ("", false),
            ("/ogc\r\nSet-Cookie: a=b", false), ("/ogc ", false), ("javascript:alert(1)", false),
            ("/ogc/" + String(repeating: "a", count: 3_000), false),
        ])
    func `a login goes on here and nowhere else`(_ path: String, _ isOwn: Bool) async throws {
        try await serving { browser in
            let answer = try browser.logIn("&returnTo=" + Parameters.encode(path))
            #expect(answer.header("location") == [isOwn ? path[...] : Self.services[...]])
            #expect(answer.header("set-cookie").count == 1)
        }
    }

    @Test func `a cookie opens pages and what their scripts ask, and nothing for other pages`()
        async throws
    {
        try await serving { browser in
            let cookie = try browser.cookie()
            let query = Self.services + "/City/MapServer/0"
            func isOpen(_ headers: [String], method: String = "GET") throws -> Bool {
                let answer = try browser.ask(
                    method, query, headers, form: method == "GET" ? nil : "f=json")
                #expect(
                    answer.header("access-control-allow-origin").isEmpty == !answer.contains("499"))
                return answer.contains("\"name\"")
            }
            #expect(try !isOpen([]))
            #expect(try isOpen([cookie]))
            #expect(try isOpen([cookie, "Sec-Fetch-Site: same-origin"]))
            #expect(try isOpen([cookie, "Sec-Fetch-Site: none"]))
            let foreign = "Sec-Fetch-Site: cross-site"
            #expect(
                try isOpen([
                    cookie, foreign, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document",
                ]))
            for headers in [
                [foreign], ["Sec-Fetch-Site: same-site"],
                [foreign, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"],
                [foreign, "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"],
                ["Origin: https://evil.example"], ["Origin: null"],
            ] { #expect(try !isOpen([cookie] + headers), "\(headers)") }
            #expect(
                try !isOpen(
                    [cookie, foreign, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"],
                    method: "POST"))
            // An explicit token takes precedence.
            let wrong = try browser.ask("GET", query + "?token=nonsense", [cookie])
            #expect(wrong.contains("498"))
        }
    }

    @Test func `a cookie that is none, or is two, opens nothing and is no error`() async throws {
        try await serving { browser in
            let cookie = try browser.cookie()
            let value = cookie.dropFirst("Cookie: ".count)
            let name = "__Host-cairn-session="
            let page = Self.services + "/City/MapServer/0"
            for (header, isOpen) in [
                ("Cookie: a=b; \(value); c", true), ("Cookie: \(value); \(value)", true),
                ("Cookie: \(name)x; \(value)", false), ("Cookie: \(value); \(name)x", false),
                ("Cookie: \(value)x", false), ("Cookie: \(name)", false),
                ("Cookie: cairn-session=\(value.dropFirst(name.count))", false),
                ("Cookie: \(value)\r\nCookie: \(name)x", false),
                ("Cookie: \(String(repeating: "a=b; ", count: 4_000))\(value)", false),
            ] {
                let answer = try browser.ask("GET", page, [header])
                #expect(answer.contains("\"name\"") == isOpen, "\(header.prefix(60))")
                #expect(answer.contains("499") == !isOpen)
            }
            // It is taken from the cookie alone, and a token is none.
            let session = value.dropFirst(name.count)
            #expect(try browser.ask("GET", page + "?token=\(session)").contains("498"))
            #expect(
                try browser.ask("GET", page, ["Authorization: Bearer \(session)"]).contains("498"))
            let answer = try browser.ask(
                "POST", "/arcgis/tokens/generateToken", form: "username=anna&password=password")
            let token = try #require(answer.firstMatch(of: /"token":"([^"]+)"/)?.1)
            #expect(try browser.ask("GET", page, ["Cookie: \(name)\(token)"]).contains("499"))
            #expect(try browser.ask("GET", page + "?token=\(token)").contains("\"name\""))
        }
    }

    @Test func `a change by cookie is proved by what only this server's pages know`() async throws {
        try await serving { browser in
            let (cookie, other) = (try browser.cookie(), try browser.cookie())
            let (proof, strange) = (try browser.proof(cookie), try browser.proof(other))
            func isRefused(_ path: String, _ form: String, _ headers: [String]) throws -> Bool {
                try browser.ask("POST", path, headers, form: form).hasPrefix("HTTP/1.1 403")
            }
            for path in [
                Self.edit, Self.services + "/Jobs/GPServer/BatchIdentify/submitJob",
                Self.services + "/Jobs/GPServer/BatchIdentify/jobs/1/cancel",
                Self.services + "/Jobs/GPServer/uploads/upload",
            ] {
                let form = "objectIds=1&map=City"
                #expect(try isRefused(path, form, [cookie]))
                #expect(try isRefused(path + "?csrf=", form, [cookie]))
                #expect(try isRefused(path + "?csrf=\(strange)", form, [cookie]))
                #expect(try isRefused(path, form, [cookie, "X-Cairn-CSRF: \(strange)"]))
                #expect(try !isRefused(path, form, [cookie, "X-Cairn-CSRF: \(proof)"]))
                #expect(try !isRefused(path + "?csrf=\(proof)", form, [cookie]))
                // The proof does not help where the browser names the origin of the page.
                #expect(
                    try isRefused(
                        path, form,
                        [cookie, "X-Cairn-CSRF: \(proof)", "Origin: https://evil.example"]))
            }
            #expect(try !isRefused(Self.edit, "objectIds=1&csrf=\(proof)", [cookie]))
            let link = try browser.ask(
                "GET", Self.services + "/Jobs/GPServer/BatchIdentify/submitJob?map=City", [cookie])
            #expect(link.hasPrefix("HTTP/1.1 403"))
            // Programs with tokens prove nothing.
            let answer = try browser.ask(
                "POST", "/arcgis/tokens/generateToken", form: "username=anna&password=password")
            let token = try #require(answer.firstMatch(of: /"token":"([^"]+)"/)?.1)
            #expect(try !isRefused(Self.edit, "objectIds=1&token=\(token)", [cookie]))
        }
    }

    @Test func `every form of a page that changes something has the proof`() async throws {
        try await serving { browser in
            let cookie = try browser.cookie()
            let proof = try browser.proof(cookie)
            let page = try browser.ask(
                "GET", Self.services + "/Jobs/GPServer/BatchIdentify",
                [cookie, "Accept: text/html"])
            let forms = page.split(separator: "<form").dropFirst().filter {
                $0.contains("method=\"post\"")
            }
            #expect(forms.count == 3)
            #expect(
                forms.allSatisfy { $0.contains(proof) })
            // It occurs in no link that could be shared.
            let links = page.matches(of: /href="([^"]*)"/).map(\.1)
            #expect(!links.isEmpty && links.allSatisfy { !$0.contains(proof) })
        }
    }

    @Test func `a logout is proved, has the browser forget, and ends by a new password too`()
        async throws
    {
        let ruled = try RuledSite(["anna": [.init(.query)]])
        let access = try ruled.control()
        try await serving { browser in
            let cookie = try browser.cookie()
            let forged = try browser.ask("POST", "/pages/logout", [cookie], form: "")
            #expect(forged.hasPrefix("HTTP/1.1 403") && forged.header("set-cookie").isEmpty)
            let proof = try browser.proof(cookie)
            let gone = try browser.ask("POST", "/pages/logout", [cookie], form: "csrf=\(proof)")
            #expect(gone.hasPrefix("HTTP/1.1 303"))
            let set = try #require(gone.header("set-cookie").first)
            #expect(set.hasPrefix("__Host-cairn-session=;") && set.contains("Max-Age=0"))
            #expect(gone.header("clear-site-data") == ["\"cache\""])
            let page = try browser.ask("GET", Self.services, [cookie, "Accept: text/html"])
            #expect(page.header("cache-control") == ["no-store"])
        }
        let snapshot = access.snapshot
        let text = Token(user: "anna", expires: 1_000, binding: .session("a")).text(
            key: snapshot.key, entry: try #require(snapshot.digest("anna")))
        let client = RequestClient(session: text)
        #expect(snapshot.session(client, now: 999)?.user == "anna")
        #expect(snapshot.session(client, now: 1_000) == nil)
        try ruled.store.change {
            $0.users[0].passwordHash = PasswordHash.make("another password") ?? ""
        }
        access.refresh()
        #expect(access.snapshot.session(client, now: 999) == nil)
    }
}
