// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import Expat
import FoundationEssentials
import Geometry
import Synchronization
import TestKit
import Testing

@testable import Gateway

/// Pages of a simulated site, every name of which is `name`.
private struct Asked {
    let service: GatewayService
    let site: SimulatedSite

    init(named name: String) throws {
        site = SimulatedSite(map: try Samples.map())
        site.change { inner in
            for index in inner.map.layers.indices {
                inner.map.layers[index].name = name
                inner.map.layers[index].fieldAliases = ["POP": name]
                inner.map.layers[index].properties?.fields = [
                    FieldDescription(name: "OBJECTID", type: .objectID),
                    FieldDescription(name: name, type: .string, length: 80),
                ]
            }
            var answer = Samples.answer(geometry: nil)
            answer.layers[0].results[0].value = .string(name)
            answer.layers[0].results[0].attributes = Attributes([
                .init(name: name, value: .string(name))
            ])
            answer.layers[0].results[0].layerName = name
            inner.identify = .success(answer)
            var change = RoadChange(.closed, edges: [])
            (change.reason, change.hours, change.modes) = (name, name, [name])
            var report = RoadChangeReport(
                StandingRoadChange(
                    number: 57, change: change, recordedAt: Timestamp(microseconds: 0)))
            var road = SimulatedRoads.road
            road.street = name
            report.roads = [road]
            inner.roads.changes = [report]
            inner.roads.networks.append(SimulatedRoads.network(name))
            let text = Self.json(name)
            inner.answerToQuery = { request in
                switch (request.result, request.form) {
                case (.count, _): "{\"count\":1}"
                case (_, .ogcFeatures):
                    #"{"type":"FeatureCollection","features":[{"type":"Feature","id":1,"geometry":null,"properties":{\#(text):\#(text)}}],"numberReturned":1}"#
                default:
                    #"{"fields":[{"name":\#(text)}],"features":[{"attributes":{\#(text):\#(text)}}]}"#
                }
            }
        }
        service = GatewayService(backend: site)
    }

    private static func json(_ text: String) -> String {
        (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }

    func page(_ url: String) async -> GatewayResponse {
        let parts = url.split(separator: "?", maxSplits: 1)
        return await service.answer(
            GatewayRequest(
                path: Array(parts[0].utf8), query: parts.count == 2 ? Array(parts[1].utf8) : [],
                wantsPage: true, origin: "http://h:1"))
    }
}

extension XMLElement {
    /// This element and all below it.
    fileprivate var everything: [XMLElement] { [self] + children.flatMap(\.everything) }
}

private let root = "/arcgis/rest/services"

/// Elements that a page may contain.
private let known: Set<String> = [
    "html", "head", "meta", "title", "link", "script", "body", "header", "nav", "strong", "a",
    "main",
    "h1", "h2", "h3", "p", "footer", "span", "section", "aside", "div", "img", "ul", "ol", "li",
    "dl",
    "dt", "dd", "details", "summary", "table", "caption", "thead", "tbody", "tr", "th", "td",
    "form",
    "label", "input", "button", "datalist", "option", "progress", "pre", "code",
]

@Suite struct PageTests {
    static let urls = [
        root, "/nothing", "\(root)/City/MapServer", "\(root)/City/MapServer?at=5",
        "\(root)/City/MapServer/layers", "\(root)/City/MapServer/0", "\(root)/City/MapServer/1",
        "\(root)/City/VectorTileServer",
        "\(root)/City/MapServer/legend", "\(root)/City/MapServer/identify",
        "\(root)/City/MapServer/identify?geometry=1,2&tolerance=1&mapExtent=0,0,1,1&imageDisplay=1,1,96",
        "\(root)/City/MapServer/0/query", "\(root)/City/FeatureServer/0/query?where=1%3D1",
        "\(root)/City/MapServer/export?bbox=0,0,1,1", "\(root)/City/FeatureServer",
        "\(root)/City/FeatureServer/0", "\(root)/City/FeatureServer/0/1",
        "\(root)/City/MapServer/0/1", "\(root)/City/MapServer/99", "\(root)/Mars/MapServer",
        "\(root)/World/GeocodeServer", "\(root)/World/GeocodeServer/suggest?text=a",
        "\(root)/World/GeocodeServer/findAddressCandidates",
        "\(root)/World/GeocodeServer/reverseGeocode?location=1,2", "\(root)/Jobs/GPServer",
        "\(root)/Jobs/GPServer/jobs", "\(root)/City/FeatureServer/layers",
        "\(root)/City/MapServer/find", "\(root)/City/MapServer/find?searchText=a",
        "\(root)/Jobs/GPServer/BatchIdentify", "\(root)/City/MapServer?f=kmz", "/ogc",
        "/ogc/conformance", "/ogc/api", "/ogc/collections", "/ogc/collections/City.0",
        "/ogc/collections/City.0/items", "/ogc/collections/City.0/items/1",
        "/ogc/collections/City.9",
        "\(root)/City/MapServer/0/query?where=%3Cscript%3Ealert(1)%3C/script%3E&at=%22%3E%3Cscript%3E",
        "\(root)/%3Cscript%3E/MapServer", "\(root)/City/MapServer/history",
        "\(root)/Roads/NAServer", "\(root)/Roads/NAServer/roads",
        "\(root)/Roads/NAServer/roads/57", "\(root)/Roads/NAServer/roads/58",
        "\(root)/City/MapServer/0/1/history", "\(root)/City/MapServer/identify/compare",
        "\(root)/City/MapServer/identify/compare?geometry=1,2&tolerance=1&mapExtent=0,0,1,1&imageDisplay=1,1,96&first=1&second=2",
    ]

    /// The reader here is an XML parser, which shares nothing with the writer.
    private func read(_ response: GatewayResponse) throws -> XMLElement {
        #expect(response.contentType == "text/html;charset=UTF-8")
        let text = String(decoding: response.body, as: UTF8.self)
        #expect(text.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
        let body = Array(text.drop { $0 != "\n" }.utf8)
        return try XMLReader.read(body)
    }

    private func check(_ page: XMLElement) {
        for element in page.everything {
            #expect(known.contains(element.name), "\(element.name)")
            for (name, value) in element.attributes {
                #expect(!name.lowercased().hasPrefix("on") && name != "style", "\(name)")
                guard ["href", "src", "action"].contains(name) else { continue }
                let isOurs =
                    value.hasPrefix("/") && !value.hasPrefix("//") || value.hasPrefix("?")
                    || value.hasPrefix("data:image/png;base64,")
                #expect(isOurs || value.hasPrefix("http://") && name == "href", "\(value)")
            }
            if element.name == "script" {
                #expect(element.attributes["src"]?.hasPrefix("/pages/") == true)
                #expect(element.children.isEmpty && element.trimmed.isEmpty)
            }
        }
    }

    @Test(arguments: urls)
    func `names on a page stay text, whatever they are`(_ url: String) async throws {
        var random = SeededGenerator(seed: 11)
        let pieces = [
            "<script>alert(1)</script>", "\"", "'", "&", "&lt;", "<!--", "-->", "]]>", "</title>",
            "<img src=x onerror=alert(1)>", "\u{0}", "\u{1B}", "\u{FFFF}", "é", "🗺", "\n", "}",
            "{{",
            "javascript:alert(1)", "` onclick=", "%22", "</textarea>",
        ]
        for _ in 0..<12 {
            let name = (0..<Int.random(in: 1..<6, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            let asked = try Asked(named: name)
            check(try read(await asked.page(url)))
        }
    }

    @Test func `a name is read as it is`() async throws {
        let name = "</h1><script>\"a\" & 'b'</script>"
        for url in [
            "/City/MapServer", "/City/MapServer/0", "/City/MapServer/0/query?where=1%3D1",
            "/City/FeatureServer/0/1",
            "/City/MapServer/identify?geometry=1,2&tolerance=1&mapExtent=0,0,1,1&imageDisplay=1,1,96",
        ] {
            let page = try read(try await Asked(named: name).page(root + url))
            #expect(page.everything.contains { $0.text.contains(name) }, "\(url)")
        }
    }

    @Test func `a page may load and do nothing but the server's own`() async throws {
        let response = try await Asked(named: "a").page(root + "/City/MapServer")
        let policy = try #require(response.headers["Content-Security-Policy"])
        #expect(policy.contains("default-src 'none'"))
        #expect(!policy.contains("unsafe") && !policy.contains("*"))
    }

    @Test func `links of the past lead to the past`() async throws {
        let page = try read(
            try await Asked(named: "a").page(root + "/City/MapServer?at=5"))
        let links = page.everything.filter { $0.name == "a" }.compactMap { $0.attributes["href"] }
        #expect(links.contains(root + "/City/MapServer/0?at=5"))
        let map = try #require(page.everything.first { $0.attributes["id"] == "map" })
        #expect(map.attributes["data-at"] == "5")
        #expect(map.first("img")?.attributes["src"]?.contains("at=5") == true)
    }

    @Test(arguments: ["MapServer", "FeatureServer"])
    func `rows lead to the pages of their features`(service: String) async throws {
        let asked = try Asked(named: "a")
        asked.site.change { inner in
            inner.answerToQuery = { _ in
                #"{"objectIdFieldName":"ID","fields":[{"name":"POP"},{"name":"ID"}],"features":["#
                    + #"{"attributes":{"POP":7,"ID":12}},{"attributes":{"POP":8,"ID":-3}},"#
                    + #"{"attributes":{"POP":9,"ID":null}}]}"#
            }
        }
        let layer = root + "/City/\(service)/0"
        let page = try read(await asked.page(layer + "/query?where=1%3D1&at=5"))
        let table = try #require(page.everything.first { $0.name == "tbody" })
        let links = table.everything.filter { $0.name == "a" }
        #expect(
            links.map { $0.attributes["href"] } == [layer + "/12?at=5", layer + "/-3?at=5"])
        #expect(links.map(\.text) == ["12", "-3"])
        for link in links {
            _ = await asked.page(try #require(link.attributes["href"]))
            let request = asked.site.inner.withLock { $0.lastQuery }
            #expect(request?.objectIDs?.map { "\($0)" } == [link.text] && request?.at == 5)
        }
    }

    @Test func `a form alone asks nothing`() async throws {
        let asked = try Asked(named: "a")
        _ = await asked.page(root + "/City/MapServer/0/query")
        _ = await asked.page(root + "/City/MapServer/identify")
        #expect(asked.site.inner.withLock { $0.lastQuery == nil && $0.lastIdentify == nil })
    }

    @Test func `a refusal is said on the page, with the form`() async throws {
        let page = try read(
            try await Asked(named: "a").page(root + "/City/MapServer/identify?geometry=x"))
        let notices = page.everything.filter { $0.attributes["role"] == "alert" }
        #expect(notices.count == 1 && page.everything.contains { $0.name == "form" })
    }

    @Test func `a missing resource is 404 on a page too`() async throws {
        let asked = try Asked(named: "a")
        #expect(await asked.page("/nothing").status == 404)
        #expect(await asked.page("/ogc/collections/City.9").status == 404)
        #expect(await asked.page("/pages/none.js").status == 404)
        #expect(await asked.page("/pages/leaflet/../../../../etc/passwd").status == 404)
        #expect(await asked.page("/pages/leaflet/%2Fetc%2Fpasswd").status == 404)
    }

    @Test func `every asset that a page names is there`() async throws {
        let asked = try Asked(named: "a")
        for asset in PageAsset.allCases {
            let response = await asked.page(asset.url)
            #expect(response.status == 200 && !response.body.isEmpty)
        }
        let page = try read(await asked.page(root + "/City/MapServer"))
        let urls = page.everything.filter { ["link", "script"].contains($0.name) }
            .compactMap { $0.attributes["href"] ?? $0.attributes["src"] }
        #expect(urls.contains(PageAsset.stylesheet.url))
        for url in urls { #expect(await asked.page(url).status == 200, "\(url)") }
    }

    @Test func `an answer too large for a page is said to be`() async throws {
        let asked = try Asked(named: "a")
        asked.site.change { inner in
            inner.answerToQuery = { _ in
                #"{"fields":[],"features":[],"x":"\#(String(repeating: "a", count: Page.byteLimit))"}"#
            }
        }
        let response = await asked.page(root + "/City/MapServer/0/query?where=1%3D1")
        #expect(response.body.count < 100_000)
        #expect(String(decoding: response.body, as: UTF8.self).contains("too many for a page"))
    }
}
