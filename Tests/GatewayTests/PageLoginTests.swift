// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Expat
import FoundationEssentials
import Site
import Testing

@testable import Gateway

extension XMLElement {
    fileprivate var all: [XMLElement] { [self] + children.flatMap(\.all) }
    fileprivate func all(_ name: String) -> [XMLElement] { all.filter { $0.name == name } }
    fileprivate func attributes(_ name: String, of element: String) -> [String] {
        all(element).compactMap { $0.attributes[name] }
    }
}

/// Somebody with a browser and no script, who sees pages, fills forms in and goes where links lead.
private struct Reader {
    let service: GatewayService

    func open(_ url: String, form: String? = nil) async throws -> XMLElement {
        let parts = url.split(separator: "?", maxSplits: 1)
        let response = await service.answer(
            GatewayRequest(
                path: Array(parts[0].utf8), query: parts.count == 2 ? Array(parts[1].utf8) : [],
                form: Array((form ?? "").utf8), isPost: form != nil, wantsPage: true,
                client: RequestClient(address: "127.0.0.1", isPrivate: true)))
        let text = String(decoding: response.body, as: UTF8.self)
        return try XMLReader.read(Array(text.drop { $0 != "\n" }.utf8))
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
    func `whoever logs in on a page goes on, and every link remembers`(_ path: String)
        async throws
    {
        let reader = try reader(RuledSite(["anna": [.init(.query, on: "City")], "berta": []]))
        let first = try await reader.open(Self.services + path)
        #expect(Reader.asksForLogin(first))
        #expect(!first.attributes("href", of: "a").contains { $0.contains("/City/MapServer?") })

        let wrong = try await reader.logIn(on: first, "anna", "passwort")
        #expect(Reader.asksForLogin(wrong) && Reader.alerts(wrong) == 1)
        let done = try await reader.logIn(on: wrong, "anna", "password")
        #expect(!Reader.asksForLogin(done) && Reader.alerts(done) == 0)

        var next = try #require(
            done.attributes("href", of: "a").first { $0.hasPrefix(Self.services + "?token=") })
        for step in ["/City/MapServer", "/City/MapServer/0", "/City/MapServer/0/query"] {
            let page = try await reader.open(next)
            #expect(!Reader.asksForLogin(page) && Reader.alerts(page) == 0, "\(next)")
            let links = page.attributes("href", of: "a")
            #expect(
                links.filter { $0.hasPrefix(Self.services) }.allSatisfy { $0.contains("token=") })
            next = try #require(links.first { $0.hasPrefix(Self.services + step + "?") }, "\(step)")
        }
        let last = try await reader.open(next)
        let kept = last.all("form").flatMap { form in
            form.all("input").filter { $0.attributes["name"] == "token" }
        }
        #expect(kept.contains { $0.attributes["value"]?.isEmpty == false })
    }

    @Test func `who may see nothing is told so, and nobody is asked where there are no users`()
        async throws
    {
        let ruled = try reader(RuledSite(["berta": []]))
        let login = try await ruled.open(Self.services)
        let done = try await ruled.logIn(on: login, "berta", "password")
        let link = try #require(done.attributes("href", of: "a").first { $0.contains("?token=") })
        let token = try #require(link.split(separator: "?").last)
        let map = try await ruled.open(Self.services + "/City/MapServer?" + token)
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
