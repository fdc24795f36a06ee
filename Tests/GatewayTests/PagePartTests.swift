// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EsriForms
import Expat
import Foundation
import Platform
import Site
import Synchronization
import TestKit
import Testing

@testable import Gateway

private let root = "/arcgis/rest/services"

/// What single pages contain.
@Suite struct PagePartTests {
    private let site: SimulatedSite
    private let service: GatewayService

    init() throws {
        site = SimulatedSite(map: try Samples.map())
        service = GatewayService(backend: site)
    }

    @Test func `the root leads browsers to the services, and is missing for programs`() async {
        let page = await service.browse("/")
        #expect(page.status == 303 && page.headers["Location"] == root)
        let answer = await service.answer(GatewayRequest(path: Array("/".utf8)))
        #expect(answer.status == 404 && answer.headers["Location"] == nil)
    }

    // MARK: Services

    private func services(
        _ json: String, _ change: (inout Page) -> Void = { _ in }
    ) throws -> XMLElement {
        let answer = JSONTree(Array(json.utf8))
        var page = Page(
            route: RouteTable.shared.route("arcgis/rest/services"), captures: Captures(),
            path: root, parameters: Parameters([:]),
            answer: try #require(answer))
        change(&page)
        return try GatewayResponse(contentType: "text/html;charset=UTF-8", body: page.html())
            .page()
    }

    @Test func `a site without maps and locators shows the commands that fill it`() throws {
        let jobs = #"{"name":"Jobs","type":"GPServer"}"#
        let map = #"{"name":"City","type":"MapServer"}"#
        for (all, isEmpty) in [("", true), (jobs, true), (jobs + "," + map, false)] {
            let page = try services(#"{"folders":[],"services":[\#(all)]}"#)
            #expect(page.words.contains("cairn import") == isEmpty, "\(all)")
            #expect(page.links.contains("/arcgis/rest/openapi.json") == isEmpty, "\(all)")
        }
        #expect(
            try !services(#"{"folders":["Planning"],"services":[]}"#).words
                .contains("cairn import"))
        let strange = try services(#"{"folders":[],"services":[]}"#) { $0.user = "anna" }
        #expect(strange.words.contains("No map and no locator is visible to anna."))
        let anonymous = try services(#"{"folders":[],"services":[]}"#) { $0.offersLogin = true }
        #expect(!anonymous.words.contains("cairn import"))
    }

    // MARK: Maps

    @Test func `a map has a search box for the locators that the caller may ask`() async throws {
        let open = try await service.browse(root + "/City/MapServer").page()
        let box = try #require(open.with(id: "search"))
        #expect(box.attributes["data-locators"] == root + "/World/GeocodeServer")
        #expect(
            box.attributes["action"] == root + "/World/GeocodeServer/findAddressCandidates")
        #expect(box.every("input").first?.attributes["aria-label"] == "Search a place")
        let ruled = GatewayService(
            backend: site,
            access: try RuledSite([:], anonymous: [.init(.query, on: "City")]).control())
        let blind = try await ruled.browse(root + "/City/MapServer").page()
        #expect(blind.with(id: "map") != nil && blind.with(id: "search") == nil)
    }

    @Test func `layers and answers are beside the map, which has a label and a role`()
        async throws
    {
        let page = try await service.browse(root + "/City/MapServer").page()
        let panel = try #require(page.every("aside").first)
        #expect(panel.with(id: "found") != nil && panel.with(id: "said") != nil)
        #expect(panel.every("li").contains { $0.attributes["data-layer"] == "0" })
        let map = try #require(page.with(id: "map"))
        #expect(map.attributes["role"] == "region")
        #expect(map.attributes["aria-label"]?.contains("Enter asks") == true)
    }

    @Test func `vector tiles have a map, their style, and what programs are told`() async throws {
        let page = try await service.browse(root + "/City/VectorTileServer").page()
        let map = try #require(page.with(id: "map"))
        #expect(map.attributes["data-service"] == root + "/City/VectorTileServer")
        #expect(map.attributes["data-pictures"] == root + "/City/MapServer")
        #expect(map.attributes["data-extent"]?.split(separator: ",").count == 4)
        #expect(page.with(id: "pictures")?.attributes["type"] == "checkbox")
        let scripts = page.every("script").compactMap { $0.attributes["src"] }
        #expect(scripts.last == "/pages/tiles.js" && !scripts.contains("/pages/map.js"))
        let told = page.every("code").map(\.words).joined(separator: "\n")
        for part in ["style.json", "tile/{z}/{y}/{x}.pbf", "L.esri.Vector", "ogrinfo"] {
            #expect(told.contains(part))
        }
        #expect(page.links.contains(root + "/City/VectorTileServer/style.json"))
        let own = try await service.browse(root + "/City/MapServer").page()
        #expect(own.links.contains(root + "/City/VectorTileServer"))
    }

    @Test(arguments: ["/City/MapServer/0", "/City/MapServer/layers", "/City/FeatureServer/layers"])
    func `a text field without a limit has no length on pages`(_ path: String) async throws {
        site.change { inner in
            for index in inner.map.layers.indices {
                inner.map.layers[index].properties?.fields = [
                    FieldDescription(name: "OBJECTID", type: .objectID),
                    FieldDescription(name: "SHORT", type: .string, length: 80),
                    FieldDescription(name: "LONG", type: .string),
                ]
            }
        }
        let table = try #require(
            try await service.browse(root + path).page().every("table")
                .first { $0.first("thead")?.words.contains("length") == true })
        #expect(
            table.first("tbody")?.children.map { $0.children.last?.words } == ["", "80", ""])
        let json = await service.answer(GatewayRequest(path: Array((root + path).utf8)))
        #expect(String(decoding: json.body, as: UTF8.self).contains("2147483647"))
    }

    @Test(arguments: ["MapServer", "FeatureServer"])
    func `all layers in full are one section each, with links to the layer and its query`(
        _ type: String
    ) async throws {
        let path = root + "/City/" + type
        let page = try await service.browse(path + "/layers").page()
        let heads = page.every("h2")
        #expect(Set(heads.flatMap { $0.every("a").map(\.text) }).isSuperset(of: ["Base", "Roads"]))
        #expect(heads.flatMap(\.links).contains(path + "/3"))
        #expect(page.links.contains(path + "/3/query"))
        #expect(page.every("h1").map(\.text) == ["City: all layers"])
    }

    // MARK: Find and query

    @Test func `find has a form, which alone asks nothing, and shows features with their values`()
        async throws
    {
        site.change { inner in
            inner.found =
                #"{"results":[{"layerId":0,"layerName":"Base","displayFieldName":"N","#
                + #""foundFieldName":"N","value":"Rue Haute","attributes":{"N":"Rue Haute","#
                + #""EMPTY":null,"BLANK":" ","POP":0}}]}"#
        }
        let url = root + "/City/MapServer/find"
        let form = try await service.browse(url).page()
        #expect(form.every("input").contains { $0.attributes["name"] == "searchText" })
        #expect(form.whole.allSatisfy { $0.attributes["role"] != "alert" })
        #expect(site.inner.withLock { $0.lastFind } == nil)

        let page = try await service.browse(url + "?searchText=Haute&layers=0").page()
        #expect(site.inner.withLock { $0.lastFind }?.text == "Haute")
        #expect(page.every("h3").map(\.text) == ["Rue Haute"])
        #expect(page.every("section")[0].every("dt").map(\.text) == ["N", "POP"])
        #expect(
            try await service.browse(root + "/City/MapServer").page().links.contains(url))
    }

    @Test func `a part of the rows has the number of all`() async throws {
        site.change { inner in
            inner.answerToQuery = { request in
                guard request.result != .count else { return #"{"count":240}"# }
                return #"{"fields":[{"name":"A"}],"exceededTransferLimit":true,"#
                    + #""features":[{"attributes":{"A":1}},{"attributes":{"A":2}}]}"#
            }
        }
        let url = root + "/City/MapServer/0/query?where=POP%3E5&resultOffset=10"
        let page = try await service.browse(url + "&resultRecordCount=2").page()
        #expect(page.every("h2").map(\.text) == ["Rows 11 to 12 of 240"])
        let counted = try #require(site.inner.withLock { $0.lastQuery })
        #expect(counted.result == .count && counted.offset == 0 && counted.limit == nil)
        #expect(counted.clause == "POP>5")

        site.change { inner in
            inner.queries = []
            inner.answerToQuery = { _ in
                #"{"fields":[{"name":"A"}],"features":[{"attributes":{"A":1}}]}"#
            }
        }
        let last = try await service.browse(url).page()
        #expect(last.every("h2").map(\.text) == ["Rows 11 to 11 of 11"])
        #expect(site.inner.withLock { $0.queries.count } == 1)
    }

    @Test func `an offset beyond any row is no fault of a page`() async throws {
        site.change { inner in
            inner.answerToQuery = { _ in
                #"{"fields":[{"name":"A"}],"features":[{"attributes":{"A":1}}]}"#
            }
        }
        let url = root + "/City/MapServer/0/query?where=1%3D1&resultOffset=\(Int.max)"
        let page = try await service.browse(url).page()
        #expect(page.every("tbody")[0].words.contains("1"))
    }

    @Test func `the query form offers the layer's fields to the script that picks them`()
        async throws
    {
        let page = try await service.browse(root + "/City/MapServer/0/query").page()
        let fields = try #require(page.with(id: "fields")).every("option")
        #expect(fields.contains { $0.attributes["value"] == "OBJECTID" })
        #expect(page.every("input").contains { $0.attributes["name"] == "outFields" })
        let scripts = page.every("script").compactMap { $0.attributes["src"] }
        #expect(scripts == [PageAsset.page.url, PageAsset.query.url])
    }

    // MARK: Colours

    /// WCAG's relative luminance of `#rrggbb`.
    private static func luminance(_ colour: Substring) -> Double {
        let digits = Array(colour.dropFirst())
        let parts = [0, 2, 4].map { (place: Int) -> Double in
            let value = Double(Int(String(digits[place...(place + 1)]), radix: 16) ?? 0) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }

    private static func contrast(_ one: Substring, _ other: Substring) -> Double {
        let (dark, light) = (
            min(luminance(one), luminance(other)), max(luminance(one), luminance(other))
        )
        return (light + 0.05) / (dark + 0.05)
    }

    @Test func `edges of fields and text contrast with their ground, in both schemes`()
        async throws
    {
        let style = String(
            decoding: await service.browse(PageAsset.stylesheet.url).body, as: UTF8.self)
        let schemes = style.matches(of: /:root \{([^}]*)\}/).map(\.1)
        #expect(schemes.count == 2)
        for scheme in schemes {
            let colours = Dictionary(
                uniqueKeysWithValues: scheme.matches(of: /--([a-z-]+): (#[0-9a-f]{6});/)
                    .map { ($0.1, $0.2) })
            for ground in ["paper", "card"] {
                let below = try #require(colours[ground[...]])
                for (name, least) in [
                    ("edge", 3.0), ("ink", 4.5), ("quiet", 4.5), ("accent", 4.5), ("good", 4.5),
                    ("bad", 4.5),
                ] {
                    let colour = try #require(colours[name[...]])
                    #expect(Self.contrast(colour, below) >= least, "\(name) on \(ground)")
                }
            }
        }
        #expect(style.contains(/input, button \{[^}]*border: 1px solid var\(--edge\)/))
    }
}
