// SPDX-License-Identifier: Apache-2.0
// Part of Cairn.

import CairnModel
import EsriForms
import Site
import Synchronization
import Testing

@testable import Gateway

private let root = "/arcgis/rest/services"

@Suite struct FolderTests {
    /// A site with the maps `Planning/Zones`, which is requested, `Planning/Plots`, `Roads/A` and
    /// `City`.
    private static func site() throws -> SimulatedSite {
        var map = try Samples.map()
        map.name = try MapName(parsing: "Planning/Zones")
        let site = SimulatedSite(map: map)
        let others = try ["Planning/Plots", "Roads/A", "City"].map { try MapName(parsing: $0) }
        site.inner.withLock { $0.others = others }
        return site
    }

    private static func text(
        _ service: GatewayService, _ path: String, _ query: String = "", wantsPage: Bool = false
    ) async -> String {
        var request = GatewayRequest(
            path: Array(path.utf8), query: Array(query.utf8),
            client: RequestClient(isPrivate: true))
        request.wantsPage = wantsPage
        return String(decoding: await service.answer(request).body, as: UTF8.self)
    }

    private static func names(_ text: String) throws -> (folders: [String], services: Set<String>) {
        func strings(_ value: RelaxedValue?, _ member: String? = nil) -> [String] {
            guard case .array(let elements) = value else { return [] }
            return elements.compactMap { element in
                guard case .string(let text) = member.map({ element[$0] }) ?? element else {
                    return nil
                }
                return text
            }
        }
        let catalog = try RelaxedJSON.parse(text)
        return (strings(catalog["folders"]), Set(strings(catalog["services"], "name")))
    }

    @Test func `the root lists folders, and each folder what lies in it`() async throws {
        let service = GatewayService(backend: try Self.site())
        let top = try Self.names(await Self.text(service, root, "f=json"))
        #expect(
            top.folders == ["Planning", "Roads"] && top.services == ["City", "Roads", "World"])
        let planning = try Self.names(await Self.text(service, root + "/Planning/", "f=json"))
        #expect(planning.folders.isEmpty)
        #expect(planning.services == ["Planning/Zones", "Planning/Plots"])
    }

    @Test(arguments: ["Other", "planning", "City", "Plan%20ning"])
    func `a folder in which nothing lies is not found`(_ name: String) async throws {
        let service = GatewayService(backend: try Self.site())
        let text = await Self.text(service, root + "/" + name, "f=json")
        #expect(text.contains("\"code\":404") && text.contains("not found"))
    }

    @Test func `a map in a folder answers as any other`() async throws {
        let site = try Self.site()
        let service = GatewayService(backend: site)
        let path = root + "/Planning/Zones"
        for (resource, wanted) in [
            ("/MapServer", "\"layers\""), ("/MapServer/0", "\"Base\""),
            ("/FeatureServer/0/query", "\"count\""), ("/MapServer/legend", "\"layers\""),
        ] {
            let text = await Self.text(service, path + resource, "f=json&where=1%3D1")
            #expect(text.contains(wanted) && !text.contains("\"error\""), "\(resource): \(text)")
        }
        let map = RouteTable.shared.match((root + "/Planning/MapServer").utf8)
        #expect(map.route.label == "map" && map.captures == Captures(name: "Planning"))
        for wrong in ["/Planning/Zones", "/Planning/Zones/Other", "/A/B/C/MapServer"] {
            #expect(
                RouteTable.shared.match((root + wrong).utf8).route.label == "unknown", "\(wrong)")
        }
    }

    @Test func `an ordinary identify in a folder is read straight from its bytes`() throws {
        let head =
            "GET \(root)/Planning/Zones/MapServer/identify?f=json HTTP/1.1\r\nHost: a\r\n\r\n"
        let plain = try #require(FastIdentifyRequest(Array(head.utf8)))
        #expect(plain.map == "Planning/Zones")
        let match = RouteTable.shared.match((root + "/Planning/Zones/MapServer/identify").utf8)
        #expect(match.route.patterns == Route.identify.patterns)
        #expect(match.captures == Captures(name: plain.map))
    }

    @Test func `a collection is named with points`() throws {
        let id = OGCCollectionID(map: try MapName(parsing: "Planning/Zones"), layer: 3)
        #expect("\(id)" == "Planning.Zones.3" && OGCCollectionID("Planning.Zones.3") == id)
        for wrong in ["Planning/Zones.3", "A.B.C.3", ".Zones.3", "Planning..3", "3", "Zones.03"] {
            #expect(OGCCollectionID(wrong) == nil, "\(wrong)")
        }
    }

    @Test func `pages lead from the root through the folder to the map`() async throws {
        let service = GatewayService(backend: try Self.site())
        let top = await Self.text(service, root, wantsPage: true)
        #expect(top.contains("href=\"\(root)/Planning\""))
        let folder = await Self.text(service, root + "/Planning", wantsPage: true)
        #expect(folder.contains("href=\"\(root)/Planning/Zones/MapServer\""))
        let layer = await Self.text(service, root + "/Planning/Zones/MapServer/0", wantsPage: true)
        for step in ["/Planning", "/Planning/Zones/MapServer"] {
            #expect(layer.contains("href=\"\(root)\(step)\""), "\(step)")
        }
        #expect(!layer.contains("href=\"\(root)/Planning/Zones\""))
    }
}
