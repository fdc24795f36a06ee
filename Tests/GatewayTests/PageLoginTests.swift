// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Expat
import FoundationEssentials
import Site
import TestKit
import Testing

@testable import Gateway

extension XMLElement {
    fileprivate var all: [XMLElement] { [self] + children.flatMap(\.all) }
    fileprivate func all(_ name: String) -> [XMLElement] { all.filter { $0.name == name } }
    fileprivate func attributes(_ name: String, of element: String) -> [String] {
        all(element).compactMap { $0.attributes[name] }
    }
}

/// A browser without scripts, which reads pages, submits forms and follows links.
private final class Reader {
    let service: GatewayService
    /// The browser's cookie.
    var cookie: String?

    init(service: GatewayService) { self.service = service }

    func open(_ url: String, form: String? = nil) async throws -> XMLElement {
        let parts = url.split(separator: "?", maxSplits: 1)
        let response = await service.answer(
            GatewayRequest(
                path: Array(parts[0].utf8), query: parts.count == 2 ? Array(parts[1].utf8) : [],
                form: Array((form ?? "").utf8), isPost: form != nil, wantsPage: true,
                client: RequestClient(address: "127.0.0.1", isPrivate: true, session: cookie)))
        if let set = response.headers["Set-Cookie"] {
            let pair = String(set.prefix { $0 != ";" })
            cookie = SessionCookie.value(in: pair, isSecure: false)
        }
        if response.status == 303 {
            return try await open(try #require(response.headers["Location"]))
        }
        let text = String(decoding: response.body, as: UTF8.self)
        #expect(!text.contains("token="), "\(url)")
        return try XMLReader.read(Array(text.drop { $0 != "\n" }.utf8))
    }

    /// Submits a form of a page.
    func send(_ action: String, on page: XMLElement) async throws -> XMLElement {
        let form = try #require(
            page.all("form").first { $0.attributes["action"]?.hasPrefix(action) == true })
        let values = form.all("input").map { input in
            Parameters.encode(input.attributes["name"] ?? "") + "="
                + Parameters.encode(input.attributes["value"] ?? "")
        }
        return try await open(
            try #require(form.attributes["action"]), form: values.joined(separator: "&"))
    }

    /// Sends the login form of a page, as a browser does.
    func logIn(on page: XMLElement, _ user: String, _ password: String) async throws -> XMLElement {
        let form = try #require(
            page.all("form").first { $0.attributes("type", of: "input").contains("password") })
        #expect(form.attributes["method"] == "post")
        let values = form.all("input").compactMap { input -> String? in
            guard let name = input.attributes["name"] else { return nil }
            let given = ["username": user, "password": password][name]
            return Parameters.encode(name) + "="
                + Parameters.encode(given ?? input.attributes["value"] ?? "")
        }
        return try await open(
            try #require(form.attributes["action"]), form: values.joined(separator: "&"))
    }

    static func asksForLogin(_ page: XMLElement) -> Bool {
        page.attributes("type", of: "input").contains("password")
    }

    static func alerts(_ page: XMLElement) -> Int {
        page.all.count { $0.attributes["role"] == "alert" }
    }
}

/// Pages where there are users, and where there is no Leaflet.
@Suite struct PageLoginTests {
    private static let services = "/arcgis/rest/services"

    private func reader(
        _ ruled: RuledSite?, _ change: (inout GatewayService) -> Void = { _ in }
    ) throws -> Reader {
        var service = GatewayService(
            backend: SimulatedSite(map: try Samples.map()),
            access: try ruled.map { try $0.control() } ?? .none)
        change(&service)
        return Reader(service: service)
    }

    @Test(arguments: [
        "", "/City/MapServer", "/City/MapServer/0/query?where=1=1", "/City/FeatureServer",
    ])
    func `a login on a page goes on there, and no link shows it`(_ path: String)
        async throws
    {
        let reader = try reader(RuledSite(["anna": [.init(.query, on: "City")], "berta": []]))
        let first = try await reader.open(Self.services + path)
        #expect(Reader.asksForLogin(first))
        // The list of services is public, and its own content beside the form.
        let isRefused = !path.isEmpty
        #expect(first.words.contains("Log in to see this page.") == isRefused)
        #expect(first.every("form").count == 1)

        let wrong = try await reader.logIn(on: first, "anna", "passwort")
        #expect(Reader.asksForLogin(wrong) && Reader.alerts(wrong) == 1 && reader.cookie == nil)
        #expect(!wrong.all.contains { $0.attributes.values.contains { $0.contains("passwort") } })
        let done = try await reader.logIn(on: wrong, "anna", "password")
        #expect(!Reader.asksForLogin(done) && reader.cookie != nil)
        let trail = done.attributes("href", of: "a").map { $0.prefix { $0 != "?" } }
        #expect(trail.contains { $0 == (Self.services + path).prefix { $0 != "?" } })

        for step in ["/City/MapServer", "/City/MapServer/0", "/City/MapServer/0/query"] {
            let page = try await reader.open(Self.services + step)
            #expect(!Reader.asksForLogin(page) && Reader.alerts(page) == 0, "\(step)")
        }

        let gone = try await reader.send("/pages/logout", on: done)
        #expect(Reader.asksForLogin(gone) && reader.cookie == nil)
        #expect(Reader.asksForLogin(try await reader.open(Self.services + "/City/MapServer")))
    }

    @Test func `a page that needs no user leads to a login and back, and then has the user's name`()
        async throws
    {
        let ruled = try RuledSite(
            ["anna": [.init(.query)]], anonymous: [.init(.query, on: "City")])
        let reader = try reader(ruled)
        let query = Self.services + "/City/MapServer/0/query?where=1%3D1"
        let page = try await reader.open(query)
        #expect(!Reader.asksForLogin(page))
        let way = try #require(page.links.first { $0.hasPrefix("/pages/login?returnTo=") })
        let login = try await reader.open(way)
        let done = try await reader.logIn(on: login, "anna", "password")
        #expect(done.every("h1").map(\.text) == page.every("h1").map(\.text))
        #expect(done.whole.contains { $0.attributes["class"] == "user" && $0.text == "anna" })
        #expect(!done.links.contains { $0.hasPrefix("/pages/login") })
    }

    @Test(.slow) func `no page has the token of its address, and each has the user's name`()
        async throws
    {
        let ruled = try RuledSite([
            "anna": [
                .init(.query), .init(.jobs), .init(.metrics), .init(.edit), .init(.history),
                .init(.audit),
            ]
        ])
        let access = try ruled.control()
        let job = SimulatedJobs.job(1, actor: "user:anna")
        let jobs = try SimulatedJobs([job])
        let service = GatewayService(
            backend: SimulatedSite(map: try Samples.map(), jobs: jobs), access: access)
        let token = Token(user: "anna", expires: .max, binding: .none).text(
            key: access.snapshot.key, entry: try #require(access.snapshot.digest("anna")))
        let own = "\(Self.services)/Jobs/GPServer/BatchIdentify/jobs/\(job.id)"
        var pageCount = 0
        for url in AccessTests.resources.map(\.url) + [own] where url != "/" {
            let answer = await service.browse(
                url.replacing("f=json", with: "") + (url.contains("?") ? "&" : "?")
                    + "token=\(token)")
            guard answer.contentType.hasPrefix("text/html") else { continue }
            pageCount += 1
            let page = try answer.page()
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(!text.contains(token) && !text.contains("token="), "\(url)")
            guard
                RouteTable.shared.match(url.prefix { $0 != "?" }.utf8).route.requirement
                    != .nothing
            else { continue }
            #expect(page.whole.contains { $0.attributes["class"] == "user" }, "\(url)")
        }
        #expect(pageCount > 40)
    }

    @Test func `a page without rights says so, and asks for no login where there are no users`()
        async throws
    {
        let ruled = try reader(RuledSite(["berta": []]))
        _ = try await ruled.logIn(on: ruled.open(Self.services), "berta", "password")
        let map = try await ruled.open(Self.services + "/City/MapServer")
        #expect(!Reader.asksForLogin(map) && Reader.alerts(map) == 1)

        let open = try reader(nil)
        for path in ["", "/City/MapServer", "/City/MapServer/0"] {
            #expect(try await !Reader.asksForLogin(open.open(Self.services + path)))
        }
    }

    @Test func `where Leaflet is not installed the page says so, and the map stands still`()
        async throws
    {
        let url = Self.services + "/City/MapServer"
        for isThere in [true, false] {
            let folder = "/tmp/" + "leaflet-" + UUID().uuidString + "/"
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            if isThere { try Data("x".utf8).write(to: URL(filePath: folder + "leaflet.min.js")) }
            let reader = try reader(nil) { $0.leafletFolder = folder }
            let page = try await reader.open(url)
            let notices = page.all.filter { $0.attributes["role"] == "alert" }
            #expect(notices.count == (isThere ? 0 : 1))
            #expect(notices.allSatisfy { $0.text.contains("libjs-leaflet") })
            let scripts = page.attributes("src", of: "script")
            #expect(scripts.contains(PageAsset.leafletScript) == isThere)
            #expect(scripts.contains(PageAsset.map.url) == isThere)
            #expect(page.attributes("src", of: "img").contains { $0.hasPrefix(url + "/export?") })
            let script = await reader.service.answer(
                GatewayRequest(path: Array(PageAsset.leafletScript.utf8)))
            #expect((script.status == 200) == isThere)
        }
    }
}
